/** Backups and restores, as acts of an operator. */
import { randomBytes } from 'node:crypto';
import { type Actor, auditEvent } from '../oauth/audit.ts';
import type { TrailRow } from '../oauth/audit-chain.ts';
import type { BackupRecord, BackupStore } from '../oauth/restore.ts';
import { endedSince, type Revived, revivedSince } from '../oauth/since-backup.ts';
import type { AuditStore } from '../oauth/store.ts';
import { readNewerTrail } from './newer-trail.ts';

/** The bytes that tell one history of an installation from another. */
const HISTORY_BYTES = 16;

/** What a restore is told. */
export type RestoreOptions = {
  /** Whether grants go on that the database holds. Their codes end in any case. */
  readonly keepGrants: boolean;
  /** Where the database came from, in a few words for the audit trail. */
  readonly from: string;
  /** The lines of the newer audit trail, as `audit export` wrote it; null where there is none. */
  readonly trail: AsyncIterable<string> | null;
  /** Whether what the trail says was taken away is taken away again. */
  readonly endRevived: boolean;
};

/** What a restore did: whether grants go on, and what works again that was taken away since. */
export type RestoreOutcome = { readonly keptGrants: boolean; readonly revived: readonly Revived[] };

/** Number of events that are compared with the newer trail. */
const LAST_ROWS = 10_000;

/** Where backups are recorded, and the trail. */
type RecordedBackups = BackupStore & Pick<AuditStore, 'lastAuditSequence' | 'listTrailRows'>;

/** Notes backups, and ends what must not come back with one. */
export class Backups {
  readonly #store: RecordedBackups;
  readonly #now: () => number;
  readonly #operator: Actor;

  constructor(store: RecordedBackups, now: () => number, operator: Actor) {
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

  /**
   * Ends what must not come back with an older database. Nobody may be served meanwhile. Throws an `OperatorError` when the trail is not that of this database, and then changed nothing.
   */
  async restore({ keepGrants, from, trail, endRevived }: RestoreOptions): Promise<RestoreOutcome> {
    const acts = trail === null ? [] : await readNewerTrail(trail, await this.#lastRows());
    const [ended, revived] = [endedSince(acts), revivedSince(acts)];
    const at = this.#now();
    const endsAll = !keepGrants || ended.all;
    const told = `${from}; ${endsAll ? 'all grants ended' : 'grants go on, codes ended'}`;
    const detail = trail === null ? told : `${told}; ${acts.length} later events ${endRevived ? 'applied' : 'read'}`;
    await this.#store.beginHistory(
      randomBytes(HISTORY_BYTES),
      auditEvent('database_restored', this.#operator, at, { detail }),
      {
        endAll: endsAll ? auditEvent('all_grants_revoked', this.#operator, at, { detail: 'by a restore' }) : null,
        ended: trail === null ? null : ended,
        revived: endRevived ? revived : [],
      },
    );
    return { keptGrants: !endsAll, revived };
  }

  /** The last events that the database has: enough of them that none was still being written behind the first. */
  async #lastRows(): Promise<TrailRow[]> {
    const last = await this.#store.lastAuditSequence();
    return this.#store.listTrailRows(Math.max(0, last - LAST_ROWS), last, LAST_ROWS);
  }
}
