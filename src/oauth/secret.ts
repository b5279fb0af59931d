/** Secrets that a client, a resource server or an identity provider proves itself with: 256 random bits, of which only a keyed digest is stored. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { withChecksum } from './credential.ts';
import { currentKey, type Keyring, mac } from './keyring.ts';

/** Whose secret it is; also in its text, `cs` for a client's, `rs` for a resource server's, `ps` for an identity provider's. */
export type SecretKind = 'cs' | 'rs' | 'ps';

/** What is stored of a secret: its keyed digest, and the root key that made it. Times in ms. */
export type StoredSecret = { readonly digest: Buffer; readonly keyId: number; readonly createdAt: number };

const PURPOSES = { cs: 'client-secret', rs: 'resource-server-secret', ps: 'identity-provider-secret' } as const;

/** Makes a secret: its text, which is shown once, and what is stored of it. `now` in ms. */
export function makeSecret(
  keyring: Keyring,
  prefix: string,
  kind: SecretKind,
  now: number,
): { text: string; secret: StoredSecret } {
  const text = withChecksum(`${prefix}_${kind}_${randomBytes(32).toString('base64url')}`);
  const digest = mac(currentKey(keyring, PURPOSES[kind]), text);
  return { text, secret: { digest, keyId: keyring.currentKeyId, createdAt: now } };
}

/** Whether the presented text is one of the secrets, in the same time whether there are any or not. */
export function isOneOf(
  keyring: Keyring,
  kind: SecretKind,
  secrets: readonly StoredSecret[],
  presented: string,
): boolean {
  const candidates = secrets.length > 0 ? secrets : [NO_SECRET];
  return candidates.filter((secret) => matches(keyring, kind, secret, presented)).length > 0;
}

const NO_SECRET: StoredSecret = { digest: randomBytes(32), keyId: -1, createdAt: 0 };

function matches(keyring: Keyring, kind: SecretKind, secret: StoredSecret, presented: string): boolean {
  const key = keyring.key(secret.keyId, PURPOSES[kind]) ?? currentKey(keyring, PURPOSES[kind]);
  return timingSafeEqual(mac(key, presented), secret.digest);
}
