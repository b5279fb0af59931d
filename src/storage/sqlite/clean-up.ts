/**
 * Deletes dead rows. A cursor walks over the ids in small windows, so that a step costs the same at any size and needs
 * no index of its own. A dead row never comes back to life, so that any number of processes may walk at the same time.
 */
import { type Session, sessionExpiresAt } from '../../accounts/session.ts';
import { rowKey } from '../row-key.ts';
import { HAS_ITS_EPOCHS } from '../tables/grants.ts';
import { asBuffer } from '../tables/table.ts';
import { assertionClearing } from './client-assertions.ts';
import type { Tables } from './tables.ts';

/** Number of rows that a step reads. Even among 10,000,000 grants it blocks the event loop for less than 1 ms. */
export const WINDOW = 64;
/** Maximum number of rows that a step deletes. */
export const DELETIONS = 8;
const STEP_EVERY_MS = 30;
/** While there is much to delete. */
const BUSY_STEP_EVERY_MS = 6;
const REST_BETWEEN_ROUNDS_MS = 10 * 60_000;
/** Minimum time between two deletions of expired replay marks, and the maximum number of each. */
const MARKS_EVERY_MS = 5000;
const MARKS_AT_ONCE = 64;
/** Pause after a failure. */
const RETRY_MS = 60_000;

const HOUR_MS = 3_600_000;
/** How long dead rows are kept: for people to see them, and in case the clock is wrong. */
const KEPT_MS = 24 * HOUR_MS;
const MAX_CLOCK_JUMP_MS = HOUR_MS;
const PAUSE_MS = 24 * HOUR_MS;

/** What a step did: how many rows it read and deleted, and whether it reached the end of the last walk. */
export type CleanUpStep = { readonly seen: number; readonly deleted: number; readonly isEndOfRound: boolean };

/** One kind of row that is walked. */
type Walk = {
  /** Reads the next window after an id: its last id (null if it is empty), its number of rows, and the dead ones. */
  scan(after: Uint8Array, before: number): { last: Uint8Array | null; seen: number; dead: readonly Uint8Array[] };
  remove(id: Uint8Array, before: number): number;
};

/** The clean-up of one database. Times in ms; `monotonic` is a clock that never jumps. */
export class CleanUp {
  readonly #tables: Tables;
  readonly #walks: readonly Walk[];
  readonly #now: () => number;
  readonly #monotonic: () => number;
  #walk = 0;
  #cursor: Uint8Array = new Uint8Array();
  #timer: NodeJS.Timeout | null = null;
  #clockOffset: number;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #restsUntil = Number.NEGATIVE_INFINITY;
  readonly #clearMarks: (before: number, maximum: number) => Promise<number>;

  constructor(tables: Tables, now: () => number, monotonic: () => number = () => performance.now()) {
    this.#tables = tables;
    this.#walks = [grantWalk(tables), sessionWalk(tables)];
    this.#clearMarks = assertionClearing(tables);
    this.#now = now;
    this.#monotonic = monotonic;
    this.#clockOffset = now() - monotonic();
  }

  /** Walks until `stop`, without keeping the process alive. `report` gets sentences for the log. */
  start(report: (sentence: string) => void): void {
    this.#schedule(STEP_EVERY_MS, report);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Reads the next window and deletes the dead rows in it. If it throws `StoreUnavailable`, the cursor has not moved. */
  async step(): Promise<CleanUpStep> {
    const walk = this.#walks[this.#walk] as Walk;
    const before = this.#now() - KEPT_MS;
    const { last, seen, dead } = walk.scan(this.#cursor, before);
    const doomed = dead.slice(0, DELETIONS);
    let deleted = 0;
    if (doomed.length > 0)
      deleted = await this.#tables.write(
        doomed.map((id) => rowKey(asBuffer(id))),
        () => doomed.reduce((sum, id) => sum + walk.remove(id, before), 0),
      );
    // If there are more dead rows than one step deletes, the next window begins after the last deleted one.
    const next = dead.length > doomed.length ? doomed.at(-1) : seen < WINDOW ? null : last;
    const isEndOfWalk = !next;
    this.#cursor = next ?? new Uint8Array();
    if (isEndOfWalk) this.#walk = (this.#walk + 1) % this.#walks.length;
    return { seen, deleted, isEndOfRound: isEndOfWalk && this.#walk === 0 };
  }

  /**
   * Deletes expired replay marks of client assertions, and returns how many. This needs no steady clock: the store
   * records up to which time marks were deleted, and accepts no assertion from before that.
   */
  clearMarks(): Promise<number> {
    return this.#clearMarks(this.#now(), MARKS_AT_ONCE);
  }

  /**
   * Whether the clock can be trusted for deleting. After it jumped by more than an hour, as the monotonic clock shows,
   * nothing is deleted for a day: time for the operator to notice that everything has expired, and to correct the
   * clock.
   */
  isClockSteady(report: (sentence: string) => void): boolean {
    const offset = this.#now() - this.#monotonic();
    const jump = offset - this.#clockOffset;
    if (Math.abs(jump) > MAX_CLOCK_JUMP_MS) {
      this.#clockOffset = offset;
      this.#pausedUntil = this.#monotonic() + PAUSE_MS;
      report(`the clock jumped by ${Math.round(jump / 1000)} s: clean-up pauses for a day; check the clock`);
    }
    return this.#monotonic() >= this.#pausedUntil;
  }

  #schedule(delay: number, report: (sentence: string) => void): void {
    this.#timer = setTimeout(() => void this.#run(report), delay).unref();
  }

  async #run(report: (sentence: string) => void): Promise<void> {
    const timer = this.#timer;
    let delay = RETRY_MS;
    try {
      const cleared = await this.clearMarks();
      const isWalking = this.isClockSteady(report) && this.#monotonic() >= this.#restsUntil;
      const step = isWalking ? await this.step() : null;
      if (step?.isEndOfRound) this.#restsUntil = this.#monotonic() + REST_BETWEEN_ROUNDS_MS;
      delay = step && !step.isEndOfRound ? STEP_EVERY_MS : MARKS_EVERY_MS;
      if (cleared === MARKS_AT_ONCE || step?.deleted === DELETIONS) delay = BUSY_STEP_EVERY_MS;
    } catch (error) {
      report(`clean-up will try again: ${(error as Error).message}`);
    }
    if (this.#timer === timer) this.#schedule(delay, report);
  }
}

function grantWalk(tables: Tables): Walk {
  const dead = `(revoked_at < ? OR expires_at < ? OR NOT ${HAS_ITS_EPOCHS})`;
  const window = tables.one<{ last: Uint8Array | null; seen: number }>(
    'SELECT max(id) AS last, count(*) AS seen FROM (SELECT id FROM oauth_grant WHERE id > ? ORDER BY id LIMIT ?)',
  );
  const find = tables.all<{ id: Uint8Array }>(
    `SELECT id FROM oauth_grant WHERE id > ? AND id <= ? AND ${dead} ORDER BY id LIMIT ?`,
  );
  const remove = tables.change(`DELETE FROM oauth_grant WHERE id = ? AND ${dead}`);
  return {
    scan(after, before) {
      const { last, seen } = window(after, WINDOW) ?? { last: null, seen: 0 };
      const rows = last ? find(after, last, before, before, DELETIONS + 1) : [];
      return { last, seen, dead: rows.map(({ id }) => id) };
    },
    remove: (id, before) => remove(id, before, before),
  };
}

function sessionWalk(tables: Tables): Walk {
  type Row = { digest: Uint8Array; created_at: number; last_seen_at: number };
  const window = tables.all<Row>(
    'SELECT digest, created_at, last_seen_at FROM session WHERE digest > ? ORDER BY digest LIMIT ?',
  );
  const find = tables.one<Row>('SELECT digest, created_at, last_seen_at FROM session WHERE digest = ?');
  const remove = tables.change('DELETE FROM session WHERE digest = ?');
  const isDead = (row: Row, before: number) => sessionExpiresAt(times(row)) < before;
  const times = (row: Row): Pick<Session, 'createdAt' | 'lastSeenAt'> => ({
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
  });
  return {
    scan(after, before) {
      const rows = window(after, WINDOW);
      const dead = rows.filter((row) => isDead(row, before)).map(({ digest }) => digest);
      return { last: rows.at(-1)?.digest ?? null, seen: rows.length, dead };
    },
    remove(digest, before) {
      const row = find(digest);
      return row && isDead(row, before) ? remove(digest) : 0;
    },
  };
}
