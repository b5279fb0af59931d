/** The installation's own row, which makes a database whole, and the root keys that it was used with. */
import type { RootKey } from '../../oauth/root-key.ts';
import type { Runner } from '../acts.ts';
import { type InstallationSettings, recordedForm } from '../installation-settings.ts';
import { Table } from './table.ts';

/** There is one, whose number is 1. The settings are a text of JSON, as `recordedForm` makes it. */
export const INSTALLATION = Table.of<{
  readonly number: number;
  readonly id: Buffer;
  readonly epoch: number;
  readonly createdAt: number;
  readonly tokenPrefix: string;
  readonly settings: string;
  readonly currentKeyId: number;
  readonly nextKeyId: number | null;
  /** 16 random bytes, drawn anew by each restore. */
  readonly history: Buffer;
  /** When it was restored last, and when a backup of it was made last (ms); null when that never was. */
  readonly restoredAt: number | null;
  readonly backedUpAt: number | null;
  /** Whether this is a backup that was not restored yet. */
  readonly isBackup: boolean;
}>('installation', {
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
});

/** A root key, proven by a canary. */
export const STORED_ROOT_KEY = Table.of<RootKey & { readonly canary: Buffer }>('root_key', {
  keyId: 'integer',
  canary: 'bytes',
  createdAt: 'time',
  supersededAt: 'time?',
  retiredAt: 'time?',
});

/** Records the shared settings of this process. */
export function adoptSettings(runner: Runner, settings: InstallationSettings): Promise<void> {
  return runner.change([], { sql: 'UPDATE installation SET settings = $1', values: [recordedForm(settings)] });
}
