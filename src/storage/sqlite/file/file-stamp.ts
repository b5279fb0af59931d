/**
 * A stamp that a service writes into the header of its database file, to detect that the file was overwritten in place.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { preparePass } from './checkpoint.ts';
import { connect, firstValue } from './connection.ts';

/**
 * The part of the header that is read: from the schema version to the user version (https://sqlite.org/fileformat2.html
 * §1.3).
 */
const HEAD_AT = 40;
const HEAD_BYTES = 24;
const USER_VERSION_AT = 20;

type Head = { readonly schema: number; readonly stamp: number };

/**
 * The stamp of one run of the service: a random `user_version`. A copy from before this run has another stamp. A backup
 * made during the run has another schema version, since SQLite changes that in a copy.
 *
 * The file is opened once, and closed after every connection: closing a descriptor drops every POSIX lock that the
 * process has on that file, including those of SQLite.
 */
export class FileStamp {
  readonly #database: DatabaseSync;
  readonly #descriptor: number;
  readonly #bytes = Buffer.alloc(HEAD_BYTES);
  readonly #stamp = randomBytes(4).readInt32BE();
  /** The header at the last check; the log may be newer. */
  #seen: Head | null;

  /** Opens the file of an open database; `write` then writes the stamp. Throws the system's error. */
  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#descriptor = openSync(path, 'r');
    this.#seen = this.#read();
  }

  /**
   * Writes the stamp, and copies it from the log into the file. If another program is reading, a later checkpoint
   * copies it. Throws SQLite's errors.
   */
  write(path: string): void {
    const connection = connect(path); // A second connection, which waits for locks: the service's own must not.
    try {
      connection.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = ${this.#stamp}`);
      connection.exec('PRAGMA busy_timeout = 0');
      preparePass(connection, 'RESTART')();
      this.#seen = this.#read(); // From now on a copy from an earlier run differs.
    } finally {
      connection.close();
    }
  }

  /**
   * Returns true if the file's content is still that of this service and of other processes on it. Throws the system's
   * error.
   */
  isThere(): boolean {
    const found = this.#read();
    if (!found || !this.#seen) return false;
    const { schema, stamp } = this.#seen;
    if (stamp !== found.stamp && this.#stamp !== found.stamp) return false;
    // Another program, such as a shell, may have changed the schema: the log has such a change before the file does.
    if (schema !== found.schema && (found.schema < schema || found.schema > this.#latestSchema())) return false;
    this.#seen = found;
    return true;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #latestSchema(): number {
    return firstValue(this.#database, 'PRAGMA schema_version') as number;
  }

  /** Returns the header, or null if the file is too short. */
  #read(): Head | null {
    if (readSync(this.#descriptor, this.#bytes, 0, HEAD_BYTES, HEAD_AT) < HEAD_BYTES) return null;
    return { schema: this.#bytes.readInt32BE(0), stamp: this.#bytes.readInt32BE(USER_VERSION_AT) };
  }
}
