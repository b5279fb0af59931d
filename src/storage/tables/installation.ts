/** The installation's own row, which makes a database whole, and the root keys that it was used with. */
import type { RootKey } from '../../oauth/keys/root-key.ts';
import { Table } from './table.ts';

/** The row of the installation, whose number is 1. The settings are a text of JSON, as `recordedForm` makes it. */
export type StoredInstallation = {
  readonly number: number;
  readonly id: Buffer;
  readonly epoch: number;
  readonly createdAt: number;
  readonly tokenPrefix: string;
  readonly settings: string;
  /** The root key that the service issues with, and the one that is about to take its place. */
  readonly currentKeyId: number;
  readonly nextKeyId: number | null;
  /** 16 random bytes, drawn anew by each restore. */
  readonly history: Buffer;
  /** When it was restored last, and when a backup of it was made last (ms); null when that never was. */
  readonly restoredAt: number | null;
  readonly backedUpAt: number | null;
  /** Whether this is a backup that was not restored yet. */
  readonly isBackup: boolean;
  /** The time of the clean-up (ms). */
  readonly cleanUpTime: number;
};

/** It, as it is stored. */
export const INSTALLATION = Table.of<StoredInstallation>('installation', {
  number: 'integer',
  id: 'bytes',
  epoch: 'integer',
  createdAt: 'time',
  tokenPrefix: 'text',
  settings: 'text',
  currentKeyId: 'integer',
  nextKeyId: 'integer?',
  history: 'bytes',
  restoredAt: 'time?',
  backedUpAt: 'time?',
  isBackup: 'boolean',
  cleanUpTime: 'time',
});

/** A root key, proven by a canary. */
export const STORED_ROOT_KEY = Table.of<RootKey & { readonly canary: Buffer }>('root_key', {
  keyId: 'integer',
  canary: 'bytes',
  createdAt: 'time',
  supersededAt: 'time?',
  retiredAt: 'time?',
});
