/** A SQLite database during opening, checking and copying. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { fromCatalogue, inOneLine, type SchemaObject } from '../schema/catalogue.ts';
import { type AppliedMigration, type Migration, readMigrations } from '../schema/migrations.ts';
import { type ColumnTypes, type FoundColumn, kindOf, type PlainDatabase } from '../schema/plain-database.ts';
import type { Tuple } from '../statements/shared-operations.ts';
import type { Stored } from '../statements/table.ts';
import { CATALOGUE } from './catalogue.ts';
import { APPLICATION_ID } from './file/connection.ts';
import { bound, DIALECT, inSqlite } from './statements/sqlite-dialect.ts';

/** The migrations of this version. */
export const MIGRATIONS: readonly Migration[] = readMigrations(new URL('./schema/', import.meta.url));

const MIGRATION_TABLE = `
  PRAGMA application_id = ${APPLICATION_ID};
  CREATE TABLE IF NOT EXISTS migration (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
  ) STRICT`;

const TYPES: ColumnTypes = {
  text: ['TEXT'],
  json: ['TEXT'],
  integer: ['INTEGER'],
  time: ['INTEGER'],
  boolean: ['INTEGER'],
  bytes: ['BLOB'],
  uuid: ['BLOB'],
};

const COLUMNS = 'SELECT name, type, "notnull" OR pk AS required FROM pragma_table_xinfo(?) ORDER BY cid';

/**
 * Indexes and triggers by their statements; keys and references by SQLite's description, since no statement adds one.
 */
const OBJECTS = `
  WITH ours AS (SELECT * FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%')
  SELECT type AS kind, tbl_name AS "table", name, sql AS definition FROM ours
  WHERE type IN ('index', 'trigger') AND sql IS NOT NULL
  UNION ALL SELECT 'key', name, 'primary', coalesce((
    SELECT group_concat(part.name, ', ') FROM (SELECT * FROM pragma_table_info(ours.name) WHERE pk > 0 ORDER BY pk) AS part
  ), '') FROM ours WHERE type = 'table'
  UNION ALL SELECT 'reference', ours.name, refers."from",
    refers."table" || ' (' || coalesce(refers."to", '') || ') on delete ' || lower(refers.on_delete)
  FROM ours, pragma_foreign_key_list(ours.name) AS refers WHERE ours.type = 'table'
  ORDER BY 2, 1, 3`;

/**
 * Returns a `PlainDatabase` on a connection that nothing else may use meanwhile: a transaction spans several turns of
 * the event loop.
 */
export function plainDatabase(database: DatabaseSync): PlainDatabase {
  const prepared = new Map<string, StatementSync>();
  const statement = (sql: string, values: readonly Stored[]) => {
    const known = prepared.get(sql) ?? database.prepare(inSqlite(sql));
    prepared.set(sql, known);
    known.setReturnArrays(true);
    return { known, values: values.map(bound) };
  };
  return {
    migrations: MIGRATIONS,
    migrationTable: MIGRATION_TABLE,
    types: TYPES,
    dialect: DIALECT,
    async tuples(sql, asked = []) {
      const { known, values } = statement(sql, asked);
      return known.all(...values) as unknown as Tuple[];
    },
    async change(sql, asked = []) {
      const { known, values } = statement(sql, asked);
      return Number(known.run(...values).changes);
    },
    script: async (sql) => database.exec(sql),
    async alone(run) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = await run();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    isConflict: () => false,
    async applied() {
      if (columns(database, 'migration').length === 0) return [];
      const applied = database.prepare('SELECT number, name, checksum FROM migration ORDER BY number').all();
      return applied as unknown as AppliedMigration[];
    },
    columns: async (table) => columns(database, table),
    catalogue: CATALOGUE.map(fromCatalogue),
    objects: async () => (database.prepare(OBJECTS).all() as unknown as SchemaObject[]).map(inOneLine),
  };
}

function columns(database: DatabaseSync, table: string): FoundColumn[] {
  const found = database.prepare(COLUMNS).all(table);
  return found.map(({ name, type, required }) => ({
    name: String(name),
    type: String(type),
    kind: kindOf(String(type), TYPES),
    isNullable: required === 0,
  }));
}
