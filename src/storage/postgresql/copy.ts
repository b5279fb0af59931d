/** A PostgreSQL database as the source or the target of a copy. */
import type { Keyring } from '../../oauth/keyring.ts';
import { InstallationError } from '../../process/installation-error.ts';
import type { CopiedRow, CopiedValue, CopySide, CopySource, CopyTarget } from '../copy-side.ts';
import { copyMark } from '../migrations.ts';
import { keyColumn, type StoredColumn, type StoredTable, TABLES } from '../tables/all.ts';
import { INSTALLATION } from '../tables/installation.ts';
import type { Kind } from '../tables/table.ts';
import type { Connection, Session } from './connection.ts';
import { asStoreError, SQLSTATE, sqlState } from './errors.ts';
import { isFounded, requireFittingKeys } from './installation.ts';
import { LOCKS } from './locks.ts';
import { MIGRATIONS, migrate, pending, requireUpToDate, underLock } from './migrate.ts';
import { asRefusal, placeOf, reach } from './reach.ts';
import { requireFitServer } from './server-settings.ts';

const SESSION: Session = { statementTimeout: 0, lockTimeout: 10_000, byKey: false };

/** Whoever copies from or into a database: also one that was killed, until the server has seen that. */
const COPYING = [LOCKS.opening[0], 4];

const ALL_TABLES = [INSTALLATION, ...TABLES].map(({ name }) => name).join(', ');

/** Columns that only this database has, and that nobody asks about afterwards, with what they get. */
const OWN_COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  client: { version: 'gen_random_uuid()' },
  client_assertion: { attempt: "'00000000-0000-0000-0000-000000000000'" },
  oauth_grant: { attempt: "'00000000-0000-0000-0000-000000000000'" },
  audit_event: { attempt: 'NULL::uuid' },
};

const COLUMNS = `
  SELECT attname AS name, format_type(atttypid, NULL) AS type, NOT attnotnull AS is_nullable FROM pg_attribute
  WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

/**
 * Opens an installation to be copied: no instance may be connected, and nothing can be written to it until it is closed.
 * Throws `InstallationError`.
 */
export function openPostgresqlSource(url: string, keyring: Keyring): Promise<CopySource> {
  return opened(url, async (connection) => {
    await pending(connection, MIGRATIONS, 'none');
    if (!(await isFounded(connection)))
      throw new InstallationError([`${placeOf(url)} holds no installation: check the address`]);
    await requireUpToDate(connection);
    await requireFittingKeys(connection, keyring);
    await freeze(connection, url);
    const one = async (sql: string) => (await connection.one<{ number: number }>(sql))?.number ?? 0;
    return {
      count: ({ name }) => one(`SELECT count(*) AS number FROM ${name}`),
      lastAuditSequence: () =>
        one('SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS number FROM audit_event_sequence'),
    };
  });
}

/**
 * Opens a database to copy an installation into, whose id is given in hexadecimal: an empty one, or one into which it was
 * copied before. `now` in ms. Throws `InstallationError`.
 */
export function openPostgresqlTarget(url: string, installation: string, now: number): Promise<CopyTarget> {
  return opened(url, async (connection) => {
    const known = [copyMark(installation), ...MIGRATIONS];
    const isMarked = (await pending(connection, known, 'none'))[0] !== known[0];
    const [row] = (await isFounded(connection)) ? await read(connection, INSTALLATION, null, 1) : [];
    const isDone = !isMarked && row?.includes(installation) === true;
    if (!isDone) {
      await refuseAnother(connection, url);
      await migrate(connection, now, known);
      await refuseAnother(connection, url);
      // What a crash of the server takes is copied again: the last commit alone waits for the disk, and for all before it.
      await connection.script('SET synchronous_commit = off');
    }
    return { isDone, ...writing(connection, url) };
  });
}

/** A transaction may last as long as it takes, whatever the server says of that; not every version knows both. */
const NEVER_END = `
  SELECT set_config(name, '0', false) FROM pg_settings
  WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout')`;

async function opened<Rest>(url: string, prepare: (connection: Connection) => Promise<Rest>): Promise<CopySide & Rest> {
  const connection = await reach(url, SESSION);
  try {
    await requireFitServer(connection);
    await lockForCopying(connection, url);
    const rest = await prepare(connection);
    return {
      place: placeOf(url),
      wholeTable: async (name) => ({ name, columns: await columnsOf(connection, name) }),
      read: (table, after, limit) => read(connection, table, after, limit),
      close: () => connection.close(),
      ...rest,
    };
  } catch (error) {
    await connection.close();
    throw asRefusal(error, url) ?? asStoreError(error);
  }
}

async function lockForCopying(connection: Connection, url: string): Promise<void> {
  try {
    await connection.one('SELECT pg_advisory_lock($1, $2)', COPYING);
  } catch (error) {
    if (sqlState(error) !== SQLSTATE.LOCK_NOT_AVAILABLE) throw error;
    throw new InstallationError([`another copy of ${placeOf(url)} is under way: wait until it is done`]);
  }
}

/** Holds off whoever would write, until the connection ends; instances would otherwise fail at their writes. */
async function freeze(connection: Connection, url: string): Promise<void> {
  const others = await connection.one<{ number: number }>(`
    SELECT count(*) AS number FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'valetkey' AND pid <> pg_backend_pid()`);
  if (others?.number !== 0)
    throw new InstallationError([
      `instances are connected to ${placeOf(url)}: stop them first, since nothing may change while it is copied`,
    ]);
  await connection.rows(NEVER_END);
  await connection.script('BEGIN');
  await connection.script(`LOCK TABLE ${ALL_TABLES} IN SHARE MODE`);
}

/** An instance that opened the database at the same moment may have founded an installation of its own. */
async function refuseAnother(connection: Connection, url: string): Promise<void> {
  if (!(await isFounded(connection))) return;
  throw new InstallationError([
    `${placeOf(url)} holds another installation: make an empty database with "createdb", and let nothing use it before the copy`,
  ]);
}

/** The columns that a table has, but for those that only this database has. */
async function columnsOf(connection: Connection, table: string): Promise<StoredColumn[]> {
  const columns = await connection.rows<{ name: string; type: string; is_nullable: boolean }>(COLUMNS, [table]);
  return columns
    .filter(({ name }) => OWN_COLUMNS[table]?.[name] === undefined)
    .map(({ name, type, is_nullable }) => ({ name, kind: kindOf(type), isNullable: is_nullable }));
}

function kindOf(type: string): Kind {
  if (type === 'bytea') return 'bytes';
  if (type === 'uuid') return 'uuid';
  if (type === 'boolean') return 'boolean';
  return /int/.test(type) ? 'integer' : 'text';
}

async function read(
  connection: Connection,
  table: StoredTable,
  after: CopiedValue,
  limit: number,
): Promise<CopiedRow[]> {
  const { name, columns } = table;
  const key = keyColumn(table);
  const told = columns.map((column) => `${KINDS[column.kind].told(column.name)} AS ${column.name}`);
  const where = after === null ? '' : `WHERE ${name}.${key.name} > ${KINDS[key.kind].kept('$2')}`;
  const rows = await connection.rows<Record<string, CopiedValue>>(
    `SELECT ${told.join(', ')} FROM ${name} ${where} ORDER BY ${name}.${key.name} LIMIT $1`,
    after === null ? [limit] : [limit, after],
  );
  return rows.map((row) => columns.map((column) => row[column.name] as CopiedValue));
}

function writing(connection: Connection, url: string): Omit<CopyTarget, keyof CopySide | 'isDone'> {
  return {
    async write(table, rows) {
      const columns = table.columns.map((_, place) => rows.map((row) => row[place]));
      await connection.change(insertion(table), columns);
    },
    empty: ({ name }) => connection.script(`TRUNCATE ${name} CASCADE`),
    async finish(lastAuditSequence, writeLast) {
      // The first instance should not have to guess how large the tables are.
      await connection.script(`ANALYZE ${ALL_TABLES}; SET synchronous_commit = on`);
      await underLock(connection, async () => {
        await refuseAnother(connection, url);
        await writeLast();
        await connection.one("SELECT setval('audit_event_sequence', greatest($1::bigint, 1), $1::bigint > 0)", [
          lastAuditSequence,
        ]);
        await connection.script('DELETE FROM migration WHERE number = 0');
      });
    },
  };
}

function insertion(table: StoredTable): string {
  const { name, columns } = table;
  const names = columns.map((column) => column.name);
  const own = OWN_COLUMNS[name] ?? {};
  const values = [...columns.map((column) => KINDS[column.kind].kept(column.name)), ...Object.values(own)];
  const arrays = columns.map(({ kind }, place) => `$${place + 1}::${KINDS[kind].type}[]`);
  return `
    INSERT INTO ${name} (${[...names, ...Object.keys(own)].join(', ')}) SELECT ${values.join(', ')}
    FROM unnest(${arrays.join(', ')}) AS given (${names.join(', ')})
    ON CONFLICT (${keyColumn(table).name}) DO NOTHING`;
}

/** How a kind of column is told, the type of what is told, and how that is kept again. */
type Form = {
  readonly told: (column: string) => string;
  readonly type: string;
  readonly kept: (value: string) => string;
};

const TEXT: Form = { told: (column) => column, type: 'text', kept: (value) => value };
const NUMBER: Form = { told: (column) => column, type: 'bigint', kept: (value) => value };
const KINDS: Readonly<Record<Kind, Form>> = {
  text: TEXT,
  json: TEXT,
  integer: NUMBER,
  time: NUMBER,
  boolean: { told: (column) => `${column}::integer`, type: 'boolean', kept: (value) => value },
  bytes: { told: (column) => `encode(${column}, 'hex')`, type: 'text', kept: (value) => `decode(${value}, 'hex')` },
  uuid: { told: (column) => `replace(${column}::text, '-', '')`, type: 'uuid', kept: (value) => `${value}::uuid` },
};
