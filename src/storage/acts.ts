/**
 * The cold verbs of the ports as data, written once for both stores: statements in the SQL that both speak. Each store runs
 * them in its own way, `sqlite/runner.ts` inside the write queue and `postgresql/runner.ts` in a transaction.
 */

import type { Walked } from '../oauth/store.ts';
import type { AuditEvent } from '../oauth/trail/audit.ts';
import type { Stored, Table } from './tables/table.ts';

/** The key of the installation's row. */
export const INSTALLATION_KEY = 'installation';

/** What each store writes in SQL of its own, within statements that are alike. */
export type Dialect = {
  /** The expression of a UUID that is given as bytes, by the name of its parameter. */
  givenId(parameter: string): string;
  /** The newest id of a group of grants: not every store has `max` of a UUID. */
  readonly newestGrantId: string;
  /** The id of the root key that an account's password is sealed with, by which there is an index. */
  readonly passwordKeyId: string;
};

/** A statement, with `$1` and so on in the place of its values. */
export type Statement = { readonly sql: string; readonly values: readonly Stored[] };

/**
 * The keys of rows, as SQLite waits for them to be on disk: ids, and digests as `rowKey` makes them.
 * PostgreSQL shows nobody what is not committed, and needs none.
 */
export type RowKeys = readonly string[];

/** An act: all of it happens, with its event, or nothing does. It must be harmless to run again after it was undone. */
export type Act = {
  readonly touches: RowKeys;
  readonly event: AuditEvent;
  /**
   * What the decision rested on, asked for again: each query must find a row, and locks it where others write meanwhile. Otherwise
   * nothing happens.
   */
  readonly demands?: readonly Statement[];
  /** Changes one row, or else nothing happens. Without it the event tells of what an act before it did. */
  readonly first?: Statement;
  /** What follows from it, in this order. */
  readonly rest?: readonly Statement[];
};

/** Thrown inside a transaction of several acts, of which one did not happen. */
export const UNDONE = new Error('an act did not happen, and those before it are undone');

/** The values of a row, in the order in which they were selected. */
export type Tuple = readonly unknown[];

/** Number of rows that one window of a walk reads. */
export const WALK_WINDOW = 512;

/** A window of a walk, of rows in the order of their keys: those that were asked for, and where it goes on. */
export function walked<Row>(
  rows: readonly Row[],
  isFound: (row: Row) => boolean,
  keyOf: (row: Row) => Buffer,
): Walked<Row> {
  const last = rows[WALK_WINDOW - 1];
  return { found: rows.filter(isFound), goesOnAfter: last === undefined ? null : keyOf(last) };
}

/** The rows of a table that a query finds, as their objects. The result waits until all that was written is on disk. */
export async function listed<Row extends object>(
  runner: Runner,
  table: Table<Row>,
  sql: string,
  values: readonly Stored[] = [],
): Promise<Row[]> {
  return (await runner.select({ sql, values }, 'all')).map((row) => table.read(row));
}

/** The first of them, or null. The result waits until what it `restsOn` is on disk. */
export async function found<Row extends object>(
  runner: Runner,
  table: Table<Row>,
  statement: Statement,
  restsOn: RestsOn = 'all',
): Promise<Row | null> {
  const [row] = await runner.select(statement, restsOn);
  return row ? table.read(row) : null;
}

/** Whether a query finds a row; it waits likewise. */
export async function isAny(runner: Runner, sql: string, values: readonly Stored[] = []): Promise<boolean> {
  return (await runner.select({ sql, values }, 'all')).length > 0;
}

/** The rows that a result rests on, which may follow from what was found. */
export type RestsOn = RowKeys | 'all' | ((rows: readonly Tuple[]) => RowKeys | 'all');

/** A search for one row by its key, as data. Each request makes some. */
export type Search<Found, Key extends string | Buffer = string> = {
  /** A query whose `$1` is the key. */
  readonly sql: string;
  /** How the key is stored. */
  readonly key: Key extends Buffer ? 'uuid' : 'text';
  readonly read: (row: Tuple) => Found;
  /** The rows that the found one rests on. */
  readonly restsOn: (found: Found) => RowKeys;
};

/** What runs them. All of it throws `StoreUnavailable`. */
export type Runner = {
  readonly dialect: Dialect;
  /** Prepares a search, which finds null when there is no row. The result waits until the rows that it rests on are on disk. */
  search<Found, Key extends string | Buffer>(search: Search<Found, Key>): (key: Key) => Promise<Found | null>;
  /** Selects rows; the result waits until those that it rests on are on disk. */
  select(statement: Statement, restsOn: RestsOn): Promise<Tuple[]>;
  /** Whether the act happened. */
  act(act: Act): Promise<boolean>;
  /**
   * Ends grants by a change that returns the access of each, which its event records. Tells whether it ended any; otherwise
   * nothing is recorded.
   */
  end(touches: RowKeys, event: AuditEvent, ending: Statement): Promise<boolean>;
  /** Whether all of these acts happened, in this order and each with its event; else none did. */
  actAll(acts: readonly Act[]): Promise<boolean>;
  /** Changes rows that no event tells of, if its demands are met as those of an act. */
  change(touches: RowKeys, statement: Statement, demands?: readonly Statement[]): Promise<void>;
  /** The same with several statements: all of them run, or none. */
  changeAll(touches: RowKeys, statements: readonly Statement[], demands?: readonly Statement[]): Promise<void>;
  /** Runs a statement for one row, and tells whether it changed it; no event tells of it. It must be harmless to repeat. */
  changeOne(touches: RowKeys, statement: Statement): Promise<boolean>;
  /** Records an event that has no other effect. */
  record(event: AuditEvent): Promise<void>;
};
