/** Puts a backup in the place of a SQLite database: prepares it beside the database, and exchanges both in one step. */
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { syncFolder } from '../process/folder.ts';
import { InstallationError } from '../process/installation-error.ts';
import { syncFile } from './file-named-when-complete.ts';

/** Suffixes of the files that SQLite puts beside a database file. */
const BESIDE = ['-wal', '-shm', '-journal'] as const;

/** Copies a backup beside the database at `path`, and returns the copy's name. */
export function stage(file: string, path: string): string {
  const staged = `${path}.restoring`;
  removeDatabase(staged); // Left by a run that was killed.
  copyFileSync(file, staged, constants.COPYFILE_FICLONE);
  chmodSync(staged, 0o600);
  syncFile(staged);
  return staged;
}

/** Removes a database with the files beside it. */
export function removeDatabase(path: string): void {
  for (const end of ['', ...BESIDE]) rmSync(path + end, { force: true });
}

/**
 * Gives a staged copy the name of the database. Returns the name under which the old database is kept; null if there
 * was none. While a log of another file is beside the database, the mark exists and keeps the database closed: after
 * a kill at any point, one of both is there, complete, or the mark.
 */
export function exchange(staged: string, path: string, mark: string, now: number): string | null {
  if ((statSync(`${staged}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new InstallationError({
      problem: `the log of ${staged} could not be copied into it`,
      remedy: 'check the disk, and run this again',
    });
  syncFile(staged);
  const folder = dirname(resolve(path));
  // A restore that was cut off has already kept the old database, and the present file may be no database.
  const kept = existsSync(mark) ? readFileSync(mark, 'utf8') || null : keep(path, now);
  syncFolder(folder);
  const beside = BESIDE.filter((end) => existsSync(path + end));
  if (beside.length > 0) {
    writeFileSync(mark, kept ?? '', { mode: 0o600, flush: true });
    syncFolder(folder);
  }
  for (const end of beside) rmSync(path + end);
  renameSync(staged, path);
  syncFolder(folder);
  rmSync(mark, { force: true });
  syncFolder(folder);
  return kept;
}

/** Gives the database a second name, and returns it; the file comes last, so that a file with such a name has its log. */
function keep(path: string, now: number): string | null {
  const kept = `${path}.before-${new Date(now).toISOString().replaceAll(/[-:.]/g, '')}`;
  const there = ['-wal', '-journal', ''].filter((end) => existsSync(path + end));
  for (const end of there) linkSync(path + end, kept + end);
  const last = there.at(-1);
  return last === undefined ? null : kept + last;
}

/** Throws an `InstallationError` unless the file is a backup, which may replace the database at `path`. */
export function requireBackup(file: string, path: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile())
    throw new InstallationError({ problem: `there is no backup at ${file}`, remedy: 'check the path' });
  if (existsSync(path) && statSync(path).ino === stat.ino && statSync(path).dev === stat.dev)
    throw new InstallationError({
      problem: `${file} is the database itself`,
      remedy: 'name a backup, or omit the name to restore it in place',
    });
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new InstallationError({
      problem: `${file} has a log beside it (${file}-wal), so it is not a backup but a database that was in use`,
      remedy: 'make a backup of it with "database backup"',
    });
  if (!begins(file, 'SQLite format 3\0'))
    throw new InstallationError({
      problem: `${file} is not a SQLite database`,
      remedy: `an encrypted backup is opened first, with "gpg --output opened.db --decrypt ${file}"`,
    });
}

function begins(file: string, start: string): boolean {
  const found = Buffer.alloc(start.length);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, found, 0, found.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return found.equals(Buffer.from(start, 'latin1'));
}
