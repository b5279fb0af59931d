/** Resolves host names like a browser. */
import dns from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Resolves like the system; an unknown name under `localhost` is this machine, as in browsers (RFC 6761 §6.3). */
export const lookUp: LookupFunction = (name, options, callback) =>
  dns.lookup(name, options, (error, ...found) => {
    if (error && /\.localhost\.?$/i.test(name)) dns.lookup('localhost', options, callback);
    else callback(error, ...found);
  });
