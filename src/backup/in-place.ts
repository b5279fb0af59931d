/** Puts a backup in the place of a SQLite database: prepared beside it, and exchanged in one step. */
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { syncFolder } from '../process/folder.ts';
import { InstallationError } from '../process/installation-error.ts';
import { syncFile } from './named-file.ts';

/** What SQLite may have beside a database file. */
const BESIDE = ['-wal', '-shm', '-journal'] as const;

/** Copies a backup beside the database at `path`, and returns the copy's name. Throws `InstallationError`. */
export function stage(file: string, path: string): string {
  requireBackup(file, path);
  const staged = `${path}.restoring`;
  removeDatabase(staged); // Left by a run that was killed.
  copyFileSync(file, staged, constants.COPYFILE_FICLONE);
  chmodSync(staged, 0o600);
  syncFile(staged);
  return staged;
}

/** Removes a database with what is beside it. */
export function removeDatabase(path: string): void {
  for (const end of ['', ...BESIDE]) rmSync(path + end, { force: true });
}

/**
 * Gives a staged copy the name of the database, whose own file is kept under the returned one; null where there was none. A
 * kill at any point leaves either of the two there, whole. The log must be in the old file already, unless it cannot be read.
 */
export function exchange(staged: string, path: string, now: number): string | null {
  if ((statSync(`${staged}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new InstallationError([
      `the log of ${staged} could not be copied into it: look at the disk, and run this again`,
    ]);
  syncFile(staged);
  const kept = existsSync(path) ? `${path}.before-${new Date(now).toISOString().replaceAll(/[-:.]/g, '')}` : null;
  if (kept !== null) keep(path, kept);
  renameSync(staged, path);
  syncFolder(dirname(resolve(path)));
  return kept;
}

/** Without a log the old file stays in its place until the new one takes it. With one, it may not be there without it. */
function keep(path: string, kept: string): void {
  const beside = BESIDE.filter((end) => existsSync(path + end));
  if (beside.length === 0) linkSync(path, kept);
  else renameSync(path, kept);
  for (const end of beside) renameSync(path + end, kept + end);
}

function requireBackup(file: string, path: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw new InstallationError([`there is no backup at ${file}: check the path`]);
  if (existsSync(path) && statSync(path).ino === stat.ino && statSync(path).dev === stat.dev)
    throw new InstallationError([
      `${file} is the database itself: name a backup, or leave the name out to restore it as it is`,
    ]);
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new InstallationError([
      `${file} has a log beside it (${file}-wal), so it is not a backup but a database that was in use: make a backup of it with "database backup"`,
    ]);
  if (!begins(file, 'SQLite format 3\0'))
    throw new InstallationError([
      `${file} is not a SQLite database: an encrypted backup is opened first, with "gpg --output opened.db --decrypt ${file}"`,
    ]);
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
