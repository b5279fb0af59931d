/**
 * A database as the source or the target of a copy: the steps that both stores share, and those that each store
 * provides.
 */
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { InstallationError } from '../../process/installation-error.ts';
import { isFounded, recordOf, requireFittingKeys } from '../opening/installation.ts';
import { migrate, pendingMigrations, requireUpToDate } from '../schema/migrate.ts';
import { copyMark } from '../schema/migrations.ts';
import type { PlainDatabase } from '../schema/plain-database.ts';
import { asBuffer, type Kind, type Stored } from '../statements/table.ts';
import { keyColumn, type StoredColumn, type StoredTable } from '../tables/all-tables.ts';

/**
 * A value of a row in the form that both stores share: bytes and UUIDs as lower-case hexadecimal, booleans as 0 or 1.
 */
export type CopiedValue = string | number | null;

/** A row: its values in the order of the columns. */
export type CopiedRow = readonly CopiedValue[];

/** One side of a copy. */
export type CopySide = {
  /** The database's name in messages, without a password. */
  readonly place: string;
  /** Returns a table with all columns of its schema, in their order, without columns that only this store has. */
  wholeTable(name: string): Promise<StoredTable>;
  /** Returns at most `limit` rows after a key (from the first if null), in key order. */
  read(table: StoredTable, after: CopiedValue, limit: number): Promise<CopiedRow[]>;
  close(): Promise<void>;
};

/** The source of a copy; nothing can change it while it is open. */
export type CopySource = CopySide & {
  count(table: StoredTable): Promise<number>;
  /** Returns the last sequence number that the audit trail assigned. */
  lastAuditSequence(): Promise<number>;
};

/** The target of a copy. */
export type CopyTarget = CopySide & {
  /** True if an earlier run finished the copy. */
  readonly isDone: boolean;
  /** Inserts rows; a row whose key exists stays unchanged. */
  write(table: StoredTable, rows: readonly CopiedRow[]): Promise<void>;
  empty(table: StoredTable): Promise<void>;
  /**
   * Runs `writeLast`, sets the audit trail's sequence, and removes the copy mark, in one transaction; afterwards the
   * whole copy is on disk.
   */
  finish(lastAuditSequence: number, writeLast: () => Promise<void>): Promise<void>;
};

/** Summary of a table that is equal on both sides: `sha256` is over all rows in key order, in hexadecimal. */
export type CopiedSummary = { readonly table: string; readonly rows: number; readonly sha256: string };

/** The steps of a copy that each store provides. */
export type OwnSide = Pick<CopySide, 'place' | 'close'> &
  Pick<CopyTarget, 'write' | 'empty'> & {
    readonly database: PlainDatabase;
    /** Remedy if a target holds another installation. */
    readonly remedy: string;
    /** Query for the last sequence number that the audit trail assigned. */
    readonly lastAuditSequence: string;
    /** Sets the sequence number that the audit trail continues after. */
    continueAuditAfter(sequence: number): Promise<void>;
    /** Converts a value from the shared form to a statement's parameter. */
    kept(kind: Kind, value: CopiedValue): Stored;
    /**
     * Refuses if another process has the database open, and keeps others from opening it. Throws `InstallationError`.
     */
    lock(): Promise<void>;
    /** Blocks changes to a source until it is closed. Throws `InstallationError`. */
    freeze(): Promise<void>;
    /** Prepares the connection to a target for writing; and, later, for the last transaction. */
    prepareWriting(): Promise<void>;
    prepareEnd(): Promise<void>;
    /** Converts a database error to one for the operator. */
    explained(error: unknown): unknown;
  };

/**
 * Opens an installation as the source. No process may be using it, and nothing can write to it until it is closed.
 * Throws `InstallationError`, and `StoreUnavailable` if another process is writing.
 */
export function openSource(side: OwnSide, keyring: Keyring): Promise<CopySource> {
  const { database, place } = side;
  const number = async (sql: string) => Number((await database.tuples(sql))[0]?.[0] ?? 0);
  return opened(side, async () => {
    await pendingMigrations(database, database.migrations, 'none');
    if (!(await isFounded(database)))
      throw new InstallationError({
        problem: `${place} holds no installation`,
        remedy: 'name the database that has it',
      });
    await requireUpToDate(database);
    await requireFittingKeys(database, keyring);
    await side.freeze();
    return {
      count: ({ name }) => number(`SELECT count(*) FROM ${name}`),
      lastAuditSequence: () => number(side.lastAuditSequence),
    };
  });
}

/**
 * Opens a database as the target for the installation with this id (hexadecimal): an empty database, or one with an
 * earlier copy of the same installation. `now` in ms. Throws `InstallationError`.
 */
export function openTarget(side: OwnSide, installation: string, now: number): Promise<CopyTarget> {
  const { database } = side;
  return opened(side, async () => {
    const known = [copyMark(installation), ...database.migrations];
    const isMarked = (await pendingMigrations(database, known, 'none'))[0] !== known[0];
    const record = (await isFounded(database)) ? await recordOf(database) : null;
    const isDone = !isMarked && record?.id.toString('hex') === installation;
    if (!isDone) {
      await refuseAnother(side);
      await side.prepareWriting();
      await migrate(database, now, known);
      await refuseAnother(side);
    }
    return {
      isDone,
      write: side.write,
      empty: side.empty,
      async finish(lastAuditSequence, writeLast) {
        await side.prepareEnd();
        await database.alone(async () => {
          await refuseAnother(side);
          await writeLast();
          await side.continueAuditAfter(lastAuditSequence);
          await database.change('DELETE FROM migration WHERE number = 0');
        });
      },
    };
  });
}

async function opened<Rest>(side: OwnSide, prepare: () => Promise<Rest>): Promise<CopySide & Rest> {
  try {
    await side.lock();
    const rest = await prepare();
    return {
      place: side.place,
      wholeTable: async (name) => ({ name, columns: await side.database.columns(name) }),
      read: (table, after, limit) => read(side, table, after, limit),
      close: side.close,
      ...rest,
    };
  } catch (error) {
    await side.close();
    throw side.explained(error);
  }
}

/**
 * Checked again after each step: a process that opened the database at the same moment may have founded an installation
 * there.
 */
async function refuseAnother({ database, place, remedy }: OwnSide): Promise<void> {
  if (await isFounded(database))
    throw new InstallationError({ problem: `${place} holds another installation`, remedy: `${remedy}` });
}

async function read(
  { database, kept }: OwnSide,
  table: StoredTable,
  after: CopiedValue,
  limit: number,
): Promise<CopiedRow[]> {
  const { name, columns } = table;
  const key = keyColumn(table);
  const where = after === null ? '' : `WHERE ${key.name} > $2`;
  const rows = await database.tuples(
    `SELECT ${columns.map((column) => column.name).join(', ')} FROM ${name} ${where} ORDER BY ${key.name} LIMIT $1`,
    after === null ? [limit] : [limit, kept(key.kind, after)],
  );
  return rows.map((row) => row.map((value, place) => inSharedForm((columns[place] as StoredColumn).kind, value)));
}

/** Converts a value to the shared form. U+FFFD replaces NUL, which not every database stores in a text. */
function inSharedForm(kind: Kind, value: unknown): CopiedValue {
  if (value instanceof Uint8Array) return asBuffer(value).toString('hex');
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string') return value as number | null;
  return kind === 'uuid' ? value.replaceAll('-', '') : value.replaceAll('\0', '\ufffd');
}
