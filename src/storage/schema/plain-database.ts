/**
 * A database for opening, checking and copying: one connection, which runs one statement after the other. Operations on
 * a whole installation are written on it once for both stores. The operations of the ports are in `shared-operations.ts`.
 */
import type { Dialect, Tuple } from '../statements/shared-operations.ts';
import type { Kind, Stored } from '../statements/table.ts';
import type { StoredColumn } from '../tables/all-tables.ts';
import type { SchemaObject } from './catalogue.ts';
import type { AppliedMigration, Migration } from './migrations.ts';

/** A column found in a database, with its type in the store's own name. */
export type FoundColumn = StoredColumn & { readonly type: string };

/** The types that each kind of column may be declared with, the usual one first. */
export type ColumnTypes = Readonly<Record<Kind, readonly [string, ...string[]]>>;

/** Returns the first kind that may have a type: kinds that share a type are read alike. */
export function kindOf(type: string, types: ColumnTypes): Kind {
  const kinds = Object.keys(types) as Kind[];
  return kinds.find((kind) => types[kind].includes(type)) ?? 'text';
}

/** One connection. Statements are in PostgreSQL's form, with the placeholders `$1`, `$2` …. */
export type PlainDatabase = {
  /** The migrations of this version, and the statement that creates the table that records them. */
  readonly migrations: readonly Migration[];
  readonly migrationTable: string;
  readonly types: ColumnTypes;
  readonly dialect: Dialect;
  /** Returns the rows that a statement returns, as values. */
  tuples(sql: string, values?: readonly Stored[]): Promise<Tuple[]>;
  /** Runs a statement; returns the number of changed rows. */
  change(sql: string, values?: readonly Stored[]): Promise<number>;
  /** Runs statements without values. */
  script(sql: string): Promise<void>;
  /** Runs `run` in one transaction, with a lock against schema changes and founding by other processes. */
  alone<T>(run: () => Promise<T>): Promise<T>;
  /** True if such a transaction ended in a conflict with an instance that serves, such as a deadlock, and may run again. */
  isConflict(error: unknown): boolean;
  /** Returns the applied migrations. Throws `InstallationError` if the tables belong to another program. */
  applied(): Promise<readonly AppliedMigration[]>;
  /**
   * Returns a table's columns, in order, without those that only this store has; an empty array if there is no such
   * table.
   */
  columns(table: string): Promise<readonly FoundColumn[]>;
  /** The objects of this version's schema other than tables and columns, and those found in the database. */
  readonly catalogue: readonly SchemaObject[];
  objects(): Promise<readonly SchemaObject[]>;
};
