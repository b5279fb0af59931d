/**
 * Only one service at a time may have a database file. A service returns no read before the commits behind it are
 * synced, but it cannot know that of another service's commits. Commands may write at the same time, since SQLite syncs
 * theirs.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { InstallationError } from '../../process/installation-error.ts';
import { makeFile } from './database-file.ts';
import { primaryCode, SQLITE } from './errors.ts';

/** Timeout of a service that begins, for a command that looks whether one runs: that takes the lock for a moment (ms). */
const PROBE_TIMEOUT_MS = 1000;

/** Whether a service has a database now. */
export function isServed(path: string): boolean {
  if (path === ':memory:' || !existsSync(`${path}-serving`)) return false;
  try {
    lockForServing(path, 0).close();
    return false;
  } catch (error) {
    if (error instanceof InstallationError) return true;
    throw error;
  }
}

/**
 * Takes the lock beside a database file. It ends when the returned connection is closed, or the process ends in any
 * way. It is SQLite's lock on an empty database, as Node.js has no other. Throws `InstallationError` if another service
 * has it still after a `timeout` (ms).
 */
export function lockForServing(path: string, timeout = PROBE_TIMEOUT_MS): DatabaseSync {
  const file = `${path}-serving`;
  makeFile(file);
  const lock = new DatabaseSync(file, { timeout });
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
