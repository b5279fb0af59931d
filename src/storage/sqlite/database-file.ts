/** The database file before SQLite opens it: made for the owner's eyes only, and refused where it cannot be used. */
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolder } from '../../process/folder.ts';
import { InstallationError } from '../../process/installation-error.ts';

/** Whether there is no database under a name yet: no file, or an empty one. */
export function isNothing(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/**
 * Makes sure that the file is there and writable; a new one gets mode 0600, a new folder 0700, whatever the umask. The
 * -wal and -shm files take their modes from it. Throws `InstallationError`.
 */
export function prepareDatabaseFile(path: string, create: boolean): void {
  const folder = dirname(path);
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat && !create)
      throw new InstallationError([
        `there is no database at ${path}: make it with "database migrate", or check the path`,
      ]);
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

/** A sentence for the operator where others can reach the database file, whose mode its log shares, or the folder. */
export function exposures(path: string): string[] {
  if (process.platform === 'win32') return [];
  const file = resolve(path);
  const folder = dirname(file);
  return [...exposure(file, `chmod 600 ${file}*`), ...exposure(folder, `chmod 700 ${folder}`)];
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
 * Makes a file for the owner's eyes only, unless it is there: then it is not opened, since closing it would drop the
 * POSIX locks that this process may have on it.
 */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
