/**
 * A database as it is opened, checked and copied: one connection, which runs one statement after the other. What concerns
 * the whole of an installation is written once for both stores, on this. The verbs of the ports are in `acts.ts`.
 */
import type { Dialect, Tuple } from './acts.ts';
import type { SchemaObject } from './catalogue.ts';
import type { AppliedMigration, Migration } from './migrations.ts';
import type { StoredColumn } from './tables/all.ts';
import type { Kind, Stored } from './tables/table.ts';

/** A column as a database has it, with its type in the words of the store. */
export type FoundColumn = StoredColumn & { readonly type: string };

/** The types that a column of each kind may be declared with, the usual one first. */
export type ColumnTypes = Readonly<Record<Kind, readonly [string, ...string[]]>>;

/** The first kind that a type can be of: kinds that have the same type are read in the same way. */
export function kindOf(type: string, types: ColumnTypes): Kind {
  const kinds = Object.keys(types) as Kind[];
  return kinds.find((kind) => types[kind].includes(type)) ?? 'text';
}

/** One connection. A statement is written as PostgreSQL takes it, with `$1` and so on in the place of its values. */
export type PlainDatabase = {
  /** The migrations of this version, and what makes the table in which they are recorded. */
  readonly migrations: readonly Migration[];
  readonly migrationTable: string;
  readonly types: ColumnTypes;
  readonly dialect: Dialect;
  /** The values of the rows that a statement returns. */
  tuples(sql: string, values?: readonly Stored[]): Promise<Tuple[]>;
  /** How many rows a statement changed. */
  change(sql: string, values?: readonly Stored[]): Promise<number>;
  /** Runs statements without values. */
  script(sql: string): Promise<void>;
  /** Runs something in one transaction, while nobody else changes the schema or founds the installation. */
  alone<T>(run: () => Promise<T>): Promise<T>;
  /** The migrations that were applied. Throws `InstallationError` when the tables are those of another program. */
  applied(): Promise<readonly AppliedMigration[]>;
  /** What a table has, in its order, but for columns that only this store has; nothing where there is no such table. */
  columns(table: string): Promise<readonly FoundColumn[]>;
  /** The parts of this version’s schema beside columns, and those of the database. */
  readonly catalogue: readonly SchemaObject[];
  objects(): Promise<readonly SchemaObject[]>;
};
