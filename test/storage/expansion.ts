/** What an `expand-` migration may do, and one that does all of it. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { migrate } from '../../src/storage/schema/migrate.ts';
import type { Migration } from '../../src/storage/schema/migrations.ts';
import { MIGRATIONS, plainDatabase } from '../../src/storage/sqlite/plain-database.ts';
import { NOW } from '../support/storage.ts';

/** The next release's migration after `known`, whose tables are named: it adds whatever may be added to any of them. */
export function sampleExpansion(known: readonly Migration[], tables: readonly string[]): Migration {
  const columns = tables.flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN later_text text;`,
    `ALTER TABLE ${table} ADD COLUMN later_number integer NOT NULL DEFAULT 7;`,
  ]);
  const sql = [...columns, 'CREATE TABLE later (id integer PRIMARY KEY);', 'CREATE INDEX later_id ON later (id);'];
  const text = sql.join('\n');
  return { number: known.length + 1, name: 'expand-later', checksum: hash('sha256', text), sql: text };
}

/** Expands a SQLite database as the next release would, beside whoever has it open. */
export async function expandFile(path: string): Promise<void> {
  const database = new DatabaseSync(path);
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all();
  const next = sampleExpansion(
    MIGRATIONS,
    tables.map(({ name }) => String(name)),
  );
  assert.deepEqual(await migrate(plainDatabase(database), NOW, [...MIGRATIONS, next]), ['expand-later']);
  database.close();
}

const COLUMN =
  /^ALTER TABLE \w+ ADD COLUMN \w+ \w+( COLLATE "?\w+"?)?( NOT NULL)?( DEFAULT ('[^']*'|-?\d+|true|false))?$/i;
const TABLE = /^CREATE TABLE (\w+) \(.*\)( STRICT)?(, WITHOUT ROWID)?$/is;
const INDEX = /^CREATE (UNIQUE )?INDEX \w+ ON (\w+) .*$/is;

/**
 * The statements of a migration with which the release before cannot live, or which would hold up its writes: all but
 * new tables, their indexes, and new columns that a row may be written without.
 */
export function narrowings(sql: string): string[] {
  const statements = sql
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  const added = statements.map((statement) => TABLE.exec(statement)?.[1]);
  return statements.filter((statement) => {
    if (COLUMN.test(statement)) return /NOT NULL/i.test(statement) && !/DEFAULT/i.test(statement);
    const indexed = INDEX.exec(statement)?.[2];
    return !TABLE.test(statement) && !(indexed !== undefined && added.includes(indexed));
  });
}
