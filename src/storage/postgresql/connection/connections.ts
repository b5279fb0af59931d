/**
 * A pool of connections of one kind. Connections are opened on demand, and replaced when they are lost. While the
 * database is unreachable, the first requests wait until their timeout; afterwards all are refused immediately, and the
 * pool retries one connection.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as after, setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../../oauth/store.ts';
import { Distribution, GROUP_SIZES } from '../../../process/distribution.ts';
import type { Connection } from './connection.ts';
import { ConnectionLost, isConflict } from './errors.ts';

/** Default maximum time that a request waits for a connection (ms). */
const CHECKOUT_TIMEOUT_MS = 1000;
/**
 * Maximum number of requests that wait for a connection; beyond it the database is far behind, and requests are
 * refused.
 */
const MAX_WAITING = 2000;
/** Delay before a connection is retried; it doubles with each failure, up to the maximum. */
const RETRY_MS = 25;
const MAX_RETRY_MS = 1000;
/** Maximum number of retries after a lost connection, and after a conflict with another transaction. */
const MAX_LOSSES = 3;
const MAX_CONFLICTS = 5;
const CONFLICT_PAUSE_MS = 20;

/** Work on a connection. `again`: the connection was lost during an earlier attempt, which may have taken effect. */
export type Work<T> = (connection: Connection, again: boolean) => Promise<T>;

/** The options of a pool. */
export type PoolUse = {
  /** Maximum time that a request waits for a connection (ms). */
  readonly checkoutTimeout: number | undefined;
  /** Returns true if a connection must be replaced before its next use. */
  readonly isStale: (connection: Connection) => boolean;
};

type Waiting = {
  readonly give: (connection: Connection) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout;
};

/** A pool with a maximum number of connections. */
export class Connections {
  /** Number of requests in each statement. */
  readonly groups = new Distribution(GROUP_SIZES);
  readonly #open: () => Promise<Connection>;
  readonly #maximum: number;
  readonly #checkoutTimeout: number;
  readonly #isStale: PoolUse['isStale'];
  readonly #waiting = new Set<Waiting>();
  /** Idle connections; the number of open ones; the number of those being opened. */
  readonly #idle: Connection[] = [];
  #live = 0;
  #making = 0;
  #lost = 0;
  /** Number of consecutive failed attempts, and the timer of the next one. */
  #failures = 0;
  #retry: NodeJS.Timeout | null = null;
  /** Error of the last attempt while there is no connection; and true once a request has waited until its timeout. */
  #failure: Error | null = null;
  #isGone = false;
  #closed: PromiseWithResolvers<void> | null = null;

  constructor(maximum: number, open: () => Promise<Connection>, use: Partial<PoolUse> = {}) {
    this.#maximum = maximum;
    this.#open = open;
    this.#checkoutTimeout = use.checkoutTimeout ?? CHECKOUT_TIMEOUT_MS;
    this.#isStale = use.isStale ?? (() => false);
  }

  /**
   * Runs work on an exclusive connection. If the connection is lost, the work runs again on another one: it must be
   * safe to repeat, or check whether it took effect. Throws `StoreUnavailable` if there is no connection, else the
   * work's own error.
   */
  async run<T>(work: Work<T>): Promise<T> {
    let losses = 0;
    let conflicts = 0;
    for (;;) {
      try {
        return await this.#use(work, losses > 0);
      } catch (error) {
        if (error instanceof ConnectionLost && losses < MAX_LOSSES) losses += 1;
        else if (isConflict(error) && conflicts < MAX_CONFLICTS) {
          conflicts += 1;
          await after(randomInt(CONFLICT_PAUSE_MS * conflicts));
        } else throw error;
      }
    }
  }

  /** Returns the numbers of open connections, of those in use, of waiting requests, and of lost connections. */
  figures(): { open: number; busy: number; waiting: number; lost: number } {
    return { open: this.#live, busy: this.#live - this.#idle.length, waiting: this.#waiting.size, lost: this.#lost };
  }

  /** Waits until all work is done, and closes all connections. */
  async close(): Promise<void> {
    await nextTurn(); // Batches ask for a connection at the end of the turn in which their requests arrived.
    this.#closed ??= Promise.withResolvers<void>();
    this.#dispatch();
    await this.#closed.promise;
  }

  /**
   * A repeated attempt may find effects of the earlier one that only this server has, so they count once the standby
   * has them. Reads, whose connections have no chain, do not wait for an absent standby.
   */
  async #use<T>(work: Work<T>, again: boolean): Promise<T> {
    const connection = await this.#checkOut();
    try {
      const result = await work(connection, again);
      if (again && connection.chainKeyId !== null) await connection.confirmSeen();
      return result;
    } finally {
      if (!connection.isLost) this.#idle.push(connection);
      this.#dispatch();
    }
  }

  #checkOut(): Promise<Connection> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('the database is closed'));
    if (this.#isGone) return Promise.reject(this.#unavailable());
    if (this.#waiting.size >= MAX_WAITING)
      return Promise.reject(new StoreUnavailable('too many requests wait for the database'));
    return new Promise((give, reject) => {
      const timer = setTimeout(() => this.#giveUp(waiting), this.#checkoutTimeout);
      const waiting: Waiting = { give, reject, timer };
      this.#waiting.add(waiting);
      this.#dispatch();
    });
  }

  #giveUp(waiting: Waiting): void {
    this.#isGone = this.#failure !== null;
    this.#waiting.delete(waiting);
    waiting.reject(this.#unavailable());
    this.#dispatch();
  }

  #unavailable(): StoreUnavailable {
    const failure = this.#failure;
    if (!failure) return new StoreUnavailable('the database is too slow: no connection was free in time');
    return new StoreUnavailable(`the database cannot be reached: ${failure.message}`, { cause: failure });
  }

  #dispatch(): void {
    for (const waiting of this.#waiting) {
      const connection = this.#takeFresh();
      if (!connection) break;
      this.#waiting.delete(waiting);
      clearTimeout(waiting.timer);
      waiting.give(connection);
    }
    const isDone = this.#waiting.size + this.#making === 0 && this.#idle.length === this.#live;
    if (this.#closed && isDone) void this.#end(this.#closed);
    else if (this.#retry === null) this.#makeMore();
  }

  /** Takes the most recently used idle connection; closes stale ones. */
  #takeFresh(): Connection | undefined {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (!this.#isStale(connection)) return connection;
      void connection.close();
    }
    return undefined;
  }

  /**
   * Opens one connection for each waiting request. While the database is unreachable, opens only one, even without a
   * request.
   */
  #makeMore(): void {
    const wanted = this.#failure ? 1 : this.#waiting.size;
    while (this.#making < wanted && this.#live + this.#making < this.#maximum) void this.#make();
  }

  async #make(): Promise<void> {
    this.#making += 1;
    try {
      const connection = await this.#open();
      this.#failure = null;
      this.#isGone = false;
      this.#failures = 0;
      this.#live += 1;
      this.#idle.push(connection);
      connection.onLost = () => this.#forget(connection);
    } catch (error) {
      // If other connections are open, the server is reachable and only refuses another one, for example at its limit.
      if (this.#live === 0) this.#failure = error as Error;
      if (this.#retry) clearTimeout(this.#retry);
      this.#retry = setTimeout(() => this.#tryAgain(), Math.min(RETRY_MS * 2 ** this.#failures, MAX_RETRY_MS)).unref();
      this.#failures += 1;
    }
    this.#making -= 1;
    this.#dispatch();
  }

  #tryAgain(): void {
    this.#retry = null;
    this.#dispatch();
  }

  #forget(connection: Connection): void {
    this.#live -= 1;
    if (!this.#closed) this.#lost += 1;
    const place = this.#idle.indexOf(connection);
    if (place >= 0) this.#idle.splice(place, 1);
    this.#dispatch();
  }

  async #end({ resolve }: PromiseWithResolvers<void>): Promise<void> {
    if (this.#retry) clearTimeout(this.#retry);
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
    resolve();
  }
}
