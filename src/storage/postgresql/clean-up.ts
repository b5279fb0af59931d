/**
 * Deletes dead rows. A cursor walks over the keys in small windows, so that a step costs the same at any size and needs
 * no index of its own. One instance at a time does it. Its statements run on the connection that holds the lock, so
 * that an instance that loses the lock cannot go on.
 */
import { sessionExpiresAt } from '../../accounts/session.ts';
import { HAS_ITS_EPOCHS } from '../tables/grants.ts';
import { clearAssertions } from './client-assertions.ts';
import { type Connection, json } from './connection.ts';
import { asStoreError } from './errors.ts';
import { LOCKS } from './locks.ts';

/** Number of rows that a step reads, and the maximum number that it deletes. */
const WINDOW = 512;
const DELETIONS = 64;
const STEP_EVERY_MS = 250;
/** While there is much to delete. */
const BUSY_STEP_EVERY_MS = 50;
const REST_BETWEEN_ROUNDS_MS = 10 * 60_000;
/** Minimum time between two deletions of expired replay marks, and the maximum number of each. */
const MARKS_EVERY_MS = 5000;
const MARKS_AT_ONCE = 1000;
/** How often another instance tries to take over. */
const TAKE_OVER_EVERY_MS = 60_000;

const HOUR_MS = 3_600_000;
/** How long dead rows are kept: for people to see them, and in case the clock is wrong. */
const KEPT_MS = 24 * HOUR_MS;
const MAX_CLOCK_JUMP_MS = HOUR_MS;
const PAUSE_MS = 24 * HOUR_MS;

/** What a step did: how many rows it read and deleted, and whether it reached the end of the last walk. */
export type CleanUpStep = { readonly seen: number; readonly deleted: number; readonly isEndOfRound: boolean };

/** A row that a walk read. */
type Seen = {
  readonly key: string;
  readonly is_dead: boolean;
  readonly created_at: number;
  readonly last_seen_at: number;
};

/** One kind of row that is walked. */
type Walk = {
  /** A key before all others. */
  readonly start: string;
  /** Selects the next rows after a key ($1), with a limit ($2), and says which were dead before a time ($3). */
  readonly scan: string;
  /** Deletes those of the given rows ($1) that are still dead ($2 as $3 above). */
  readonly remove: string;
  /** A further condition for a dead row. */
  readonly isDead?: (row: Seen, before: number) => boolean;
};

const isDeadGrant = (before: string) => `
  (coalesce(oauth_grant.revoked_at < ${before}, false) OR oauth_grant.expires_at < ${before} OR NOT ${HAS_ITS_EPOCHS})`;

const WALKS: readonly Walk[] = [
  {
    start: '00000000-0000-0000-0000-000000000000',
    scan: `SELECT id AS key, ${isDeadGrant('$3')} AS is_dead
      FROM (SELECT * FROM oauth_grant WHERE id > $1 ORDER BY id LIMIT $2) AS oauth_grant ORDER BY id`,
    remove: `DELETE FROM oauth_grant USING json_to_recordset($1) AS dead (key uuid)
      WHERE oauth_grant.id = dead.key AND ${isDeadGrant('$2')}`,
  },
  {
    start: '',
    scan: `SELECT encode(digest, 'hex') AS key, created_at < $3 AS is_dead, created_at, last_seen_at
      FROM session WHERE digest > decode($1, 'hex') ORDER BY digest LIMIT $2`,
    remove: `DELETE FROM session USING json_to_recordset($1) AS dead (key text, last_seen_at bigint)
      WHERE digest = decode(dead.key, 'hex') AND session.last_seen_at = dead.last_seen_at AND session.created_at < $2`,
    isDead: (row, before) => sessionExpiresAt({ createdAt: row.created_at, lastSeenAt: row.last_seen_at }) < before,
  },
  {
    // Deleted an hour after it expires, and not a day: it holds the source of a request.
    start: '',
    scan: `SELECT user_code AS key, expires_at < $3::bigint + ${KEPT_MS - HOUR_MS} AS is_dead
      FROM device_request WHERE user_code > $1 ORDER BY user_code LIMIT $2`,
    remove: `DELETE FROM device_request USING json_to_recordset($1) AS dead (key text)
      WHERE user_code = dead.key AND expires_at < $2::bigint + ${KEPT_MS - HOUR_MS}`,
  },
  {
    // Also after an hour: an expired counter is like none.
    start: '',
    scan: `SELECT encode(key, 'hex') AS key, arrives_at < $3::bigint + ${KEPT_MS - HOUR_MS} AS is_dead
      FROM throttle WHERE key > decode($1, 'hex') ORDER BY key LIMIT $2`,
    remove: `DELETE FROM throttle USING json_to_recordset($1) AS dead (key text)
      WHERE throttle.key = decode(dead.key, 'hex') AND arrives_at < $2::bigint + ${KEPT_MS - HOUR_MS}`,
  },
];

/** The clean-up of one instance. Times in ms; `monotonic` is a clock that never jumps. */
export class CleanUp {
  readonly #open: () => Promise<Connection>;
  readonly #now: () => number;
  readonly #monotonic: () => number;
  #connection: Connection | null = null;
  #walk = 0;
  #cursor: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #clockOffset: number;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(open: () => Promise<Connection>, now: () => number, monotonic: () => number = () => performance.now()) {
    this.#open = open;
    this.#now = now;
    this.#monotonic = monotonic;
    this.#clockOffset = now() - monotonic();
  }

  /** Walks until `stop`, without keeping the process alive. `report` gets sentences for the log. */
  start(report: (sentence: string) => void): void {
    this.#schedule(STEP_EVERY_MS, report);
  }

  /** Stops, so that another instance can take over. */
  stop(): void {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#connection?.destroy();
  }

  /**
   * Reads the next window and deletes the dead rows in it; null while another instance does that. If it throws
   * `StoreUnavailable`, the cursor has not moved.
   */
  async step(): Promise<CleanUpStep | null> {
    try {
      const connection = await this.#lead();
      return connection && (await this.#walkOn(connection));
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /**
   * Deletes expired replay marks of client assertions, and returns how many; null while another instance does that.
   * This needs no steady clock: the store records up to which time marks were deleted, and accepts no assertion from
   * before that. Throws `StoreUnavailable`.
   */
  async clearMarks(): Promise<number | null> {
    try {
      const connection = await this.#lead();
      return connection && (await clearAssertions(connection, this.#now(), MARKS_AT_ONCE));
    } catch (error) {
      throw asStoreError(error);
    }
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

  /** The connection that holds the lock, or null if another instance holds it. */
  async #lead(): Promise<Connection | null> {
    if (this.#connection && !this.#connection.isLost) return this.#connection;
    const connection = await this.#open();
    const got = await connection.one<{ leads: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS leads', LOCKS.cleanUp);
    if (!got?.leads || this.#isStopped) {
      await connection.close();
      return null;
    }
    this.#connection = connection;
    return connection;
  }

  async #walkOn(connection: Connection): Promise<CleanUpStep> {
    const walk = WALKS[this.#walk] as Walk;
    const before = this.#now() - KEPT_MS;
    const rows = await connection.rows<Seen>(walk.scan, [this.#cursor ?? walk.start, WINDOW, before]);
    const dead = rows.filter((row) => row.is_dead && (walk.isDead?.(row, before) ?? true));
    const doomed = dead.slice(0, DELETIONS);
    const deleted = doomed.length > 0 ? await connection.change(walk.remove, [json(doomed), before]) : 0;
    // If there are more dead rows than one step deletes, the next window begins after the last deleted one.
    const last = dead.length > doomed.length ? doomed.at(-1) : rows[WINDOW - 1];
    this.#cursor = last?.key ?? null;
    if (!last) this.#walk = (this.#walk + 1) % WALKS.length;
    return { seen: rows.length, deleted, isEndOfRound: !last && this.#walk === 0 };
  }

  #schedule(delay: number, report: (sentence: string) => void): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#run(report), delay).unref();
  }

  async #run(report: (sentence: string) => void): Promise<void> {
    let delay = TAKE_OVER_EVERY_MS;
    try {
      const cleared = await this.clearMarks();
      const isWalking = cleared !== null && this.isClockSteady(report) && this.#monotonic() >= this.#restsUntil;
      const step = isWalking ? await this.step() : null;
      if (step?.isEndOfRound) this.#restsUntil = this.#monotonic() + REST_BETWEEN_ROUNDS_MS;
      if (cleared !== null) delay = step && !step.isEndOfRound ? STEP_EVERY_MS : MARKS_EVERY_MS;
      if (cleared === MARKS_AT_ONCE || step?.deleted === DELETIONS) delay = BUSY_STEP_EVERY_MS;
    } catch (error) {
      if (!this.#isStopped) report(`clean-up will try again: ${(error as Error).message}`);
    }
    this.#schedule(delay, report);
  }
}
