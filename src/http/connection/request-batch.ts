/** What comes in one turn of the event loop is handled together, 32 at a time, and of each source as many as of any other. */

/** Maximum number that is handled in a row: what these wait for is asked for, and what else came is read, before the next ones begin. */
const TOGETHER = 32;

/**
 * Begins to handle requests when all that was to be read in this turn is read. The code of one step then runs many times
 * in a row, which processors are quicker at, and the store asks the database once for all what it would ask for each
 * (whether another process has written). A request that is alone goes once more through the event loop, some 3 µs. The
 * sources of requests take turns, so that whoever sends many waits for himself alone.
 */
export class RequestBatch {
  /** By source, the next one first. */
  readonly #waiting = new Map<unknown, (() => void)[]>();

  /** Takes a request that is read, and what begins to handle it. `source` is compared, and not looked at. */
  add(source: unknown, begin: () => void): void {
    if (this.#waiting.size === 0) setImmediate(() => this.#handle());
    const queue = this.#waiting.get(source);
    if (queue) queue.push(begin);
    else this.#waiting.set(source, [begin]);
  }

  #handle(): void {
    const together: (() => void)[] = [];
    for (const [source, queue] of this.#waiting) {
      together.push(queue.shift() as () => void);
      this.#waiting.delete(source);
      // To the end, where this loop comes to it again.
      if (queue.length > 0) this.#waiting.set(source, queue);
      if (together.length === TOGETHER) break;
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#handle());
    for (const begin of together) begin();
  }
}
