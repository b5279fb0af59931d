/** Slows down guessing at secrets, without ever asking who owns what is guessed at (RFC 6749 §2.3.1, RFC 7662 §4). */
import { Refusal } from './error.ts';

/** Counts wrong guesses by key; seconds and ms. */
export type GuessThrottle = {
  readonly limit: { readonly count: number };
  /** Seconds to wait before another try for these keys, or 0. */
  wait(keys: readonly string[], now: number): number;
  /** How many wrong guesses a key may make right now. */
  left(key: string, now: number): number;
  /** Counts a wrong guess. */
  count(keys: readonly string[], now: number): void;
};

/** The name under which guesses are counted for a source whose id nobody has: else each id that is made up would have its own. */
export const NOBODY = '';

/** Maximum number of checks that wait for others of a key for which some failed. Otherwise only connections bound them. */
const MAX_WAITING = 1000;
/** Timeout of a check that waits for others of a key for which some failed (ms). */
const WAITING_TIMEOUT_MS = 5000;

/** The checks of one key that take time: how many are under way, and who waits for one of them, first come first. */
type Line = { underWay: number; readonly waiting: Set<(refusal: Refusal | null) => void> };

/**
 * Checks credentials so that, of all guesses at one key that arrive together, no more are checked than may be wrong. A
 * check that is decided at once is counted before anything else happens; of those that take time only as many are under
 * way as could all be wrong, and the next one waits until one of them is decided.
 */
export class GuardedChecks {
  readonly #throttle: GuessThrottle;
  readonly #now: () => number;
  readonly #timeout: number;
  readonly #lines = new Map<string, Line>();

  /** `now` answers ms since the epoch; `timeout` is how long a check waits for others at most (ms). */
  constructor(throttle: GuessThrottle, now: () => number, timeout = WAITING_TIMEOUT_MS) {
    this.#throttle = throttle;
    this.#now = now;
    this.#timeout = timeout;
  }

  /** Why nobody may try to prove who they are with this key, as too many guesses failed before; or null. */
  refusal(key: string): Refusal | null {
    const at = this.#now();
    return this.#throttle.left(key, at) > 0 ? null : tooManyGuesses(this.#throttle.wait([key], at));
  }

  /**
   * What `check` answers, which is not called when too many guesses failed; `invalid_client` counts as a guess. It answers
   * at once, without a promise, where `check` does and nobody's check is under way.
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
   * Waits for a place, which is taken with the answer null, so that nobody slips in between. Being under way alone refuses
   * nobody: where nothing failed, a check waits for as long as those before it take.
   */
  #turn(key: string, { waiting }: Line): Promise<Refusal | null> {
    if (waiting.size >= MAX_WAITING && this.#hasFailed(key)) return Promise.resolve(tooManyUnderWay());
    return new Promise((resolve) => {
      const answer = (refusal: Refusal | null) => {
        clearInterval(timer);
        waiting.delete(answer);
        resolve(refusal);
      };
      const timer = setInterval(() => {
        if (this.#hasFailed(key)) answer(tooManyUnderWay());
      }, this.#timeout);
      waiting.add(answer);
    });
  }

  #hasFailed(key: string): boolean {
    return this.#throttle.left(key, this.#now()) < this.#throttle.limit.count;
  }

  /** Those who may go on after one was decided go on, and all are refused as soon as too many failed. */
  #moveOn(key: string, line: Line): void {
    const refusal = this.refusal(key);
    const left = this.#throttle.left(key, this.#now());
    for (const answer of line.waiting) {
      if (!refusal && line.underWay >= left) return;
      if (!refusal) line.underWay += 1;
      answer(refusal);
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
