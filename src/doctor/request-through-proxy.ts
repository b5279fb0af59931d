/** Checks the request as it arrived through the proxy, with claims that the service must not believe. */
import type { Seen } from '../oauth/keys/doctor-pass.ts';
import type { Findings } from './finding.ts';

/** An address for documentation (RFC 5737), which no visitor has. */
const CLAIMED_SOURCE = '192.0.2.123';
/** The request's query. */
export const QUERY = 'doctor=a%2Fb+c';
const COOKIE = 'valetkey-doctor=1';

/** The request's headers. */
export const CLAIMED = {
  'X-Forwarded-For': CLAIMED_SOURCE,
  'X-Forwarded-Proto': 'http',
  Cookie: COOKIE,
  Authorization: 'Bearer doctor',
} as const;

/** A public address, as configured. */
export type ExaminedAddress = {
  /** Scheme, host and port. */
  readonly url: string;
  readonly is: 'app' | 'api' | 'operator';
  /** The proxies' keep-alive timeout (s). */
  readonly proxyIdleTimeout: number;
};

/** Makes all these checks. */
export function ofWhatArrived(found: Findings, { url, is, proxyIdleTimeout }: ExaminedAddress, seen: Seen): void {
  ofSource(found, url, seen);
  ofScheme(found, url, seen);
  ofHead(found, seen);
  ofHost(found, url, is, seen);
  ofConnections(found, seen, proxyIdleTimeout);
}

/** Checks the source that the service sees. */
function ofSource(found: Findings, url: string, seen: Seen): void {
  const { source, peer, peer_is_trusted: isTrusted, forwarded_for: forwardedFor } = seen;
  const name = 'visitors’ addresses';
  const isProxied = url.startsWith('https:') || forwardedFor !== CLAIMED_SOURCE;
  if (source === CLAIMED_SOURCE)
    found.wrong(
      name,
      'the proxy passes on X-Forwarded-For from visitors: an attacker who invents addresses has no rate limits',
      'let the proxy set it to the address of its client (nginx: proxy_set_header X-Forwarded-For $remote_addr), and name only proxies in VALETKEY_TRUSTED_PROXIES',
    );
  else if (!isTrusted && isProxied)
    found.wrong(
      name,
      `the service sees every visitor at the proxy’s address ${peer}: all share one visitor’s rate limits`,
      `add ${peer} to VALETKEY_TRUSTED_PROXIES, and restart`,
    );
  else if (isTrusted && forwardedFor === null)
    found.wrong(
      name,
      `the proxy at ${peer} does not name the visitor: all visitors share one visitor’s rate limits`,
      'let it set X-Forwarded-For (nginx: proxy_set_header X-Forwarded-For $remote_addr)',
    );
  else found.good(name, `this command came from ${source}; its false claim was not believed`);
}

/** Checks that plain http would be noticed. */
function ofScheme(found: Findings, url: string, { forwarded_proto: proto, peer_is_trusted: isTrusted }: Seen): void {
  if (!url.startsWith('https:') || !isTrusted) return;
  const last = proto?.split(',').at(-1)?.trim().toLowerCase() ?? null;
  const remedy = 'let the proxy set X-Forwarded-Proto itself (nginx: proxy_set_header X-Forwarded-Proto $scheme)';
  if (last === null) found.warn('scheme', 'the proxy does not say if a request came by https', remedy);
  else if (last !== 'https')
    found.wrong('scheme', `the proxy passes on a visitor’s X-Forwarded-Proto: ${last}`, remedy);
  else found.good('scheme', 'the proxy says https, whatever a visitor claims');
}

function ofHead(found: Findings, seen: Seen): void {
  if (seen.target !== `/healthz?${QUERY}`)
    found.wrong('addresses', 'the proxy changes addresses', 'pass every path and query on unchanged');
  else found.good('addresses', 'arrive unchanged');
  if (!seen.has_authorization)
    found.wrong(
      'Authorization',
      'the proxy drops it: tokens cannot be checked or refreshed',
      'pass the header on (Apache: CGIPassAuth On, or no RequestHeader unset)',
    );
  else found.good('Authorization', 'arrives');
  if (!seen.cookie?.includes(COOKIE))
    found.wrong('cookies sent', 'the proxy drops Cookie: nobody can sign in', 'pass the header on');
}

function ofHost(found: Findings, url: string, is: ExaminedAddress['is'], { host }: Seen): void {
  const { hostname } = new URL(url);
  const detail = `the service gets ${host ?? 'none'}, not ${hostname}`;
  // Many proxies omit the port (nginx: $host).
  if (URL.parse(`http://${host}`)?.hostname === hostname) found.good('Host', 'arrives');
  else if (is === 'operator')
    found.wrong(
      'Host',
      `${detail}: it refuses all but /healthz (421)`,
      'pass Host on (nginx: proxy_set_header Host $host)',
    );
  else
    found.warn(
      'Host',
      `${detail}; links do not depend on it`,
      'pass Host on, so that both logs agree (nginx: proxy_set_header Host $host)',
    );
}

function ofConnections(found: Findings, seen: Seen, proxyIdleTimeout: number): void {
  if (!seen.peer_is_trusted) return;
  const isKept = seen.http_version !== '1.0' && !/close/i.test(seen.connection ?? '');
  if (isKept && proxyIdleTimeout === 0)
    found.warn(
      'connections',
      'the proxy keeps its connections, and VALETKEY_PROXY_IDLE_TIMEOUT is 0: a stop may cut off a POST',
      'let it keep them for at most a few seconds, and set VALETKEY_PROXY_IDLE_TIMEOUT to the same time',
    );
  else found.good('connections', isKept ? `kept for ${proxyIdleTimeout} s at most` : 'one for each request');
}
