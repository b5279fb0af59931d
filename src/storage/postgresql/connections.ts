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
  readonly serve: (connection: Connection) => Promise<void>;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout;
};

/**
 * Does work once more. What it finds of an earlier try may be on this server alone, so that it counts only when the
 * standby has it. Reads, whose connections have no chain, do not wait for a standby that is away.
 */
async function afterLoss<T>(connection: Connection, work: Work<T>): Promise<T> {
  const result = await work(connection, true);
  if (connection.chainKeyId !== null) await connection.confirmSeen();
  return result;
}

/** A pool with a maximum number of connections. */
export class Connections {
  /** How many requests shared a statement. */
  readonly groups = new Distribution(GROUP_SIZES);
  readonly #open: () => Promise<Connection>;
  readonly #maximum: number;
  readonly #checkoutTimeout: number;
  readonly #isStale: PoolUse['isStale'];
  readonly #idle: Connection[] = [];
  #waiting: Waiting[] = [];
  /** Numbers of connections that are open, being opened, and in use. */
  #live = 0;
  #making = 0;
  #working = 0;
  #lost = 0;
  #failures = 0;
  /** Why there is no connection; and whether a request has waited for one until its timeout. */
  #failure: Error | null = null;
  #isGone = false;
  #retry: NodeJS.Timeout | null = null;
  #closed: PromiseWithResolvers<void> | null = null;

  constructor(
    maximum: number,
    open: () => Promise<Connection>,
    { checkoutTimeout = CHECKOUT_TIMEOUT_MS, isStale = () => false }: Partial<PoolUse> = {},
  ) {
    this.#maximum = maximum;
    this.#open = open;
    this.#checkoutTimeout = checkoutTimeout;
    this.#isStale = isStale;
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
        return await this.#use((connection) => (losses > 0 ? afterLoss(connection, work) : work(connection, false)));
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
    return { open: this.#live, busy: this.#working, waiting: this.#waiting.length, lost: this.#lost };
  }

  /** Waits until all work is done, and closes all connections. */
  async close(): Promise<void> {
    await nextTurn(); // Batches that wait for the end of this turn ask for a connection then.
    this.#closed ??= Promise.withResolvers<void>();
    this.#dispatch();
    await this.#closed.promise;
  }

  #use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('the database is closed'));
    if (this.#isGone) return Promise.reject(this.#unavailable());
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new StoreUnavailable('too many requests wait for the database'));
    return new Promise((resolve, reject) => {
      const serve = async (connection: Connection) => {
        try {
          resolve(await work(connection));
        } catch (error) {
          reject(error);
        }
      };
      const waiting: Waiting = { serve, reject, timer: setTimeout(() => this.#giveUp(waiting), this.#checkoutTimeout) };
      this.#waiting.push(waiting);
      this.#dispatch();
    });
  }

  #giveUp(waiting: Waiting): void {
    this.#isGone = this.#failure !== null;
    this.#waiting = this.#waiting.filter((one) => one !== waiting);
    waiting.reject(this.#unavailable());
    this.#dispatch();
  }

  #unavailable(): StoreUnavailable {
    const failure = this.#failure;
    if (!failure) return new StoreUnavailable('the database is too slow: no connection was free in time');
    return new StoreUnavailable(`the database cannot be reached: ${failure.message}`, { cause: failure });
  }

  #dispatch(): void {
    while (this.#idle.length > 0 && this.#waiting.length > 0) {
      const connection = this.#idle.pop() as Connection;
      if (this.#isStale(connection)) void connection.close().then(() => this.#dispatch());
      else void this.#serve(connection, this.#waiting.shift() as Waiting);
    }
    const isDone = this.#waiting.length + this.#working + this.#making === 0;
    if (this.#closed && isDone) void this.#end(this.#closed);
    else if (this.#retry === null) this.#makeMore();
  }

  /** One for each request that waits. While the database cannot be reached just one, even if nobody waits. */
  #makeMore(): void {
    const wanted = this.#failure ? 1 : this.#waiting.length;
    while (this.#making < wanted && this.#live + this.#making < this.#maximum) void this.#make();
  }

  async #serve(connection: Connection, { serve, timer }: Waiting): Promise<void> {
    clearTimeout(timer);
    this.#working += 1;
    await serve(connection);
    this.#working -= 1;
    if (!connection.isLost) this.#idle.push(connection);
    this.#dispatch();
  }

  async #make(): Promise<void> {
    this.#making += 1;
    try {
      const connection = await this.#open();
      this.#failure = null;
      this.#isGone = false;
      this.#failures = 0;
      this.#live += 1;
      connection.onLost = () => this.#forget(connection);
      this.#idle.push(connection);
    } catch (error) {
      // If others are open, the server is there and only refuses another one, as when it has too many.
      if (this.#live === 0) this.#failure = error as Error;
      const delay = Math.min(RETRY_MS * 2 ** this.#failures, MAX_RETRY_MS);
      this.#failures += 1;
      if (this.#retry) clearTimeout(this.#retry);
      this.#retry = setTimeout(() => this.#tryAgain(), delay).unref();
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
    if (this.#live === 0) resolve();
  }
}
