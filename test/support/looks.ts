/** Time as a busy machine gives it. */

/**
 * Counts looks of 250 ms in place of the clock, from when it is made until it is disposed of: what makes a busy machine's service
 * late makes a look of the same process as late.
 */
export class Looks {
  count = 0;
  readonly #timer = setInterval(() => {
    this.count += 1;
  }, 250);

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
