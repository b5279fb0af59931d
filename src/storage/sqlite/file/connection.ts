/** The connection and its settings. Durability depends on the settings, so each is read back after it is set. */
import { DatabaseSync } from 'node:sqlite';
import { InstallationError } from '../../../process/installation-error.ts';
import { primaryCode, SQLITE } from './errors.ts';

/** The use of a connection. */
export type ConnectionUse = {
  /** A service must not block its event loop while it waits for a lock; a command may. */
  readonly role: 'service' | 'command';
  /** `awaited`: a commit leaves the sync to the write queue. `full`: a commit syncs, and the event loop waits. */
  readonly durability: 'awaited' | 'full';
};

/** Settings of a connection and the values that they must have. */
export type Pragmas = readonly (readonly [name: string, value: string | number])[];

/** Application id in the header of Valetkey's database files: "Vkey". */
export const APPLICATION_ID = 0x566b6579;

/** Timeout for locks while a database is opened or migrated (ms). */
export const OPENING_TIMEOUT_MS = 5000;

/**
 * Minimum version: earlier ones could lose pages if the log restarted while another connection copied it
 * (https://sqlite.org/wal.html#walresetbug).
 */
const OLDEST_SQLITE = [3, 51, 3] as const;

/** Throws `InstallationError` if the SQLite of this Node.js may lose data. */
export function requireSoundSqlite(version: string): void {
  const parts = version.split('.').map(Number);
  const [major, minor, patch] = OLDEST_SQLITE.map((part, place) => (parts[place] ?? 0) - part);
  if ((major || minor || patch || 0) >= 0) return;
  throw new InstallationError({
    problem: `this Node.js has SQLite ${version}, which may lose data when two connections use a database`,
    remedy: `install a Node.js with SQLite ${OLDEST_SQLITE.join('.')} or later, such as 24.15`,
  });
}

/** Opens the file without changing it. Throws `InstallationError` if it is not a database of Valetkey. */
export function connect(path: string, { readOnly = false } = {}): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: OPENING_TIMEOUT_MS, defensive: true, readOnly });
  try {
    // The version that runs: a distribution's Node.js may use another SQLite than it was built for.
    requireSoundSqlite(String(firstValue(database, 'SELECT sqlite_version()')));
    const isEmpty = database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
    const applicationId = pragma(database, 'application_id');
    if (applicationId === APPLICATION_ID || (applicationId === 0 && isEmpty)) return database;
    throw new InstallationError({
      problem: `${path} is a database of another program`,
      remedy: `give the path of Valetkey's`,
    });
  } catch (error) {
    database.close();
    if (primaryCode(error) !== SQLITE.NOTADB) throw error;
    throw new InstallationError({ problem: `${path} is not a database`, remedy: `give the path of Valetkey's` });
  }
}

/** Returns the required settings of a connection. */
export function requiredPragmas(use: ConnectionUse, inMemory: boolean): Pragmas {
  const isSyncedByQueue = use.role === 'service' && use.durability === 'awaited';
  const everywhere: Pragmas = [
    ['journal_mode', inMemory ? 'memory' : 'wal'],
    ['synchronous', isSyncedByQueue ? 1 : 2],
    ['foreign_keys', 1],
    ['trusted_schema', 0],
    ['temp_store', 2],
    ['busy_timeout', use.role === 'service' ? 5 : OPENING_TIMEOUT_MS],
    ['cache_size', -16_384],
  ];
  // No checkpoints by SQLite: within a commit they hide a failed sync. After a burst the log is truncated to 64 MB.
  const ofFiles: Pragmas = [
    ['wal_autocheckpoint', 0],
    ['journal_size_limit', 64 * 2 ** 20],
  ];
  return inMemory ? everywhere : [...everywhere, ...ofFiles];
}

/** Applies the settings. Throws `InstallationError` if SQLite refuses one, such as WAL on a network file system. */
export function configure(database: DatabaseSync, required: Pragmas): void {
  for (const [name, value] of required) database.exec(`PRAGMA ${name} = ${value}`);
  const wrong = wrongPragmas(database, required);
  if (wrong.length > 0)
    throw new InstallationError({
      problem: `SQLite does not take the settings that keep data safe (${wrong.join(', ')})`,
      remedy: 'put the database on a local disk',
    });
}

/** Returns the settings with wrong values, each in a few words. */
export function wrongPragmas(database: DatabaseSync, required: Pragmas): string[] {
  return required
    .filter(([name, value]) => pragma(database, name) !== value)
    .map(([name, value]) => `${name} is ${pragma(database, name)} and must be ${value}`);
}

function pragma(database: DatabaseSync, name: string): unknown {
  return firstValue(database, `PRAGMA ${name}`);
}

/** Returns the first value of a statement's first row, or undefined. */
export function firstValue(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0];
}
