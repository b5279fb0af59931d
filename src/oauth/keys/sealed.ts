/**
 * Sealed values. This service hands them out and gets them back later, so that it need not store them; or it stores them, so
 * that the database alone does not tell what they hold. Nobody else can read or make one (AES-256-GCM, under a key of the
 * day on which it expires). Values that expire can be opened only in the history in which they were sealed, because a
 * restore forgets which of them were used.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Keyring, mac } from './keyring.ts';

/** The purpose of a sealed value. Each purpose has its own key. */
export type SealPurpose =
  | 'request'
  | 'opened-request'
  | 'device'
  | 'sign-in'
  | 'password'
  | 'foreign-hash'
  | 'disconnects'
  | 'cursor'
  | 'signing-key';

/** The expiry (ms) of values that are stored and never expire. */
export const NEVER = 2 ** 48 - 1;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + 4 + 6;
const VERSION = 1;
const DAY_MS = 24 * 3600 * 1000;

/** A text as short bytes, for what is sealed and carried in addresses. What was sealed before inside it costs no third more again. */
export function compressed(text: string): Buffer {
  return deflateRawSync(text);
}

/** The text of such bytes, which must have been sealed: nobody else made them. */
export function decompressed(bytes: Buffer): string {
  return inflateRawSync(bytes).toString();
}

/**
 * Seals a text or bytes until `expiresAt` (ms); base64url. Random nonces are safe for 2^32 values of one key, here of one
 * day (NIST SP 800-38D §8.3).
 */
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
  // The decoder also takes other alphabets, so the bytes must encode to the same text.
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

/**
 * The key for the values that expire on one day: anybody may have values sealed, as many as they like, so no key is used for
 * more days. Null when the root key is not in the ring.
 */
function keyOfDay(keyring: Keyring, keyId: number, purpose: SealPurpose, expiresAt: number): KeyObject | null {
  const key = keyring.key(keyId, purpose);
  if (!key) return null;
  const day = `day ${Math.floor(expiresAt / DAY_MS)}`;
  return createSecretKey(expiresAt === NEVER ? mac(key, day) : mac(key, day, keyring.history));
}
