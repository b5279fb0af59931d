/** A database as the source or the target of a copy: what both stores do alike, and what each does in its own way. */
import type { Keyring } from '../oauth/keys/keyring.ts';
import { InstallationError } from '../process/installation-error.ts';
import { isFounded, recordOf, requireFittingKeys } from './installation.ts';
import { migrate, pending, requireUpToDate } from './migrate.ts';
import { copyMark } from './migrations.ts';
import type { PlainDatabase } from './plain-database.ts';
import { keyColumn, type StoredColumn, type StoredTable } from './tables/all.ts';
import { asBuffer, type Kind, type Stored } from './tables/table.ts';

/** A value of a row, as both stores tell it alike: bytes and UUIDs as hexadecimal digits in lower case, booleans as 0 or 1. */
export type CopiedValue = string | number | null;

/** A row: its values in the order of the columns. */
export type CopiedRow = readonly CopiedValue[];

/** A database that takes part. */
export type CopySide = {
  /** What people know it by; never with a password. */
  readonly place: string;
  /** A table with all columns that its schema has, in their order, but for those that only this store has. */
  wholeTable(name: string): Promise<StoredTable>;
  /** At most `limit` rows after a key (from the first when it is null), in the order of their keys. */
  read(table: StoredTable, after: CopiedValue, limit: number): Promise<CopiedRow[]>;
  close(): Promise<void>;
};

/** The database that is copied; nobody can change it while it is open. */
export type CopySource = CopySide & {
  count(table: StoredTable): Promise<number>;
  /** The last place in the audit trail that was taken. */
  lastAuditSequence(): Promise<number>;
};

/** The database that becomes the copy. */
export type CopyTarget = CopySide & {
  /** Whether the copy was finished before. */
  readonly isDone: boolean;
  /** Adds rows; one whose key is there stays as it is. */
  write(table: StoredTable, rows: readonly CopiedRow[]): Promise<void>;
  empty(table: StoredTable): Promise<void>;
  /**
   * Writes what makes it whole, has the audit trail go on after a place, and takes the mark away, in one transaction; then
   * all of the copy is on disk.
   */
  finish(lastAuditSequence: number, writeLast: () => Promise<void>): Promise<void>;
};

/** What both sides hold of a table: `sha256` is over all rows in the order of their keys, in hexadecimal. */
export type CopiedSummary = { readonly table: string; readonly rows: number; readonly sha256: string };

/** What each store does in its own way. */
export type OwnSide = Pick<CopySide, 'place' | 'close'> &
  Pick<CopyTarget, 'write' | 'empty'> & {
    readonly database: PlainDatabase;
    /** What to do where a target holds another installation. */
    readonly remedy: string;
    /** Selects the last place in the audit trail that was taken. */
    readonly lastAuditSequence: string;
    /** Has the audit trail go on after a place. */
    continueAuditAfter(sequence: number): Promise<void>;
    /** What a statement gets of a value as both stores tell it. */
    kept(kind: Kind, value: CopiedValue): Stored;
    /** Refuses anybody who has the database open, and keeps others from opening it. Throws `InstallationError`. */
    lock(): Promise<void>;
    /** Keeps a source as it is until it is closed. Throws `InstallationError`. */
    freeze(): Promise<void>;
    /** Sets up the connection to a target; and does what is to be done before the last transaction. */
    prepareWriting(): Promise<void>;
    prepareEnd(): Promise<void>;
    /** The error for people. */
    explained(error: unknown): unknown;
  };

/**
 * Opens an installation to be copied: nobody may be using it, and nothing can be written to it until it is closed. Throws
 * `InstallationError`, and `StoreUnavailable` when somebody else is writing.
 */
export function openSource(side: OwnSide, keyring: Keyring): Promise<CopySource> {
  const { database, place } = side;
  const number = async (sql: string) => Number((await database.tuples(sql))[0]?.[0] ?? 0);
  return opened(side, async () => {
    await pending(database, database.migrations, 'none');
    if (!(await isFounded(database)))
      throw new InstallationError([`${place} holds no installation: name the database that has it`]);
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
 * Opens a database to copy an installation into, whose id is given in hexadecimal: an empty one, or one into which it was
 * copied before. `now` in ms. Throws `InstallationError`.
 */
export function openTarget(side: OwnSide, installation: string, now: number): Promise<CopyTarget> {
  const { database } = side;
  return opened(side, async () => {
    const known = [copyMark(installation), ...database.migrations];
    const isMarked = (await pending(database, known, 'none'))[0] !== known[0];
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

/** Somebody who opened the database at the same moment may have founded an installation of their own. */
async function refuseAnother({ database, place, remedy }: OwnSide): Promise<void> {
  if (await isFounded(database)) throw new InstallationError([`${place} holds another installation: ${remedy}`]);
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
  return rows.map((row) => row.map((value, place) => told((columns[place] as StoredColumn).kind, value)));
}

/** Not every database stores NUL in a text: where one does not, U+FFFD takes its place. */
function told(kind: Kind, value: unknown): CopiedValue {
  if (value instanceof Uint8Array) return asBuffer(value).toString('hex');
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string') return value as number | null;
  return kind === 'uuid' ? value.replaceAll('-', '') : value.replaceAll('\0', '\ufffd');
}
