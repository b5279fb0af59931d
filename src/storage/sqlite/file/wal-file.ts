/** The write-ahead log as a file that is synced off the event loop, on a descriptor of our own. */
import { closeSync, fdatasync, fstatSync, fsync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** The operations that durability depends on. Tests replace them, to observe their order and to make them fail. */
export type FileOperations = {
  /** Waits until the data of an open file is on disk. */
  fdatasync(descriptor: number): Promise<void>;
  /** Waits until the data and metadata of an open file or folder are on disk. */
  fsync(descriptor: number): Promise<void>;
};

const SYSTEM: FileOperations = { fdatasync: promisify(fdatasync), fsync: promisify(fsync) };

/**
 * The WAL of an open database. SQLite creates it with its first read and removes it when the last connection closes, so
 * it stays the same file as long as our connection is open. Closing a descriptor drops every POSIX lock that the
 * process holds on that file. That is safe here, since SQLite never locks the WAL: it locks the -shm file, which we
 * never open, and the main file, which `file-stamp.ts` closes last.
 */
export class WalFile {
  readonly #files: FileOperations;
  readonly #descriptor: number;

  private constructor(path: string, files: FileOperations) {
    this.#files = files;
    this.#descriptor = openSync(path, 'r+');
  }

  /**
   * Opens the WAL beside a database file, and syncs it and its folder: an earlier process may have been killed before
   * its sync, and its commits are served from now on.
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

  /** Length of the WAL (bytes). */
  get size(): number {
    return fstatSync(this.#descriptor).size;
  }

  /** Waits until every earlier write to the WAL is on disk. After an error nothing more may be written. */
  sync(): Promise<void> {
    return this.#files.fdatasync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

/** Makes the directory entries of a folder durable. */
async function syncFolder(path: string, files: FileOperations): Promise<void> {
  const descriptor = openSync(path, 'r');
  try {
    await files.fsync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
