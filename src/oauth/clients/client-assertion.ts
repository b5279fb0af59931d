/**
 * Client assertions (`private_key_jwt`, RFC 7523 §2.2 and §3): a client authenticates with a key that never leaves it. This
 * file decides everything except a replay, which one write of the store decides.
 */
import { hash } from 'node:crypto';
import { invalidClient, Refusal, Unavailable } from '../error.ts';
import type { Client, PublicKey } from './client.ts';
import { ASSERTION_ALGORITHMS, algorithmsOf, keyObject } from './public-key.ts';

/** The one value of `client_assertion_type` (RFC 7523 §2.2). */
export const CLIENT_ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/**
 * Maximum number of replay marks of a client. A mark is kept as long as its assertion could be used again, so a client may
 * send 1,100 assertions a second if each is good for a minute.
 */
export const MAX_MARKS = 100_000;

/** The replay mark of a good assertion: the assertion must not be used again until the mark expires (ms). */
export type UsedAssertion = { readonly clientId: string; readonly digest: Buffer; readonly expiresAt: number };

/** One that was verified, with the client's key that signed it. */
export type VerifiedAssertion = UsedAssertion & { readonly key: PublicKey };

/**
 * The result of writing a replay mark. `first`: the assertion is new. `again`: it was used before. `full`: the client
 * has the maximum number of marks. `cleared`: the client's marks are cleared up to a later time (after the clock
 * stepped back), so a use before is not known.
 */
export type AssertionUse = 'first' | 'again' | 'full' | 'cleared';

/**
 * Maximum time (ms) from the expiry of an assertion to the time up to which its client's marks were cleared. A later time
 * comes from a clock that was far ahead: it does not count, because it would lock the client out until then.
 */
export const CLEARED_COUNTS_FOR_MS = 24 * 3_600_000;

/**
 * True if a store takes no new mark that expires at a time (ms), because it has cleared the client's marks up to
 * `clearedUntil` (ms).
 */
export function isCleared(expiresAt: number, clearedUntil: number): boolean {
  return expiresAt <= clearedUntil && clearedUntil <= expiresAt + CLEARED_COUNTS_FOR_MS;
}

/** Why an assertion with a good signature proves nobody; null when it does. */
export function whyNotUsed(use: AssertionUse): Refusal | null {
  if (use === 'first') return null;
  if (use === 'again') return invalidClient('the client assertion was used before');
  return use === 'full'
    ? new Unavailable(
        'this client has used too many client assertions that have not expired: try again later',
        `the client has ${MAX_MARKS} used assertions that have not expired: it must let them expire sooner, or send fewer`,
        RETRY_WHEN_FULL,
      )
    : new Unavailable(
        'this client assertion may have been used before: try again later',
        'the clock stepped back behind assertions that were forgotten as expired: set the clock right',
        RETRY_WHEN_CLEARED,
      );
}

/** Refuses an assertion from before a restore: the database has lost which assertions were used before it. */
function perhapsUsed(): Refusal {
  return new Unavailable(
    'this client assertion may have been used before: make another one and try again',
    'the client assertion is from before the database was restored, or from soon after: one that is made in a minute works',
    CLOCK_TOLERANCE,
  );
}

/** Seconds after which another try makes sense. */
const RETRY_WHEN_FULL = 10;
const RETRY_WHEN_CLEARED = 60;

const MAX_CHARACTERS = 8192;
/** Maximum lifetime of an assertion (s). It is for one request, and its replay mark is kept as long. */
const MAX_LIFETIME = 600;
/** Maximum difference between the client's clock and ours (s). */
const CLOCK_TOLERANCE = 30;

/** The header of an assertion, which names the key that signed it. It is not verified. */
type ProtectedHeader = { readonly kid?: string; readonly alg?: string; readonly typ?: unknown };

/**
 * Accepted values of `typ`: that of most JWTs, and the one for client assertions in the revision of RFC 7523 (rfc7523bis).
 */
const TYPES: readonly unknown[] = ['jwt', 'client-authentication+jwt'];

/** Loaded with the first assertion: many installations get none, and it takes 1 MB of memory. */
const jose = () => import('jose');

/** The client that an assertion names (RFC 7523 §3: `sub`), not verified; undefined when it cannot be read. */
export async function claimedClientId(assertion: string): Promise<string | undefined> {
  if (assertion.length > MAX_CHARACTERS) return undefined;
  const { decodeJwt } = await jose();
  try {
    const sub: unknown = decodeJwt(assertion).sub;
    return typeof sub === 'string' ? sub : undefined;
  } catch {
    return undefined;
  }
}

/** The signer of an assertion: a client, or an identity provider. */
export type Signer = Pick<Client, 'id' | 'keys' | 'assertionAudience'> & { readonly jwksUri?: string | null };

/**
 * `invalid_client` for an assertion whose only fault is its key: the client has no key with its `kid` (`isUnknown`), or none
 * that made its signature. Anybody can make such an assertion.
 */
export class WrongKey extends Refusal {
  readonly isUnknown: boolean;

  constructor(detail: string, isUnknown: boolean) {
    const { code, description } = invalidClient(detail);
    super(code, description, detail);
    this.isUnknown = isUnknown;
  }
}

/**
 * Verifies an assertion; the client's keys are checked last. `audiences` are the names of this service, the issuer first;
 * `now` in ms. `restoredAt` (ms) is when the database was last restored, or null: a restore loses the marks of used
 * assertions.
 */
export async function verifyClientAssertion(
  client: Signer,
  assertion: string,
  audiences: readonly string[],
  now: number,
  restoredAt: number | null,
): Promise<VerifiedAssertion | Refusal> {
  const { decodeProtectedHeader, jwtVerify, UnsecuredJWT } = await jose();
  // A client that publishes its keys may have withdrawn all of them, and published others since.
  if (client.keys.length === 0 && !client.jwksUri) return invalidClient('the client has no public key');
  let header: ProtectedHeader;
  try {
    header = decodeProtectedHeader(assertion);
  } catch {
    return invalidClient('the client assertion is refused: its header cannot be read');
  }
  if (!isOfClientAuthentication(header))
    return invalidClient('the client assertion is a JWT of another kind, by its typ');
  if (!ASSERTION_ALGORITHMS.includes(String(header.alg)))
    return invalidClient('the client assertion is refused: its alg is not supported');
  // OAuth 2.1 §2.4 accepts only the issuer, RFC 9126 §2 also the endpoints.
  const accepted = client.assertionAudience === 'issuer' ? audiences.slice(0, 1) : audiences;
  const demands = {
    issuer: client.id,
    subject: client.id,
    audience: [...accepted],
    requiredClaims: ['exp', 'jti'],
    clockTolerance: CLOCK_TOLERANCE,
    currentDate: new Date(now),
  };
  let claims: Claims;
  try {
    claims = UnsecuredJWT.decode(unsigned(assertion, header), demands).payload as Claims;
  } catch (error) {
    return invalidClient(reasonOf(error));
  }
  const problem = claimsProblem(claims, accepted, now);
  if (problem) return invalidClient(problem);
  const { exp, iat, jti } = claims;
  let reason = noKey(header);
  for (const key of candidates(client.keys, header)) {
    try {
      await jwtVerify(assertion, keyObject(key), { algorithms: algorithmsOf(key), ...demands });
    } catch (error) {
      reason = reasonOf(error);
      continue;
    }
    // The client's clock may be ahead of ours.
    const madeAt = (iat ?? exp - MAX_LIFETIME) - CLOCK_TOLERANCE;
    if (restoredAt !== null && madeAt * 1000 <= restoredAt) return perhapsUsed();
    return {
      key,
      clientId: client.id,
      digest: hash('sha256', JSON.stringify([client.id, jti]), 'buffer'),
      // A NumericDate may have a fraction (RFC 7519 §2); our times have none.
      expiresAt: Math.ceil((exp + CLOCK_TOLERANCE) * 1000),
    };
  }
  return new WrongKey(reason, header.kid !== undefined && client.keys.every(({ kid }) => kid !== header.kid));
}

/** The claims that the library has found to be there, and of their types but for `jti`. */
type Claims = { readonly exp: number; readonly iat?: number; readonly jti: unknown; readonly aud: string | string[] };

/** The same claims under the same header without a signature, so that the library judges them before any key is known. */
function unsigned(assertion: string, header: ProtectedHeader): string {
  const [, payload, , ...more] = assertion.split('.');
  const head = Buffer.from(JSON.stringify({ ...header, alg: 'none' })).toString('base64url');
  return [head, payload, '', ...more].join('.');
}

/** Why claims are refused that the library takes; null when they are good. */
function claimsProblem({ exp, iat = 0, jti, aud }: Claims, accepted: readonly string[], now: number): string | null {
  if (typeof jti !== 'string' || jti === '') return 'the client assertion has no jti';
  // The second audience of an assertion could replay it here.
  if (![aud].flat().every((name) => accepted.includes(String(name))))
    return 'the client assertion is for others as well';
  if (iat * 1000 > now + CLOCK_TOLERANCE * 1000) return 'the client assertion is issued in the future';
  if (exp * 1000 > now + (MAX_LIFETIME + CLOCK_TOLERANCE) * 1000)
    return `the client assertion lives longer than ${MAX_LIFETIME} s`;
  return null;
}

/** The library's messages name claims and never values, but for the one about extensions that it does not know. */
function reasonOf(error: unknown): string {
  const { code, message } = error as Error & { code?: string };
  return `the client assertion is refused: ${code === 'ERR_JOSE_NOT_SUPPORTED' ? code : message}`;
}

/** True if `typ` is absent or for client authentication: a JWT for another use must not be accepted (RFC 8725 §3.11). */
function isOfClientAuthentication({ typ }: ProtectedHeader): boolean {
  if (typ === undefined) return true;
  // RFC 7515 §4.1.9: a media type, whatever its case, with or without "application/".
  return typeof typ === 'string' && TYPES.includes(typ.toLowerCase().replace(/^application\//, ''));
}

/**
 * The keys that may have signed: the one with the assertion's `kid` (RFC 7515 §4.1.4), or without a `kid` those for its `alg`.
 * A client has few keys (`MAX_KEYS`), so an assertion costs few checks of a signature.
 */
function candidates(keys: readonly PublicKey[], { kid, alg }: ProtectedHeader): readonly PublicKey[] {
  return keys.filter(
    (key) => (kid === undefined || key.kid === kid) && algorithmsOf(key).some((fitting) => fitting === alg),
  );
}

function noKey({ kid }: ProtectedHeader): string {
  const wanted = kid === undefined ? 'for its alg' : 'with its kid, and for its alg';
  return `the client assertion is refused: the client has no public key ${wanted}`;
}
