/**
 * The chains of the audit trail: each event has a number in the chain of its writer, and a MAC over all of itself under a key
 * that is not in the database. So nobody who has only the database can change, add or move an event unseen, and a removed
 * event leaves a gap in the numbers. What a chain cannot show is that its end was cut off: checkpoints show that.
 *
 * A chain belongs to one writer at a time and to one root key.
 */
import { createSecretKey, hash, type KeyObject, randomBytes } from 'node:crypto';
import { type Keyring, mac } from '../keys/keyring.ts';
import { readRootKeyName, rootKeyName } from '../keys/root-key.ts';
import type { RecordedAuditEvent } from './audit.ts';

/** The place of an event in its chain; the first has the number 1. The MAC has 32 bytes. */
export type ChainLink = { readonly id: string; readonly number: number; readonly mac: Buffer };

/** An event with its place in a chain. */
export type ChainedAuditEvent = RecordedAuditEvent & { readonly chain: ChainLink };

/** An event with the text that its MAC covers: all columns in their order, but for the MAC itself. */
export type TrailRow = {
  readonly sequence: number;
  /** Ms since the epoch. */
  readonly at: number;
  readonly action: string;
  readonly detail: string | null;
  readonly chain: ChainLink;
  readonly text: string;
};

/** A chain that begins under the current root key. */
export type NewChain = { readonly id: string; readonly keyId: number; readonly key: KeyObject };

/** Makes a chain. */
export function newChain(keyring: Keyring): NewChain {
  const keyId = keyring.currentKeyId;
  const id = `${rootKeyName(keyId)}-${randomBytes(8).toString('hex')}`;
  return { id, keyId, key: chainKey(keyring, id) as KeyObject };
}

/** The root key that a chain's id names; null when the text is not the id of a chain. */
export function chainKeyId(id: string): number | null {
  const [, keyName] = /^([0-9a-f]{8})-[0-9a-f]{16}$/.exec(id) ?? [];
  return readRootKeyName(keyName ?? '');
}

/** The key of a chain; null when its root key is not in the ring, or the text is not the id of a chain. */
export function chainKey(keyring: Keyring, id: string): KeyObject | null {
  const keyId = chainKeyId(id);
  const key = keyId === null ? undefined : keyring.key(keyId, 'audit');
  return key ? createSecretKey(mac(key, id)) : null;
}

/** Bytes of a block of SHA-256. */
const BLOCK_BYTES = 64;

/**
 * The two blocks that HMAC-SHA-256 under a chain's key begins its hashes with (RFC 2104 §2), in hexadecimal. PostgreSQL has
 * SHA-256 and no HMAC: the trigger of the table makes the MACs from the blocks.
 */
export function hmacBlocks(key: KeyObject): { readonly inner: string; readonly outer: string } {
  const padded = Buffer.concat([key.export()], BLOCK_BYTES);
  const block = (pad: number) => Buffer.from(padded.map((byte) => byte ^ pad)).toString('hex');
  return { inner: block(0x36), outer: block(0x5c) };
}

/**
 * The text of an event that its MAC covers, from its values in the order of the columns. In PostgreSQL the trigger of the
 * table makes the same text with `json_build_array`.
 */
export function rowText(values: readonly (string | number | null)[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
}

/** The digest of the whole trail up to an event, from the one up to the event before it, in hexadecimal. */
export function trailDigest(before: string, { chain, text }: Pick<TrailRow, 'chain' | 'text'>): string {
  return hash('sha256', `${before} ${chain.mac.toString('hex')} ${text}`);
}

/** The digest of an empty trail. */
export const EMPTY_TRAIL = '0'.repeat(64);
