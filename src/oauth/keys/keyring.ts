/**
 * The root keys and what is derived from them. A root key never signs anything itself: each purpose has its own key,
 * derived by HKDF-SHA-256 (RFC 5869), so that a credential of one kind can never pass for another.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/**
 * The purposes of derived keys: the three kinds of credentials; passwords; form tokens; the marks of known browsers;
 * sealed values (pushed requests, device codes, sign-in requests, foreign hashes, cursors); the chains
 * and the checkpoints of the audit trail; the doctor's pass; secrets that are handed over; challenges of passkeys;
 * private keys that sign ID tokens; canaries.
 */
const PURPOSES = [
  'ac',
  'at',
  'rt',
  'password',
  'form',
  'known-browser',
  'request',
  'opened-request',
  'device',
  'sign-in',
  'foreign-hash',
  'disconnects',
  'cursor',
  'audit',
  'checkpoint',
  'doctor',
  'hand-over',
  'passkey',
  'signing-key',
  'canary',
] as const;

/** One of them. */
export type KeyPurpose = (typeof PURPOSES)[number];

/** Minimum length of a root key (bytes). */
export const ROOT_KEY_BYTES = 32;

/** The root keys of an installation: new credentials use the current one, others are read with their own. */
export type Keyring = {
  /** The id of the key that this process issues with. */
  readonly currentKeyId: number;
  /** The ids of all keys. */
  readonly keyIds: readonly number[];
  /**
   * The history of the installation. A restore begins another one, in which nothing can be opened that was sealed before
   * with an expiry.
   */
  readonly history: Buffer;
  /** The key for one purpose under one root key, or undefined when that root key is not in the ring. */
  key(keyId: number, purpose: KeyPurpose): KeyObject | undefined;
};

/** A ring that changes while it is in use, as its installation does. */
export type LiveKeyring = Keyring & {
  /** Adds root keys; those that are there stay. */
  add(rootKeys: readonly Buffer[]): void;
  /** Issues with a key of the ring from now on. */
  issueWith(keyId: number): void;
  /** Removes a key that is not the current one. */
  remove(keyId: number): void;
  /** Seals and unseals in a history from now on. */
  sealIn(history: Buffer): void;
};

/**
 * Builds the ring from root keys of at least 32 bytes each. The first is the current one until the installation names
 * another. Throws when one is too short or there is none.
 */
export function createKeyring(rootKeys: readonly Buffer[]): LiveKeyring {
  if (rootKeys.length === 0) throw new RangeError('a keyring needs at least one root key');
  const ring = new Ring();
  ring.add(rootKeys);
  ring.issueWith(ring.keyIds[0] as number);
  return ring;
}

class Ring implements LiveKeyring {
  readonly #derived = new Map<number, ReadonlyMap<KeyPurpose, KeyObject>>();
  currentKeyId = 0;
  keyIds: readonly number[] = [];
  history: Buffer = Buffer.alloc(0);

  key(keyId: number, purpose: KeyPurpose): KeyObject | undefined {
    return this.#derived.get(keyId)?.get(purpose);
  }

  add(rootKeys: readonly Buffer[]): void {
    for (const rootKey of rootKeys) {
      const keyId = keyIdOf(rootKey);
      if (!this.#derived.has(keyId)) this.#derived.set(keyId, deriveAll(rootKey));
    }
    this.keyIds = [...this.#derived.keys()];
  }

  issueWith(keyId: number): void {
    if (!this.#derived.has(keyId)) throw new RangeError('the key is not in the ring');
    this.currentKeyId = keyId;
  }

  remove(keyId: number): void {
    if (keyId === this.currentKeyId) throw new RangeError('the ring issues with this key');
    this.#derived.delete(keyId);
    this.keyIds = [...this.#derived.keys()];
  }

  sealIn(history: Buffer): void {
    this.history = history;
  }
}

/** HMAC-SHA-256 (RFC 2104) of the parts, one after the other; 32 bytes. The caller makes the parts unambiguous by fixed lengths. */
export function mac(key: KeyObject, ...parts: readonly (string | Buffer)[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  // As text first: a digest in a Buffer has memory of its own from Node.js, which takes half as long as the HMAC.
  return Buffer.from(hmac.digest('binary'), 'binary');
}

/** The current key for a purpose. */
export function currentKey(keyring: Keyring, purpose: KeyPurpose): KeyObject {
  return keyring.key(keyring.currentKeyId, purpose) as KeyObject;
}

/** 32 bits that name a root key without telling anything of it. */
export function keyIdOf(rootKey: Buffer): number {
  return expand(rootKey, 'key id', 4).readUInt32BE();
}

function deriveAll(rootKey: Buffer): ReadonlyMap<KeyPurpose, KeyObject> {
  if (rootKey.length < ROOT_KEY_BYTES) throw new RangeError(`a root key has at least ${ROOT_KEY_BYTES} bytes`);
  return new Map(PURPOSES.map((purpose) => [purpose, createSecretKey(expand(rootKey, purpose, 32))]));
}

function expand(rootKey: Buffer, info: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', rootKey, Buffer.alloc(0), `valetkey 1 ${info}`, bytes));
}
