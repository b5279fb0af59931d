/**
 * Tests the setup of an identity provider as far as this machine can: its registration, the sign-in methods, and its sign-in
 * address's response to a real sign-in request.
 *
 * The request goes only to that address, and follows no redirect. The cookie of the sign-in request is discarded, so that a
 * reader of the product's log cannot finish the sign-in.
 */
import { verifiedEmail } from '../../accounts/people/account.ts';
import type { IdentityProvider } from '../../accounts/people/identity-provider.ts';
import type { IdentityStore } from '../../accounts/people/store.ts';
import type { ExternalSignIns } from '../../accounts/providers/external-sign-ins.ts';
import { isLoopback } from '../../oauth/clients/loopback.ts';
import { certificateRemedy } from './certificate-remedy.ts';
import type { IdentityProviderRegistry } from './identity-provider-registry.ts';

/** The result of one GET, as `process/request-to-configured-address.ts` returns it. Times in ms since the epoch. */
export type SignInAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly location: string | null;
      readonly date: number | null;
      readonly at: number;
      readonly certificateEndsAt: number | null;
    }
  | { readonly kind: 'failed'; readonly problem: string; readonly code: string; readonly at: number };

/** The settings that a sign-in at a provider depends on, of the running service or, if none answers, of this command. */
export type SignInSettings = {
  readonly of: 'service' | 'command';
  readonly methods: readonly string[];
  readonly signInEndpoint: string;
};

/** The parts of the test. `continueTo` is a page of ours; `now` returns ms since the epoch. */
export type ProviderTestParts = {
  readonly identityProviders: Pick<IdentityProviderRegistry, 'show'>;
  readonly people: Pick<IdentityStore, 'listSomePeople'>;
  readonly externalSignIns: Pick<ExternalSignIns, 'begin'>;
  readonly get: (url: string) => Promise<SignInAnswer>;
  readonly settings: () => Promise<SignInSettings>;
  readonly continueTo: string;
  readonly now: () => number;
};

/** One finding: `remedy` says what to do, if something is wrong or could be better. */
export type ProviderFinding = {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly remedy: string | null;
};

const DAY_MS = 24 * 3600 * 1000;
/** Maximum difference of clocks (ms): posts of a product whose clock is further ahead are refused. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;
/** A certificate that ends within this time (ms) is a finding. */
const CERTIFICATE_ENDS_SOON_MS = 14 * DAY_MS;
/** Maximum number of people whose addresses are looked at. */
const MAX_PEOPLE = 200;
/** Two live secrets for longer than this (ms) mean that a rotation was not finished. */
const ROTATION_MS = 7 * DAY_MS;

/** Looks at everything. Throws `OperatorError` when there is no such provider. */
export async function testProvider(parts: ProviderTestParts, id: string): Promise<ProviderFinding[]> {
  const provider = await parts.identityProviders.show(id);
  const settings = await parts.settings();
  return [
    ofStatus(provider),
    ofCredentials(provider, parts.now()),
    ofRights(provider),
    ofMethods(provider, settings),
    ofEndpoint(provider, settings),
    await ofAddresses(provider, parts.people),
    ...(await ofAddress(provider, parts)),
  ];
}

/** Tests each provider that people may sign in at; null for one that is not registered. */
export async function testMethods(
  parts: ProviderTestParts & { readonly identityProviders: Pick<IdentityProviderRegistry, 'list'> },
): Promise<Map<string, ProviderFinding[] | null>> {
  const registered = new Set((await parts.identityProviders.list()).map(({ id }) => id));
  const ids = (await parts.settings()).methods.filter((id) => id !== 'password');
  const tested = ids.map(async (id) => [id, registered.has(id) ? await testProvider(parts, id) : null] as const);
  return new Map(await Promise.all(tested));
}

function ofStatus({ id, status }: IdentityProvider): ProviderFinding {
  return status === 'active'
    ? good('status', 'active')
    : wrong('status', 'paused: nobody can sign in with it', `valetkey identity-provider resume ${id}`);
}

function ofCredentials({ id, secrets, keys }: IdentityProvider, now: number): ProviderFinding {
  if (keys.length > 0) return good('credentials', `${keys.length} public ${keys.length === 1 ? 'key' : 'keys'}`);
  const [newest] = secrets;
  if (!newest) return wrong('credentials', 'none', `valetkey identity-provider rotate-secret ${id}`);
  const ages = secrets.map(({ createdAt }) => age(now - createdAt)).join(' and ');
  const detail = secrets.length === 1 ? `one secret, made ${ages} ago` : `two secrets, made ${ages} ago`;
  const isForgotten = secrets.length > 1 && now - newest.createdAt > ROTATION_MS;
  const remedy = `once the product uses the newer one: valetkey identity-provider retire-secret ${id}`;
  return isForgotten
    ? wrong('credentials', detail, remedy)
    : good('credentials', detail, secrets.length > 1 ? remedy : null);
}

function ofRights({ id, rights }: IdentityProvider): ProviderFinding {
  if (!rights.includes('sign-in'))
    return wrong('rights', rights.join(', '), `valetkey identity-provider update ${id} --rights sign-in,users`);
  const mayAsk = rights.includes('users');
  return good(
    'rights',
    mayAsk ? rights.join(', ') : `${rights.join(', ')}: it may not request anything about its users`,
  );
}

function ofMethods({ id, ownIds }: IdentityProvider, { of, methods }: SignInSettings): ProviderFinding {
  const named = methods.join(',');
  const detail =
    of === 'service'
      ? `VALETKEY_SIGN_IN_METHODS is ${named} for the running service`
      : `no service answers, and VALETKEY_SIGN_IN_METHODS is ${named} for this command`;
  if (!methods.includes(id))
    return wrong(
      'sign-in methods',
      `${detail}, and does not name it`,
      `set it to ${id}${ownIds ? '' : ` or ${named},${id}`} for serve, and restart`,
    );
  if (ownIds && methods.includes('password'))
    return wrong('sign-in methods', `${detail}, and with --own-ids there is no password`, `set it to ${id} alone`);
  return good('sign-in methods', detail);
}

function ofEndpoint({ signInUrl }: IdentityProvider, { signInEndpoint }: SignInSettings): ProviderFinding {
  const detail = `its server posts to ${signInEndpoint}`;
  const isApart = isLoopback(new URL(signInEndpoint).hostname) && !isLoopback(new URL(signInUrl).hostname);
  return isApart
    ? wrong(
        'sign-in endpoint',
        `${detail}, which only this machine reaches`,
        'set VALETKEY_APP_URL to the public address',
      )
    : good('sign-in endpoint', detail);
}

/** A product that never sends `email_verified` notices nothing: its users have addresses, but no app gets one. */
async function ofAddresses({ id }: IdentityProvider, people: ProviderTestParts['people']): Promise<ProviderFinding> {
  const some = await people.listSomePeople(id, MAX_PEOPLE);
  const addressed = some.filter(({ email }) => email !== null);
  if (addressed.length === 0) return good('email addresses', 'none yet');
  const verified = addressed.filter((account) => verifiedEmail(account) !== null).length;
  const detail = `${verified} of ${addressed.length} are verified`;
  return good('email addresses', detail, verified === 0 ? UNVERIFIED : null);
}

const UNVERIFIED =
  'apps get only verified addresses: send email_verified with email, true if the product has verified it';

async function ofAddress(provider: IdentityProvider, parts: ProviderTestParts): Promise<ProviderFinding[]> {
  const begun = parts.externalSignIns.begin(provider, {
    continueTo: parts.continueTo,
    demandsLogin: false,
    maxAge: null,
  });
  if (!begun) throw new Error('a sign-in request of our own is too long');
  const url = new URL(provider.signInUrl);
  url.searchParams.append('sign_in_request', begun.signInRequest);
  const answer = await parts.get(url.href);
  if (answer.kind === 'failed') return [ofSilence(provider, url, answer)];
  return [ofAnswer(provider, url, begun.signInRequest, answer), ...ofTls(url, answer, parts.now()), ofClock(answer)];
}

function ofSilence(
  provider: IdentityProvider,
  { hostname }: URL,
  { problem, code, at }: Extract<SignInAnswer, { kind: 'failed' }>,
): ProviderFinding {
  const shown = { hostname, by: 'the product', to: 'browsers' } as const;
  const otherwise = `see that ${provider.signInUrl} answers, or change it: ${updateUrl(provider)}`;
  return wrong('sign-in address', problem, certificateRemedy(code, at, shown) ?? otherwise);
}

type Answered = Extract<SignInAnswer, { kind: 'answered' }>;

function ofAnswer(provider: IdentityProvider, url: URL, signInRequest: string, answer: Answered): ProviderFinding {
  const { status, location } = answer;
  const name = 'sign-in address';
  if (status >= 500) return wrong(name, `answers ${status}`, 'see the log of the product at this time');
  if (status === 404 || status === 410) return wrong(name, `answers ${status}: nothing is there`, updateUrl(provider));
  if (status >= 400 || status < 200)
    return wrong(name, `answers ${status} to a browser that is not signed in`, 'show the sign-in page there');
  if (status < 300)
    return good(
      name,
      `answers ${status}`,
      'keep sign_in_request in the session, and redirect to an address without it',
    );
  const target = location === null ? null : URL.parse(location, url.href);
  if (!target)
    return wrong(name, `answers ${status} without an address to go to`, 'see the log of the product at this time');
  const where = `${target.origin}${target.pathname}`.replaceAll(signInRequest, '…');
  const detail = `answers ${status}, to ${where}`;
  if (url.protocol === 'https:' && target.protocol !== 'https:')
    return wrong(name, detail, 'redirect to https only: others could read and change the request on its way');
  if (target.origin !== url.origin && target.href.includes(signInRequest))
    return wrong(
      name,
      `${detail}, with sign_in_request`,
      'keep sign_in_request in the session, and out of the addresses of other sites',
    );
  return good(name, detail);
}

function ofTls(url: URL, { certificateEndsAt }: Answered, now: number): ProviderFinding[] {
  if (url.protocol !== 'https:') return [good('TLS', 'none: a local address, for trials only')];
  if (certificateEndsAt === null) return [good('TLS', 'trusted')];
  const left = certificateEndsAt - now;
  const detail = `trusted, for ${age(left)} more`;
  return [left < CERTIFICATE_ENDS_SOON_MS ? wrong('TLS', detail, 'renew the certificate') : good('TLS', detail)];
}

/** RFC 9110 §6.6.1: to a second. */
function ofClock({ date, at }: Answered): ProviderFinding {
  if (date === null) return good('clock', 'unknown: the answer has no Date', 'compare the two clocks by hand');
  // The header has no fractions of a second.
  const difference = Math.trunc((date - at) / 1000);
  const detail =
    difference === 0 ? 'the same' : `${Math.abs(difference)} s ${difference > 0 ? 'ahead of' : 'behind'} ours`;
  return Math.abs(date - at) > MAX_CLOCK_DIFFERENCE_MS
    ? wrong(
        'clock',
        detail,
        'set both clocks by NTP: a sign-in in the future is refused, and an old one is asked for again',
      )
    : good('clock', detail);
}

function updateUrl({ id }: IdentityProvider): string {
  return `valetkey identity-provider update ${id} --sign-in-url ADDRESS`;
}

function age(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  if (days > 0) return days === 1 ? '1 day' : `${days} days`;
  const hours = Math.floor(ms / 3_600_000);
  return hours > 0 ? `${hours} h` : `${Math.max(0, Math.floor(ms / 60_000))} min`;
}

function good(name: string, detail: string, remedy: string | null = null): ProviderFinding {
  return { name, ok: true, detail, remedy };
}

function wrong(name: string, detail: string, remedy: string): ProviderFinding {
  return { name, ok: false, detail, remedy };
}
