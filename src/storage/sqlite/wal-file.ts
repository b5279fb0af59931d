/** The write-ahead log as a file that is synced off the event loop, on a descriptor of our own. */
import { closeSync, fdatasync, fsync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** The operations on which durability rests; tests put others in their place to see the order and to let them fail. */
export type FileOperations = {
  /** Waits until the data of an open file is on disk. */
  fdatasync(descriptor: number): Promise<void>;
  /** The same for everything about it, as a folder needs. */
  fsync(descriptor: number): Promise<void>;
};

const SYSTEM: FileOperations = { fdatasync: promisify(fdatasync), fsync: promisify(fsync) };

/**
 * The WAL of an open database. SQLite makes it with its first read and removes it when the last connection closes, so
 * that it stays one and the same file as long as our connection is open. Closing a descriptor drops every POSIX lock
 * that the process holds on that file: SQLite locks the main file, whose descriptor in `file-stamp.ts` is closed after it, and the
 * -shm file, which we therefore never open, and never the WAL.
 */
export class WalFile {
  readonly #files: FileOperations;
  readonly #descriptor: number;

  private constructor(path: string, files: FileOperations) {
    this.#files = files;
    this.#descriptor = openSync(path, 'r+');
  }

  /**
   * Opens the WAL beside a database file and syncs both it and its folder: what an earlier process wrote without
   * living to sync it is read and answered from now on.
   */
  static async open(databasePath: string, files: FileOperations = SYSTEM): Promise<WalFile> {
    const wal = new WalFile(`${databasePath}-wal`, files);
    try {
      await wal.sync();
      await syncFolder(dirname(databasePath), files);
    } catch (error) {
      wal.close();
      throw error;
    }
    return wal;
  }

  /** Waits until everything written to the WAL before the call is on disk. After an error nothing may be written any more. */
  sync(): Promise<void> {
    return this.#files.fdatasync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** Makes the names in a folder durable. */
async function syncFolder(path: string, files: FileOperations): Promise<void> {
  const descriptor = openSync(path, 'r');
  try {
    await files.fsync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
