/**
 * The infrequent operations of the ports as data, written once in the SQL that both stores share. `sqlite/statements/runner.ts`
 * runs these statements inside the write queue, `postgresql/statements/runner.ts` in a transaction.
 */

import type { Walked } from '../../oauth/store.ts';
import type { AuditEvent } from '../../oauth/trail/audit.ts';
import type { Stored, Table } from './table.ts';

/** The key of the installation's row. */
export const INSTALLATION_KEY = 'installation';

/** The parts of shared statements that differ between the SQL of the two stores. */
export type Dialect = {
  /** Returns the expression for a UUID parameter that is given as bytes, by the parameter's name. */
  givenId(parameter: string): string;
  /** Expression for the newest id of a group of grants: not every store has `max` of a UUID. */
  readonly newestGrantId: string;
  /** Indexed expression for the id of the root key that an account's password is sealed with. */
  readonly passwordKeyId: string;
  /** Indexed expressions for the digests (base64) of the newer and the older secret of a row; null without one. */
  readonly secretDigests: readonly [newer: string, older: string];
  /** Function of a text and a part of it: the part's place from 1 on, or 0. */
  readonly placeOf: string;
};

/** A statement with the placeholders `$1`, `$2` …, and its values. */
export type Statement = { readonly sql: string; readonly values: readonly Stored[] };

/**
 * Keys of rows whose write SQLite must sync before it answers: ids, and digests as `rowKey` makes them. PostgreSQL
 * never shows uncommitted rows, so it ignores them.
 */
export type RowKeys = readonly string[];

/** A write and its audit event, applied atomically. It must be safe to run again after a rollback. */
export type Act = {
  readonly touches: RowKeys;
  readonly event: AuditEvent;
  /**
   * The conditions of the decision, checked again: each query must find a row, and locks it where other transactions
   * may write. Otherwise the act is a no-op.
   */
  readonly demands?: readonly Statement[];
  /**
   * Must change exactly one row; otherwise the act is a no-op. Without it the event records an effect of an earlier
   * act.
   */
  readonly first?: Statement;
  /** Changes after that, each with an event that is recorded if the statement changed a row. */
  readonly also?: readonly { readonly statement: Statement; readonly event: AuditEvent }[];
  /** Further changes, in this order. */
  readonly rest?: readonly Statement[];
};

/** Thrown inside a transaction of several acts, one of which was a no-op: rolls all of them back. */
export const UNDONE = new Error('an act did not happen, and those before it are undone');

/** The values of a row, in the order of the selected columns. */
export type Tuple = readonly unknown[];

/** Number of rows that one page of a scan reads. */
export const WALK_WINDOW = 512;

/** Number of keys in one statement of `inGroups`: a constant, so that the statement has one text. */
const GROUP = 100;

/**
 * Selects rows by keys, in groups of one size. `sql` gets the list of parameters; `none` is a key that no row has, which
 * fills the last group.
 */
export async function inGroups(
  runner: Pick<Runner, 'select'>,
  keys: readonly Stored[],
  none: Stored,
  sql: (parameters: readonly string[]) => string,
): Promise<Tuple[]> {
  const text = sql(Array.from({ length: GROUP }, (_, index) => `$${index + 1}`));
  const rows: Tuple[] = [];
  for (let start = 0; start < keys.length; start += GROUP) {
    const values = Array.from({ length: GROUP }, (_, index) => keys[start + index] ?? none);
    rows.push(...(await runner.select({ sql: text, values }, 'all')));
  }
  return rows;
}

/** Returns one page of a scan over rows in key order: the matching rows, and the key to continue after. */
export function pageOfWalk<Row>(
  rows: readonly Row[],
  isFound: (row: Row) => boolean,
  keyOf: (row: Row) => Buffer,
): Walked<Row> {
  const last = rows[WALK_WINDOW - 1];
  return { found: rows.filter(isFound), goesOnAfter: last === undefined ? null : keyOf(last) };
}

/** Returns the rows that a query finds, as objects, once every earlier write is on disk. */
export async function listRows<Row extends object>(
  runner: Runner,
  table: Table<Row>,
  sql: string,
  values: readonly Stored[] = [],
): Promise<Row[]> {
  return (await runner.select({ sql, values }, 'all')).map((row) => table.read(row));
}

/** Returns the first row that a query finds, or null, once the rows that it `restsOn` are on disk. */
export async function findRow<Row extends object>(
  runner: Runner,
  table: Table<Row>,
  statement: Statement,
  restsOn: RestsOn = 'all',
): Promise<Row | null> {
  const [row] = await runner.select(statement, restsOn);
  return row ? table.read(row) : null;
}

/** Returns true if a query finds a row, once every earlier write is on disk. */
export async function isAny(runner: Runner, sql: string, values: readonly Stored[] = []): Promise<boolean> {
  return (await runner.select({ sql, values }, 'all')).length > 0;
}

/** Rows that must be on disk before a result is returned; may be computed from the found rows. */
export type RestsOn = RowKeys | 'all' | ((rows: readonly Tuple[]) => RowKeys | 'all');

/** A search for one row by its key, as data: prepared, since every request runs some. */
export type Search<Found, Key extends string | Buffer = string> = {
  /** A query whose `$1` is the key. */
  readonly sql: string;
  /** Storage type of the key. */
  readonly key: Key extends Buffer ? 'uuid' : 'text';
  readonly read: (row: Tuple) => Found;
  /** Returns the keys of rows that must be on disk before the found row is returned. */
  readonly restsOn: (found: Found) => RowKeys;
};

/** Runs statements, searches and acts. Every method throws `StoreUnavailable`. */
export type Runner = {
  readonly dialect: Dialect;
  /** Prepares a search, which resolves to null if there is no row, once the rows that it `restsOn` are on disk. */
  search<Found, Key extends string | Buffer>(search: Search<Found, Key>): (key: Key) => Promise<Found | null>;
  /** Selects rows, once the rows that the result `restsOn` are on disk. */
  select(statement: Statement, restsOn: RestsOn): Promise<Tuple[]>;
  /** Runs an act; returns false if it was a no-op. */
  act(act: Act): Promise<boolean>;
  /**
   * Ends grants by a statement that returns the access of each, which the event records. Returns false, and records
   * nothing, if no grant was ended, or a demand finds no row.
   */
  end(touches: RowKeys, event: AuditEvent, ending: Statement, demands?: readonly Statement[]): Promise<boolean>;
  /**
   * Runs all of these acts in this order, each with its event; returns false, and changes nothing, if one was a no-op.
   */
  actAll(acts: readonly Act[]): Promise<boolean>;
  /** Changes rows without an audit event, if the demands are met as for an act. */
  change(touches: RowKeys, statement: Statement, demands?: readonly Statement[]): Promise<void>;
  /**
   * Runs several statements as `change` does: all of them, or none, and once at most, so that they may add to what is there. Throws
   * `OutcomeUnknown` if the connection was lost at the commit.
   */
  changeAll(touches: RowKeys, statements: readonly Statement[], demands?: readonly Statement[]): Promise<void>;
  /**
   * Runs a statement for one row without an audit event; returns true if the row changed. It must be safe to repeat.
   */
  changeOne(touches: RowKeys, statement: Statement): Promise<boolean>;
  /** Records an event that has no other effect. */
  record(event: AuditEvent): Promise<void>;
};
