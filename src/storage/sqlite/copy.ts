/** A SQLite database as a side of a copy. */
import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { InstallationError } from '../../process/installation-error.ts';
import type { CopiedRow, CopiedValue, OwnSide } from '../copying/copy-side.ts';
import type { Kind } from '../statements/table.ts';
import { keyColumn, type StoredTable } from '../tables/all-tables.ts';
import { preparePass } from './file/checkpoint.ts';
import { configure, connect, requiredPragmas } from './file/connection.ts';
import { prepareDatabaseFile, requireOwnLog } from './file/database-file.ts';
import { asStoreError } from './file/errors.ts';
import { lockForServing } from './file/serving-lock.ts';
import { plainDatabase } from './plain-database.ts';

const SETTINGS = requiredPragmas({ role: 'command', durability: 'full' }, false);

/** Connects to a file; a source must exist. Throws `InstallationError`. */
export function sqliteSide(path: string, as: 'source' | 'target'): OwnSide {
  requireOwnLog(path);
  if (as === 'source' && !existsSync(path))
    throw new InstallationError({ problem: `there is no database at ${path}`, remedy: 'check the path' });
  prepareDatabaseFile(path);
  const database = connect(path);
  const held = [database];
  const own = plainDatabase(database);
  return {
    place: path,
    database: own,
    remedy: 'name a file that is not there yet',
    lastAuditSequence: "SELECT seq FROM sqlite_sequence WHERE name = 'audit_event'",
    async continueAuditAfter(sequence) {
      await own.script("DELETE FROM sqlite_sequence WHERE name = 'audit_event'");
      await own.change("INSERT INTO sqlite_sequence (name, seq) VALUES ('audit_event', $1)", [sequence]);
    },
    kept,
    async lock() {
      held.push(lockAgainstServices(path));
    },
    async freeze() {
      configure(database, SETTINGS);
      database.exec('BEGIN IMMEDIATE');
    },
    async prepareWriting() {
      configure(database, SETTINGS);
      // A table may be emptied and refilled while other tables refer to it.
      database.exec('PRAGMA foreign_keys = OFF');
    },
    // Copies the log while the copy mark is still set: SQLite would copy the rest on closing, and hide a failure.
    prepareEnd: async () => copyLog(database),
    async write(table, rows) {
      if (database.isTransaction) return insert(database, table, rows);
      await own.alone(async () => insert(database, table, rows));
      copyLog(database);
    },
    empty: ({ name }) => own.script(`DELETE FROM ${name}`),
    async close() {
      for (const connection of held) connection.close();
    },
    explained: asStoreError,
  };
}

function kept(kind: Kind, value: CopiedValue): Buffer | CopiedValue {
  return (kind === 'bytes' || kind === 'uuid') && value !== null ? Buffer.from(value as string, 'hex') : value;
}

function lockAgainstServices(path: string): DatabaseSync {
  try {
    return lockForServing(path);
  } catch (error) {
    if (!(error instanceof InstallationError)) throw error;
    throw new InstallationError({
      problem: `a service or another copy has the database ${path}`,
      remedy: 'stop it first, since nothing may change while it is copied',
    });
  }
}

function insert(database: DatabaseSync, table: StoredTable, rows: readonly CopiedRow[]): void {
  const { name, columns } = table;
  const names = columns.map((column) => column.name).join(', ');
  const statement = database.prepare(
    `INSERT INTO ${name} (${names}) VALUES (${columns.map(() => '?').join(', ')})
     ON CONFLICT (${keyColumn(table).name}) DO NOTHING`,
  );
  for (const row of rows) statement.run(...columns.map(({ kind }, place) => kept(kind, row[place] as CopiedValue)));
}

function copyLog(database: DatabaseSync): void {
  const { failure } = preparePass(database)();
  if (failure) throw failure;
}
