/**
 * The chains of the audit trail: each event carries a MAC over itself and the MAC of the event before it in its chain, under
 * a key that is not in the database. So nobody who has only the database can change, add, move or remove an event unseen.
 *
 * A chain belongs to one writer at a time and to one root key. It begins after the newest event of the trail, whose MAC its first event
 * covers: that ties it to the chains before it. With it the chain is registered, so that a chain
 * cannot be taken away as a whole unseen, once a later chain or a checkpoint covers it.
 */
import { hash, randomBytes } from 'node:crypto';
import type { RecordedAuditEvent } from './audit.ts';
import { HmacKey } from './hmac.ts';
import { type Keyring, mac } from './keyring.ts';
import { readRootKeyName, rootKeyName } from './root-key.ts';

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

/**
 * That a chain began, stored apart from its events. Registrations are numbered from 1 without gaps, in the order in which they
 * were committed. The MAC, of 32 bytes, is made with the key of the chain; it covers the MAC of the registration before it.
 */
export type ChainRegistration = {
  readonly number: number;
  readonly id: string;
  /** The sequence of the chain's first event. */
  readonly firstEvent: number;
  readonly mac: Buffer;
};

/** What the very first event and the very first registration cover in place of the MAC of one before them. */
export const NO_MAC = Buffer.alloc(32);

/** A chain that begins under the current root key; its id is the name and the sequence of the event that it begins after. */
export type NewChain = { readonly name: string; readonly keyId: number; readonly key: HmacKey };

/** Makes a chain. */
export function newChain(keyring: Keyring): NewChain {
  const keyId = keyring.currentKeyId;
  const name = `${rootKeyName(keyId)}-${randomBytes(8).toString('hex')}`;
  return { name, keyId, key: keyOf(keyring, keyId, name) as HmacKey };
}

/** The id of a chain that begins after an event, 0 for none. */
export function chainId({ name }: Pick<NewChain, 'name'>, after: number): string {
  return `${name}-${after}`;
}

/** What a chain's id says: the root key, and the event that it begins after; null when the text is not the id of a chain. */
export function readChainId(
  id: string,
): { readonly name: string; readonly keyId: number; readonly after: number } | null {
  const [, name, keyName, after] = /^(([0-9a-f]{8})-[0-9a-f]{16})-([0-9]{1,15})$/.exec(id) ?? [];
  const keyId = readRootKeyName(keyName ?? '');
  return name === undefined || keyId === null ? null : { name, keyId, after: Number(after) };
}

/** The key of a chain; null when its root key is not in the ring, or the text is not the id of a chain. */
export function chainKey(keyring: Keyring, id: string): HmacKey | null {
  const read = readChainId(id);
  return read && keyOf(keyring, read.keyId, read.name);
}

function keyOf(keyring: Keyring, keyId: number, name: string): HmacKey | null {
  const key = keyring.key(keyId, 'audit');
  return key ? new HmacKey(mac(key, name)) : null;
}

/**
 * The text of an event that its MAC covers, from its values in the order of the columns. In PostgreSQL the trigger of the
 * table makes the same text with `json_build_array`.
 */
export function rowText(values: readonly (string | number | null)[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
}

/** What is covered of a registration; no event has this text. The trigger of PostgreSQL's table makes the same. */
export function registrationText({ number, id, firstEvent }: Omit<ChainRegistration, 'mac'>): string {
  return rowText(['chain', number, id, firstEvent]);
}

/** The MAC of an event or a registration, by its text and the MAC of the one before it. */
export function linkMac(key: HmacKey, before: Buffer, text: string): Buffer {
  return key.digest(before.toString('hex'), ' ', text);
}

/** The digest of the whole trail up to an event, from the one up to the event before it, in hexadecimal. */
export function trailDigest(before: string, { chain, text }: Pick<TrailRow, 'chain' | 'text'>): string {
  return hash('sha256', `${before} ${chain.mac.toString('hex')} ${text}`);
}

/** The digest of an empty trail. */
export const EMPTY_TRAIL = '0'.repeat(64);
