/** The read transaction that the reads of requests that arrived together share. */
import type { DatabaseSync } from 'node:sqlite';

/**
 * Begins with the first read, and ends before the event loop reads further input. So every request is answered from a
 * snapshot that is younger than its arrival, and a commit of another process is seen by all later requests. SQLite locks
 * the database and looks for commits once for all of these reads; for each alone that takes longer than finding a row.
 */
export class ReadTransaction {
  readonly #database: DatabaseSync;
  readonly #begin;
  readonly #end;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN');
    this.#end = database.prepare('COMMIT');
  }

  /** Begins the transaction, unless it or a write is in progress. */
  begin(): void {
    if (this.#database.isTransaction) return;
    this.#begin.run();
    // After the ticks that are queued already: the other requests of the batch begin in those.
    process.nextTick(() => this.end());
  }

  /** Ends the transaction. No-op if it has ended, as after a failed read or when the database is closed. */
  end(): void {
    if (!this.#database.isOpen || !this.#database.isTransaction) return;
    try {
      this.#end.run();
    } catch {
      this.#rollBack();
    }
  }

  /** Ends the transaction of a broken file, such as a truncated one: the next read or write says what is wrong with it. */
  #rollBack(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // Nobody waits for the end of a read.
    }
  }
}
