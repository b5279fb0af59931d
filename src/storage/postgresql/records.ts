/** SQL of PostgreSQL's own: types, expressions, and rows of a table as JSON, for statements that take many of them. */
import type { Dialect } from '../acts.ts';
import type { ColumnTypes } from '../plain-database.ts';
import type { Table } from '../tables/table.ts';

/** The types of columns in PostgreSQL. */
export const TYPES: ColumnTypes = {
  text: ['text'],
  json: ['text'],
  integer: ['bigint', 'integer', 'smallint'],
  time: ['bigint'],
  boolean: ['boolean'],
  bytes: ['bytea'],
  uuid: ['uuid'],
};

/** The key of a password is as the index of the schema has it. */
export const DIALECT: Dialect = {
  givenId: (parameter) => `encode(${parameter}::bytea, 'hex')::uuid`,
  newestGrantId: 'max(oauth_grant.id::text)',
  passwordKeyId: "((password::jsonb) ->> 'keyId')::bigint",
};

/** The names and types of its columns, for `json_to_recordset`. */
export function recordType({ columns }: Pick<Table<object>, 'columns'>): string {
  return columns.map(({ name, kind }) => `${name} ${TYPES[kind][0]}`).join(', ');
}

/** A row by the names of its columns. */
export function asRecord<Row extends object>(table: Table<Row>, row: Row): Record<string, unknown> {
  const values = table.values(row);
  return Object.fromEntries(
    table.columns.map(({ name, kind }, index) => {
      const value = values[index];
      return [name, Buffer.isBuffer(value) ? `${kind === 'bytes' ? '\\x' : ''}${value.toString('hex')}` : value];
    }),
  );
}
