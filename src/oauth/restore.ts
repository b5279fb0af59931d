/** What a restore does to an installation, and the port to where that is recorded. */
import type { AuditEvent } from './audit.ts';

/** What is known of backups and restores. Times in ms; null for what never was. */
export type BackupRecord = { readonly backedUpAt: number | null; readonly restoredAt: number | null };

/** Where backups and restores are recorded. When a verb returns, its effect is on disk. */
export type BackupStore = {
  findBackups(): Promise<BackupRecord>;
  /** Notes that a backup was made at the time of its event. */
  noteBackup(event: AuditEvent): Promise<void>;
  /**
   * Begins another history, since the database is an older one that was put in place: nothing that was sealed before is
   * opened any more. Codes and device codes, sessions, sign-ins that are under way and invitations end, and with an `endAll`
   * event all grants. Nobody may be served meanwhile.
   */
  beginHistory(history: Buffer, event: AuditEvent, endAll: AuditEvent | null): Promise<void>;
};
