/**
 * Sends requests to addresses that others chose. Resolves a host name once per try, requires that all its addresses
 * are allowed, and connects to one of them: a name that changes in between has no effect.
 */
import type { BlockList, LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { lookUp } from './host-names.ts';
import { type Answer, ask, type RequestOutcome, requestOnce } from './request-to-configured-address.ts';

/** Maximum time of a fetch, from the name's resolution to the last byte (ms). */
const TIMEOUT_MS = 10_000;
const LATE = 'no answer within 10 s';

/** The allowed addresses. */
export type OutboundRules = {
  /** True if this installation is on loopback: then it requests loopback addresses, and no others. */
  readonly isLocal: boolean;
  /** Private networks that are allowed nevertheless. */
  readonly privateNetworks: BlockList;
};

/** The name resolver and the trusted certificates; tests have their own. */
export type OutboundWorld = {
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  readonly certificateAuthority?: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

/** A fetched document, or one sentence that says why there is none. The sentence never quotes the body. */
export type FetchedDocument =
  | { readonly kind: 'fetched'; readonly value: unknown; readonly text: string }
  | { readonly kind: 'refused'; readonly problem: string };

/** The only sender of requests from this machine to others' addresses. */
export class Outbound {
  readonly #rules: OutboundRules;
  readonly #world: Required<Pick<OutboundWorld, 'resolve' | 'now'>> & OutboundWorld;

  constructor(rules: OutboundRules, world: OutboundWorld) {
    this.#rules = rules;
    this.#world = { resolve: resolveAll, ...world };
  }

  /**
   * Fetches a JSON document of at most `maxBytes`: exactly status 200, no redirect, no content coding. Never throws.
   * `url` is https, or http if the installation is local.
   */
  async fetchJson(url: string, maxBytes: number): Promise<FetchedDocument> {
    const headers = { Accept: 'application/json', 'Accept-Encoding': 'identity', 'User-Agent': 'valetkey' };
    const answer = await this.#get(url, headers, maxBytes + 1);
    if (typeof answer === 'string') return refused(answer);
    const { status, body } = answer;
    const [type = ''] = (answer.headers['content-type'] ?? '').toLowerCase().split(';');
    if (status !== 200) return refused(`its status is ${status}, and must be 200 without a redirect`);
    if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity')
      return refused('it is compressed, and must not be');
    if (!/^application\/([\w.-]+\+)?json$/.test(type.trim())) return refused('its Content-Type is not JSON');
    if (Buffer.byteLength(body) > maxBytes) return refused(`it is larger than ${maxBytes} bytes`);
    try {
      return { kind: 'fetched', value: JSON.parse(body), text: body };
    } catch {
      return refused('it is not JSON'); // V8's own message quotes the input.
    }
  }

  /** Requests the head of an answer, like a browser. Never throws. */
  async head(url: string): Promise<RequestOutcome> {
    const { now } = this.#world;
    const judged = await this.#judge(url);
    if (typeof judged === 'string')
      return { kind: 'failed', problem: judged, code: judged === LATE ? 'TIMEOUT' : 'NOT_ASKED', at: now() };
    return requestOnce(url, now, judged.left, pinnedTo(judged.address));
  }

  async #get(
    url: string,
    headers: Readonly<Record<string, string>>,
    maxBytes: number,
  ): Promise<Extract<Answer, { kind: 'answered' }> | string> {
    const { now, certificateAuthority } = this.#world;
    const judged = await this.#judge(url);
    if (typeof judged === 'string') return judged;
    const question = { method: 'GET', headers, maxBytes, lookup: pinnedTo(judged.address), certificateAuthority };
    const answer = await ask(url, question, now, judged.left);
    if (answer.kind === 'answered') return answer;
    return answer.code === 'TIMEOUT' ? LATE : answer.problem;
  }

  /** Returns the address to connect to and the remaining time (ms), or the reason why none is allowed. */
  async #judge(url: string): Promise<{ readonly address: string; readonly left: number } | string> {
    const since = performance.now();
    const found = await within(TIMEOUT_MS, addressesOf(new URL(url).hostname, this.#world.resolve));
    if (typeof found === 'string') return found;
    const problem = found.map((address) => this.#problemOf(address)).find((text) => text !== null);
    if (problem) return problem;
    return { address: found[0] as string, left: Math.max(1, Math.ceil(TIMEOUT_MS - (performance.now() - since))) };
  }

  /** Returns the reason why an address is not allowed, or null. */
  #problemOf(address: string): string | null {
    const { isLocal, privateNetworks } = this.#rules;
    const plain = plainAddress(address);
    if (isLocal)
      return plain.range() === 'loopback'
        ? null
        : `its host is not on this machine, as this installation is (${plain})`;
    if (isPublic(plain)) return null;
    if (privateNetworks.check(plain.toString(), plain.kind())) return null;
    return `its host has an address that is not public (${plain}): allow it with VALETKEY_OUTBOUND_PRIVATE_NETWORKS if it is yours`;
  }
}

/**
 * Parses an address. Takes the IPv4 address out of IPv6 forms that carry one in a known place: mapped, NAT64 of the well-known
 * prefix 64:ff9b::/96 (RFC 6052 §2.1), 6to4 (RFC 3056). A network chooses its own place in 64:ff9b:1::/48 (RFC 8215), so
 * those addresses stay as they are, and none is public.
 */
export function plainAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 {
  // The library would read IPv4-compatible ::8.8.8.8 (RFC 4291 §2.5.5.1) as mapped.
  const address = ipaddr.process(text.replace(/^::(?=\d+\.)/, '0::'));
  if (address.kind() === 'ipv4') return address;
  const bytes = address.toByteArray();
  const range = address.range();
  if ((address as ipaddr.IPv6).match(WELL_KNOWN_NAT64, 96)) return ipaddr.fromByteArray(bytes.slice(12)) as ipaddr.IPv4;
  if (range === '6to4') return ipaddr.fromByteArray(bytes.slice(2, 6)) as ipaddr.IPv4;
  return address;
}

const WELL_KNOWN_NAT64 = ipaddr.IPv6.parse('64:ff9b::');

/** Azure's host, which every machine there reaches: public by its range, and no server of anybody else's. */
const AZURE_HOST = '168.63.129.16';

/** True for public unicast. IANA assigns only IPv6 addresses of 2000::/3. */
export function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || address.toString() === AZURE_HOST) return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_UNICAST, 3);
}

const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');

async function addressesOf(
  hostname: string,
  resolve: (host: string) => Promise<readonly string[]>,
): Promise<readonly string[] | string> {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.isValid(literal)) return [literal];
  try {
    const found = await resolve(hostname);
    return found.length > 0 ? found : 'its host name has no address';
  } catch {
    return 'its host name is unknown here';
  }
}

function resolveAll(host: string): Promise<string[]> {
  return new Promise((resolve, reject) =>
    lookUp(host, { all: true }, (error, found) =>
      error ? reject(error) : resolve([found].flat().map((each) => (typeof each === 'string' ? each : each.address))),
    ),
  );
}

/** Returns the result of some work, or `LATE` if the work takes longer (ms). */
async function within<T>(ms: number, work: Promise<T>): Promise<T | string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((tell) => {
    timer = setTimeout(() => tell(LATE), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Returns a resolver that always gives this address. */
function pinnedTo(address: string): LookupFunction {
  const family = ipaddr.parse(address).kind() === 'ipv4' ? 4 : 6;
  return (_host, { all }, callback) => (all ? callback(null, [{ address, family }]) : callback(null, address, family));
}

function refused(problem: string): FetchedDocument {
  return { kind: 'refused', problem };
}
