/**
 * Secrets that a client, a resource server or an identity provider proves itself with. Of 256 random bits a plain SHA-256
 * tells nothing, so no root key stands between a secret and its check, and none is needed for it.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { withChecksum } from './credential.ts';

/** Whose secret it is; also in its text, `cs` for a client's, `rs` for a resource server's, `ps` for an identity provider's. */
export type SecretKind = 'cs' | 'rs' | 'ps';

/** What is stored of a secret: the SHA-256 of its text (32 bytes), and when it was made (ms). */
export type StoredSecret = { readonly digest: Buffer; readonly createdAt: number };

/** Makes a secret: its text, which is shown once, and what is stored of it. `now` in ms. */
export function makeSecret(prefix: string, kind: SecretKind, now: number): { text: string; secret: StoredSecret } {
  const text = withChecksum(`${prefix}_${kind}_${randomBytes(32).toString('base64url')}`);
  return { text, secret: { digest: digestOf(text), createdAt: now } };
}

/** The one of the secrets whose text was presented, or null; in the same time whether there are any or not. */
export function secretOf(secrets: readonly StoredSecret[], presented: string): StoredSecret | null {
  const candidates = secrets.length > 0 ? secrets : [NO_SECRET];
  const digest = digestOf(presented);
  return candidates.filter((secret) => timingSafeEqual(digest, secret.digest))[0] ?? null;
}

/** A use of a secret is noted again after this time (ms): people are told the last use to a minute. */
export const SECRET_USE_IS_NEWS_AFTER_MS = 60_000;

/** What the use of something is noted under: of a secret its digest. */
export type UseMark = Pick<StoredSecret, 'digest'>;

/** The mark of what proves a client and is no secret of ours, by what tells it from all others: for the operator, and no proof. */
export function useMark(...names: readonly string[]): UseMark {
  return { digest: digestOf(JSON.stringify(names)) };
}

const NO_SECRET: StoredSecret = { digest: randomBytes(32), createdAt: 0 };

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
