/**
 * Deletes dead rows. A cursor scans the keys in small batches, so that a step costs the same at any table size and
 * needs no additional index.
 */
import type { CleanUpFigures } from '../opening/opened-storage.ts';
import type { Tuple } from '../statements/shared-operations.ts';
import { type Stored, Table } from '../statements/table.ts';
import { CleanUpTime, type KeptTime } from './clean-up-time.ts';
import type { DyingRows } from './dead-rows.ts';

const REST_BETWEEN_ROUNDS_MS = 10 * 60_000;
/** Minimum time between two deletions of expired replay marks. */
const MARKS_EVERY_MS = 5000;
/** Pause after a failure, and before the next attempt to become the process that cleans up. */
const RETRY_MS = 60_000;

/** The columns that a scan reads, and a key before all others, by the kind of the key. */
const WALKED = {
  text: { row: Table.of<Walked<string>>('walked', { key: 'text', isDead: 'boolean' }), first: '' },
  bytes: { row: Table.of<Walked<Buffer>>('walked', { key: 'bytes', isDead: 'boolean' }), first: Buffer.alloc(0) },
  uuid: { row: Table.of<Walked<Buffer>>('walked', { key: 'uuid', isDead: 'boolean' }), first: Buffer.alloc(16) },
} as const;

type Walked<Key> = { readonly key: Key; readonly isDead: boolean };

/** Result of a step: number of rows read and deleted, and whether the last scan of the round ended. */
export type CleanUpStep = { readonly seen: number; readonly deleted: number; readonly isEndOfRound: boolean };

/** The key of a row. */
export type Key = Buffer | string;

/** The clean-up's access to a store. Every method throws `StoreUnavailable`. Times in ms. */
export type CleanUpParts = {
  readonly walks: readonly DyingRows[];
  /** Returns the expression for a parameter that is compared with a UUID. */
  readonly givenId: (parameter: string) => string;
  select(sql: string, values: readonly Stored[]): Promise<readonly Tuple[]>;
  /** Runs a statement that deletes the rows with these keys; returns the number of deleted rows. */
  remove(keys: readonly Key[], sql: string, values: readonly Stored[]): Promise<number>;
  /** Number of rows that a step reads, and the maximum number that it deletes. */
  readonly window: number;
  readonly deletions: number;
  /** Time between two steps, and between two steps while a backlog remains. */
  readonly stepEvery: number;
  readonly busyStepEvery: number;
  /** Maximum number of expired replay marks in one deletion. */
  readonly marksAtOnce: number;
  /**
   * Deletes at most `most` replay marks whose assertions expired before a time; returns the number of deleted marks.
   */
  clearMarks(before: number, most: number): Promise<number>;
  /** Elects the one process that cleans up for all, where there are several; `stop` hands over to another. */
  readonly leader?: { leads(): Promise<boolean>; stop(): void };
  readonly now: () => number;
  /** Storage for the clean-up's clock. */
  readonly keptTime: KeptTime;
  /** A clock that never jumps. */
  readonly monotonic?: () => number;
};

/** The clean-up of one process. */
export class CleanUp {
  readonly #parts: CleanUpParts;
  readonly #monotonic: () => number;
  #walk = 0;
  /** The last key that this scan read. */
  #cursor: Key | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  readonly #time: CleanUpTime;
  #report: (sentence: string) => void = () => {};
  readonly #tally = { seen: 0, deleted: 0, rounds: 0, failures: 0 };
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: CleanUpParts) {
    this.#parts = parts;
    this.#monotonic = parts.monotonic ?? (() => performance.now());
    this.#time = new CleanUpTime(parts.keptTime, { now: parts.now, monotonic: this.#monotonic });
  }

  /** Returns the counters since the process began. */
  figures(): CleanUpFigures {
    return { ...this.#tally, behind: this.#time.behind };
  }

  /** Runs until `stop`, without keeping the process alive. `report` receives sentences for the log. */
  start(report: (sentence: string) => void): void {
    this.#report = report;
    this.#schedule(this.#parts.stepEvery);
  }

  /** Returns the time that any process kept last (ms), or the clock's if that is earlier. */
  async time(): Promise<number> {
    return Math.min(this.#parts.now(), await this.#parts.keptTime.read());
  }

  /** Stops, so that another process can take over. */
  stop(): void {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#parts.leader?.stop();
  }

  /**
   * Reads the next batch and deletes its dead rows; returns null while another process cleans up. If it throws
   * `StoreUnavailable`, the cursor has not moved.
   */
  async step(): Promise<CleanUpStep | null> {
    const { walks, window, deletions, remove } = this.#parts;
    if (!(await this.#leads())) return null;
    const walk = walks[this.#walk] as DyingRows;
    const { reading, removal, row, first } = this.#statements(walk);
    const after = this.#cursor ?? first;
    const before = (await this.#time.advance(this.#report)) - walk.kept;
    const seen = (await this.#parts.select(reading, [after, window, before])).map((tuple) => row.read(tuple));
    const dead = seen.filter(({ isDead }) => isDead).map(({ key }) => key);
    const doomed = dead.slice(0, deletions);
    const last = doomed.at(-1);
    const deleted = last === undefined ? 0 : await remove(doomed, removal, [after, last, before]);
    // If the batch holds more dead rows than one step deletes, the next batch begins after the last deleted row.
    this.#cursor = dead.length > doomed.length ? (last as Key) : (seen[window - 1]?.key ?? null);
    const isEndOfWalk = this.#cursor === null;
    if (isEndOfWalk) this.#walk = (this.#walk + 1) % walks.length;
    const isEndOfRound = isEndOfWalk && this.#walk === 0;
    this.#tally.seen += seen.length;
    this.#tally.deleted += deleted;
    if (isEndOfRound) this.#tally.rounds += 1;
    return { seen: seen.length, deleted, isEndOfRound };
  }

  /**
   * Deletes expired replay marks of client assertions, and returns their number; null while another process cleans up.
   * A steady clock is unnecessary here: the store records the time up to which marks were deleted, and refuses
   * assertions from before that time. Throws `StoreUnavailable`.
   */
  async clearMarks(): Promise<number | null> {
    const { clearMarks, now, marksAtOnce } = this.#parts;
    return (await this.#leads()) ? clearMarks(now(), marksAtOnce) : null;
  }

  /**
   * The statements of a scan. The removal takes a key range and checks again that each row is dead, so one statement
   * serves any number of rows.
   */
  #statements({ table, key, kind, isDead }: DyingRows) {
    const given = (parameter: string) => (kind === 'uuid' ? this.#parts.givenId(parameter) : parameter);
    const next = `SELECT * FROM ${table} WHERE ${key} > ${given('$1')} ORDER BY ${key} LIMIT $2`;
    return {
      reading: `SELECT ${key}, ${isDead('$3')} FROM (${next}) AS ${table} ORDER BY ${key}`,
      removal: `DELETE FROM ${table} WHERE ${key} > ${given('$1')} AND ${key} <= ${given('$2')} AND ${isDead('$3')}`,
      ...WALKED[kind],
    };
  }

  async #leads(): Promise<boolean> {
    return (await this.#parts.leader?.leads()) ?? true;
  }

  #schedule(delay: number): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#run(), delay).unref();
  }

  async #run(): Promise<void> {
    const { stepEvery, busyStepEvery, marksAtOnce, deletions } = this.#parts;
    let delay = RETRY_MS;
    try {
      const cleared = await this.clearMarks();
      if (cleared !== null) await this.#time.advance(this.#report);
      const isWalking = cleared !== null && this.#monotonic() >= this.#restsUntil;
      const step = isWalking ? await this.step() : null;
      if (step?.isEndOfRound) this.#restsUntil = this.#monotonic() + REST_BETWEEN_ROUNDS_MS;
      if (cleared !== null) delay = step && !step.isEndOfRound ? stepEvery : MARKS_EVERY_MS;
      if (cleared === marksAtOnce || step?.deleted === deletions) delay = busyStepEvery;
    } catch (error) {
      this.#tally.failures += 1;
      if (!this.#isStopped) this.#report(`clean-up will try again: ${(error as Error).message}`);
    }
    this.#schedule(delay);
  }
}
