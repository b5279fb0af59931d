/**
 * Credentials are derived from a grant and never stored:
 *
 *     <prefix>_<kind>_ base64url( version, key id, grant id, generation, expiry, MAC ) checksum
 *
 * The key is not in the database and the grant's seed is nowhere else, so that neither opens anything alone. This file
 * derives and reads them; whether a genuine credential is good for anything is the grant's decision (`grant.ts`).
 */
import { type KeyObject, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Keyring, mac } from './keyring.ts';

/** `ac` authorization code, `at` access token, `rt` refresh token. */
export type CredentialKind = 'ac' | 'at' | 'rt';

/** The header of a credential. `expiresAt` is in milliseconds since the epoch. */
export type CredentialHeader = {
  readonly keyId: number;
  readonly grantId: Buffer;
  readonly generation: number;
  readonly expiresAt: number;
};

/** A credential that was read: nothing may be decided on it before `isGenuine`. */
export type Credential = CredentialHeader & {
  readonly kind: CredentialKind;
  /** Its bytes, whose MAC must still be verified. */
  readonly unproven: Buffer;
};

/** The bytes of a grant's id and of its secret seed. */
export const GRANT_ID_BYTES = 16;
export const SEED_BYTES = 16;

const VERSION = 1;
const HEADER_BYTES = 1 + 4 + GRANT_ID_BYTES + 4 + 6;
/** 160 bits: RFC 6749 §10.10 wants guessing below 2^-128 and recommends 2^-160. Header and MAC fill base64url exactly. */
const MAC_BYTES = 20;
const BODY_CHARACTERS = ((HEADER_BYTES + MAC_BYTES) / 3) * 4;
const CHECKSUM_CHARACTERS = 6;
/** The number of characters of a credential after `<prefix>_<kind>_`. */
export const CREDENTIAL_CHARACTERS = BODY_CHARACTERS + CHECKSUM_CHARACTERS;
const ALPHABET = /^[A-Za-z0-9_-]*$/;

/** Derives the text of a credential. Its key must be in the ring, as the key of every transition is. */
export function deriveCredential(
  keyring: Keyring,
  prefix: string,
  kind: CredentialKind,
  header: CredentialHeader,
  seed: Buffer,
): string {
  const key = keyring.key(header.keyId, kind);
  if (!key) throw new Error('the key that this credential is derived from is not in the keyring');
  writeHeader(derived, header);
  credentialMac(key, kind, derivedHeader, seed).copy(derived, HEADER_BYTES);
  return withChecksum(`${prefix}_${kind}_${derived.toString('base64url')}`);
}

/** Shared by all credentials, and overwritten by each: only the text is kept. */
const derived = Buffer.alloc(HEADER_BYTES + MAC_BYTES);
const derivedHeader = derived.subarray(0, HEADER_BYTES);
const checksum = Buffer.alloc(4);

/**
 * Reads the text of a credential of one kind, without any I/O. Null for everything that this service cannot have made:
 * another prefix, kind, version, length, alphabet or checksum. A credential that is returned is not proven yet.
 */
export function readCredential(prefix: string, kind: CredentialKind, text: string): Credential | null {
  const start = `${prefix}_${kind}_`;
  if (text.length !== start.length + BODY_CHARACTERS + CHECKSUM_CHARACTERS || !text.startsWith(start)) return null;
  const body = text.slice(start.length, -CHECKSUM_CHARACTERS);
  // The decoder also takes other characters, and anybody can make a checksum. In this alphabet only one text decodes to the
  // same bytes, since the body fills whole bytes.
  if (!ALPHABET.test(body) || !hasChecksum(text)) return null;
  const bytes = Buffer.from(body, 'base64url');
  return bytes[0] === VERSION ? { kind, ...readHeader(bytes), unproven: bytes } : null;
}

function readHeader(bytes: Buffer): CredentialHeader {
  return {
    keyId: bytes.readUInt32BE(1),
    grantId: bytes.subarray(5, 21),
    generation: bytes.readUInt32BE(21),
    expiresAt: bytes.readUIntBE(25, 6),
  };
}

/** Proves in constant time that this service derived the credential from the grant with this seed. */
export function isGenuine(keyring: Keyring, { keyId, kind, unproven }: Credential, seed: Buffer): boolean {
  const key = keyring.key(keyId, kind);
  if (!key) return false;
  const expected = credentialMac(key, kind, unproven.subarray(0, HEADER_BYTES), seed);
  return timingSafeEqual(expected, unproven.subarray(HEADER_BYTES));
}

function credentialMac(key: KeyObject, kind: CredentialKind, header: Buffer, seed: Buffer): Buffer {
  return mac(key, kind, header, seed).subarray(0, MAC_BYTES);
}

/**
 * Appends a CRC-32 in six base64url characters, so that secret scanners and people who mistype can tell a whole
 * credential from a broken one. It is not for security: the MAC is.
 */
export function withChecksum(text: string): string {
  return text + checksumOf(text);
}

/** The text between `start` and the checksum; null when either is wrong. */
export function readChecked(start: string, text: string): string | null {
  return text.startsWith(start) && hasChecksum(text) ? text.slice(start.length, -CHECKSUM_CHARACTERS) : null;
}

/** Returns true if a text ends with the checksum of what comes before. */
export function hasChecksum(text: string): boolean {
  return text.endsWith(checksumOf(text.slice(0, -CHECKSUM_CHARACTERS)));
}

function checksumOf(text: string): string {
  checksum.writeUInt32BE(crc32(text));
  return checksum.toString('base64url');
}

function writeHeader(bytes: Buffer, header: CredentialHeader): void {
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt32BE(header.keyId, 1);
  header.grantId.copy(bytes, 5);
  bytes.writeUInt32BE(header.generation, 21);
  bytes.writeUIntBE(header.expiresAt, 25, 6);
}
