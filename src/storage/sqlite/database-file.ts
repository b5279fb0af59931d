/** The database file before SQLite opens it: made for the owner's eyes only, and refused where it cannot be used. */
import { accessSync, closeSync, constants, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Refused } from '../../refused.ts';

/**
 * Makes sure that the file is there and writable; a new one gets mode 0600, a new folder 0700, whatever the umask. The
 * -wal and -shm files take their modes from it. An existing file is not opened: closing it would drop the POSIX locks
 * of any connection that this process has to it. Throws `Refused`.
 */
export function prepareDatabaseFile(path: string, create: boolean): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat && !create)
    throw new Refused([`there is no database at ${path}: make it with "database migrate", or check the path`]);
  if (stat && !stat.isFile()) throw new Refused([`${path} is not a file: give the path of the database file`]);
  const folder = dirname(path);
  try {
    if (!stat) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      closeSync(openSync(path, 'wx', 0o600));
    }
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Refused([
      `the database ${path} cannot be written (${(error as Error).message}): let the user that runs Valetkey own the file and its folder, on a file system that is not read-only`,
    ]);
  }
}
