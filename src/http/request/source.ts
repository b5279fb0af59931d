/**
 * The source of a request, for throttling and the audit trail: the socket's address, or the hop that a trusted proxy
 * names.
 */
import { isIP } from 'node:net';
import { sourceOfAddress } from '../../oauth/guessing/networks.ts';

/**
 * Returns the source of a request: an IPv4 address, or an IPv6 network of 64 bits, since a single person has a whole
 * one. In `X-Forwarded-For`, the right-most address that is not a trusted proxy counts (RFC 9700 §4.13). A malformed
 * value ends the search, and names are never resolved.
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

/** Drops port and zone, and turns an IPv4-mapped IPv6 address into the IPv4 address. */
export function plainAddress(address: string): string {
  const bare = address.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/%.*$/, '');
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare) ?? [];
  return mapped ?? (/^\d+\.\d+\.\d+\.\d+:\d+$/.test(bare) ? bare.replace(/:\d+$/, '') : bare);
}
