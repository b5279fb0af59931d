/**
 * Slows down guessing (GCRA): each key has a time before which it is full again; a guess pushes it on. Counters are in
 * memory and bounded, so that nobody can make them grow without end, and no counter ever locks an owner out: it concerns
 * one source, or one account as tried from one source.
 */

/** So many guesses at once, then one more each `seconds / count`. */
export type Limit = { readonly count: number; readonly seconds: number };

/**
 * Counters that all instances share. A guess is counted here first and there behind it, and the answer says how all of
 * them stand: an instance lets through the guesses that are under way meanwhile, and who proves themselves waits for nobody.
 */
export type SharedCounters = {
  /**
   * Moves a counter on by so many ms (back, if negative), from `now` at the earliest and to `most` ms ahead at most, and
   * answers how it stands (ms since the epoch). Throws `StoreUnavailable`.
   */
  move(key: string, by: number, most: number, now: number): Promise<number>;
};

/** Counters by key under one limit. Times in ms since the epoch. */
export class Throttle {
  readonly limit: Limit;
  /** What one guess takes, and all at once; whole ms, so that sums are exact. */
  readonly #interval: number;
  readonly #window: number;
  readonly #most: number;
  /** The theoretical arrival times, least recently counted first. */
  readonly #arrivals = new Map<string, number>();

  readonly #name: string;
  readonly #shared: SharedCounters | null;

  /** `name` tells its counters from those of other limits where they are shared. */
  constructor(limit: Limit, name = '', shared: SharedCounters | null = null, mostKeys = 100_000) {
    this.limit = limit;
    this.#name = name;
    this.#shared = shared;
    this.#interval = Math.floor((limit.seconds * 1000) / limit.count);
    this.#window = this.#interval * limit.count;
    this.#most = mostKeys;
  }

  /** Seconds until none of the keys is over the limit, or 0. */
  wait(keys: readonly string[], now: number): number {
    const ahead = Math.max(...keys.map((key) => this.#ahead(key, now)));
    return Math.max(0, Math.ceil((ahead + this.#interval - this.#window) / 1000));
  }

  /** Counts one guess for each key. */
  count(keys: readonly string[], now: number): void {
    for (const key of keys) {
      const ahead = Math.min(this.#ahead(key, now) + this.#interval, this.#window);
      this.#arrivals.delete(key);
      this.#arrivals.set(key, now + ahead);
      this.#share(key, this.#interval, now);
    }
    this.#forget();
  }

  /** Takes one guess back, because it turned out to be none. */
  refund(key: string, now: number): void {
    const arrival = this.#arrivals.get(key);
    if (arrival !== undefined) this.#arrivals.set(key, arrival - this.#interval);
    this.#share(key, -this.#interval, now);
  }

  /** Forgets what was guessed for a key, as after a success. */
  reset(key: string, now: number): void {
    this.#arrivals.delete(key);
    this.#share(key, -this.#window, now);
  }

  /** Counts for all instances, and learns what they counted; while that cannot be, this one counts alone. */
  #share(key: string, by: number, now: number): void {
    this.#shared?.move(`${this.#name} ${key}`, by, this.#window, now).then(
      (arrival) => {
        if (arrival > (this.#arrivals.get(key) ?? now)) this.#arrivals.set(key, arrival);
      },
      () => {},
    );
  }

  /** How far the guesses for a key reach ahead of now; what is far beyond the window was left by a clock that stepped back. */
  #ahead(key: string, now: number): number {
    const ahead = (this.#arrivals.get(key) ?? now) - now;
    return ahead > 2 * this.#window ? 0 : Math.min(Math.max(0, ahead), this.#window);
  }

  #forget(): void {
    for (const key of this.#arrivals.keys()) {
      if (this.#arrivals.size <= this.#most) return;
      this.#arrivals.delete(key);
    }
  }
}
