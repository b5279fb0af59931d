/** How long requests of one kind wait for others, so that many share a statement. */

/** So many do not wait for more. */
const ENOUGH = 32;
/** As long as more come in each turn of the event loop, the first waits so long at most (ms), */
const PATIENCE_MS = 3;
/** and so long for as many as went together lately, if those were many. */
const PATIENCE_FOR_USUAL_MS = 1;
const MANY = ENOUGH / 2;
/**
 * Every so manieth time those who may wait for as many as went in the last two statements: groups that fell apart find
 * together again, which they would not by themselves, as each comes back when it was answered.
 */
const REUNITE_EVERY = 8;

/** One look at those who wait. `waited` is how long the first has (ms), `isQuiet` that nobody came since the look before. */
export type Look = { readonly queued: number; readonly waited: number; readonly isQuiet: boolean };

/** Learns how many come together, and says when they have waited enough. */
export class Gathering {
  readonly #mayReunite: boolean;
  #usual = 0;
  #last = 0;
  #lastButOne = 0;
  #begun = 0;
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
    this.#begun += 1;
    const both = this.#last + this.#lastButOne;
    this.#reunited = this.#mayReunite && this.#begun % REUNITE_EVERY === 0 && both > ENOUGH ? both : 0;
  }

  /** Whether those who wait have waited enough. */
  isOver({ queued, waited, isQuiet }: Look): boolean {
    if (waited >= PATIENCE_MS) return true;
    if (this.#reunited > 0 || !isQuiet) return false;
    return this.#usual < MANY || queued >= Math.min(ENOUGH, this.#usual) || waited >= PATIENCE_FOR_USUAL_MS;
  }

  /** So many went together. */
  went(together: number): void {
    [this.#lastButOne, this.#last] = [this.#last, together];
    this.#usual = Math.max(together, this.#usual * 0.9);
  }
}
