/**
 * Whether a database has a row of every kind in every state: no table without a row, no column without a value, no state that
 * a CHECK lists and no row is in.
 */
import type { DatabaseSync } from 'node:sqlite';

/** Gaps of a SQLite database, as `table`, `table.column` or `table.column = value`. */
export function gapsIn(database: DatabaseSync): string[] {
  const tables = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all() as { name: string; sql: string }[];
  return tables.flatMap(({ name, sql }) => {
    const has = (condition: string) =>
      database.prepare(`SELECT 1 FROM ${name} WHERE ${condition} LIMIT 1`).get() !== undefined;
    if (!has('true')) return [name];
    return [...columnsWithout(database, name, has), ...statesWithout(name, sql, has)];
  });
}

/** Empty texts and lists are no values: they are what a column has before anything is in it. */
function columnsWithout(database: DatabaseSync, table: string, has: (condition: string) => boolean): string[] {
  const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(table) as { name: string }[];
  const empty = columns.filter(({ name }) => !has(`${name} IS NOT NULL AND ${name} NOT IN ('', '[]', '{}')`));
  return empty.map(({ name }) => `${table}.${name}`);
}

function statesWithout(table: string, sql: string, has: (condition: string) => boolean): string[] {
  const lists = [...sql.matchAll(/\(\s*(\w+) IN \(([^)]*)\)/g)];
  return lists.flatMap(([, column = '', values = '']) => {
    const missing = values.split(',').filter((value) => !has(`${column} = ${value}`));
    return missing.map((value) => `${table}.${column} = ${value.trim()}`);
  });
}
