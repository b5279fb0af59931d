/** The server's required version and settings, without which a confirmed write may be lost. */
import { type Fault, InstallationError } from '../../process/installation-error.ts';
import type { Connection } from './connection/connection.ts';
import type { Database } from './statements/database.ts';

const OLDEST = 14;

type Settings = Readonly<Record<string, { readonly now: string; readonly initially: string } | undefined>>;

/** Throws `InstallationError` if the server is too old, uses another encoding, or may lose confirmed writes. */
export async function requireFitServer(connection: Connection): Promise<void> {
  const found = await read(connection);
  const version = Number(found['server_version_num']?.now);
  if (version < OLDEST * 10_000)
    throw new InstallationError({
      problem: `the server is PostgreSQL ${Math.floor(version / 10_000)}`,
      remedy: `use ${OLDEST} or a later one`,
    });
  if (found['server_encoding']?.now !== 'UTF8')
    throw new InstallationError({
      problem: `the database has the encoding ${found['server_encoding']?.now}`,
      remedy: `make it with ENCODING 'UTF8'`,
    });
  if (found['synchronous_commit']?.initially === 'off')
    throw new InstallationError({
      problem:
        'synchronous_commit is off for this database or its user, so that a crash would bring back what was revoked',
      remedy: 'set it to on',
    });
}

/** Returns the settings that may lose data, each in a few words. */
export async function wrongSettings(connection: Connection): Promise<Fault[]> {
  const found = await read(connection);
  const wrong = ['fsync', 'full_page_writes', 'autovacuum', 'synchronous_commit']
    .filter((name) => found[name]?.now !== 'on')
    .map((name) => `${name} is ${found[name]?.now} and must be on`);
  if (found['synchronous_commit']?.initially === 'off') wrong.push('synchronous_commit is off for other sessions');
  return wrong.map((problem) => ({ problem, remedy: null }));
}

/** Returns the size of the whole database (bytes). */
export async function sizeOf(database: Database): Promise<number> {
  const [row] = await database.tuples<[number]>('SELECT pg_database_size(current_database())::float8');
  return row?.[0] ?? 0;
}

/** Returns the settings of this session, and their initial values. */
async function read(connection: Connection): Promise<Settings> {
  const rows = await connection.rows<{ name: string; setting: string; reset_val: string }>(
    'SELECT name, setting, reset_val FROM pg_settings',
  );
  return Object.fromEntries(rows.map((row) => [row.name, { now: row.setting, initially: row.reset_val }]));
}
