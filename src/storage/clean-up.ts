/**
 * Deletes dead rows. A cursor walks over the keys in small windows, so that a step costs the same at any size and needs
 * no index of its own.
 */
import type { CleanUpFigures } from './storage.ts';

const REST_BETWEEN_ROUNDS_MS = 10 * 60_000;
/** Minimum time between two deletions of expired replay marks. */
const MARKS_EVERY_MS = 5000;
/** Pause after a failure, and before another try to take over from the process that cleans up. */
const RETRY_MS = 60_000;

export const HOUR_MS = 3_600_000;
/** Dead rows are kept for this time: for people to see them, and in case the clock is wrong. */
export const KEPT_MS = 24 * HOUR_MS;
const MAX_CLOCK_JUMP_MS = HOUR_MS;
const PAUSE_MS = 24 * HOUR_MS;

/** What a step did: how many rows it read and deleted, and whether it reached the end of the last walk. */
export type CleanUpStep = { readonly seen: number; readonly deleted: number; readonly isEndOfRound: boolean };

/** One kind of row that is walked. A place is a row's key, with what else its deletion needs. */
export type Walk<Place> = {
  /**
   * Reads the next window after a place (null: from the first row): its number of rows, the dead ones, and its last place
   * if the window was full. `before` in ms: what died before then is deleted.
   */
  scan(after: Place | null, before: number): Promise<Window<Place>>;
  /** Deletes those that are still dead, and returns how many. */
  remove(dead: readonly Place[], before: number): Promise<number>;
};

/** What a walk found in one window. */
export type Window<Place> = { readonly seen: number; readonly dead: readonly Place[]; readonly last: Place | null };

/** How a store is cleaned up. All of it throws `StoreUnavailable`. Times in ms. */
export type CleanUpParts<Place> = {
  readonly walks: readonly Walk<Place>[];
  /** Maximum number of rows that a step deletes. */
  readonly deletions: number;
  /** Time between two steps, and between two while there is much to delete. */
  readonly stepEvery: number;
  readonly busyStepEvery: number;
  /** Maximum number of expired replay marks that are deleted at once. */
  readonly marksAtOnce: number;
  /** Deletes up to `most` replay marks whose assertions expired before a time; returns how many. */
  clearMarks(before: number, most: number): Promise<number>;
  /** Says whether this process is the one that cleans up, where one does for all; `stop` lets another take over. */
  readonly leader?: { leads(): Promise<boolean>; stop(): void };
  readonly now: () => number;
  /** A clock that never jumps. */
  readonly monotonic?: () => number;
};

/** The clean-up of one process. */
export class CleanUp<Place = unknown> {
  readonly #parts: CleanUpParts<Place>;
  readonly #monotonic: () => number;
  #walk = 0;
  #cursor: Place | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #clockOffset: number;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  readonly #tally = { seen: 0, deleted: 0, rounds: 0, failures: 0 };
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: CleanUpParts<Place>) {
    this.#parts = parts;
    this.#monotonic = parts.monotonic ?? (() => performance.now());
    this.#clockOffset = parts.now() - this.#monotonic();
  }

  /** What it did since the process began. */
  figures(): CleanUpFigures {
    return { ...this.#tally, isPaused: this.#monotonic() < this.#pausedUntil };
  }

  /** Walks until `stop`, without keeping the process alive. `report` gets sentences for the log. */
  start(report: (sentence: string) => void): void {
    this.#schedule(this.#parts.stepEvery, report);
  }

  /** Stops, so that another process can take over. */
  stop(): void {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#parts.leader?.stop();
  }

  /**
   * Reads the next window and deletes the dead rows in it; null while another process does that. If it throws
   * `StoreUnavailable`, the cursor has not moved.
   */
  async step(): Promise<CleanUpStep | null> {
    const { walks, deletions, now } = this.#parts;
    if (!(await this.#leads())) return null;
    const walk = walks[this.#walk] as Walk<Place>;
    const before = now() - KEPT_MS;
    const { seen, dead, last } = await walk.scan(this.#cursor, before);
    const doomed = dead.slice(0, deletions);
    const deleted = doomed.length > 0 ? await walk.remove(doomed, before) : 0;
    // If there are more dead rows than one step deletes, the next window begins after the last deleted one.
    this.#cursor = dead.length > doomed.length ? (doomed.at(-1) as Place) : last;
    const isEndOfWalk = this.#cursor === null;
    if (isEndOfWalk) this.#walk = (this.#walk + 1) % walks.length;
    const isEndOfRound = isEndOfWalk && this.#walk === 0;
    this.#tally.seen += seen;
    this.#tally.deleted += deleted;
    if (isEndOfRound) this.#tally.rounds += 1;
    return { seen, deleted, isEndOfRound };
  }

  /**
   * Deletes expired replay marks of client assertions, and returns how many; null while another process does that. This
   * needs no steady clock: the store records up to which time marks were deleted, and accepts no assertion from before
   * that. Throws `StoreUnavailable`.
   */
  async clearMarks(): Promise<number | null> {
    const { clearMarks, now, marksAtOnce } = this.#parts;
    return (await this.#leads()) ? clearMarks(now(), marksAtOnce) : null;
  }

  /**
   * Whether the clock can be trusted for deleting. After it jumped by more than an hour, as the monotonic clock shows,
   * nothing is deleted for a day: time for the operator to notice that everything has expired, and to correct the
   * clock.
   */
  isClockSteady(report: (sentence: string) => void): boolean {
    const offset = this.#parts.now() - this.#monotonic();
    const jump = offset - this.#clockOffset;
    if (Math.abs(jump) > MAX_CLOCK_JUMP_MS) {
      this.#clockOffset = offset;
      this.#pausedUntil = this.#monotonic() + PAUSE_MS;
      report(`the clock jumped by ${Math.round(jump / 1000)} s: clean-up pauses for a day; check the clock`);
    }
    return this.#monotonic() >= this.#pausedUntil;
  }

  async #leads(): Promise<boolean> {
    return (await this.#parts.leader?.leads()) ?? true;
  }

  #schedule(delay: number, report: (sentence: string) => void): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#run(report), delay).unref();
  }

  async #run(report: (sentence: string) => void): Promise<void> {
    const { stepEvery, busyStepEvery, marksAtOnce, deletions } = this.#parts;
    let delay = RETRY_MS;
    try {
      const cleared = await this.clearMarks();
      const isWalking = cleared !== null && this.isClockSteady(report) && this.#monotonic() >= this.#restsUntil;
      const step = isWalking ? await this.step() : null;
      if (step?.isEndOfRound) this.#restsUntil = this.#monotonic() + REST_BETWEEN_ROUNDS_MS;
      if (cleared !== null) delay = step && !step.isEndOfRound ? stepEvery : MARKS_EVERY_MS;
      if (cleared === marksAtOnce || step?.deleted === deletions) delay = busyStepEvery;
    } catch (error) {
      this.#tally.failures += 1;
      if (!this.#isStopped) report(`clean-up will try again: ${(error as Error).message}`);
    }
    this.#schedule(delay, report);
  }
}
