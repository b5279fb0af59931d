/** What a service writes into the head of its database file: whoever overwrites the file in place overwrites it, too. */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { preparePass } from './checkpoint.ts';
import { connect, firstValue } from './connection.ts';

/** The part of the head that is read: from the schema version to the user version (https://sqlite.org/fileformat2.html §1.3). */
const HEAD_AT = 40;
const HEAD_BYTES = 24;
const USER_VERSION_AT = 20;

type Head = { readonly schema: number; readonly stamp: number };

/**
 * The stamp of one run of the service: its own random `user_version`. A copy from before this run has another. A backup made
 * during it has another schema version, which SQLite gives to whatever it copies.
 *
 * The file is opened once, and closed after every connection: closing a descriptor drops every POSIX lock that the process
 * has on that file, as SQLite's are.
 */
export class FileStamp {
  readonly #database: DatabaseSync;
  readonly #descriptor: number;
  readonly #bytes = Buffer.alloc(HEAD_BYTES);
  readonly #stamp = randomBytes(4).readInt32BE();
  /** What the file was last seen to have, which the log may be ahead of. */
  #seen: Head | null;

  /** Opens the file of an open database, which gets its stamp from `write`. Throws what the system says. */
  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#descriptor = openSync(path, 'r');
    this.#seen = this.#read();
  }

  /**
   * Writes the stamp, and copies it into the file unless somebody reads from before: then a checkpoint does so later. Throws what
   * SQLite throws.
   */
  write(path: string): void {
    const connection = connect(path); // It waits for a lock, as a service that serves must not.
    try {
      connection.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = ${this.#stamp}`);
      connection.exec('PRAGMA busy_timeout = 0');
      preparePass(connection, 'TRUNCATE')();
      this.#seen = this.#read(); // From now on a copy from the run before is another.
    } finally {
      connection.close();
    }
  }

  /** Whether the file still is what this service and its neighbours wrote. Throws what the system says. */
  isThere(): boolean {
    const found = this.#read();
    if (!found || !this.#seen) return false;
    const { schema, stamp } = this.#seen;
    if (stamp !== found.stamp && this.#stamp !== found.stamp) return false;
    // Another program, as a shell, may have changed the schema: the log knows it before the file does.
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

  /** Null where the file is too short to have a head. */
  #read(): Head | null {
    if (readSync(this.#descriptor, this.#bytes, 0, HEAD_BYTES, HEAD_AT) < HEAD_BYTES) return null;
    return { schema: this.#bytes.readInt32BE(0), stamp: this.#bytes.readInt32BE(USER_VERSION_AT) };
  }
}
