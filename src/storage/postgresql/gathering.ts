/** How long requests of one kind wait for others, so that many share a statement. */

/** So many share a statement at most. */
export const MOST_PER_STATEMENT = 256;
/** So many do not wait for more. */
const ENOUGH = 32;
/** As long as more come in each turn of the event loop, the first waits so long at most (ms), */
const PATIENCE_MS = 3;
/** and so long for as many as went together lately, if those were many. */
const PATIENCE_FOR_USUAL_MS = 1;
const MANY = ENOUGH / 2;
/**
 * Every so manieth time those who may wait for as many as went in the last two statements: groups that fell apart find
 * together again, which they would not by themselves, as each request comes back when it was answered. In vain, where
 * there was one group all the time, it is tried half as often.
 */
const REUNITE_EVERY = 8;
const REUNITE_SELDOM = 1024;

/** Learns how many come together, and says when they have waited enough. */
export class Gathering {
  readonly #mayReunite: boolean;
  /** How many went together lately, in the last statement and in the one before it. */
  #usual = 0;
  #last = 0;
  #lastButOne = 0;
  /** How often groups are reunited; after how many more statements; and how many are waited for when it is now. */
  #every = REUNITE_EVERY;
  #next = REUNITE_EVERY;
  #reunited = 0;

  /** `mayReunite`: whether these are the requests with which others begin. */
  constructor(mayReunite: boolean) {
    this.#mayReunite = mayReunite;
  }

  /** How many of those who wait now need not wait for more. */
  get enough(): number {
    return Math.max(ENOUGH, this.#reunited);
  }

  /** The first of some begins to wait. */
  begin(): void {
    this.#next -= 1;
    const both = Math.min(this.#last + this.#lastButOne, MOST_PER_STATEMENT);
    if (this.#mayReunite && this.#next <= 0 && both > ENOUGH) this.#reunited = both;
  }

  /** Whether `queued` have waited enough; `waited` is for how long (ms), `isQuiet` that none came since the last look. */
  isOver(queued: number, waited: number, isQuiet: boolean): boolean {
    if (waited >= PATIENCE_MS) return true;
    if (this.#reunited > 0 || !isQuiet) return false;
    return this.#usual < MANY || queued >= Math.min(ENOUGH, this.#usual) || waited >= PATIENCE_FOR_USUAL_MS;
  }

  /** So many went together. */
  went(together: number): void {
    if (this.#reunited > 0) {
      this.#every = together >= this.#reunited ? REUNITE_EVERY : Math.min(this.#every * 2, REUNITE_SELDOM);
      this.#next = this.#every;
      this.#reunited = 0;
    }
    [this.#lastButOne, this.#last] = [this.#last, together];
    this.#usual = Math.max(together, this.#usual * 0.9);
  }
}
