/** The time of the database, which all instances share: a monotonic clock of our own, set by what the server says. */
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

const SET_EVERY_MS = 10_000;
const ASK = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms';

/** A clock that follows the database's. It must be set before it is asked. */
export class DatabaseClock {
  /** What the database's clock is ahead of ours (ms). */
  #offset = Number.NaN;
  #timer: NodeJS.Timeout | null = null;

  /** Milliseconds since the epoch, as the database counts them. */
  now(): number {
    return Math.floor(performance.now() + this.#offset);
  }

  /** Sets it once. The server's clock was read between query and result: an offset that fits in there stays. */
  async set(connection: Connection): Promise<void> {
    const asked = performance.now();
    const { ms } = (await connection.one<{ ms: number }>(ASK)) as { ms: number };
    const [least, most] = [ms - performance.now(), ms - asked];
    const isRight = this.#offset >= least && this.#offset <= most;
    if (!isRight) this.#offset = (least + most) / 2;
  }

  /** Sets it every 10 seconds from now on; while the database is gone it goes on as it was. */
  start(database: Database): void {
    const set = () => database.run((connection) => this.set(connection)).catch(() => {});
    this.#timer = setInterval(set, SET_EVERY_MS).unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }
}
