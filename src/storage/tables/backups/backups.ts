/** The record of backups and restores, and the changes of a restore. */
import type { BackupRecord, BackupStore } from '../../../oauth/installation/restore.ts';
import { INSTALLATION_KEY, type Runner, type Statement } from '../../statements/shared-operations.ts';
import type { Table } from '../../statements/table.ts';
import { endingAllGrants } from '../grants/grants.ts';
import { INSTALLATION } from '../installation/installation.ts';
import { DELETE_SIGNING_KEYS } from '../installation/signing-keys.ts';
import { endingRestoredHandOvers } from '../registrations/hand-over-rows.ts';
import { endingOf, endingRevived } from './end-what-ended-since.ts';

const BACKUPS: Table<BackupRecord> = INSTALLATION.pick('backedUpAt', 'restoredAt');

const BEGIN_HISTORY = `
  UPDATE installation SET history = $1, restored_at = $2, is_backup = FALSE, next_key_id = NULL`;

/** Grants whose authorization code or device code is not redeemed yet. */
const UNREDEEMED = 'generation = 0 AND revoked_at IS NULL';
const END_UNREDEEMED = `UPDATE oauth_grant SET revoked_at = $1, revocation_reason = 'restored' WHERE ${UNREDEEMED}`;

/** Tables of short-lived rows, which a restore deletes. */
const EMPTIED = [
  'session',
  'external_sign_in',
  'operator_session',
  'operator_one_time_address',
  'operator_once',
] as const;

const plain = (sql: string): Statement => ({ sql, values: [] });

/** Implements the port for backups; `statements` are the further statements of a restore in this store. */
export function backupStore(runner: Runner, statements: readonly string[]): BackupStore {
  return {
    async findBackups() {
      const [row] = await runner.select(plain(`SELECT ${BACKUPS.names} FROM installation`), 'all');
      return BACKUPS.read(row as readonly unknown[]);
    },
    async noteBackup(event) {
      const first = { sql: 'UPDATE installation SET backed_up_at = $1', values: [event.at] };
      await runner.act({ touches: [INSTALLATION_KEY], event, first });
    },
    async beginHistory(history, event, { endAll, ended, revived, events }) {
      const first = { sql: BEGIN_HISTORY, values: [history, event.at] };
      const rest = [
        ...statements.map(plain),
        { sql: END_UNREDEEMED, values: [event.at] },
        ...EMPTIED.map((table) => plain(`DELETE FROM ${table}`)),
        plain(DELETE_SIGNING_KEYS),
        plain('UPDATE account SET invitation = NULL WHERE invitation IS NOT NULL'),
        endingRestoredHandOvers(event.at),
        ...(ended ? endingOf(ended, event.at, runner.dialect) : []),
        ...endingRevived(revived),
      ];
      const records = events.map((each) => ({ touches: [], event: each }));
      const ending = endAll ? [endingAllGrants(endAll)] : [];
      await runner.actAll([{ touches: [INSTALLATION_KEY], event, first, rest }, ...ending, ...records]);
    },
  };
}
