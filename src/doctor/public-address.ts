/**
 * Checks the way between visitors and the service: requests the public addresses as a visitor, with claims that a
 * proxy must not believe, and lets the service report what arrived.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { DOCTORS_COOKIE, PADDING, PADDING_HEADER, PASS_HEADER, type Seen } from '../oauth/keys/doctor-pass.ts';
import { type Finding, Findings } from './finding.ts';
import { readableAge } from './readable-sizes.ts';
import { CLAIMED, type ExaminedAddress, ofWhatArrived, QUERY } from './request-through-proxy.ts';
import { type Failed, ofUnreached, REACH } from './unreachable-remedies.ts';

/** An answer, as `process/request-to-configured-address.ts` returns it. */
export type Answered = {
  readonly kind: 'answered';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly counts: Readonly<Record<string, number>>;
  readonly body: string;
  readonly date: number | null;
  readonly at: number;
  readonly certificateEndsAt: number | null;
};

/** Sends one request; never throws. */
export type Ask = (
  url: string,
  question: { method: string; headers: Record<string, string>; body?: string; maxBytes: number },
) => Promise<Answered | Failed>;

/** The parts of the examination of one address. */
export type AddressParts = ExaminedAddress & {
  readonly ask: Ask;
  /** Makes a pass for one request. */
  readonly pass: () => string;
  /** True if a service is known to run: then no answer is a fault. */
  readonly isServed: boolean;
};

const BODY_BYTES = 60_000;
const CLOCK_WARNING_MS = 5000;
/** Difference of clocks beyond which client assertions are refused. */
const CLOCK_WRONG_MS = 30_000;
const CERTIFICATE_ENDS_SOON_MS = 14 * 24 * 3_600_000;

const AREAS = { app: 'app address', api: 'API address', operator: 'operators’ address' } as const;

/** Checks one public address. */
export async function examineAddress(parts: AddressParts): Promise<Finding[]> {
  const { url, is, ask, pass, isServed } = parts;
  const found = new Findings(AREAS[is]);
  const plainly = await ask(`${url}/healthz`, { method: 'GET', headers: {}, maxBytes: 1000 });
  if (plainly.kind === 'failed') {
    ofUnreached(found, url, plainly, isServed);
    return found.all;
  }
  if (!isAlive(plainly)) {
    found.wrong('reached', `${url}: answers ${plainly.status}, but not as Valetkey`, REACH);
    return found.all;
  }
  found.good('reached', `${url} answers`);
  ofTls(found, url, plainly);
  ofClock(found, plainly);
  ofCaching(found, plainly, await ask(`${url}/healthz`, { method: 'GET', headers: {}, maxBytes: 0 }));
  const asked = await ask(`${url}/healthz?${QUERY}`, {
    method: 'GET',
    headers: { [PASS_HEADER]: pass(), ...CLAIMED },
    maxBytes: 10_000,
  });
  const seen = asked.kind === 'answered' ? seenIn(asked) : null;
  if (asked.kind === 'failed' || asked.status >= 500) {
    const what = asked.kind === 'failed' ? asked.problem : `${asked.status}`;
    found.wrong('long answers', `an answer with a head of 8 KiB did not come (${what})`, BUFFERS);
  } else if (!seen) {
    found.wrong('same service', 'a service answers, but with other keys than this command’s', SAME_KEYS);
  } else {
    found.good('same service', 'it has this command’s keys');
    ofWhatArrived(found, parts, seen);
    ofAnswer(found, asked);
  }
  if (is === 'app') {
    await ofPage(found, url, ask);
    await ofBodies(found, url, ask);
  }
  await ofPlainHttp(found, url, is, ask);
  return found.all;
}

const BUFFERS =
  'let the proxy accept answer heads of 16 KiB (nginx: proxy_buffer_size 16k); otherwise an Allow can end in a 502';
const SAME_KEYS =
  'give this command the same VALETKEY_KEYS_FILE and VALETKEY_DATABASE_URL, set both clocks, and check that the proxy passes every header on';

function isAlive({ status, body }: Answered): boolean {
  return status === 200 && objectIn(body)?.['status'] === 'alive';
}

function seenIn({ body }: Answered): Seen | null {
  return (objectIn(body)?.['seen'] as Seen | undefined) ?? null;
}

function objectIn(body: string): Record<string, unknown> | null {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return null;
  }
}

function ofTls(found: Findings, url: string, { certificateEndsAt, at }: Answered): void {
  if (!url.startsWith('https:')) return void found.good('TLS', 'none: an address of this machine, only for trials');
  if (certificateEndsAt === null) return void found.good('TLS', 'trusted');
  const left = certificateEndsAt - at;
  const detail = `trusted, for ${readableAge(left)} more`;
  if (left < CERTIFICATE_ENDS_SOON_MS)
    found.warn('TLS', detail, 'renew the certificate, and find out why it was not renewed automatically');
  else found.good('TLS', detail);
}

/** Compares clocks to a second (RFC 9110 §6.6.1). */
function ofClock(found: Findings, { date, at }: Answered): void {
  if (date === null) return void found.warn('clock', 'the answer has no Date', 'compare the two clocks by hand');
  const difference = date - at;
  const seconds = Math.abs(Math.trunc(difference / 1000));
  const detail = seconds === 0 ? 'the same as here' : `${seconds} s ${difference > 0 ? 'ahead' : 'behind'} of here`;
  const remedy =
    'set the clocks of all machines by NTP: sign-ins at products, client assertions and lifetimes of tokens depend on them';
  if (Math.abs(difference) > CLOCK_WRONG_MS) found.wrong('clock', detail, remedy);
  else if (Math.abs(difference) > CLOCK_WARNING_MS) found.warn('clock', detail, remedy);
  else found.good('clock', detail);
}

/** Checks what the proxy changed in the answer. */
function ofAnswer(found: Findings, { headers }: Answered): void {
  const cookies = headers['set-cookie'] ?? [];
  if (!cookies.some((cookie) => sameCookie(cookie, DOCTORS_COOKIE)))
    found.wrong(
      'cookies set',
      cookies.length === 0 ? 'the proxy drops Set-Cookie' : `the proxy changes cookies: ${cookies.join(' | ')}`,
      'pass Set-Cookie on unchanged (nginx: no proxy_cookie_flags, proxy_cookie_path or proxy_cookie_domain)',
    );
  else found.good('cookies set', 'return unchanged: __Host-, Secure, HttpOnly, SameSite');
  if (headers[PADDING_HEADER] !== PADDING) found.wrong('long answers', 'a head of 8 KiB was cut', BUFFERS);
  else found.good('long answers', 'a head of 8 KiB comes back');
}

/** Each answer has its own request id: the same id twice means a cached answer. */
function ofCaching(found: Findings, { headers }: Answered, again: Awaited<ReturnType<Ask>>): void {
  const id = again.kind === 'answered' ? again.headers['x-request-id'] : null;
  const isCached = headers.age !== undefined || id === headers['x-request-id'];
  if (isCached || headers['cache-control'] !== 'no-store')
    found.wrong(
      'caching',
      isCached ? 'an answer came from a cache' : `Cache-Control became ${headers['cache-control'] ?? 'nothing'}`,
      'cache nothing of the service, and pass Cache-Control on: answers hold tokens',
    );
  else found.good('caching', 'none');
}

function sameCookie(one: string, other: string): boolean {
  const parts = (cookie: string) =>
    cookie
      .toLowerCase()
      .split(';')
      .map((part) => part.trim())
      .sort()
      .join(';');
  return parts(one) === parts(other);
}

/** Checks the headers that protect pages. */
async function ofPage(found: Findings, url: string, ask: Ask): Promise<void> {
  const page = await ask(`${url}/sign-in`, { method: 'GET', headers: { Accept: 'text/html' }, maxBytes: 0 });
  if (page.kind === 'failed') return found.wrong('pages', `/sign-in: ${page.problem}`, REACH);
  const { headers, counts } = page;
  const policy = String(headers['content-security-policy'] ?? '');
  const policyCount = counts['content-security-policy'] ?? 0;
  if (policyCount !== 1 || /form-action/.test(policy))
    found.wrong(
      'Content-Security-Policy',
      policyCount === 0 ? 'is missing' : 'the proxy adds another',
      'pass the service’s header on, and add none: with form-action, browsers block the redirect after Allow',
    );
  else found.good('Content-Security-Policy', 'the service’s own');
  if (!url.startsWith('https:')) return;
  const strict = String(headers['strict-transport-security'] ?? '');
  if ((counts['strict-transport-security'] ?? 0) === 0)
    found.wrong('HSTS', 'Strict-Transport-Security is missing', 'pass the header on');
  else if ((counts['strict-transport-security'] ?? 0) > 1)
    found.warn('HSTS', 'Strict-Transport-Security comes twice, and browsers read the first', 'let the proxy add none');
  else found.good('HSTS', strict);
}

/** Checks that a body of the permitted size reaches the service, and that the answer is the service's own. */
async function ofBodies(found: Findings, url: string, ask: Ask): Promise<void> {
  const body = `grant_type=doctor&padding=${'x'.repeat(BODY_BYTES)}`;
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': String(body.length),
    'User-Agent': 'valetkey doctor',
  };
  const answer = await ask(`${url}/api/auth/oauth/token`, { method: 'POST', headers, body, maxBytes: 10_000 });
  if (answer.kind === 'answered' && answer.status === 400 && objectIn(answer.body)?.['error'] !== undefined)
    return found.good('bodies', `a body of ${BODY_BYTES / 1000} KB arrives`);
  const what = answer.kind === 'failed' ? answer.problem : `${answer.status}`;
  found.wrong(
    'bodies',
    `the service does not answer a body of ${BODY_BYTES / 1000} KB (${what})`,
    'let the proxy accept bodies of 64 KiB (nginx: client_max_body_size 64k), and pass the service’s errors on unchanged',
  );
}

/** Checks that secrets sent over plain http fail, so that their sender notices. */
async function ofPlainHttp(found: Findings, url: string, is: AddressParts['is'], ask: Ask): Promise<void> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:') return;
  const path = { app: '/api/auth/oauth/token', api: '/v2/me', operator: '/v1/status' }[is];
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '0' };
  const question = is === 'app' ? { method: 'POST', headers, body: '' } : { method: 'GET', headers: {} };
  const answer = await ask(`http://${hostname}${path}`, { ...question, maxBytes: 1000 });
  const refused = { app: '/api/ and /oauth2/', api: '/v2/', operator: '/v1/' }[is];
  const remedy = `on port 80, refuse ${refused}: a program that sends secrets there should fail`;
  if (answer.kind === 'failed') found.good('plain http', `not answered: ${answer.problem}`);
  else if (answer.status >= 300 && answer.status < 400)
    found.warn('plain http', 'programs’ requests are redirected to https after they were sent in the clear', remedy);
  else if (answer.status === 401 || (answer.status === 400 && !/plain http/.test(answer.body) && isOurs(answer)))
    found.wrong('plain http', 'the service answers requests that were sent in the clear', remedy);
  else found.good('plain http', `refused with ${answer.status}`);
}

function isOurs({ headers }: Answered): boolean {
  return headers['x-request-id'] !== undefined;
}
