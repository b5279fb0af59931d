/**
 * Slows down guessing (GCRA): each key has a time before which it is full again; a guess pushes it on. Counters are in
 * memory and bounded, so that nobody can make them grow without end, and no counter ever locks an owner out: it concerns
 * one source, or one account as tried from one source.
 */

/** So many guesses at once, then one more each `seconds / count`. */
export type Limit = { readonly count: number; readonly seconds: number };

/** Counters by key under one limit. Times in ms since the epoch. */
export class Throttle {
  readonly limit: Limit;
  readonly #most: number;
  /** The theoretical arrival times, least recently counted first. */
  readonly #arrivals = new Map<string, number>();

  constructor(limit: Limit, mostKeys = 100_000) {
    this.limit = limit;
    this.#most = mostKeys;
  }

  /** Seconds until none of the keys is over the limit, or 0. */
  wait(keys: readonly string[], now: number): number {
    const { count, seconds } = this.limit;
    const interval = (seconds * 1000) / count;
    const latest = Math.max(...keys.map((key) => this.#arrivals.get(key) ?? 0));
    // A clock that stepped back must not turn one burst into a long lock.
    const ahead = Math.min(latest - now, seconds * 1000);
    return Math.max(0, Math.ceil((ahead + interval - seconds * 1000) / 1000));
  }

  /** Counts one guess for each key. */
  count(keys: readonly string[], now: number): void {
    const interval = (this.limit.seconds * 1000) / this.limit.count;
    for (const key of keys) {
      const arrival = Math.min(Math.max(this.#arrivals.get(key) ?? 0, now), now + this.limit.seconds * 1000) + interval;
      this.#arrivals.delete(key);
      this.#arrivals.set(key, arrival);
    }
    this.#forget();
  }

  /** Takes one guess back, because it turned out to be none. */
  refund(key: string): void {
    const arrival = this.#arrivals.get(key);
    if (arrival !== undefined) this.#arrivals.set(key, arrival - (this.limit.seconds * 1000) / this.limit.count);
  }

  /** Forgets what was guessed for a key, as after a success. */
  reset(key: string): void {
    this.#arrivals.delete(key);
  }

  /** How many guesses are left for a key now, for the `RateLimit` header. */
  remaining(key: string, now: number): number {
    const { count, seconds } = this.limit;
    const ahead = Math.max(0, Math.min((this.#arrivals.get(key) ?? 0) - now, seconds * 1000));
    return Math.floor(count - (ahead * count) / (seconds * 1000));
  }

  #forget(): void {
    for (const key of this.#arrivals.keys()) {
      if (this.#arrivals.size <= this.#most) return;
      this.#arrivals.delete(key);
    }
  }
}
