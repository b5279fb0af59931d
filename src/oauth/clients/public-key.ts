/** Public keys that client assertions are verified with (RFC 7517 §4), and the algorithms of each. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { isReadable } from '../readable-text.ts';
import type { PublicKey } from './client.ts';

/**
 * The algorithms of each kind of key; elliptic keys are named by their curve (RFC 7518 §3.4, RFC 8037 §3.1). All are
 * asymmetric.
 */
const ALGORITHMS_OF: Readonly<Record<string, readonly string[]>> = {
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
  RSA: ['PS256', 'PS384', 'PS512', 'RS256'],
  // EdDSA is the earlier name of Ed25519 (RFC 9864 §2.2), so a key for one also serves for the other.
  Ed25519: ['Ed25519', 'EdDSA'],
};

/** The signature algorithms that assertions may use. */
export const ASSERTION_ALGORITHMS: readonly string[] = Object.values(ALGORITHMS_OF).flat();

const CURVES = Object.keys(ALGORITHMS_OF).filter((name) => name !== 'RSA');

/** Members that only a private key has (RFC 7518 §6.2.2, §6.3.2; `priv` of AKP, draft-ietf-cose-dilithium). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** Maximum length of a key's id (RFC 7517 §4.5), which the audit trail names. */
const MAX_KID_CHARACTERS = 255;

/** Maximum number of keys of a client: where an assertion has no `kid`, each of them may be tried. */
export const MAX_KEYS = 5;

/** The reason, for the operator, why a key must not be published; null for a public key, and for a value that is no key. */
export function secretKeyProblem(key: PublicKey): string | null {
  if (key.kty === 'oct') return 'it is a symmetric key, and a client proves itself with a private key of its own';
  return PRIVATE_MEMBERS.some((member) => member in key)
    ? 'it is a private key, which must stay with the app: give its public part'
    : null;
}

/** The reason, for the operator, why a value cannot be a client's public key; null if it can. */
export function publicKeyProblem(key: PublicKey): string | null {
  if (key.kty !== 'EC' && key.kty !== 'RSA' && key.kty !== 'OKP') return 'its kty must be EC, RSA or OKP';
  const secret = secretKeyProblem(key);
  if (secret) return secret;
  if (key.kid !== undefined && (typeof key.kid !== 'string' || key.kid.length > MAX_KID_CHARACTERS))
    return `its kid must be a text of at most ${MAX_KID_CHARACTERS} characters`;
  // The id appears in the audit trail and in lists.
  if (key.kid !== undefined && !isReadable(key.kid, 'label')) return 'its kid has characters that cannot be printed';
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

/** The algorithms for a key of this kind; undefined when there is none. */
function algorithmsFor({ kty, crv }: PublicKey): readonly string[] | undefined {
  return ALGORITHMS_OF[kty === 'RSA' ? kty : String(crv)];
}

/** Returns the algorithms that an assertion by a key may use: all for its kind, unless the key names one. */
export function algorithmsOf(key: PublicKey): string[] {
  const fitting = algorithmsFor(key) ?? [];
  return key.alg === undefined || key.alg === 'Ed25519' || key.alg === 'EdDSA' ? [...fitting] : [key.alg];
}

/** Returns the key as Node.js verifies with it. Throws if it cannot be read. */
export function keyObject(key: PublicKey): KeyObject {
  return createPublicKey({ key, format: 'jwk' });
}
