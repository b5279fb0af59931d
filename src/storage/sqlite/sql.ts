/** Statements that are written for both stores, as SQLite takes them. */
import type { SQLInputValue } from 'node:sqlite';
import type { Dialect } from '../acts.ts';
import type { Stored } from '../tables/table.ts';

/** SQL of SQLite's own. The key of a password is as the index of the schema has it. */
export const DIALECT: Dialect = {
  givenId: (parameter) => parameter,
  newestGrantId: 'max(oauth_grant.id)',
  passwordKeyId: "json_extract(password, '$.keyId')",
};

/** Parameters are `?1` here; and no row is locked, since whoever writes is alone. */
export function inSqlite(sql: string): string {
  return sql
    .replaceAll(/\$(\d+)/g, '?$1')
    .replace(/ FOR (SHARE|KEY SHARE|NO KEY UPDATE|UPDATE SKIP LOCKED)( OF \w+)?/, '');
}

/** A value as the driver takes it. */
export function bound(value: Stored): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : value;
}
