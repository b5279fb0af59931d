/**
 * A pool of connections of one kind. They are opened when they are needed, and anew when they are lost. While the
 * database cannot be reached, the first requests wait until their timeout; after that all are refused at once. One
 * connection is tried again and again.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as after, setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../oauth/store.ts';
import { Distribution, GROUP_SIZES } from '../../process/distribution.ts';
import type { Connection } from './connection.ts';
import { ConnectionLost, isConflict } from './errors.ts';

/** Maximum time that a request waits for a connection (ms), unless a test bears a busy machine. */
const CHECKOUT_TIMEOUT_MS = 1000;
/** Maximum number of requests that wait for a connection; with more the database is far behind, and they are refused. */
const MAX_WAITING = 2000;
/** Delay before a connection is tried again; it doubles with each failure, up to the maximum. */
const RETRY_MS = 25;
const MAX_RETRY_MS = 1000;
/** Maximum number of new tries after a lost connection, and after a conflict with another transaction. */
const MAX_LOSSES = 3;
const MAX_CONFLICTS = 5;
const CONFLICT_PAUSE_MS = 20;

/** Work on a connection. `again`: the connection was lost during an earlier try, which may have had its effect. */
export type Work<T> = (connection: Connection, again: boolean) => Promise<T>;

/** How a pool is used. */
export type PoolUse = {
  /** Maximum time that a request waits for a connection (ms). */
  readonly checkoutTimeout: number | undefined;
  /** Whether a connection must be replaced before it is used again. */
  readonly isStale: (connection: Connection) => boolean;
};

type Waiting = {
  readonly give: (connection: Connection) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout;
};

/** A pool with a maximum number of connections. */
export class Connections {
  /** How many requests shared a statement. */
  readonly groups = new Distribution(GROUP_SIZES);
  readonly #open: () => Promise<Connection>;
  readonly #maximum: number;
  readonly #checkoutTimeout: number;
  readonly #isStale: PoolUse['isStale'];
  readonly #waiting = new Set<Waiting>();
  /** Those that nobody uses; the numbers of all that are open, and that are being opened. */
  readonly #idle: Connection[] = [];
  #live = 0;
  #making = 0;
  #lost = 0;
  /** Failed tries in a row, and when the next one begins. */
  #failures = 0;
  #retry: NodeJS.Timeout | null = null;
  /** Why there is no connection; and whether a request has waited for one until its timeout. */
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
   * Does work on a connection of its own. If the connection is lost, the work runs again on another one: it must be
   * harmless to repeat, or check whether it happened. Throws `StoreUnavailable` if there is no connection, else what
   * the work threw.
   */
  async run<T>(work: Work<T>): Promise<T> {
    let [losses, conflicts] = [0, 0];
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

  /** How many are open and in use, how many requests wait for one, and how many were lost. */
  figures(): { open: number; busy: number; waiting: number; lost: number } {
    return { open: this.#live, busy: this.#live - this.#idle.length, waiting: this.#waiting.size, lost: this.#lost };
  }

  /** Waits until all work is done, and closes all connections. */
  async close(): Promise<void> {
    await nextTurn(); // Batches ask for a connection at the end of the turn in which their requests came.
    this.#closed ??= Promise.withResolvers<void>();
    this.#dispatch();
    await this.#closed.promise;
  }

  /**
   * What work finds of an earlier try may be on this server alone, so that it counts only when the standby has it. Reads, whose
   * connections have no chain, do not wait for a standby that is away.
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

  /** Takes the one that was used last; stale ones are closed. */
  #takeFresh(): Connection | undefined {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (!this.#isStale(connection)) return connection;
      void connection.close();
    }
    return undefined;
  }

  /** One for each request that waits. While the database cannot be reached just one, even if nobody waits. */
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
      // If others are open, the server is there and only refuses another one, as when it has too many.
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
