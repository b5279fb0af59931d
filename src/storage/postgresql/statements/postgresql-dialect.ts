/** PostgreSQL's own types and expressions, and rows as one array for each column, for statements on many rows. */
import type { ColumnTypes } from '../../schema/plain-database.ts';
import type { Dialect } from '../../statements/shared-operations.ts';
import type { Kind, Stored, Table } from '../../statements/table.ts';

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

/** PostgreSQL's own expressions. Those with an index are written exactly as in the schema. */
export const DIALECT: Dialect = {
  givenId: (parameter) => `encode(${parameter}::bytea, 'hex')::uuid`,
  newestGrantId: 'max(oauth_grant.id::text)',
  passwordKeyId: "((password::jsonb) ->> 'keyId')::bigint",
  secretDigests: ["((secrets::jsonb) -> 0) ->> 'digest'", "((secrets::jsonb) -> 1) ->> 'digest'"],
  placeOf: 'strpos',
};

/** Returns a relation of the rows whose values are the parameters, as `arraysOf` returns them. */
export function givenRows({ columns }: Pick<Table<object>, 'columns'>, relation = 'asked'): string {
  const arrays = columns.map(({ kind }, index) => `$${index + 1}::${TYPES[kind][0]}[]`);
  return `unnest(${arrays.join(', ')}) AS ${relation} (${columns.map(({ name }) => name).join(', ')})`;
}

/** Returns the values of rows as one array for each column. */
export function arraysOf<Row extends object>(table: Table<Row>, rows: readonly Row[]): Stored[][] {
  const values = rows.map((row) => table.values(row));
  return table.columns.map(({ kind }, column) => values.map((row) => inArray(kind, row[column] as Stored)));
}

/** The server accepts hexadecimal digits as a UUID. */
function inArray(kind: Kind, value: Stored): Stored {
  return kind === 'uuid' && Buffer.isBuffer(value) ? value.toString('hex') : value;
}
