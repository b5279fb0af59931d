/** The database file before SQLite opens it: made for the owner's eyes only, and refused where it cannot be used. */
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../../folder.ts';
import { Refused } from '../../refused.ts';

/**
 * Makes sure that the file is there and writable; a new one gets mode 0600, a new folder 0700, whatever the umask. The
 * -wal and -shm files take their modes from it. Throws `Refused`.
 */
export function prepareDatabaseFile(path: string, create: boolean): void {
  const folder = dirname(path);
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat && !create)
      throw new Refused([`there is no database at ${path}: make it with "database migrate", or check the path`]);
    if (stat && !stat.isFile()) throw new Refused([`${path} is not a file: give the path of the database file`]);
    if (!stat) {
      makeFolder(folder);
      makeFile(path);
    }
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused([
      `the database ${path} cannot be written (${(error as Error).message}): let the user that runs Valetkey own the file and its folder, on a file system that is not read-only`,
    ]);
  }
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
