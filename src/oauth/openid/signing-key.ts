/** The keys that sign ID tokens: RSA key pairs. The private key is sealed under a root key, so a stolen database signs nothing. */
import { createPrivateKey, createPublicKey, generateKeyPair, hash, type KeyObject } from 'node:crypto';
import type { Keyring } from '../keys/keyring.ts';
import { NEVER, seal, unseal } from '../keys/sealed.ts';

/** The members of a public RSA key (RFC 7518 §6.3.1). */
export type RsaPublicKey = { readonly kty: 'RSA'; readonly n: string; readonly e: string };

/** A private key as it is stored, and the root key that it is sealed under. */
export type SealedKey = { readonly text: string; readonly rootKeyId: number };

/** A key that signs, will sign next, or signed before. Times in ms. */
export type SigningKey = {
  /** The `kid` of its ID tokens: the thumbprint of the public key (RFC 7638), which tells nothing of the private one. */
  readonly id: string;
  readonly state: 'next' | 'signing' | 'former';
  readonly publicKey: RsaPublicKey;
  /** The sealed private key and the id of its root key. Both are null for a former key, which never signs again. */
  readonly sealedKey: string | null;
  readonly rootKeyId: number | null;
  readonly createdAt: number;
  /** When it began to sign; null for the next key. */
  readonly signsSince: number | null;
  /** When it leaves the key set; null until another key signs. */
  readonly dropAt: number | null;
};

/** Two keys that begin together. */
export type SigningKeyPair = { readonly signing: SigningKey; readonly next: SigningKey };

/** Size of a key in bits (RFC 7518 §3.3 demands 2048). */
const MODULUS_BITS = 2048;

/** Makes a key that waits for its turn, off the event loop. `now` in ms. */
export async function makeSigningKey(keyring: Keyring, now: number): Promise<SigningKey> {
  const made = await generate();
  const publicKey = publicPart(made.publicKey);
  const { currentKeyId } = keyring;
  return {
    id: thumbprint(publicKey),
    state: 'next',
    publicKey,
    sealedKey: seal(keyring, 'signing-key', made.privateKey.export({ format: 'der', type: 'pkcs8' }), NEVER),
    rootKeyId: currentKeyId,
    createdAt: now,
    signsSince: null,
    dropAt: null,
  };
}

/** Makes a key that signs at once, and the next one. `now` in ms. */
export async function makeSigningKeys(keyring: Keyring, now: number): Promise<SigningKeyPair> {
  const [first, next] = await Promise.all([makeSigningKey(keyring, now), makeSigningKey(keyring, now)]);
  return { signing: { ...first, state: 'signing', signsSince: now }, next };
}

/**
 * Opens the private key. Returns null if the root key is not in the ring, or the stored text is not this key: another key
 * never signs in its place.
 */
export function openSigningKey(keyring: Keyring, { id, publicKey, sealedKey }: SigningKey): KeyObject | null {
  const opened = sealedKey === null ? null : unseal(keyring, 'signing-key', sealedKey);
  if (opened === null) return null;
  const key = createPrivateKey({ key: opened.content, format: 'der', type: 'pkcs8' });
  const itsId = thumbprint(publicPart(createPublicKey(key)));
  return itsId === id && itsId === thumbprint(publicKey) ? key : null;
}

/** Seals the private key under the current root key; null if it is so already, or cannot be opened. */
export function resealSigningKey(keyring: Keyring, { sealedKey, rootKeyId }: SigningKey): SealedKey | null {
  const { currentKeyId } = keyring;
  if (sealedKey === null || rootKeyId === currentKeyId) return null;
  const opened = unseal(keyring, 'signing-key', sealedKey);
  return opened && { text: seal(keyring, 'signing-key', opened.content, NEVER), rootKeyId: currentKeyId };
}

/** A key as a key set publishes it. */
export type PublishedKey = ReturnType<typeof publishedKey>;

/** Returns the key as a key set publishes it (RFC 7517 §4). */
export function publishedKey({ id, publicKey: { kty, n, e } }: SigningKey) {
  return { kty, use: 'sig', alg: 'RS256', kid: id, n, e } as const;
}

function generate(): Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }> {
  return new Promise((resolve, reject) =>
    generateKeyPair('rsa', { modulusLength: MODULUS_BITS }, (error, publicKey, privateKey) =>
      error ? reject(error) : resolve({ publicKey, privateKey }),
    ),
  );
}

function publicPart(key: KeyObject): RsaPublicKey {
  const { n, e } = key.export({ format: 'jwk' }) as { n: string; e: string };
  return { kty: 'RSA', n, e };
}

/** RFC 7638 §3: the required members, in the order of their names. */
function thumbprint({ e, kty, n }: RsaPublicKey): string {
  return hash('sha256', JSON.stringify({ e, kty, n }), 'base64url');
}
