/**
 * Client assertions (`private_key_jwt`, RFC 7523 §2.2 and §3): a client proves itself with a key that never leaves it.
 * What is decided here is everything but the replay, which one write decides.
 */
import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import type { Client, PublicKey } from './client.ts';
import { invalidClient, type Refusal } from './error.ts';

/** The one value of `client_assertion_type` (RFC 7523 §2.2). */
export const CLIENT_ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** What keys may sign with: elliptic ones by their curve (RFC 7518 §3.4, RFC 8037 §3.1). None is symmetric. */
const ALGORITHMS_OF: Readonly<Record<string, readonly string[]>> = {
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
  RSA: ['PS256', 'PS384', 'PS512', 'RS256'],
  // The earlier name of Ed25519 is EdDSA (RFC 9864 §2.2): a key for one is for the other.
  Ed25519: ['Ed25519', 'EdDSA'],
};

/** The signature algorithms that assertions may use. */
export const ASSERTION_ALGORITHMS: readonly string[] = Object.values(ALGORITHMS_OF).flat();

const CURVES = Object.keys(ALGORITHMS_OF).filter((name) => name !== 'RSA');

/** What only a private key has (RFC 7518 §6.2.2, §6.3.2). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** How many keys a client may have. */
export const MAX_KEYS = 5;

/** An assertion that was good: its replay mark, which must be used only once until it expires (ms). */
export type UsedAssertion = { readonly digest: Buffer; readonly expiresAt: number };

const MOST_CHARACTERS = 8192;
/** An assertion is for one request: nobody needs one that lives longer, and its replay mark is kept as long (s). */
const MOST_LIFETIME = 600;
/** The client's clock may be so far from ours (s). */
const CLOCK_TOLERANCE = 30;

/** Loaded with the first assertion: many installations see none, and it takes 1 MB of an idle process. */
const jose = () => import('jose');

/** The client that an assertion says it is from (RFC 7523 §3: `sub`), unproven; undefined when it cannot be read. */
export async function claimedClientId(assertion: string): Promise<string | undefined> {
  if (assertion.length > MOST_CHARACTERS) return undefined;
  const { decodeJwt } = await jose();
  try {
    const sub: unknown = decodeJwt(assertion).sub;
    return typeof sub === 'string' ? sub : undefined;
  } catch {
    return undefined;
  }
}

/** Verifies an assertion against a client's keys. `audiences` are the names this service goes by; `now` in ms. */
export async function verifyClientAssertion(
  client: Client,
  assertion: string,
  audiences: readonly string[],
  now: number,
): Promise<UsedAssertion | Refusal> {
  const { decodeProtectedHeader, jwtVerify } = await jose();
  let reason = 'the client has no public key';
  for (const key of candidates(client.keys, () => decodeProtectedHeader(assertion).kid)) {
    try {
      const { payload } = await jwtVerify(assertion, keyObject(key), {
        algorithms: algorithmsOf(key),
        issuer: client.id,
        subject: client.id,
        audience: [...audiences],
        requiredClaims: ['exp', 'jti'],
        clockTolerance: CLOCK_TOLERANCE,
        currentDate: new Date(now),
      });
      const [exp, jti] = [payload.exp as number, payload.jti as unknown];
      if (typeof jti !== 'string' || jti === '') return invalidClient('the client assertion has no jti');
      // One that is good elsewhere, too, could be used here by whoever it was sent to there.
      if (![payload.aud].flat().every((name) => audiences.includes(String(name))))
        return invalidClient('the client assertion is for others as well');
      if (exp * 1000 > now + (MOST_LIFETIME + CLOCK_TOLERANCE) * 1000)
        return invalidClient(`the client assertion lives longer than ${MOST_LIFETIME} s`);
      return {
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

/** Why a value cannot be a client's public key, in words for the operator; null when it can. */
export function publicKeyProblem(key: PublicKey): string | null {
  if (key.kty !== 'EC' && key.kty !== 'RSA' && key.kty !== 'OKP') return 'its kty must be EC, RSA or OKP';
  if (PRIVATE_MEMBERS.some((member) => member in key))
    return 'it is a private key, which must stay with the app: give its public part';
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

/** The key that the assertion names by its `kid`, or all where it names none, or none that can be read. */
function candidates(keys: readonly PublicKey[], decodeKid: () => string | undefined): readonly PublicKey[] {
  let kid: string | undefined;
  try {
    kid = decodeKid();
  } catch {
    return keys;
  }
  return kid === undefined ? keys : keys.filter((key) => key.kid === undefined || key.kid === kid);
}

/** What a key may sign with, or undefined when it is of no kind that can. */
function algorithmsFor({ kty, crv }: PublicKey): readonly string[] | undefined {
  return ALGORITHMS_OF[kty === 'RSA' ? kty : String(crv)];
}

/** Those of an assertion by a key: all that fit, unless the key is for a certain one. */
function algorithmsOf(key: PublicKey): string[] {
  const fitting = algorithmsFor(key) ?? [];
  return key.alg === undefined || key.alg === 'Ed25519' || key.alg === 'EdDSA' ? [...fitting] : [key.alg];
}

function keyObject(key: PublicKey): KeyObject {
  return createPublicKey({ key, format: 'jwk' });
}
