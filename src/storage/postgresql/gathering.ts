/** Decides when requests of one kind have waited enough for others, so that many share a statement. */

/** Maximum number of requests in a statement. */
export const MAX_PER_STATEMENT = 256;
/** With this number of requests a statement is sent at once. */
export const ENOUGH = 32;
/** Timeout of the first request, while more come in each turn of the event loop (ms). */
const TIMEOUT_MS = 3;
/** Its timeout when a turn has brought none, but statements were shared by many lately (ms). */
const TIMEOUT_FOR_USUAL_MS = 1;
const MANY = ENOUGH / 2;

/** Learns how many requests share a statement, and says when they have waited enough. */
export class Gathering {
  /** Number of requests that shared a statement lately. */
  #usual = 0;

  /** Whether `queued` requests have waited enough: for `waited` (ms); `isQuiet` if none has come since the last call. */
  isOver(queued: number, waited: number, isQuiet: boolean): boolean {
    if (queued >= ENOUGH || waited >= TIMEOUT_MS) return true;
    if (!isQuiet) return false;
    return this.#usual < MANY || queued >= this.#usual || waited >= TIMEOUT_FOR_USUAL_MS;
  }

  /** A statement was sent with this number of requests. */
  sent(requests: number): void {
    this.#usual = Math.max(requests, this.#usual * 0.9);
  }
}
