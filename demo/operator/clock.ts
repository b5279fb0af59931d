/** The clock of made-up history, which is set from one moment to the next. */

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A clock that stands still until it is set; `at` in ms since the epoch. */
export class SetClock {
  #at: number;

  constructor(at: number) {
    this.#at = at;
  }

  readonly now = (): number => this.#at;

  /** Sets the clock forward. A moment in the past is ignored: in an audit trail, time never steps back. */
  set(at: number): void {
    this.#at = Math.max(this.#at, at);
  }
}
