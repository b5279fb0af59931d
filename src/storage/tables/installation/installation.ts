/** The installation's own row, whose presence completes a database, and its root keys. */
import type { RootKey } from '../../../oauth/keys/root-key.ts';
import { nullable, Table } from '../../statements/table.ts';

/** The row of the installation; `number` is always 1. `settings` is JSON text, as `recordedForm` returns it. */
export type StoredInstallation = {
  readonly number: number;
  readonly id: Buffer;
  readonly epoch: number;
  readonly createdAt: number;
  readonly tokenPrefix: string;
  readonly settings: string;
  /** The root key that the service issues with, and the key that is about to replace it. */
  readonly currentKeyId: number;
  readonly nextKeyId: number | null;
  /** 16 random bytes, replaced by each restore. */
  readonly history: Buffer;
  /** Times of the last restore and of the last backup (ms); null if there was none. */
  readonly restoredAt: number | null;
  readonly backedUpAt: number | null;
  /** True for a backup that is not restored yet. */
  readonly isBackup: boolean;
  /** The time of the clean-up (ms). */
  readonly cleanUpTime: number;
};

/** The stored installation. */
export const INSTALLATION = Table.of<StoredInstallation>('installation', {
  number: 'integer',
  id: 'bytes',
  epoch: 'integer',
  createdAt: 'time',
  tokenPrefix: 'text',
  settings: 'text',
  currentKeyId: 'integer',
  nextKeyId: nullable('integer'),
  history: 'bytes',
  restoredAt: nullable('time'),
  backedUpAt: nullable('time'),
  isBackup: 'boolean',
  cleanUpTime: 'time',
});

/** A stored root key, with the canary that proves it. */
export const STORED_ROOT_KEY = Table.of<RootKey & { readonly canary: Buffer }>('root_key', {
  keyId: 'integer',
  canary: 'bytes',
  createdAt: 'time',
  supersededAt: nullable('time'),
  retiredAt: nullable('time'),
});
