/**
 * Copies an installation from one database to another; every credential stays valid. Rows already in the target are
 * compared and kept, so that an interrupted copy resumes; finally every row is read again on both sides. Until then a
 * copy mark keeps the program from using the target.
 */
import type { Keyring } from '../oauth/keys/keyring.ts';
import { InstallationError } from '../process/installation-error.ts';
import { type Compared, compareTable, isSame, lastKey, WINDOW } from './copying/comparison.ts';
import {
  type CopiedSummary,
  type CopiedValue,
  type CopySide,
  type CopySource,
  type CopyTarget,
  type OwnSide,
  openSource,
  openTarget,
} from './copying/copy-side.ts';
import { ConnectionLost, sqlState } from './postgresql/connection/errors.ts';
import { postgresqlSide } from './postgresql/copy.ts';
import { sqliteSide } from './sqlite/copy.ts';
import { resultCode } from './sqlite/file/errors.ts';
import { type StoredTable, TABLES } from './tables/all-tables.ts';
import { INSTALLATION } from './tables/installation/installation.ts';

const ID = INSTALLATION.columns.findIndex(({ name }) => name === 'id');

/** A database location, as in the configuration. */
export type CopyPlace =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'postgresql'; readonly url: string }
  | { readonly kind: 'memory' };

/** Progress of a copy: `rows` out of `of` are copied or compared. */
export type CopyProgress = { readonly step: 'copying' | 'comparing'; readonly rows: number; readonly of: number };

/** Result of a copy; `tables` is null if an earlier run had finished it, and nothing was compared. */
export type CopyOutcome = {
  readonly from: string;
  readonly to: string;
  readonly tables: readonly CopiedSummary[] | null;
};

/** Source and target of a copy. `now` returns ms since the epoch; `report` is called after each batch of rows. */
export type CopyOptions = {
  readonly from: CopyPlace;
  readonly to: CopyPlace;
  readonly keyring: Keyring;
  readonly now: () => number;
  readonly report: (progress: CopyProgress) => void;
};

/**
 * Copies missing rows, and compares all rows. The source never changes; the same call resumes from the rows in the
 * target. Throws `InstallationError`, and `StoreUnavailable` if another process is writing to the source.
 */
export async function copyDatabase({ from, to, keyring, now, report }: CopyOptions): Promise<CopyOutcome> {
  if (from.kind === 'memory' || to.kind === 'memory' || from.kind === to.kind)
    throw new InstallationError({
      problem: 'a copy goes from a SQLite file to PostgreSQL or back',
      remedy: 'name one of each, such as sqlite:data/valetkey.db and postgres://user@host/database',
    });
  const source = await openSource(await connectTo(from, 'source'), keyring);
  try {
    await requireDescribedColumns(source);
    const [row] = await source.read(INSTALLATION, null, 1);
    const target = await openTarget(await connectTo(to, 'target'), String(row?.[ID]), now());
    try {
      if (target.isDone) return { from: source.place, to: target.place, tables: null };
      await requireDescribedColumns(target);
      return { from: source.place, to: target.place, tables: await new Copy(source, target, report).run() };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function connectTo(place: Exclude<CopyPlace, { kind: 'memory' }>, as: 'source' | 'target'): Promise<OwnSide> {
  return place.kind === 'postgresql' ? postgresqlSide(place.url) : sqliteSide(place.path, as);
}

/**
 * An undescribed column would be lost. A column in another position, or with other nullability, might be written
 * wrongly.
 */
async function requireDescribedColumns(side: CopySide): Promise<void> {
  for (const table of [INSTALLATION, ...TABLES]) {
    const described = inWords(table);
    const found = inWords(await side.wholeTable(table.name));
    if (found !== described)
      throw new InstallationError({
        problem: `${side.place} would not be copied whole: its table ${table.name} has the columns ${found}, and not ${described} ("?": may be null). Take the copy with the release of Valetkey that made it, and let nothing else change its tables`,
        remedy: null,
      });
  }
}

function inWords({ columns }: StoredTable): string {
  return columns.map(({ name, isNullable }) => `${name}${isNullable ? '?' : ''}`).join(', ');
}

/** One copy in progress. */
class Copy {
  readonly #source: CopySource;
  readonly #target: CopyTarget;
  readonly #report: (progress: CopyProgress) => void;
  #progress: CopyProgress = { step: 'copying', rows: 0, of: 0 };
  /** The table in progress. */
  #table = '';

  constructor(source: CopySource, target: CopyTarget, report: (progress: CopyProgress) => void) {
    this.#source = source;
    this.#target = target;
    this.#report = report;
  }

  /** Returns the summaries of all tables, equal on both sides. */
  async run(): Promise<CopiedSummary[]> {
    try {
      return await this.#run();
    } catch (error) {
      const isOfDatabase = error instanceof ConnectionLost || (sqlState(error) ?? resultCode(error)) !== undefined;
      if (!isOfDatabase) throw error;
      const { message } = error as Error;
      throw new InstallationError({
        problem: `the copy stopped at the table ${this.#table} (${message})`,
        remedy: 'see to that, and run the same command again, which goes on from there',
      });
    }
  }

  async #run(): Promise<CopiedSummary[]> {
    let of = 0;
    for (const table of TABLES) of += await this.#source.count(table);
    this.#progress = { step: 'copying', rows: 0, of };
    for (const table of TABLES) await this.#copy(table);
    this.#progress = { step: 'comparing', rows: 0, of };
    const compared: Compared[] = [];
    for (const table of TABLES) compared.push(await this.#compare(table));
    this.#requireSame(compared);
    await this.#target.finish(await this.#source.lastAuditSequence(), async () => {
      await this.#copy(INSTALLATION);
      const last = await this.#compare(INSTALLATION);
      this.#requireSame([last]);
      compared.push(last);
    });
    return compared.map(({ table, source }) => ({ table, ...source }));
  }

  async #copy(table: StoredTable): Promise<void> {
    this.#table = table.name;
    let last = await this.#lastThatIsThere(table);
    for (;;) {
      const rows = await this.#source.read(table, last, WINDOW);
      if (rows.length === 0) return;
      await this.#target.write(table, rows);
      this.#advance(rows.length);
      last = lastKey(rows);
    }
  }

  /**
   * Returns the last key that an earlier run copied, or null. If the source's rows changed since that run, empties the
   * table in the target and starts it again.
   */
  async #lastThatIsThere(table: StoredTable): Promise<CopiedValue> {
    const { rows: before } = this.#progress;
    for (let last: CopiedValue = null; ; ) {
      const there = await this.#target.read(table, last, WINDOW);
      if (there.length === 0) return last;
      const here = await this.#source.read(table, last, there.length);
      if (JSON.stringify(there) !== JSON.stringify(here)) {
        await this.#target.empty(table);
        this.#progress = { ...this.#progress, rows: before };
        return null;
      }
      this.#advance(there.length);
      last = lastKey(there);
    }
  }

  #compare({ name }: StoredTable): Promise<Compared> {
    this.#table = name;
    return compareTable(name, this.#source, this.#target, (rows) => this.#advance(rows));
  }

  #requireSame(compared: readonly Compared[]): void {
    const wrong = compared.filter((table) => !isSame(table));
    if (wrong.length === 0) return;
    const tables = wrong.map(({ table, source, target }) => `${table} (${source.rows} rows, copied ${target.rows})`);
    throw new InstallationError({
      problem: `the copy in ${this.#target.place} is not what is in ${this.#source.place}`,
      remedy: `${tables.join(', ')}. Something else writes there: stop it, and run the same command again, which copies what differs anew`,
    });
  }

  #advance(rows: number): void {
    if (this.#table === INSTALLATION.name) return;
    this.#progress = { ...this.#progress, rows: this.#progress.rows + rows };
    this.#report(this.#progress);
  }
}
