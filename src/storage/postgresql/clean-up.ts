/**
 * Clears away what is dead: a cursor walks keys in small windows, so that a step costs the same at any size and needs no
 * index of its own. One instance at a time does it: the lock is its connection's, and so are all its statements, so that
 * who loses the one can do nothing more without the other.
 */
import { sessionExpiresAt } from '../../accounts/session.ts';
import { clearAssertions } from './client-assertions.ts';
import { type Connection, json } from './connection.ts';
import { asStoreError } from './errors.ts';
import { LOCKS } from './locks.ts';

/** How many rows a step looks at, and how many it deletes at most. */
const WINDOW = 512;
const DELETIONS = 64;
const STEP_EVERY_MS = 250;
/** While there is much to delete. */
const BUSY_STEP_EVERY_MS = 50;
const REST_BETWEEN_ROUNDS_MS = 10 * 60_000;
/** Between two looks at marks of client assertions, at least, and how many of them a look clears away. */
const MARKS_EVERY_MS = 5000;
const MARKS_AT_ONCE = 1000;
/** How often the other instances look whether the one is still there. */
const LOOK_FOR_LEADER_MS = 60_000;

const HOUR_MS = 3_600_000;
/** Dead rows are kept so long, for people to see, and for a clock that is not quite right. */
const KEPT_MS = 24 * HOUR_MS;
const MOST_CLOCK_JUMP_MS = HOUR_MS;
const PAUSE_MS = 24 * HOUR_MS;

/** What a step did: how many rows it saw and deleted, and whether it came to the end of everything. */
export type CleanUpStep = { readonly seen: number; readonly deleted: number; readonly isEndOfRound: boolean };

/** A row that a walk saw, with what its kind needs to know. */
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
  /** The next rows after a key ($1), at most so many ($2), and which of them were dead at a time ($3). */
  readonly look: string;
  /** Deletes of some seen rows ($1) those that are still dead at that time ($2). */
  readonly remove: string;
  /** What else a dead row must be. */
  readonly isDead?: (row: Seen, before: number) => boolean;
};

const isDeadGrant = (before: string) => `
  (coalesce(oauth_grant.revoked_at < ${before}, false) OR oauth_grant.expires_at < ${before} OR NOT EXISTS (
    SELECT 1 FROM installation, client, account
    WHERE installation.epoch = oauth_grant.epochs_installation
      AND client.id = oauth_grant.client_id AND client.epoch = oauth_grant.epochs_client
      AND account.id = oauth_grant.resource_owner_id AND account.epoch = oauth_grant.epochs_resource_owner))`;

const WALKS: readonly Walk[] = [
  {
    start: '00000000-0000-0000-0000-000000000000',
    look: `SELECT id AS key, ${isDeadGrant('$3')} AS is_dead
      FROM (SELECT * FROM oauth_grant WHERE id > $1 ORDER BY id LIMIT $2) AS oauth_grant ORDER BY id`,
    remove: `DELETE FROM oauth_grant USING json_to_recordset($1) AS dead (key uuid)
      WHERE oauth_grant.id = dead.key AND ${isDeadGrant('$2')}`,
  },
  {
    start: '',
    look: `SELECT encode(digest, 'hex') AS key, created_at < $3 AS is_dead, created_at, last_seen_at
      FROM session WHERE digest > decode($1, 'hex') ORDER BY digest LIMIT $2`,
    remove: `DELETE FROM session USING json_to_recordset($1) AS dead (key text, last_seen_at bigint)
      WHERE digest = decode(dead.key, 'hex') AND session.last_seen_at = dead.last_seen_at AND session.created_at < $2`,
    isDead: (row, before) => sessionExpiresAt({ createdAt: row.created_at, lastSeenAt: row.last_seen_at }) < before,
  },
  {
    // It says where it came from, for as long as it waits.
    start: '',
    look: `SELECT user_code AS key, expires_at < $3::bigint + ${KEPT_MS - HOUR_MS} AS is_dead
      FROM device_request WHERE user_code > $1 ORDER BY user_code LIMIT $2`,
    remove: `DELETE FROM device_request USING json_to_recordset($1) AS dead (key text)
      WHERE user_code = dead.key AND expires_at < $2::bigint + ${KEPT_MS - HOUR_MS}`,
  },
  {
    // An empty counter is none, so that it need not be kept for a day.
    start: '',
    look: `SELECT encode(key, 'hex') AS key, arrives_at < $3::bigint + ${KEPT_MS - HOUR_MS} AS is_dead
      FROM throttle WHERE key > decode($1, 'hex') ORDER BY key LIMIT $2`,
    remove: `DELETE FROM throttle USING json_to_recordset($1) AS dead (key text)
      WHERE throttle.key = decode(dead.key, 'hex') AND arrives_at < $2::bigint + ${KEPT_MS - HOUR_MS}`,
  },
];

/** The clean-up as one instance takes part in it. Times in ms; `monotonic` is a clock that never jumps. */
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

  /** Walks on and on until `stop`, without keeping the process alive; `report` gets a sentence for the log. */
  start(report: (sentence: string) => void): void {
    this.#schedule(STEP_EVERY_MS, report);
  }

  /** Lets another instance go on. */
  stop(): void {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#connection?.destroy();
  }

  /**
   * Looks at the next window and deletes what is dead in it; null while another instance does that. Throws
   * `StoreUnavailable`, and then did not move on.
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
   * Deletes marks of client assertions that have expired, and answers how many; null while another instance does that. They
   * wait for no walk and no steady clock: the store knows up to when they are gone, and takes no assertion from before that.
   * Throws `StoreUnavailable`.
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
   * Whether the clock may be trusted with deleting. After it jumped against the monotonic clock by more than an hour
   * nothing is deleted for a day, in which somebody may see that everything has expired, and set it right.
   */
  isClockSteady(report: (sentence: string) => void): boolean {
    const offset = this.#now() - this.#monotonic();
    const jump = offset - this.#clockOffset;
    if (Math.abs(jump) > MOST_CLOCK_JUMP_MS) {
      this.#clockOffset = offset;
      this.#pausedUntil = this.#monotonic() + PAUSE_MS;
      report(`the clock jumped by ${Math.round(jump / 1000)} s: clean-up pauses for a day; check the clock`);
    }
    return this.#monotonic() >= this.#pausedUntil;
  }

  /** The connection that has the lock, or null when another instance's has it. */
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
    const rows = await connection.rows<Seen>(walk.look, [this.#cursor ?? walk.start, WINDOW, before]);
    const dead = rows.filter((row) => row.is_dead && (walk.isDead?.(row, before) ?? true));
    const doomed = dead.slice(0, DELETIONS);
    const deleted = doomed.length > 0 ? await connection.change(walk.remove, [json(doomed), before]) : 0;
    // With more dead than one step deletes, the next window begins after the last that was.
    const last = dead.length > doomed.length ? doomed.at(-1) : rows[WINDOW - 1];
    this.#cursor = last?.key ?? null;
    if (!last) this.#walk = (this.#walk + 1) % WALKS.length;
    return { seen: rows.length, deleted, isEndOfRound: !last && this.#walk === 0 };
  }

  #schedule(delay: number, report: (sentence: string) => void): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#run(report), delay).unref();
  }

  async #run(report: (sentence: string) => void): Promise<void> {
    let delay = LOOK_FOR_LEADER_MS;
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
