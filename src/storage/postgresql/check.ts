/** The checks of `database check` in PostgreSQL alone: the server's settings, invalid objects, and references. */
import type { OwnChecks } from '../opening/check.ts';
import type { Connection } from './connection/connection.ts';
import { wrongSettings } from './server-settings.ts';

/** Invalid indexes, left by a failed operation, and constraints that were never validated. */
const BROKEN = `
  SELECT 'index ' || indexrelid::regclass AS text FROM pg_index
  JOIN pg_class ON pg_class.oid = indrelid AND relnamespace = current_schema()::regnamespace WHERE NOT indisvalid
  UNION ALL
  SELECT 'constraint ' || conname FROM pg_constraint
  WHERE connamespace = current_schema()::regnamespace AND NOT convalidated`;

const ORPHANS = `
  SELECT 'session of ' || account_id AS text FROM session
  WHERE NOT EXISTS (SELECT 1 FROM account WHERE account.id = session.account_id) LIMIT 10`;

/** Returns the checks of a connection's database. */
export function ownChecks(connection: Connection): OwnChecks {
  const texts = async (sql: string) =>
    (await connection.rows<{ text: string }>(sql)).map(({ text: problem }) => ({ problem, remedy: null }));
  return {
    settings: () => wrongSettings(connection),
    integrity: () => texts(BROKEN),
    references: () => texts(ORPHANS),
  };
}
