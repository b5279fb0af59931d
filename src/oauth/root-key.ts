/** Root keys as the installation knows them, and the port to where it records that. */
import type { AuditEvent } from './audit.ts';

/** A root key of an installation; the database knows it by its id and a canary. Times in ms. */
export type RootKey = {
  readonly keyId: number;
  /** When an instance or a command first had it. */
  readonly createdAt: number;
  /** When another key became the current one in its place; null for a key that is, or was never, the current one. */
  readonly supersededAt: number | null;
  /** When it was retired: nothing is read with it any more. */
  readonly retiredAt: number | null;
};

/** All keys, and which of them is in use. */
export type RootKeys = {
  readonly currentKeyId: number;
  /** The key that a rotation is about to make current, so that no instance may begin without it; or null. */
  readonly nextKeyId: number | null;
  readonly keys: readonly RootKey[];
};

/** An instance of the service, and the keys that it has read. */
export type ServingInstance = {
  readonly id: string;
  /** What an operator knows it by: its host and process. */
  readonly name: string;
  readonly keyIds: readonly number[];
};

/** What still rests on a key: grants that live, and passwords that are sealed with it. */
export type KeyUse = { readonly keyId: number; readonly grants: number; readonly passwords: number };

/** Where root keys are recorded. When a verb returns, its effect is on disk. */
export type RootKeyStore = {
  findRootKeys(): Promise<RootKeys>;
  /** Records an instance with the keys that it has read, in place of what was recorded of it before. */
  noteInstance(instance: ServingInstance): Promise<void>;
  /** All that were noted and not forgotten, whether they still run or not. */
  listInstances(): Promise<ServingInstance[]>;
  forgetInstance(id: string): Promise<void>;
  /**
   * Records that a key is about to become current. An instance first notes itself and then reads this; a rotation first
   * records this and then reads who is noted. So at least one of them sees the other, and no instance begins without the key
   * and unseen.
   */
  prepareRootKey(keyId: number | null): Promise<void>;
  /** Makes the prepared key current; false when another one was prepared meanwhile, or it is retired or current already. */
  useRootKey(keyId: number, event: AuditEvent): Promise<boolean>;
  /** Retires a key that was superseded before a time (ms); false when it is current, not there, or was retired before. */
  retireRootKey(keyId: number, supersededBefore: number, event: AuditEvent): Promise<boolean>;
};

/** Reads a key's id as people see it; null when the text is none. */
export function readRootKeyName(name: string): number | null {
  return /^[0-9a-f]{8}$/.test(name) ? Number.parseInt(name, 16) : null;
}

/** A key's id as people see it: eight hexadecimal digits. */
export function rootKeyName(keyId: number): string {
  return keyId.toString(16).padStart(8, '0');
}
