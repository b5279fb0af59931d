/**
 * Networks of a source, with budgets that grow with their size. One subscriber has an IPv6 network of 64 to 48 bits (RFC
 * 6177). With one counter for each address, or for networks of one size only, one subscriber could count as 65,536.
 */
import ipaddr from 'ipaddr.js';

/** A network, as CIDR text or an address, and how many times the budget of one address or /64 it has. */
export type Network = { readonly key: string; readonly weight: (typeof WEIGHTS)[number] };

type Size = { readonly bits: number; readonly weight: Network['weight'] };

/** All weights. A source has one network of each at most. */
export const WEIGHTS = [1, 4, 32] as const;

const IPV4_BITS: readonly Size[] = [{ bits: 24, weight: 32 }];
const IPV6_BITS: readonly Size[] = [
  { bits: 56, weight: 4 },
  { bits: 48, weight: 32 },
];

/**
 * The source of an IP address: the IPv4 address, also if it is mapped (RFC 4291 §2.5.5.2), this machine's `::1`, or the /64 of
 * any other IPv6 address.
 */
export function sourceOfAddress(text: string): string {
  const address = ipaddr.process(text);
  return address.kind() === 'ipv4' || address.range() === 'loopback' ? address.toString() : cidr(address, 64);
}

/** The networks of a source, narrowest first. A source that is not an address is its own network. */
export function networksOf(source: string): readonly Network[] {
  const text = source.replace(/\/64$/, '');
  const own: Network = { key: source, weight: 1 };
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return [own, ...wider(text, IPV4_BITS)];
  // This machine's `::1` has no neighbors: its /48 is no network.
  const isIpv6 = ipaddr.IPv6.isValid(text) && ipaddr.IPv6.parse(text).range() !== 'loopback';
  return isIpv6 ? [own, ...wider(text, IPV6_BITS)] : [own];
}

/** The widest network of a source, a /48, a /24 or `::1`: its members share scarce resources. */
export function widestNetworkOf(source: string): string {
  return (networksOf(source).at(-1) as Network).key;
}

function wider(text: string, sizes: readonly Size[]): Network[] {
  const address = ipaddr.parse(text);
  return sizes.map(({ bits, weight }) => ({ key: cidr(address, bits), weight }));
}

function cidr(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string {
  if (address.kind() === 'ipv4') {
    return `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/${bits}`)}/${bits}`;
  }
  const { parts } = ipaddr.IPv6.networkAddressFromCIDR(`${address}/${bits}`);
  const groups = parts.slice(0, Math.ceil(bits / 16)).map((part) => part.toString(16));
  return `${groups.join(':')}::/${bits}`;
}
