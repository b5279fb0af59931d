/** The database file before SQLite opens it: created so that only its owner can read it, and refused if it is not usable. */
import { accessSync, closeSync, constants, existsSync, openSync, readSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolder } from '../../process/folder.ts';
import { InstallationError } from '../../process/installation-error.ts';

/** Whether there is no database at a path yet: no file, or an empty one. */
export function isNothing(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/**
 * Whether there is no database file yet: then the service or the first command creates it, with its keys. Throws
 * `InstallationError` where one was, and what is left of it must not be opened.
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

/** Tells whether a file begins as one of SQLite does (https://sqlite.org/fileformat2.html §1.3). */
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

/** The file that stands beside a database while a restore takes a log away from it. Nothing opens the database meanwhile. */
export function restoreMark(path: string): string {
  return `${path}-half-restored`;
}

/**
 * Refuses a file that would meet a log which is not its own, or a log whose file is gone: SQLite would write the log into
 * another database, or delete it. Throws `InstallationError`.
 */
export function requireOwnLog(path: string): void {
  if (existsSync(restoreMark(path)))
    throw new InstallationError([
      `a restore of ${path} was cut off, and what is there now is not whole: run "database restore FILE" again, with that backup or another one`,
    ]);
  // A journal is made only while a database begins, before there is anything to lose.
  const log = `${path}-wal`;
  if (!isNothing(log) && isNothing(path))
    throw new InstallationError([
      `the database ${path} is gone, and its log ${log} is still there: put the file back beside the log, which holds what was written last, or run "database restore FILE", which keeps the log`,
    ]);
}

/**
 * Makes sure that the file exists and is writable. A new one gets mode 0600, a new folder 0700, whatever the umask.
 * SQLite gives the -wal and -shm files the same mode. Throws `InstallationError`.
 */
export function prepareDatabaseFile(path: string): void {
  const folder = dirname(path);
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat && !stat.isFile())
      throw new InstallationError([`${path} is not a file: give the path of the database file`]);
    if (!stat) {
      makeFolder(folder);
      makeFile(path);
    }
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof InstallationError) throw error;
    throw new InstallationError([
      `the database ${path} cannot be written (${(error as Error).message}): let the user that runs Valetkey own the file and its folder, on a file system that is not read-only`,
    ]);
  }
}

/** Sentences for the operator if others can read or write the database file or its folder. */
export function exposures(path: string): string[] {
  if (process.platform === 'win32') return [];
  const file = resolve(path);
  const folder = dirname(file);
  return [...exposure(file, `chmod 600 ${file}*`), ...exposure(folder, `chmod 700 ${folder}`)];
}

/** The sizes of the file and its log, and what this user may still write on their disk (bytes). */
export function sizesOf(path: string): { database: number; log: number; free: number } {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const { bavail, bsize } = statfsSync(dirname(resolve(path)));
  return { database: sizeOf(path), log: sizeOf(`${path}-wal`), free: bavail * bsize };
}

function exposure(path: string, remedy: string): string[] {
  const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
  const acts = [mode & 0o044 && 'read', mode & 0o022 && 'write'].filter(Boolean).join(' and ');
  if (acts === '') return [];
  return [
    `others can ${acts} ${path} (mode ${mode.toString(8)}): run "${remedy}", since it says who allowed what, and who can change it can become anybody`,
  ];
}

/**
 * Creates a file that only its owner can read. A file that exists is not opened, since closing it would drop the POSIX
 * locks that this process may have on it.
 */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
