/**
 * The lock that lets only one service at a time use a database file. A service returns no read before the commits
 * behind it are synced, but it cannot know whether another service's commits are. Commands may write at the same time,
 * since SQLite syncs their commits.
 */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { InstallationError } from '../../../process/installation-error.ts';
import { makeFile } from './database-file.ts';
import { primaryCode, SQLITE } from './errors.ts';

/** Timeout of a starting service for the lock (ms): a command that probes for a service holds it for a moment. */
const PROBE_TIMEOUT_MS = 1000;

/** Returns true if a service has a database open. */
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
 * Takes the lock beside a database file. The lock ends when the returned connection is closed, or the process ends in
 * any way. It is SQLite's lock on an empty database, since Node.js has no file locks. Throws `InstallationError` if
 * another service still has it after `timeout` (ms).
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
    throw new InstallationError({
      problem: `another service has the database ${path} already`,
      remedy: 'stop it first, or give this one another database',
    });
  }
}
