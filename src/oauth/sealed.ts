/**
 * Sealed values: what this service hands out to get back later, so that it need not store it, and what it stores so that
 * the database alone does not tell it. Nobody else can read or make one (AES-256-GCM, under a key of the day on which it expires).
 * What expires is of one history of the installation: a restore forgets who used it, so that nothing from before is opened.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { type Keyring, mac } from './keyring.ts';

/** What is sealed, by the key that does it. */
export type SealPurpose = 'request' | 'device' | 'sign-in' | 'password' | 'foreign-hash' | 'stream';

/** The expiry of what is stored: it does not expire (ms). */
export const NEVER = 2 ** 48 - 1;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + 4 + 6;
const VERSION = 1;
const DAY_MS = 24 * 3600 * 1000;

/** Seals a text or bytes until `expiresAt` (ms); base64url. A random nonce is safe for 2^32 values a key, so a day (NIST SP 800-38D §8.3). */
export function seal(keyring: Keyring, purpose: SealPurpose, content: string | Buffer, expiresAt: number): string {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(VERSION, 0);
  header.writeUInt32BE(keyring.currentKeyId, 1);
  header.writeUIntBE(expiresAt, 5, 6);
  const nonce = randomBytes(NONCE_BYTES);
  const key = keyOfDay(keyring, keyring.currentKeyId, purpose, expiresAt) as KeyObject;
  const cipher = createCipheriv(CIPHER, key, nonce);
  cipher.setAAD(header);
  const sealed = [cipher.update(typeof content === 'string' ? Buffer.from(content) : content), cipher.final()];
  return Buffer.concat([header, nonce, ...sealed, cipher.getAuthTag()]).toString('base64url');
}

/** Opens a sealed value, whether it is expired or not; null when this service did not seal it for this purpose. */
export function unseal(
  keyring: Keyring,
  purpose: SealPurpose,
  sealed: string,
): { readonly content: Buffer; readonly expiresAt: number } | null {
  const bytes = Buffer.from(sealed, 'base64url');
  // The decoder also takes other alphabets: written anew it must be the same text.
  if (bytes.length < HEADER_BYTES + NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== sealed) return null;
  const header = bytes.subarray(0, HEADER_BYTES);
  const key = keyOfDay(keyring, header.readUInt32BE(1), purpose, header.readUIntBE(5, 6));
  if (bytes[0] !== VERSION || !key) return null;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES));
  decipher.setAAD(header);
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const content = Buffer.concat([
      decipher.update(bytes.subarray(HEADER_BYTES + NONCE_BYTES, -TAG_BYTES)),
      decipher.final(),
    ]);
    return { content, expiresAt: header.readUIntBE(5, 6) };
  } catch {
    return null;
  }
}

/** Anybody may have values sealed, as often as they like: no key seals for longer than a day. Null without the root key. */
function keyOfDay(keyring: Keyring, keyId: number, purpose: SealPurpose, expiresAt: number): KeyObject | null {
  const key = keyring.key(keyId, purpose);
  if (!key) return null;
  const day = `day ${Math.floor(expiresAt / DAY_MS)}`;
  return createSecretKey(expiresAt === NEVER ? mac(key, day) : mac(key, day, keyring.history));
}
