/**
 * Checks that the files of an open database were not moved, replaced or overwritten: every later write would be lost.
 */
import { type BigIntStats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { InstallationError } from '../../../process/installation-error.ts';
import { DatabaseMoved } from './errors.ts';
import type { FileStamp } from './file-stamp.ts';

/** Time between two checks while there are no writes (ms). */
const CHECK_EVERY_MS = 1000;

/** The database file and its log, as opened. */
export class FilesInPlace {
  readonly #opened: readonly { readonly path: string; readonly stat: BigIntStats }[];
  readonly #path: string;
  readonly #stamp: FileStamp | null;
  #checking: NodeJS.Timeout | undefined;

  /**
   * `opened` is the result of `statOf` before SQLite opened the database, whose log is open by now. Only the service
   * has a stamp: while a command runs, the next service may write another. Throws `InstallationError`.
   */
  constructor(databasePath: string, opened: BigIntStats, stamp: FileStamp | null) {
    // Absolute paths, as in SQLite: a parent folder may be moved.
    const path = resolve(databasePath);
    const log = statOf(`${path}-wal`);
    if (!isSame(opened, statOf(path)) || !log)
      throw new InstallationError({
        problem: `the database ${path} was moved or replaced while it was opened`,
        remedy: 'try again',
      });
    this.#path = path;
    this.#stamp = stamp;
    this.#opened = [
      { path, stat: opened },
      { path: `${path}-wal`, stat: log },
    ];
  }

  /** Throws `DatabaseMoved` if a file changed, or the system's error if the check fails. */
  require(): void {
    for (const { path, stat } of this.#opened) {
      const found = statOf(path);
      if (this.#stamp === null && !isSame(stat, found))
        throw new DatabaseMoved(
          `${path} was moved or replaced while this command had it open, as by a restore: run it again to use what is there now, and see whether that has what it did`,
        );
      if (!found)
        throw new DatabaseMoved(
          `${path} was moved away or removed while the service had it open: ending. To keep what was written, put it back where it was, with its -wal and -shm beside it, and start again`,
        );
      if (!isSame(stat, found))
        throw new DatabaseMoved(
          `${path} was replaced while the service had it open: ending. To keep what was written, put the earlier file back, with its -wal and -shm; to serve the new one, put away the -wal and -shm that are not its own, and start again`,
        );
    }
    if (this.#stamp?.isThere() === false)
      throw new DatabaseMoved(
        `${this.#path} was overwritten while the service had it open: ending. What the file held is lost: put away its -wal and -shm, which are not those of what is there now, restore the last backup, unless it is there now, and start again`,
      );
  }

  /** Calls `check` at intervals until `stop`. */
  watch(check: () => void): void {
    this.#checking = setInterval(check, CHECK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#checking);
  }
}

/** Returns the file's identity and state, or undefined if there is no file. */
export function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function isSame(one: BigIntStats, other: BigIntStats | undefined): boolean {
  return one.ino === other?.ino && one.dev === other.dev;
}
