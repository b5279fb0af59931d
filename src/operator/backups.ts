/** Backups and restores, as acts of an operator. */
import { randomBytes } from 'node:crypto';
import { type Actor, auditEvent } from '../oauth/audit.ts';
import type { BackupRecord, BackupStore } from '../oauth/restore.ts';

/** The bytes that tell one history of an installation from another. */
const HISTORY_BYTES = 16;

/** What a restore is told. */
export type RestoreOptions = {
  /** Whether grants go on that the database holds. Their codes end in any case. */
  readonly keepGrants: boolean;
  /** Where the database came from, in a few words for the audit trail. */
  readonly from: string;
};

/** Notes backups, and ends what must not come back with one. */
export class Backups {
  readonly #store: BackupStore;
  readonly #now: () => number;
  readonly #operator: Actor;

  constructor(store: BackupStore, now: () => number, operator: Actor) {
    this.#store = store;
    this.#now = now;
    this.#operator = operator;
  }

  /** When the last backup was made, and the last restore (ms). */
  find(): Promise<BackupRecord> {
    return this.#store.findBackups();
  }

  /** Notes that a backup was made; `where` in a few words, for the audit trail. Returns when (ms). */
  async note(where: string): Promise<number> {
    const at = this.#now();
    await this.#store.noteBackup(auditEvent('database_backed_up', this.#operator, at, { detail: where }));
    return at;
  }

  /** Ends what must not come back with an older database. Nobody may be served meanwhile. */
  async restore({ keepGrants, from }: RestoreOptions): Promise<void> {
    const at = this.#now();
    const detail = `${from}; ${keepGrants ? 'grants go on, codes ended' : 'all grants ended'}`;
    await this.#store.beginHistory(
      randomBytes(HISTORY_BYTES),
      auditEvent('database_restored', this.#operator, at, { detail }),
      keepGrants ? null : auditEvent('all_grants_revoked', this.#operator, at, { detail: 'by a restore' }),
    );
  }
}
