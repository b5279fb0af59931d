/** Translates statements written for both stores to SQLite. */
import type { SQLInputValue } from 'node:sqlite';
import type { Dialect } from '../../statements/shared-operations.ts';
import type { Stored } from '../../statements/table.ts';

/** SQLite's own expressions. Those with an index are written exactly as in the schema. */
export const DIALECT: Dialect = {
  givenId: (parameter) => parameter,
  newestGrantId: 'max(oauth_grant.id)',
  passwordKeyId: "json_extract(password, '$.keyId')",
  secretDigests: ["json_extract(secrets, '$[0].digest')", "json_extract(secrets, '$[1].digest')"],
  placeOf: 'instr',
};

/** Rewrites `$1` to `?1`, and removes row locks: SQLite has one writer at a time. */
export function inSqlite(sql: string): string {
  return sql
    .replaceAll(/\$(\d+)/g, '?$1')
    .replace(/ FOR (SHARE|KEY SHARE|NO KEY UPDATE|UPDATE( SKIP LOCKED)?)( OF \w+)?/, '');
}

/** Returns a value in the driver's form. */
export function bound(value: Stored): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : value;
}
