/** Whether the files of an open database still are those under their names, and not overwritten: what is written into others, nobody finds again. */
import { type BigIntStats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { InstallationError } from '../../process/installation-error.ts';
import { DatabaseMoved } from './errors.ts';
import type { FileStamp } from './file-stamp.ts';

/** Timeout of a look at the files while nobody writes (ms). */
const LOOK_EVERY_MS = 1000;

/** The database file and its log, as they were when they were opened. */
export class FilesInPlace {
  readonly #opened: readonly { readonly path: string; readonly stat: BigIntStats }[];
  readonly #path: string;
  readonly #stamp: FileStamp | null;
  #looking: NodeJS.Timeout | undefined;

  /**
   * `opened` is what `statOf` answered before SQLite opened the database, whose log is open by now. The stamp is there where
   * the service looks: a command may see the next service write another. Throws `InstallationError`.
   */
  constructor(databasePath: string, opened: BigIntStats, stamp: FileStamp | null) {
    // By whole paths: SQLite keeps to its own, too, and a folder above may be moved.
    const path = resolve(databasePath);
    const log = statOf(`${path}-wal`);
    if (!isSame(opened, statOf(path)) || !log)
      throw new InstallationError([`the database ${path} was moved or replaced while it was opened: try again`]);
    this.#path = path;
    this.#stamp = stamp;
    this.#opened = [
      { path, stat: opened },
      { path: `${path}-wal`, stat: log },
    ];
  }

  /** Throws `DatabaseMoved`, or what the system says where it cannot tell. */
  require(): void {
    for (const { path, stat } of this.#opened) {
      const found = statOf(path);
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

  /** Calls `look` again and again until `stop`. */
  watch(look: () => void): void {
    this.#looking = setInterval(look, LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#looking);
  }
}

/** What is under a name, or undefined when nothing is. */
export function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function isSame(one: BigIntStats, other: BigIntStats | undefined): boolean {
  return one.ino === other?.ino && one.dev === other.dev;
}
