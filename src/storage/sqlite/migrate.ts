/** Applies migrations to a SQLite database: each in one transaction, under its lock, so that a kill leaves all or nothing. */
import type { DatabaseSync } from 'node:sqlite';
import { InstallationError } from '../../process/installation-error.ts';
import { type AppliedMigration, type Migration, type Newer, pendingMigrations, readMigrations } from '../migrations.ts';
import { APPLICATION_ID } from './connection.ts';

/** The migrations of this version. */
export const MIGRATIONS: readonly Migration[] = readMigrations(new URL('./schema/', import.meta.url));

/** The migrations still to be applied; only reads. Throws `InstallationError` when the database was made by other ones. */
export function pending(database: DatabaseSync, known: readonly Migration[] = MIGRATIONS, newer?: Newer): Migration[] {
  const exists = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'").get();
  const applied = exists ? database.prepare('SELECT number, name, checksum FROM migration ORDER BY number').all() : [];
  return pendingMigrations(known, applied as unknown as AppliedMigration[], newer);
}

/** Refuses a database that is behind. Throws `InstallationError`. */
export function requireUpToDate(database: DatabaseSync): void {
  const number = pending(database).length;
  if (number > 0) throw new InstallationError([`the database needs ${number} migration(s): run "database migrate"`]);
}

/**
 * Applies what is pending, and answers the names of what this call applied; `now` in ms. Several processes may do so at
 * once: each migration is looked at under the lock.
 */
export function migrate(database: DatabaseSync, now: number, known: readonly Migration[] = MIGRATIONS): string[] {
  const applied: string[] = [];
  while (pending(database, known).length > 0) {
    const name = inTransaction(database, () => applyNext(database, now, known));
    if (name !== null) applied.push(name);
  }
  return applied;
}

/** Runs something in one transaction that holds the write lock from its start. */
export function inTransaction<T>(database: DatabaseSync, run: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = run();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function applyNext(database: DatabaseSync, now: number, known: readonly Migration[]): string | null {
  const [next] = pending(database, known);
  if (!next) return null;
  database.exec(`
    PRAGMA application_id = ${APPLICATION_ID};
    CREATE TABLE IF NOT EXISTS migration (
      number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
    ) STRICT;
  `);
  database.exec(next.sql);
  database
    .prepare('INSERT INTO migration (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)')
    .run(next.number, next.name, next.checksum, now);
  return next.name;
}
