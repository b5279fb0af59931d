/** A PostgreSQL database during opening, checking and copying. */
import { InstallationError } from '../../process/installation-error.ts';
import { fromCatalogue, inOneLine, type SchemaObject } from '../schema/catalogue.ts';
import { type AppliedMigration, type Migration, readMigrations } from '../schema/migrations.ts';
import { kindOf, type PlainDatabase } from '../schema/plain-database.ts';
import { CATALOGUE } from './catalogue.ts';
import type { Connection } from './connection/connection.ts';
import { isConflict } from './connection/errors.ts';
import { LOCKS } from './statements/locks.ts';
import { DIALECT, TYPES } from './statements/postgresql-dialect.ts';

/** The migrations of this version. */
export const MIGRATIONS: readonly Migration[] = readMigrations(new URL('./schema/', import.meta.url));

/** The statement that creates the table of applied migrations. */
export const MIGRATION_TABLE = `
  CREATE TABLE IF NOT EXISTS migration (
    number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at bigint NOT NULL
  )`;

/** Counts tables outside extensions, and those of Valetkey among them: a table `migration` with a checksum. */
const OTHERS = `
  SELECT count(*) FILTER (WHERE relation.relname = 'migration' AND EXISTS (
    SELECT 1 FROM pg_attribute WHERE attrelid = relation.oid AND attname = 'checksum')) AS ours, count(*) AS tables
  FROM pg_class AS relation
  WHERE relation.relkind IN ('r', 'p') AND relation.relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = relation.oid AND deptype = 'e')`;

const COLUMNS = `
  SELECT attname AS name, format_type(atttypid, NULL) AS type, NOT attnotnull AS is_nullable FROM pg_attribute
  WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

/**
 * The objects of the installation's schema, by their statements. Only enabled triggers count, also for replicas if ours
 * do. A function counts by its body, in any language. Checks of columns are omitted: versions of PostgreSQL write their
 * expressions differently.
 */
const OBJECTS = `
  WITH own AS (SELECT current_schema()::regnamespace AS schema, ' ON ' || quote_ident(current_schema()) || '.' AS qualified),
  found AS (
    SELECT 'index' AS kind, indrelid AS relation, index.relname AS name, pg_get_indexdef(indexrelid) AS definition
    FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
    WHERE NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
    UNION ALL
    SELECT CASE contype WHEN 'f' THEN 'reference' ELSE 'key' END, conrelid, conname,
      'ALTER TABLE ' || conrelid::regclass || ' ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid)
    FROM pg_constraint WHERE contype IN ('p', 'u', 'f')
    UNION ALL
    SELECT 'trigger', tgrelid, tgname, pg_get_triggerdef(oid) ||
      CASE tgenabled WHEN 'A' THEN '; ALTER TABLE ' || tgrelid::regclass || ' ENABLE ALWAYS TRIGGER ' || tgname ELSE '' END
    FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'
  )
  SELECT kind, relname AS table, name, replace(definition, qualified, ' ON ') AS definition
  FROM own, found JOIN pg_class AS class ON class.oid = relation WHERE relnamespace = schema
  UNION ALL
  SELECT 'function', 'schema', proname, md5(prosrc) FROM own, pg_proc
  WHERE pronamespace = schema AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
  ORDER BY 2, 1, 3`;

/** Columns that only this store has and that are unused after a copy, with the values that a copy gives them. */
export const OWN_COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  client_assertion: { attempt: "'00000000-0000-0000-0000-000000000000'" },
  oauth_grant: { attempt: "'00000000-0000-0000-0000-000000000000'" },
  audit_event: { attempt: 'NULL::uuid' },
};

/** Returns a `PlainDatabase` on a connection that nothing else may use meanwhile. */
export function plainDatabase(connection: Connection): PlainDatabase {
  return {
    migrations: MIGRATIONS,
    migrationTable: MIGRATION_TABLE,
    types: TYPES,
    dialect: DIALECT,
    tuples: (sql, values) => connection.tuples(sql, values),
    change: (sql, values) => connection.change(sql, values),
    script: (sql) => connection.script(sql),
    alone: (run) =>
      connection.transaction(async () => {
        await connection.one('SELECT pg_advisory_xact_lock($1, $2)', LOCKS.opening);
        return run();
      }),
    isConflict,
    async applied() {
      const found = await connection.one<{ ours: number; tables: number }>(OTHERS);
      if (found?.tables === 0) return [];
      if (found?.ours !== 1)
        throw new InstallationError({
          problem: 'the database has tables of another program',
          remedy: 'give Valetkey a database of its own',
        });
      return connection.rows<AppliedMigration>('SELECT number, name, checksum FROM migration ORDER BY number');
    },
    catalogue: CATALOGUE.map(fromCatalogue),
    objects: async () => (await connection.rows<SchemaObject>(OBJECTS)).map(inOneLine),
    async columns(table) {
      const found = await connection.rows<{ name: string; type: string; is_nullable: boolean }>(COLUMNS, [table]);
      return found
        .filter(({ name }) => OWN_COLUMNS[table]?.[name] === undefined)
        .map(({ name, type, is_nullable }) => ({ name, type, kind: kindOf(type, TYPES), isNullable: is_nullable }));
    },
  };
}
