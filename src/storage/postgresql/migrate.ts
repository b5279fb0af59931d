/** Applies migrations to a PostgreSQL database: each in one transaction, under a lock, so that a kill leaves all or nothing. */
import { InstallationError } from '../../process/installation-error.ts';
import { type AppliedMigration, type Migration, type Newer, pendingMigrations, readMigrations } from '../migrations.ts';
import type { Connection } from './connection.ts';
import { LOCKS } from './locks.ts';

/** The migrations of this version. */
export const MIGRATIONS: readonly Migration[] = readMigrations(new URL('./schema/', import.meta.url));

const TABLE = `
  CREATE TABLE IF NOT EXISTS migration (
    number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at bigint NOT NULL
  )`;

/** Tables that are nobody's extension, and columns of ours: what is ours has a table `migration` with a checksum. */
const OTHERS = `
  SELECT count(*) FILTER (WHERE relation.relname = 'migration' AND EXISTS (
    SELECT 1 FROM pg_attribute WHERE attrelid = relation.oid AND attname = 'checksum')) AS ours, count(*) AS tables
  FROM pg_class AS relation
  WHERE relation.relkind IN ('r', 'p') AND relation.relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = relation.oid AND deptype = 'e')`;

/**
 * The migrations still to be applied; only reads. Throws `InstallationError` when the database was made by other ones, or by
 * another program.
 */
export async function pending(
  connection: Connection,
  known: readonly Migration[] = MIGRATIONS,
  newer?: Newer,
): Promise<Migration[]> {
  const found = await connection.one<{ ours: number; tables: number }>(OTHERS);
  if (found?.tables === 0) return [...known];
  if (found?.ours !== 1)
    throw new InstallationError(['the database has tables of another program: give Valetkey a database of its own']);
  const applied = await connection.rows<AppliedMigration>(
    'SELECT number, name, checksum FROM migration ORDER BY number',
  );
  return pendingMigrations(known, applied, newer);
}

/** Refuses a database that is behind. Throws `InstallationError`. */
export async function requireUpToDate(connection: Connection): Promise<void> {
  const { length } = await pending(connection);
  if (length > 0) throw new InstallationError([`the database needs ${length} migration(s): run "database migrate"`]);
}

/**
 * Applies what is pending, and answers the names of what this call applied; `now` in ms. Several instances may do so at
 * once: each migration is looked at under the lock.
 */
export async function migrate(
  connection: Connection,
  now: number,
  known: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  const applied: string[] = [];
  while ((await pending(connection, known)).length > 0) {
    const name = await underLock(connection, () => applyNext(connection, now, known));
    if (name !== null) applied.push(name);
  }
  return applied;
}

/** Runs something in one transaction while no other instance changes the schema or founds the installation. */
export function underLock<T>(connection: Connection, run: () => Promise<T>): Promise<T> {
  return connection.transaction(async () => {
    await connection.one('SELECT pg_advisory_xact_lock($1, $2)', LOCKS.opening);
    return run();
  });
}

async function applyNext(connection: Connection, now: number, known: readonly Migration[]): Promise<string | null> {
  const [next] = await pending(connection, known);
  if (!next) return null;
  await connection.script(TABLE);
  await connection.script(next.sql);
  await connection.change('INSERT INTO migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)', [
    next.number,
    next.name,
    next.checksum,
    now,
  ]);
  return next.name;
}
