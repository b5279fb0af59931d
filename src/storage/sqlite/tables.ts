/** What the stores of grants, clients, accounts and events stand on: prepared statements and the write queue. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { GrantedAccess } from '../../oauth/grants/granted-access.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import type { AuditEvent } from '../../oauth/trail/audit.ts';
import type { Tuple } from '../acts.ts';
import { ChainedEvents } from './chained-events.ts';
import { asStoreError } from './errors.ts';
import { inSqlite, type Query } from './sql.ts';
import type { WriteQueue } from './write-queue.ts';

/** The tables of one connection. */
export class Tables {
  readonly #database: DatabaseSync;
  readonly #writes: WriteQueue;
  readonly #prepared = new Map<string, StatementSync>();
  readonly #events: ChainedEvents;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;

  constructor(database: DatabaseSync, writes: WriteQueue, keyring: Keyring) {
    this.#database = database;
    this.#writes = writes;
    this.#begin = database.prepare('BEGIN');
    this.#end = database.prepare('END');
    this.#events = new ChainedEvents(this, keyring);
  }

  /**
   * A query for the values of at most one row: the names of columns would be made anew for each. It throws `StoreUnavailable`
   * when the database cannot be read now.
   */
  tuple<Row extends Tuple>(sql: string): Query<Row | undefined> {
    return this.#reading(sql, 'get');
  }

  /** The same for many rows. */
  tuples<Row extends Tuple>(sql: string): Query<Row[]> {
    return this.#reading(sql, 'all');
  }

  /** A change, for use inside a write; returns how many rows it changed. */
  change(sql: string): Query<number> {
    const statement = this.#prepare(sql);
    return (...parameters) => statement.run(...parameters).changes as number;
  }

  /** A change that returns the values of the rows that it changed, likewise. */
  changed<Row extends Tuple>(sql: string): Query<Row[]> {
    const statement = this.#prepare(sql);
    return (...parameters) => statement.all(...parameters) as unknown as Row[];
  }

  /** Runs a write; its result waits for the disk. See `WriteQueue.write`. */
  write<T>(touches: readonly string[], run: () => T): Promise<T> {
    return this.#writes.write(touches, run);
  }

  /** Records an event inside a write that had its effect, and what grants gave that it ended. */
  record(event: AuditEvent, ended: readonly GrantedAccess[] | null = null): void {
    this.#events.record(event, ended);
  }

  /** The result of a read, as soon as the rows that it rests on are on disk. See `WriteQueue.onDisk`. */
  onDisk<T>(rows: readonly string[] | 'all', result: T): T | Promise<T> {
    return this.#writes.onDisk(rows, result);
  }

  /** Once for each text. */
  #prepare(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(inSqlite(sql));
    statement.setReturnArrays(true);
    this.#prepared.set(sql, statement);
    return statement;
  }

  #reading<Result>(sql: string, how: 'get' | 'all'): Query<Result> {
    const statement = this.#prepare(sql);
    return (...parameters) => {
      try {
        this.#beginReading();
        return statement[how](...parameters) as Result;
      } catch (error) {
        throw asStoreError(error);
      }
    };
  }

  /** What is read without a pause is read in one transaction: taking its locks costs as much as finding a row. */
  #beginReading(): void {
    if (this.#database.isTransaction) return;
    this.#begin.run();
    queueMicrotask(() => this.#endReading());
  }

  #endReading(): void {
    if (!this.#database.isOpen || !this.#database.isTransaction) return;
    try {
      this.#end.run();
    } catch (error) {
      this.#writes.fail(error as Error); // As of a file that was overwritten.
    }
  }
}
