/** The database's time, which all instances share: a local monotonic clock, set by the server's clock. */
import type { Connection } from './connection/connection.ts';
import type { Database } from './statements/database.ts';

const SET_EVERY_MS = 10_000;
const ASK = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms';

/** A clock that follows the database's. Call `set` before the first `now`. */
export class DatabaseClock {
  /** Lead of the database's clock over the local one (ms). */
  #offset = Number.NaN;
  #timer: NodeJS.Timeout | null = null;

  /** Returns ms since the epoch by the database's clock. */
  now(): number {
    return Math.floor(performance.now() + this.#offset);
  }

  /** Sets the clock once. The server read its clock between query and result: an offset within these bounds stays. */
  async set(connection: Connection): Promise<void> {
    const asked = performance.now();
    const { ms } = (await connection.one<{ ms: number }>(ASK)) as { ms: number };
    const least = ms - performance.now();
    const most = ms - asked;
    const isRight = this.#offset >= least && this.#offset <= most;
    if (!isRight) this.#offset = (least + most) / 2;
  }

  /** Sets the clock every 10 seconds from now on; while the database is unreachable, the offset stays. */
  start(database: Database): void {
    const set = () => database.run((connection) => this.set(connection)).catch(() => {});
    this.#timer = setInterval(set, SET_EVERY_MS).unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }
}
