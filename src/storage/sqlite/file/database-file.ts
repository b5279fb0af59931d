/** The database file before SQLite opens it: created readable by its owner only, and refused if unusable. */
import { accessSync, closeSync, constants, existsSync, openSync, readSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolder } from '../../../process/folder.ts';
import { type Fault, InstallationError } from '../../../process/installation-error.ts';

/** Returns true if there is no database at a path yet: no file, or an empty one. */
export function isNothing(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/**
 * Returns true if there is no database file yet: the service or the first command then creates it, with its keys.
 * Throws `InstallationError` if a database was there, and its remains must not be opened.
 */
export function isNew<Place extends { readonly kind: string }>(
  database: Place,
): database is Extract<Place, { kind: 'file' }> {
  if (!isFile(database)) return false;
  requireOwnLog(database.path);
  return isNothing(database.path);
}

function isFile(database: { readonly kind: string }): database is { readonly kind: 'file'; readonly path: string } {
  return database.kind === 'file';
}

/** Returns true if a file has SQLite's header (https://sqlite.org/fileformat2.html §1.3). */
export function hasHeader(path: string): boolean {
  const found = Buffer.alloc(HEADER.length);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, found);
  } finally {
    closeSync(descriptor);
  }
  return found.equals(HEADER);
}

const HEADER = Buffer.from('SQLite format 3\0', 'latin1');

/**
 * Returns the path of the file that exists beside a database while a restore removes its log. Nothing opens the
 * database meanwhile.
 */
export function restoreMark(path: string): string {
  return `${path}-half-restored`;
}

/**
 * Refuses a file beside another database's log, or a log without its file: SQLite would write the log into the wrong
 * database, or delete it. Throws `InstallationError`.
 */
export function requireOwnLog(path: string): void {
  if (existsSync(restoreMark(path)))
    throw new InstallationError({
      problem: `a restore of ${path} was cut off, and what is there now is not whole`,
      remedy: 'run "database restore FILE" again, with that backup or another one',
    });
  // Only the log is checked: a rollback journal exists only while a database is created, before there is data to lose.
  const log = `${path}-wal`;
  if (!isNothing(log) && isNothing(path))
    throw new InstallationError({
      problem: `the database ${path} is gone, and its log ${log} is still there`,
      remedy:
        'put the file back beside the log, which holds what was written last, or run "database restore FILE", which keeps the log',
    });
}

/**
 * Makes sure that the file exists and is writable. A new file gets mode 0600, a new folder 0700, whatever the umask.
 * SQLite gives the -wal and -shm files the same mode. Throws `InstallationError`.
 */
export function prepareDatabaseFile(path: string): void {
  const folder = dirname(path);
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat && !stat.isFile())
      throw new InstallationError({ problem: `${path} is not a file`, remedy: 'give the path of the database file' });
    if (!stat) {
      makeFolder(folder);
      makeFile(path);
    }
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof InstallationError) throw error;
    throw new InstallationError({
      problem: `the database ${path} cannot be written (${(error as Error).message})`,
      remedy: 'let the user that runs Valetkey own the file and its folder, on a file system that is not read-only',
    });
  }
}

/** Returns faults if other users can read or write the database file or its folder. */
export function exposures(path: string): Fault[] {
  if (process.platform === 'win32') return [];
  const file = resolve(path);
  const folder = dirname(file);
  return [...exposure(file, `chmod 600 ${file}*`), ...exposure(folder, `chmod 700 ${folder}`)];
}

/** Returns the sizes of the file and its log, and the space on their disk that this user may still write (bytes). */
export function sizesOf(path: string): { database: number; log: number; free: number } {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const { bavail, bsize } = statfsSync(dirname(resolve(path)));
  return { database: sizeOf(path), log: sizeOf(`${path}-wal`), free: bavail * bsize };
}

function exposure(path: string, remedy: string): Fault[] {
  const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
  const acts = [mode & 0o044 && 'read', mode & 0o022 && 'write'].filter(Boolean).join(' and ');
  if (acts === '') return [];
  return [
    {
      problem: `others can ${acts} ${path} (mode ${mode.toString(8)})`,
      remedy: `run "${remedy}", since it says who allowed what, and who can change it can become anybody`,
    },
  ];
}

/**
 * Creates a file that only its owner can read. An existing file is not opened, since closing it would drop any POSIX
 * locks that this process holds on it.
 */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
