/** Handles the requests that were read in one turn of the event loop together, 32 at a time; their sources take turns. */

/** Maximum size of a batch. Between batches, the event loop reads input and begins the work that this one waits for. */
const MAX_BATCH_SIZE = 32;

/**
 * Handles requests after all input of a turn is read. The same code then runs many times in a row, which is faster,
 * and the store asks the database only once whether another process has written. A single request waits one more
 * turn, about 3 µs. Sources take turns, so that a source with many requests delays only its own.
 */
export class RequestBatch {
  readonly #isHeld: () => boolean;
  /** By source, the next one first. */
  readonly #waiting = new Map<unknown, (() => void)[]>();

  /** While `isHeld` returns true, requests are only added. */
  constructor(isHeld: () => boolean) {
    this.#isHeld = isHeld;
  }

  /** Adds a request; `begin` begins to handle it. `source` is only compared. */
  add(source: unknown, begin: () => void): void {
    if (this.#waiting.size === 0) setImmediate(() => this.#handle());
    const queue = this.#waiting.get(source);
    if (queue) queue.push(begin);
    else this.#waiting.set(source, [begin]);
  }

  #handle(): void {
    if (this.#isHeld()) return void setImmediate(() => this.#handle());
    const batch: (() => void)[] = [];
    for (const [source, queue] of this.#waiting) {
      batch.push(queue.shift() as () => void);
      this.#waiting.delete(source);
      // Move the source to the end of the map, where this loop reaches it again.
      if (queue.length > 0) this.#waiting.set(source, queue);
      if (batch.length === MAX_BATCH_SIZE) break;
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#handle());
    for (const begin of batch) begin();
  }
}
