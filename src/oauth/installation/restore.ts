/** The acts of a restore on an installation, and the port that records it. */
import type { AuditEvent } from '../trail/audit.ts';
import type { EndedSince, Revived } from './since-backup.ts';

/** The recorded backup and restore. Times in ms; null if there was none. */
export type BackupRecord = { readonly backedUpAt: number | null; readonly restoredAt: number | null };

/** The extent of a restore's ends, beyond those that it always makes. */
export type EndedByRestore = {
  /** Tells that all grants ended, or null if they go on. */
  readonly endAll: AuditEvent | null;
  /** Access that ended after the backup; null if unknown. */
  readonly ended: EndedSince | null;
  /** Revived things, which the restore pauses, disables or removes. */
  readonly revived: readonly Revived[];
  /** The events of `ended` and `revived`, one for each. */
  readonly events: readonly AuditEvent[];
};

/** The record of backups and restores. When a verb returns, its effect is on disk. */
export type BackupStore = {
  findBackups(): Promise<BackupRecord>;
  /** Notes that a backup was made at the time of its event. */
  noteBackup(event: AuditEvent): Promise<void>;
  /**
   * Begins another history, because an older database was put in place: nothing can be opened that was sealed before. Ends
   * codes and device codes, sessions, sign-ins that are under way, invitations, signing keys, and what `also` names. Nobody may be served
   * meanwhile.
   */
  beginHistory(history: Buffer, event: AuditEvent, also: EndedByRestore): Promise<void>;
};
