/** A PostgreSQL database as a side of a copy. */
import { InstallationError } from '../../process/installation-error.ts';
import type { CopiedValue, OwnSide } from '../copying/copy-side.ts';
import type { Kind } from '../statements/table.ts';
import { keyColumn, type StoredTable, TABLES } from '../tables/all-tables.ts';
import { INSTALLATION } from '../tables/installation/installation.ts';
import type { Connection, Session } from './connection/connection.ts';
import { asStoreError, SQLSTATE, sqlState } from './connection/errors.ts';
import { asRefusal, connectToPrimary } from './connection/reach.ts';
import { Servers } from './connection/servers.ts';
import { OWN_COLUMNS, plainDatabase } from './plain-database.ts';
import { requireFitServer } from './server-settings.ts';
import { LOCKS } from './statements/locks.ts';
import { TYPES } from './statements/postgresql-dialect.ts';

const SESSION: Session = { statementTimeout: 0, lockTimeout: 10_000, byKey: false };

/** Lock of a process that copies from or into a database; a killed process holds it until the server notices. */
const COPYING = [LOCKS.opening[0], 4];

const ALL_TABLES = [INSTALLATION, ...TABLES].map(({ name }) => name).join(', ');

/** Removes the server's time limits on a transaction; not every version has both settings. */
const NEVER_END = `
  SELECT set_config(name, '0', false) FROM pg_settings
  WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout')`;

/** Connects to a database as a side of a copy. Throws `InstallationError`. */
export async function postgresqlSide(url: string): Promise<OwnSide> {
  const servers = new Servers(url);
  const connection = await connectToPrimary(servers, SESSION);
  const { place } = servers;
  return {
    place,
    database: plainDatabase(connection),
    remedy: 'make an empty database with "createdb", and let nothing use it before the copy',
    lastAuditSequence: 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM audit_event_sequence',
    async continueAuditAfter(sequence) {
      const set = "SELECT setval('audit_event_sequence', greatest($1::bigint, 1), $1::bigint > 0)";
      await connection.one(set, [sequence]);
    },
    kept,
    async lock() {
      await requireFitServer(connection);
      await lockForCopying(connection, place);
    },
    freeze: () => freeze(connection, place),
    // Rows lost by a crash of the server are copied again: only the last commit waits for the disk, and for all earlier
    // ones.
    prepareWriting: () => connection.script('SET synchronous_commit = off'),
    // Gives the planner statistics before the first instance starts.
    prepareEnd: () => connection.script(`ANALYZE ${ALL_TABLES}; SET synchronous_commit = on`),
    async write(table, rows) {
      const columns = table.columns.map(({ kind }, place) => rows.map((row) => kept(kind, row[place] as CopiedValue)));
      await connection.change(insertion(table), columns);
    },
    empty: ({ name }) => connection.script(`TRUNCATE ${name} CASCADE`),
    close: () => connection.close(),
    explained: (error) => asRefusal(error, place) ?? asStoreError(error),
  };
}

async function lockForCopying(connection: Connection, place: string): Promise<void> {
  try {
    await connection.one('SELECT pg_advisory_lock($1, $2)', COPYING);
  } catch (error) {
    if (sqlState(error) !== SQLSTATE.LOCK_NOT_AVAILABLE) throw error;
    throw new InstallationError({ problem: `another copy of ${place} is under way`, remedy: 'wait until it is done' });
  }
}

/** Blocks writers until the connection ends; refuses running instances, whose writes would fail. */
async function freeze(connection: Connection, place: string): Promise<void> {
  const others = await connection.one<{ number: number }>(`
    SELECT count(*) AS number FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'valetkey%' AND pid <> pg_backend_pid()`);
  if (others?.number !== 0)
    throw new InstallationError({
      problem: `instances are connected to ${place}`,
      remedy: 'stop them first, since nothing may change while it is copied',
    });
  await connection.rows(NEVER_END);
  await connection.script('BEGIN');
  await connection.script(`LOCK TABLE ${ALL_TABLES} IN SHARE MODE`);
}

function insertion(table: StoredTable): string {
  const { name, columns } = table;
  const names = columns.map((column) => column.name);
  const own = Object.entries(OWN_COLUMNS[name] ?? {});
  const arrays = columns.map(({ kind }, place) => `$${place + 1}::${TYPES[kind][0]}[]`);
  return `
    INSERT INTO ${name} (${[...names, ...own.map(([column]) => column)].join(', ')})
    SELECT ${[...names, ...own.map(([, value]) => value)].join(', ')}
    FROM unnest(${arrays.join(', ')}) AS given (${names.join(', ')})
    ON CONFLICT (${keyColumn(table).name}) DO NOTHING`;
}

/** The server accepts 0 and 1 as booleans, and hexadecimal digits as UUIDs. */
function kept(kind: Kind, value: CopiedValue): Buffer | CopiedValue {
  return kind === 'bytes' && value !== null ? Buffer.from(value as string, 'hex') : value;
}
