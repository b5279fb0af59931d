/** The write-ahead log as a file that is synced off the event loop, on a descriptor of our own. */
import { type BigIntStats, closeSync, fdatasync, fstatSync, fsync, openSync, statSync } from 'node:fs';
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

/** After so many syncs it is looked whether the file still is the one in its folder. */
const SYNCS_BETWEEN_LOOKS = 64;

/**
 * The WAL of an open database. SQLite makes it with its first read and removes it when the last connection closes, so
 * that it stays one and the same file as long as our connection is open. Closing a descriptor drops every POSIX lock
 * that the process holds on that file: SQLite locks the main file and the -shm file, which we therefore never open,
 * and never the WAL.
 */
export class WalFile {
  readonly #path: string;
  readonly #files: FileOperations;
  readonly #descriptor: number;
  readonly #stat: BigIntStats;
  #syncs = 0;

  private constructor(path: string, files: FileOperations) {
    this.#path = path;
    this.#files = files;
    this.#descriptor = openSync(path, 'r+');
    this.#stat = fstatSync(this.#descriptor, { bigint: true });
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
  async sync(): Promise<void> {
    this.#syncs += 1;
    await this.#files.fdatasync(this.#descriptor);
    if (this.#syncs % SYNCS_BETWEEN_LOOKS === 0) this.#look();
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Somebody who removes or replaces the file takes what is written from now on with it. */
  #look(): void {
    const { ino, dev } = statSync(this.#path, { bigint: true });
    if (ino !== this.#stat.ino || dev !== this.#stat.dev)
      throw new Error(`${this.#path} was replaced while the database was open`);
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
