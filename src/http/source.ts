/** Where a request comes from, for throttling and the audit trail: the socket, or the hop that a trusted proxy names. */
import { isIP } from 'node:net';
import { sourceOfAddress } from '../oauth/networks.ts';

/**
 * The source of a request: an IPv4 address, or an IPv6 network of 64 bits, since one person owns a whole one. Of
 * `X-Forwarded-For` the right-most address that is not a trusted proxy counts; whatever is malformed ends the walk there,
 * and is never looked up.
 */
export function sourceOf(
  socketAddress: string,
  forwardedFor: string | undefined,
  isTrusted: (address: string) => boolean,
): string {
  let source = plainAddress(socketAddress);
  const hops = (forwardedFor ?? '').slice(-4000).split(',');
  while (isTrusted(source) && hops.length > 0) {
    const hop = plainAddress((hops.pop() as string).trim());
    if (isIP(hop) === 0) break;
    source = hop;
  }
  return isIP(source) === 6 ? sourceOfAddress(source) : source;
}

/** An IPv4 address that came over an IPv6 socket is an IPv4 address; ports and zones are dropped. */
export function plainAddress(address: string): string {
  const bare = address.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/%.*$/, '');
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare) ?? [];
  return mapped ?? (/^\d+\.\d+\.\d+\.\d+:\d+$/.test(bare) ? bare.replace(/:\d+$/, '') : bare);
}
