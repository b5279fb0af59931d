/**
 * A few connections of one kind, made when they are needed and made anew when they are lost. While the database is gone,
 * the first who ask wait for it a little, all others are told so at once, and one connection is tried again and again.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { StoreUnavailable } from '../../oauth/store.ts';
import type { Connection } from './connection.ts';
import { ConnectionLost, isConflict } from './errors.ts';

/** So long a request waits for a connection (ms). */
const CHECKOUT_TIMEOUT_MS = 1000;
/** More requests than this do not wait: the database is far behind. */
const MOST_WAITING = 2000;
const RETRY_MS = 25;
const MOST_RETRY_MS = 1000;
/** So often something is tried again whose connection was lost, and after a conflict with another transaction. */
const MOST_LOSSES = 3;
const MOST_CONFLICTS = 5;
const CONFLICT_PAUSE_MS = 20;

/** Something to do on a connection. `again`: an earlier try was cut off, and may have had its effect. */
export type Work<T> = (connection: Connection, again: boolean) => Promise<T>;

type Waiting = {
  readonly serve: (connection: Connection) => Promise<void>;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout;
};

/** At most so many connections. */
export class Connections {
  readonly #open: () => Promise<Connection>;
  readonly #most: number;
  readonly #idle: Connection[] = [];
  #waiting: Waiting[] = [];
  /** Open ones, and ones that are being made. */
  #live = 0;
  #making = 0;
  #working = 0;
  #failures = 0;
  /** Why there is no connection, and whether somebody has waited for one in vain. */
  #failure: Error | null = null;
  #isGone = false;
  #retry: NodeJS.Timeout | null = null;
  readonly #closing: (() => void)[] = [];
  #closed: PromiseWithResolvers<void> | null = null;

  constructor(most: number, open: () => Promise<Connection>) {
    this.#most = most;
    this.#open = open;
  }

  /**
   * Does something on a connection of its own. What was cut off is done again on another connection: it must be harmless
   * to repeat, or look whether it happened. Throws `StoreUnavailable` if there is no connection, else what the work threw.
   */
  async run<T>(work: Work<T>): Promise<T> {
    let [losses, conflicts] = [0, 0];
    for (;;) {
      try {
        return await this.#use((connection) => work(connection, losses > 0));
      } catch (error) {
        if (error instanceof ConnectionLost && losses < MOST_LOSSES) losses += 1;
        else if (isConflict(error) && conflicts < MOST_CONFLICTS) {
          conflicts += 1;
          await after(randomInt(CONFLICT_PAUSE_MS * conflicts));
        } else throw error;
      }
    }
  }

  /** Has a function called before it closes, so that whoever still waits for others asks. */
  onClosing(ask: () => void): void {
    this.#closing.push(ask);
  }

  /** Waits until everything asked so far is done, and closes all. */
  async close(): Promise<void> {
    for (const ask of this.#closing) ask();
    this.#closed ??= Promise.withResolvers<void>();
    this.#dispatch();
    await this.#closed.promise;
  }

  #use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreUnavailable('the database is closed'));
    if (this.#isGone) return Promise.reject(this.#unavailable());
    if (this.#waiting.length >= MOST_WAITING)
      return Promise.reject(new StoreUnavailable('too many requests wait for the database'));
    return new Promise((resolve, reject) => {
      const serve = async (connection: Connection) => {
        try {
          resolve(await work(connection));
        } catch (error) {
          reject(error);
        }
      };
      const waiting: Waiting = { serve, reject, timer: setTimeout(() => this.#giveUp(waiting), CHECKOUT_TIMEOUT_MS) };
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
    while (this.#idle.length > 0 && this.#waiting.length > 0)
      void this.#serve(this.#idle.pop() as Connection, this.#waiting.shift() as Waiting);
    const isDone = this.#waiting.length + this.#working + this.#making === 0;
    if (this.#closed && isDone) void this.#end(this.#closed);
    else if (this.#retry === null) this.#makeMore();
  }

  /** As many as wait; one alone, without anybody waiting, while the database is gone. */
  #makeMore(): void {
    const wanted = this.#failure ? 1 : this.#waiting.length;
    while (this.#making < wanted && this.#live + this.#making < this.#most) void this.#make();
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
      // One that is refused although others are open, as when the server has too many, is no sign that it is gone.
      if (this.#live === 0) this.#failure = error as Error;
      const delay = Math.min(RETRY_MS * 2 ** this.#failures, MOST_RETRY_MS);
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
