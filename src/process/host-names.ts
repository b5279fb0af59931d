/** How host names are looked up where an address is asked as a browser would ask it. */
import dns from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * As the system does; but a name under `localhost` that it does not know is this machine, as in browsers (RFC 6761 §6.3).
 */
export const lookUp: LookupFunction = (name, options, callback) =>
  dns.lookup(name, options, (error, ...found) => {
    if (error && /\.localhost\.?$/i.test(name)) dns.lookup('localhost', options, callback);
    else callback(error, ...found);
  });
