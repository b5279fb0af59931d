/** What the stores of grants, clients, accounts and events stand on: prepared statements and the write queue. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AuditEvent } from '../../oauth/audit.ts';
import type { GrantedAccess } from '../../oauth/granted-access.ts';
import type { Keyring } from '../../oauth/keyring.ts';
import type { Table } from '../tables/table.ts';
import { ChainedEvents } from './chained-events.ts';
import { asStoreError } from './errors.ts';
import { type RowCache, RowCaches } from './row-cache.ts';
import type { Query } from './sql.ts';
import type { WriteQueue } from './write-queue.ts';

/** The tables of one connection. */
export class Tables {
  /** What is kept of their rows. Writes through these tables see to it. */
  readonly caches: RowCaches;
  readonly #database: DatabaseSync;
  readonly #writes: WriteQueue;
  readonly #prepared = new Map<string, Query<unknown[]>>();
  readonly #events: ChainedEvents;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;

  constructor(database: DatabaseSync, writes: WriteQueue, keyring: Keyring) {
    this.#database = database;
    this.#writes = writes;
    this.#begin = database.prepare('BEGIN');
    this.#end = database.prepare('END');
    const readDataVersion = this.tuple<readonly [number]>('PRAGMA data_version');
    this.caches = new RowCaches(() => readDataVersion()?.[0] ?? 0);
    writes.onUndone = () => this.caches.forgetAll();
    this.#events = new ChainedEvents(this, keyring);
  }

  /** Caches the rows of a table by their ids. */
  cacheOf<Row extends object>(table: Table<Row>): RowCache<Row> {
    const find = this.tuple<readonly unknown[]>(`SELECT ${table.names} FROM ${table.name} WHERE id = ?`);
    return this.caches.add((id) => {
      const row = find(id);
      return row ? table.read(row) : null;
    });
  }

  /** Prepares a query for at most one row. The query throws `StoreUnavailable` when the database cannot be read now. */
  one<Row>(sql: string): Query<Row | undefined> {
    return this.#reading(this.#database.prepare(sql), 'get');
  }

  /** The same for the row's values in the order of its columns: the names of columns are made anew for each row. */
  tuple<Row extends readonly unknown[]>(sql: string): Query<Row | undefined> {
    return this.#reading(asTuples(this.#database.prepare(sql)), 'get');
  }

  /** Prepares a query for many rows, once for each text. */
  all<Row>(sql: string): Query<Row[]> {
    return this.#once(sql, () => this.#reading(this.#database.prepare(sql), 'all'));
  }

  /** The same for the values of each. */
  tuples<Row extends readonly unknown[]>(sql: string): Query<Row[]> {
    return this.#once(`tuples of ${sql}`, () => this.#reading(asTuples(this.#database.prepare(sql)), 'all'));
  }

  /** Prepares a change, for use inside a write; returns how many rows it changed. */
  change(sql: string): Query<number> {
    const statement = this.#database.prepare(sql);
    return (...parameters) => statement.run(...parameters).changes as number;
  }

  /** Runs a write; its result waits for the disk. See `WriteQueue.write`. */
  write<T>(touches: readonly string[], run: () => T): Promise<T> {
    return this.#writes.write(touches, () => {
      this.caches.forget(touches);
      return run();
    });
  }

  /** Runs a write that sees itself to what is kept of the rows that it touches. */
  writeThrough<T>(touches: readonly string[], run: () => T): Promise<T> {
    return this.#writes.write(touches, run);
  }

  /** Runs a write whose event is recorded if, and only if, it had an effect (a result that is neither false nor 0). */
  act<T extends boolean | number>(touches: readonly string[], event: AuditEvent, effect: () => T): Promise<T> {
    return this.write(touches, () => {
      const result = effect();
      if (result) this.#events.record(event);
      return result;
    });
  }

  /** Runs a write of several acts, whose events are recorded unless it throws. */
  actAll(touches: readonly string[], events: readonly AuditEvent[], effect: () => void): Promise<void> {
    return this.write(touches, () => {
      effect();
      for (const event of events) this.#events.record(event);
    });
  }

  /** The same for grants that end: the effect returns what each of them gave, which the event records. Returns their number. */
  endGrants(touches: readonly string[], event: AuditEvent, effect: () => readonly GrantedAccess[]): Promise<number> {
    return this.write(touches, () => {
      const ended = effect();
      if (ended.length > 0) this.#events.record(event, ended);
      return ended.length;
    });
  }

  /** Records an event that has no other effect. */
  async record(event: AuditEvent): Promise<void> {
    await this.#writes.write([], () => this.#events.record(event));
  }

  /** The result of a read, as soon as the rows that it rests on are on disk. See `WriteQueue.onDisk`. */
  onDisk<T>(rows: readonly string[] | 'all', result: T): T | Promise<T> {
    return this.#writes.onDisk(rows, result);
  }

  #once<Row>(sql: string, prepare: () => Query<Row[]>): Query<Row[]> {
    const query = (this.#prepared.get(sql) as Query<Row[]> | undefined) ?? prepare();
    this.#prepared.set(sql, query);
    return query;
  }

  #reading<Result>(statement: StatementSync, how: 'get' | 'all'): Query<Result> {
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

function asTuples(statement: StatementSync): StatementSync {
  statement.setReturnArrays(true);
  return statement;
}
