/** What a restore does to an installation, and the port to where that is recorded. */
import type { AuditEvent } from '../trail/audit.ts';
import type { EndedSince, Revived } from './since-backup.ts';

/** What is known of backups and restores. Times in ms; null for what never was. */
export type BackupRecord = { readonly backedUpAt: number | null; readonly restoredAt: number | null };

/** What a restore ends beside what it always ends. */
export type EndedByRestore = {
  /** Tells that all grants ended, or null if they go on. */
  readonly endAll: AuditEvent | null;
  /** What ended after the backup; null where nobody knows. */
  readonly ended: EndedSince | null;
  /** What works again, and is to be paused, disabled or taken away. */
  readonly revived: readonly Revived[];
  /** The events of `ended` and `revived`, one for each. */
  readonly events: readonly AuditEvent[];
};

/** Where backups and restores are recorded. When a verb returns, its effect is on disk. */
export type BackupStore = {
  findBackups(): Promise<BackupRecord>;
  /** Notes that a backup was made at the time of its event. */
  noteBackup(event: AuditEvent): Promise<void>;
  /**
   * Begins another history, because an older database was put in place: nothing can be opened that was sealed before. Ends
   * codes and device codes, sessions, sign-ins that are under way, invitations, and what `also` names. Nobody may be served
   * meanwhile.
   */
  beginHistory(history: Buffer, event: AuditEvent, also: EndedByRestore): Promise<void>;
};
