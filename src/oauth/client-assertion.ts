/**
 * Client assertions (`private_key_jwt`, RFC 7523 §2.2 and §3): a client proves itself with a key that never leaves it.
 * Everything is decided here but whether an assertion is replayed: one write of the store decides that.
 */
import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import type { Client, PublicKey } from './client.ts';
import { invalidClient, type Refusal, Unavailable } from './error.ts';

/** The one value of `client_assertion_type` (RFC 7523 §2.2). */
export const CLIENT_ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/**
 * The algorithms of each kind of key; elliptic keys are named by their curve (RFC 7518 §3.4, RFC 8037 §3.1). All are
 * asymmetric.
 */
const ALGORITHMS_OF: Readonly<Record<string, readonly string[]>> = {
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
  RSA: ['PS256', 'PS384', 'PS512', 'RS256'],
  // EdDSA is the earlier name of Ed25519 (RFC 9864 §2.2), so a key for one is good for the other.
  Ed25519: ['Ed25519', 'EdDSA'],
};

/** The signature algorithms that assertions may use. */
export const ASSERTION_ALGORITHMS: readonly string[] = Object.values(ALGORITHMS_OF).flat();

const CURVES = Object.keys(ALGORITHMS_OF).filter((name) => name !== 'RSA');

/** Members that only a private key has (RFC 7518 §6.2.2, §6.3.2). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** Maximum length of a key's id (RFC 7517 §4.5), which the audit trail names. */
const MAX_KID_CHARACTERS = 255;

/** Maximum number of keys of a client: where an assertion has no `kid`, each of them may be tried. */
export const MAX_KEYS = 5;

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
 * What became of a mark. `first`: nobody used the assertion before. `again`: somebody did. `full`: the client has as many
 * marks as it may. `cleared`: marks of the client are cleared up to a later time, as happens when the clock steps back, so
 * that it is not known whether it was used.
 */
export type AssertionUse = 'first' | 'again' | 'full' | 'cleared';

/**
 * Maximum time (ms) from the expiry of an assertion to the time up to which its client's marks were cleared. A later time
 * comes from a clock that was far ahead: it does not count, because it would lock the client out until then.
 */
export const CLEARED_COUNTS_FOR_MS = 24 * 3_600_000;

/**
 * Whether a store takes no new mark that expires at a time (ms), because it has cleared the client's marks up to
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
        'this client assertion cannot be told from one that was used: try again later',
        'the clock stepped back behind assertions that were forgotten as expired: set the clock right',
        RETRY_WHEN_CLEARED,
      );
}

/** Refuses an assertion from before a restore: the database has lost which assertions were used before it. */
function perhapsUsed(): Refusal {
  return new Unavailable(
    'this client assertion cannot be told from one that was used: make another one and try again',
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

/** Who may sign an assertion: a client, or an identity provider. */
export type Signer = Pick<Client, 'id' | 'keys' | 'assertionAudience'>;

/**
 * Verifies an assertion against a client's keys. `audiences` are the names of this service, the issuer first; `now` in ms.
 * `restoredAt` (ms) is when the database was last restored, or null: it has lost which assertions were used before that.
 */
export async function verifyClientAssertion(
  client: Signer,
  assertion: string,
  audiences: readonly string[],
  now: number,
  restoredAt: number | null,
): Promise<VerifiedAssertion | Refusal> {
  const { decodeProtectedHeader, jwtVerify } = await jose();
  if (client.keys.length === 0) return invalidClient('the client has no public key');
  let header: ProtectedHeader;
  try {
    header = decodeProtectedHeader(assertion);
  } catch {
    return invalidClient('the client assertion is refused: its header cannot be read');
  }
  if (!isOfClientAuthentication(header))
    return invalidClient('the client assertion is a JWT of another kind, by its typ');
  // OAuth 2.1 §2.4 knows the issuer alone, RFC 9126 §2 the endpoints as well.
  const accepted = client.assertionAudience === 'issuer' ? audiences.slice(0, 1) : audiences;
  let reason = noKey(header);
  for (const key of candidates(client.keys, header)) {
    try {
      const { payload } = await jwtVerify(assertion, keyObject(key), {
        algorithms: algorithmsOf(key),
        issuer: client.id,
        subject: client.id,
        audience: [...accepted],
        requiredClaims: ['exp', 'jti'],
        clockTolerance: CLOCK_TOLERANCE,
        currentDate: new Date(now),
      });
      const { exp = 0, iat, jti } = payload as { exp?: number; iat?: number; jti?: unknown };
      if (typeof jti !== 'string' || jti === '') return invalidClient('the client assertion has no jti');
      // An assertion with a second audience could be used here by that audience.
      if (![payload.aud].flat().every((name) => accepted.includes(String(name))))
        return invalidClient('the client assertion is for others as well');
      if ((iat ?? 0) * 1000 > now + CLOCK_TOLERANCE * 1000)
        return invalidClient('the client assertion is issued in the future');
      if (exp * 1000 > now + (MAX_LIFETIME + CLOCK_TOLERANCE) * 1000)
        return invalidClient(`the client assertion lives longer than ${MAX_LIFETIME} s`);
      // The client's clock may be ahead of ours.
      const madeAt = (iat ?? exp - MAX_LIFETIME) - CLOCK_TOLERANCE;
      if (restoredAt !== null && madeAt * 1000 <= restoredAt) return perhapsUsed();
      return {
        key,
        clientId: client.id,
        digest: hash('sha256', JSON.stringify([client.id, jti]), 'buffer'),
        // A NumericDate may have a fraction (RFC 7519 §2), and a time of ours has none.
        expiresAt: Math.ceil((exp + CLOCK_TOLERANCE) * 1000),
      };
    } catch (error) {
      // The library's messages name claims and never values, but for the one about extensions that it does not know.
      const { code, message } = error as Error & { code?: string };
      reason = `the client assertion is refused: ${code === 'ERR_JOSE_NOT_SUPPORTED' ? code : message}`;
    }
  }
  return invalidClient(reason);
}

/**
 * Whether its `typ`, if it has one, is for this use: a JWT that was signed for another use must not be accepted (RFC 8725
 * §3.11).
 */
function isOfClientAuthentication({ typ }: ProtectedHeader): boolean {
  if (typ === undefined) return true;
  // RFC 7515 §4.1.9: a media type, whatever its case, with or without "application/".
  return typeof typ === 'string' && TYPES.includes(typ.toLowerCase().replace(/^application\//, ''));
}

/** Why a key must not be published, in words for the operator; null for a public key, and for what is no key. */
export function secretKeyProblem(key: PublicKey): string | null {
  if (key.kty === 'oct') return 'it is a symmetric key, and a client proves itself with a private key of its own';
  return PRIVATE_MEMBERS.some((member) => member in key)
    ? 'it is a private key, which must stay with the app: give its public part'
    : null;
}

/** Why a value cannot be a client's public key, in words for the operator; null when it can. */
export function publicKeyProblem(key: PublicKey): string | null {
  if (key.kty !== 'EC' && key.kty !== 'RSA' && key.kty !== 'OKP') return 'its kty must be EC, RSA or OKP';
  const secret = secretKeyProblem(key);
  if (secret) return secret;
  if (key.kid !== undefined && (typeof key.kid !== 'string' || key.kid.length > MAX_KID_CHARACTERS))
    return `its kid must be a text of at most ${MAX_KID_CHARACTERS} characters`;
  const fitting = algorithmsFor(key);
  if (!fitting) return `its crv must be one of ${CURVES.join(', ')}`;
  if (key.use !== undefined && key.use !== 'sig') return 'its use must be sig';
  if (key.alg !== undefined && !fitting.includes(key.alg)) return `its alg must be one of ${fitting.join(', ')}`;
  try {
    const { asymmetricKeyDetails } = keyObject(key);
    return (asymmetricKeyDetails?.modulusLength ?? 2048) < 2048 ? 'an RSA key has at least 2048 bits' : null;
  } catch {
    return 'it cannot be read as a JSON Web Key (RFC 7517)';
  }
}

/**
 * The keys that may have signed: the one that the assertion's `kid` names (RFC 7515 §4.1.4), or without a `kid` those for
 * its `alg`. A client has few keys (`MAX_KEYS`), so an assertion costs few checks of a signature.
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

/** The algorithms for a key of this kind; undefined when there is none. */
function algorithmsFor({ kty, crv }: PublicKey): readonly string[] | undefined {
  return ALGORITHMS_OF[kty === 'RSA' ? kty : String(crv)];
}

/** The algorithms that an assertion by a key may use: all for its kind, unless the key names one. */
function algorithmsOf(key: PublicKey): string[] {
  const fitting = algorithmsFor(key) ?? [];
  return key.alg === undefined || key.alg === 'Ed25519' || key.alg === 'EdDSA' ? [...fitting] : [key.alg];
}

function keyObject(key: PublicKey): KeyObject {
  return createPublicKey({ key, format: 'jwk' });
}
