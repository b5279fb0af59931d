/**
 * One service at a time has a database file: it answers reads from commits of its own that are not synced yet only
 * after their sync, which it cannot know of another's. Commands may write beside it, since theirs sync by themselves.
 */
import { DatabaseSync } from 'node:sqlite';
import { InstallationError } from '../../process/installation-error.ts';
import { makeFile } from './database-file.ts';
import { primaryCode, SQLITE } from './errors.ts';

/**
 * Takes the lock beside a database file; it ends with the answered connection, or with the process, however that ends.
 * The lock is SQLite's own on an empty database, as Node.js has no other. Throws `InstallationError` when another service has it.
 */
export function lockForServing(path: string): DatabaseSync {
  const file = `${path}-serving`;
  makeFile(file);
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (primaryCode(error) !== SQLITE.BUSY) throw error;
    throw new InstallationError([
      `another service has the database ${path} already: stop it first, or give this one another database`,
    ]);
  }
}
