/** Backups and restores, as acts of an operator. */
import { randomBytes } from 'node:crypto';
import { OperatorError } from '../../oauth/error.ts';
import type { BackupRecord, BackupStore } from '../../oauth/installation/restore.ts';
import { endedEvents, endedSince, type Revived, revivedSince } from '../../oauth/installation/since-backup.ts';
import { type Actor, auditEvent } from '../../oauth/trail/audit.ts';
import type { Checkpoint } from '../../oauth/trail/audit-checkpoint.ts';
import type { AuditTrail } from '../trail/audit-trail.ts';
import type { TrailReport } from '../trail/trail-verification.ts';

/** Number of random bytes that distinguish the copies of an installation after restores. */
const HISTORY_BYTES = 16;

/** The newer audit trail that a restore is given. */
export type GivenTrail = {
  /** The lines of `audit export`. */
  readonly lines: AsyncIterable<string>;
  /** Checkpoints that were kept elsewhere: they show whether its end was cut off. */
  readonly checkpoints: readonly Checkpoint[];
  /** True to continue although the trail differs from its record. */
  readonly isAccepted: boolean;
};

/** The options of a restore. */
export type RestoreOptions = {
  /** True if the database's grants stay alive. Their codes end in any case. */
  readonly keepGrants: boolean;
  /** The origin of the database, in a few words for the audit trail. */
  readonly from: string;
  /** The newer audit trail; null without one. */
  readonly trail: GivenTrail | null;
  /** True to end revived things again, as the trail tells. */
  readonly endRevived: boolean;
};

/**
 * The result of reading a newer trail: the number of events newer than the backup, the time of the last (ms), and the
 * number of problems.
 */
export type ReadTrail = { readonly events: number; readonly lastAt: number | null; readonly wrong: number };

/** The result of a restore: whether grants stay alive, and the things that it revived. */
export type RestoreOutcome = {
  readonly keptGrants: boolean;
  readonly revived: readonly Revived[];
  readonly trail: ReadTrail | null;
};

const NOTHING = endedSince([]);

/** Records backups, and ends everything that must not come back with one. */
export class Backups {
  readonly #store: BackupStore;
  readonly #trail: AuditTrail;
  readonly #now: () => number;

  constructor(store: BackupStore, trail: AuditTrail, now: () => number) {
    this.#store = store;
    this.#trail = trail;
    this.#now = now;
  }

  /** When the last backup was made, and the last restore (ms). */
  find(): Promise<BackupRecord> {
    return this.#store.findBackups();
  }

  /** Notes that a backup was made; `where` in a few words, for the audit trail. Returns when (ms). */
  async note(where: string, operator: Actor): Promise<number> {
    const at = this.#now();
    await this.#store.noteBackup(auditEvent('database_backed_up', operator, at, {}, { backup: where }));
    return at;
  }

  /**
   * Ends everything that must not come back with an older database. No service may run meanwhile. Throws an `OperatorError`
   * and changes nothing if the newer trail does not continue that of this database, or fails its verification.
   */
  async restore({ keepGrants, from, trail, endRevived }: RestoreOptions, operator: Actor): Promise<RestoreOutcome> {
    const newer = trail && (await this.#trail.readNewer(trail.lines, trail.checkpoints));
    if (newer && !trail.isAccepted) requireWhole(newer.report);
    const acts = newer?.acts ?? [];
    const ended = endedSince(acts);
    const revived = revivedSince(acts);
    const at = this.#now();
    const endsAll = !keepGrants || ended.all;
    const wrong = newer?.report.wrong ?? 0;
    const read = newer && {
      later_events: acts.length,
      revived_ended: endRevived,
      trail_failed: wrong > 0 || undefined,
    };
    const detail = { backup: from, all_grants_ended: endsAll, ...read };
    const taken = endRevived ? revived : [];
    await this.#store.beginHistory(
      randomBytes(HISTORY_BYTES),
      auditEvent('database_restored', operator, at, {}, detail),
      {
        endAll: endsAll ? auditEvent('all_grants_revoked', operator, at, {}, { by_restore: true }) : null,
        ended: newer === null ? null : ended,
        revived: taken,
        events: endedEvents(endsAll ? NOTHING : ended, taken, operator, at),
      },
    );
    return { keptGrants: !endsAll, revived, trail: newer && { events: acts.length, lastAt: newer.lastAt, wrong } };
  }
}

function requireWhole({ wrong, problems }: TrailReport): void {
  const [first] = problems;
  if (!first) return;
  const more = wrong > 1 ? `, and ${wrong - 1} more` : '';
  throw new OperatorError(
    `the trail failed its verification, so it cannot tell what ended since the backup (${first.sentence}${more}): give it whole, from "audit export"; or restore without it and without --keep-tokens, so that every grant ends; --accept-trail uses it all the same`,
  );
}
