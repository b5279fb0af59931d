/**
 * Secrets that a client, a resource server or an identity provider proves itself with. They are 256 random bits, of which a
 * plain SHA-256 tells nothing. So they are checked without a root key.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { withChecksum } from './credential.ts';

/**
 * The kind of owner of a secret, as in its text: `cs` for a client, `rs` for a resource server, `ps` for an identity
 * provider, `ok` for an operator, whose secret is called a key.
 */
export type SecretKind = 'cs' | 'rs' | 'ps' | 'ok';

/** The stored form of a secret: the SHA-256 of its text (32 bytes), and the time when it was made (ms). */
export type StoredSecret = { readonly digest: Buffer; readonly createdAt: number };

/**
 * Makes a secret: its text, which is shown once, and what is stored of it. `now` in ms; `bits` are 256 bits that nobody can
 * guess.
 */
export function makeSecret(
  prefix: string,
  kind: SecretKind,
  now: number,
  bits: Buffer = randomBytes(32),
): { text: string; secret: StoredSecret } {
  const text = withChecksum(`${prefix}_${kind}_${bits.toString('base64url')}`);
  return { text, secret: { digest: secretDigest(text), createdAt: now } };
}

/** The one of the secrets whose text was presented, or null; in the same time whether there are any or not. */
export function secretOf(secrets: readonly StoredSecret[], presented: string): StoredSecret | null {
  const candidates = secrets.length > 0 ? secrets : [NO_SECRET];
  const digest = secretDigest(presented);
  return candidates.filter((secret) => timingSafeEqual(digest, secret.digest))[0] ?? null;
}

/** A use of a secret is noted again after this time (ms): people are told the last use to a minute. */
export const SECRET_USE_IS_NEWS_AFTER_MS = 60_000;

/** The key under which uses are noted; for a secret it is its digest. */
export type UseMark = Pick<StoredSecret, 'digest'>;

/**
 * The mark for something that proves a client and is not a secret of ours, made of names that nothing else has together. It
 * is for the operator, and proves nothing.
 */
export function useMark(...names: readonly string[]): UseMark {
  return { digest: secretDigest(JSON.stringify(names)) };
}

const NO_SECRET: StoredSecret = { digest: randomBytes(32), createdAt: 0 };

/** Returns the stored digest of a secret's text. */
export function secretDigest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
