/**
 * Slows down guessing at secrets (RFC 6749 §2.3.1, RFC 7662 §4): after too many wrong guesses at one key, no more of them
 * are checked for a while.
 */
import { Refusal } from '../error.ts';

/** Counts wrong guesses by key. `now` in ms. */
export type GuessThrottle = {
  readonly limit: { readonly count: number };
  /** Seconds until the next allowed try for these keys, or 0. */
  wait(keys: readonly string[], now: number): number;
  /** The number of wrong guesses that a key may still make now. */
  left(key: string, now: number): number;
  /** Counts a wrong guess. */
  count(keys: readonly string[], now: number): void;
};

/**
 * The key of all unknown ids. They share one counter: with one counter each, an attacker who makes up ids could guess without
 * limit.
 */
export const NOBODY = '';

/**
 * Maximum number of waiting checks of a key, once one check of the key has failed. Before that, only the number of connections
 * limits them.
 */
const MAX_WAITING = 1000;
/** Timeout of a check that waits (ms), once one of its key has failed. */
const WAITING_TIMEOUT_MS = 5000;

/** The asynchronous checks of one key: the number of running ones, and the waiting ones in order of arrival. */
type Line = { underWay: number; readonly waiting: Set<(refusal: Refusal | null) => void> };

/**
 * Checks credentials. Of simultaneous guesses at one key, no more are checked than may be wrong. A synchronous check is
 * counted at once. Of asynchronous checks, only as many run as may all be wrong; the next one waits until one of them has
 * ended.
 */
export class GuardedChecks {
  readonly #throttle: GuessThrottle;
  readonly #now: () => number;
  readonly #timeout: number;
  readonly #lines = new Map<string, Line>();

  /** `now` returns ms since the epoch; `timeout` is for a check that waits for others (ms). */
  constructor(throttle: GuessThrottle, now: () => number, timeout = WAITING_TIMEOUT_MS) {
    this.#throttle = throttle;
    this.#now = now;
    this.#timeout = timeout;
  }

  /** The refusal of any check with this key, because too many guesses failed before; or null. */
  refusal(key: string): Refusal | null {
    const at = this.#now();
    return this.#throttle.left(key, at) > 0 ? null : tooManyGuesses(this.#throttle.wait([key], at));
  }

  /**
   * Returns the result of `check`, or a refusal without a check if too many guesses failed. `invalid_client` counts as a
   * guess. The result is no promise if `check` returns none and no other check of the key runs.
   */
  run<T>(key: string, check: () => T | Refusal | Promise<T | Refusal>): T | Refusal | Promise<T | Refusal> {
    const refusal = this.refusal(key);
    if (refusal) return refusal;
    if (this.#lines.has(key)) return this.#inLine(key, check);
    const outcome = check();
    // Nothing else has happened meanwhile.
    return outcome instanceof Promise ? this.#inLine(key, () => outcome) : this.#decided(key, outcome);
  }

  async #inLine<T>(key: string, check: () => T | Refusal | Promise<T | Refusal>): Promise<T | Refusal> {
    const line = this.#lineOf(key);
    if (line.waiting.size === 0 && line.underWay < this.#throttle.left(key, this.#now())) line.underWay += 1;
    else {
      const refusal = await this.#turn(key, line);
      if (refusal) return refusal;
    }
    try {
      return this.#decided(key, await check());
    } finally {
      line.underWay -= 1;
      this.#moveOn(key, line);
    }
  }

  /**
   * Waits until the check may run. Null means that it may run; it already counts as running, so that no other check comes in
   * between. Waiting is refused only after failed guesses: without them, a check waits for all checks before it.
   */
  #turn(key: string, { waiting }: Line): Promise<Refusal | null> {
    if (waiting.size >= MAX_WAITING && this.#hasFailed(key)) return Promise.resolve(tooManyUnderWay());
    return new Promise((resolve) => {
      const end = (refusal: Refusal | null) => {
        clearInterval(timer);
        waiting.delete(end);
        resolve(refusal);
      };
      const timer = setInterval(() => {
        if (this.#hasFailed(key)) end(tooManyUnderWay());
      }, this.#timeout);
      waiting.add(end);
    });
  }

  #hasFailed(key: string): boolean {
    return this.#throttle.left(key, this.#now()) < this.#throttle.limit.count;
  }

  /** After a check has ended: lets the next ones go on, or refuses all that wait when too many failed. */
  #moveOn(key: string, line: Line): void {
    const refusal = this.refusal(key);
    const left = this.#throttle.left(key, this.#now());
    for (const end of line.waiting) {
      if (!refusal && line.underWay >= left) return;
      if (!refusal) line.underWay += 1;
      end(refusal);
    }
    if (line.underWay === 0) this.#lines.delete(key);
  }

  #decided<T>(key: string, outcome: T | Refusal): T | Refusal {
    if (outcome instanceof Refusal && outcome.code === 'invalid_client') this.#throttle.count([key], this.#now());
    return outcome;
  }

  #lineOf(key: string): Line {
    const line = this.#lines.get(key) ?? { underWay: 0, waiting: new Set() };
    this.#lines.set(key, line);
    return line;
  }
}

/** `retryAfter` in seconds. */
function tooManyGuesses(retryAfter: number): Refusal {
  return new Refusal(
    'temporarily_unavailable',
    'too many failed attempts to authenticate this client: try again later',
    'throttled',
    retryAfter,
  );
}

function tooManyUnderWay(): Refusal {
  return new Refusal(
    'temporarily_unavailable',
    'too many requests of this client are under way: try again later',
    'too many checks of this client are under way from this source, after failed ones',
    1,
  );
}
