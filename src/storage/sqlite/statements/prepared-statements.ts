/** The base of the ports' operations in SQLite: statements, each prepared once, and the write queue. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AccessOfRow } from '../../../oauth/grants/granted-access.ts';
import type { Keyring } from '../../../oauth/keys/keyring.ts';
import type { AuditEvent } from '../../../oauth/trail/audit.ts';
import type { Statement, Tuple } from '../../statements/shared-operations.ts';
import { asStoreError } from '../file/errors.ts';
import { ChainedEvents } from './chained-events.ts';
import { ReadTransaction } from './read-transaction.ts';
import { bound, inSqlite } from './sqlite-dialect.ts';
import type { WriteQueue } from './write-queue.ts';

/** The tables of one connection. */
export class Tables {
  readonly #database: DatabaseSync;
  readonly #writes: WriteQueue;
  readonly #prepared = new Map<string, StatementSync>();
  readonly #events: ChainedEvents;
  readonly #reads: ReadTransaction;

  constructor(database: DatabaseSync, writes: WriteQueue, keyring: Keyring) {
    this.#database = database;
    this.#writes = writes;
    this.#events = new ChainedEvents(this, keyring);
    this.#reads = new ReadTransaction(database);
  }

  /** Returns the rows that a statement selects or, inside a write, changes and returns. Throws `StoreUnavailable`. */
  rows<Row extends Tuple>({ sql, values }: Statement): Row[] {
    try {
      this.#reads.begin();
      return this.prepare(sql).all(...values.map(bound)) as unknown as Row[];
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /** Returns true if a statement finds a row. */
  isAny(statement: Statement): boolean {
    return this.rows(statement).length > 0;
  }

  /** Changes rows, inside a write; returns their number. */
  change({ sql, values }: Statement): number {
    return this.prepare(sql).run(...values.map(bound)).changes as number;
  }

  /** Runs a write; its result waits for the disk. See `WriteQueue.write`. */
  write<T>(touches: readonly string[], run: () => T): Promise<T> {
    return this.#writes.write(touches, run);
  }

  /** Records an event inside the write of its act, with the access of the grants that it ended. */
  record(event: AuditEvent, ended: readonly AccessOfRow[] | null = null): void {
    this.#events.record(event, ended);
  }

  /** Returns the result of a read once the rows that it depends on are on disk. See `WriteQueue.onDisk`. */
  onDisk<T>(rows: readonly string[] | 'all', result: T): T | Promise<T> {
    return this.#writes.onDisk(rows, result);
  }

  /** Ends the shared reads in progress, before the database is closed. */
  endReads(): void {
    this.#reads.end();
  }

  /** Prepares a statement, once for each text. Throws SQLite's error if the tables differ from the schema. */
  prepare(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(inSqlite(sql));
    statement.setReturnArrays(true);
    this.#prepared.set(sql, statement);
    return statement;
  }
}
