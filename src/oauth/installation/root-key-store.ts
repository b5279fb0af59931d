/** The port to where root keys are recorded, and which instances have read them. Rules are as for every port (`oauth/store.ts`). */
import type { RootKeys } from '../keys/root-key.ts';
import type { AuditEvent } from '../trail/audit.ts';

/** An instance of the service, and the keys that it has read. */
export type ServingInstance = {
  readonly id: string;
  /** Its name for operators: host and process. */
  readonly name: string;
  readonly keyIds: readonly number[];
};

/** The remaining uses of a key: live grants, and passwords and keys for ID tokens that are sealed with it. */
export type KeyUse = {
  readonly keyId: number;
  readonly grants: number;
  readonly passwords: number;
  readonly signingKeys: number;
};

/** The record of root keys. When a verb returns, its effect is on disk. */
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
