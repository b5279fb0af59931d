/** A SQLite database as the source or the target of a copy. */
import { existsSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Keyring } from '../../oauth/keyring.ts';
import { InstallationError } from '../../process/installation-error.ts';
import type { CopiedRow, CopiedValue, CopySide, CopySource, CopyTarget } from '../copy-side.ts';
import { copyMark } from '../migrations.ts';
import { keyColumn, type StoredColumn, type StoredTable } from '../tables/all.ts';
import { INSTALLATION } from '../tables/installation.ts';
import { preparePass } from './checkpoint.ts';
import { configure, connect, firstValue, requiredPragmas } from './connection.ts';
import { prepareDatabaseFile } from './database-file.ts';
import { asStoreError } from './errors.ts';
import { isFounded, requireFittingKeys } from './installation.ts';
import { inTransaction, MIGRATIONS, migrate, pending, requireUpToDate } from './migrate.ts';
import { lockForServing } from './serving-lock.ts';

const SETTINGS = requiredPragmas({ role: 'command', durability: 'full' }, false);

/**
 * Opens an installation to be copied: no service may have it, and nothing can be written to it until it is closed. Throws
 * `InstallationError`, and `StoreUnavailable` when somebody else is writing.
 */
export async function openSqliteSource(path: string, keyring: Keyring): Promise<CopySource> {
  if (!existsSync(path)) throw new InstallationError([`there is no database at ${path}: check the path`]);
  prepareDatabaseFile(path, false);
  return opened(path, (database) => {
    pending(database, MIGRATIONS, 'none');
    if (!isFounded(database)) throw new InstallationError([`${path} holds no installation: check the path`]);
    requireUpToDate(database);
    requireFittingKeys(database, keyring);
    configure(database, SETTINGS);
    database.exec('BEGIN IMMEDIATE');
    const one = (sql: string) => Number(firstValue(database, sql) ?? 0);
    return {
      count: async ({ name }) => one(`SELECT count(*) FROM ${name}`),
      lastAuditSequence: async () => one("SELECT seq FROM sqlite_sequence WHERE name = 'audit_event'"),
    };
  });
}

/**
 * Opens a database to copy an installation into, whose id is given in hexadecimal: an empty one, or one into which it was
 * copied before. `now` in ms. Throws `InstallationError`.
 */
export async function openSqliteTarget(path: string, installation: string, now: number): Promise<CopyTarget> {
  prepareDatabaseFile(path, true);
  return opened(path, (database, read) => {
    const known = [copyMark(installation), ...MIGRATIONS];
    const isMarked = pending(database, known, 'none')[0] !== known[0];
    const [row] = isFounded(database) ? read(INSTALLATION, null, 1) : [];
    const isDone = !isMarked && row?.includes(installation) === true;
    if (!isDone) {
      refuseAnother(database, path);
      configure(database, SETTINGS);
      // A table may be emptied and filled anew while others refer to it.
      database.exec('PRAGMA foreign_keys = OFF');
      migrate(database, now, known);
    }
    return { isDone, ...writing(database, path) };
  });
}

/** Opens a file that no service may have; what `prepare` adds makes up the side. */
function opened<Rest>(path: string, prepare: (database: DatabaseSync, read: Read) => Rest): CopySide & Rest {
  const database = connect(path);
  const held = [database];
  const close = () => {
    for (const connection of held) connection.close();
  };
  try {
    held.push(lockAgainstServices(path));
    const read = reading(database);
    return {
      place: path,
      wholeTable: async (name) => ({ name, columns: columnsOf(database, name) }),
      read: async (table, after, limit) => read(table, after, limit),
      close: async () => close(),
      ...prepare(database, read),
    };
  } catch (error) {
    close();
    throw asStoreError(error);
  }
}

function lockAgainstServices(path: string): DatabaseSync {
  try {
    return lockForServing(path);
  } catch (error) {
    if (!(error instanceof InstallationError)) throw error;
    throw new InstallationError([
      `a service or another copy has the database ${path}: stop it first, since nothing may change while it is copied`,
    ]);
  }
}

/** Beside the lock of services, a command may found an installation. */
function refuseAnother(database: DatabaseSync, path: string): void {
  if (isFounded(database))
    throw new InstallationError([`${path} holds another installation: name a file that is not there yet`]);
}

/** The columns that a table has. Flags and UUIDs cannot be told from other numbers and bytes, and read the same. */
function columnsOf(database: DatabaseSync, table: string): StoredColumn[] {
  const columns = database.prepare(
    'SELECT name, type, "notnull" OR pk AS required FROM pragma_table_xinfo(?) ORDER BY cid',
  );
  return columns.all(table).map(({ name, type, required }) => ({
    name: String(name),
    kind: type === 'BLOB' ? 'bytes' : type === 'INTEGER' ? 'integer' : 'text',
    isNullable: required === 0,
  }));
}

type Read = (table: StoredTable, after: CopiedValue, limit: number) => CopiedRow[];

function reading(database: DatabaseSync): Read {
  const prepared = statements(database);
  return (table, after, limit) => {
    const key = keyColumn(table);
    const where = after === null ? '' : `WHERE ${table.name}.${key.name} > ${given(key)}`;
    const statement = prepared(
      `SELECT ${table.columns.map(told).join(', ')} FROM ${table.name} ${where} ORDER BY ${table.name}.${key.name} LIMIT ?`,
    );
    const rows = statement.all(...(after === null ? [limit] : [after, limit])) as unknown as CopiedValue[][];
    return rows.map((row) => row.map(withoutNul));
  };
}

function writing(database: DatabaseSync, path: string): Omit<CopyTarget, keyof CopySide | 'isDone'> {
  const prepared = statements(database);
  const insert = (table: StoredTable, rows: readonly CopiedRow[]) => {
    const names = table.columns.map(({ name }) => name);
    const statement = prepared(
      `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${table.columns.map(given).join(', ')})
       ON CONFLICT (${keyColumn(table).name}) DO NOTHING`,
    );
    for (const row of rows) statement.run(...(row as SQLInputValue[]));
  };
  const pass = preparePass(database);
  const copyLog = () => {
    const { failure } = pass();
    if (failure) throw failure;
  };
  return {
    async write(table, rows) {
      if (database.isTransaction) return insert(table, rows);
      inTransaction(database, () => insert(table, rows));
      copyLog();
    },
    async empty({ name }) {
      database.exec(`DELETE FROM ${name}`);
    },
    async finish(lastAuditSequence, writeLast) {
      copyLog(); // As long as it is marked: closing it copies the rest, and SQLite says nothing of what fails.
      // What fails in here is undone when the connection is closed.
      database.exec('BEGIN IMMEDIATE');
      refuseAnother(database, path);
      await writeLast();
      database.exec("DELETE FROM sqlite_sequence WHERE name = 'audit_event'");
      prepared("INSERT INTO sqlite_sequence (name, seq) VALUES ('audit_event', ?)").run(lastAuditSequence);
      database.exec('DELETE FROM migration WHERE number = 0; COMMIT');
    },
  };
}

function statements(database: DatabaseSync): (sql: string) => StatementSync {
  const known = new Map<string, StatementSync>();
  return (sql) => {
    const statement = known.get(sql) ?? database.prepare(sql);
    statement.setReturnArrays(true);
    known.set(sql, statement);
    return statement;
  };
}

/** A column as it is told. */
function told({ name, kind }: StoredColumn): string {
  return kind === 'bytes' || kind === 'uuid' ? `lower(hex(${name}))` : name;
}

/** A parameter that is told. */
function given({ kind }: StoredColumn): string {
  return kind === 'bytes' || kind === 'uuid' ? 'unhex(?)' : '?';
}

/** Not every database stores NUL in a text: where one does not, this is what it puts in its place. */
function withoutNul(value: CopiedValue): CopiedValue {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}
