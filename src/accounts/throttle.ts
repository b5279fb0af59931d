/**
 * Slows down guessing (GCRA): each key has a time before which it is full again; a guess pushes it on. Counters are in
 * memory and bounded, so that nobody can make them grow without end, and no counter ever locks an owner out: it concerns
 * one source, or one account as tried from one source.
 */

/** Maximum number of guesses at once; then one more each `seconds / count`. */
export type Limit = { readonly count: number; readonly seconds: number };

/** What guesses are counted under; a network has so many times the limit. A text alone has it once. */
export type ThrottleKey = string | { readonly key: string; readonly weight: number };

/** What one guess takes and all at once (whole ms, so that sums are exact). */
type Pace = { readonly interval: number; readonly window: number };

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
  readonly #paces = new Map<number, Pace>();
  readonly #most: number;
  /** The theoretical arrival times, least recently counted first. */
  readonly #arrivals = new Map<string, number>();

  /** The number of the last move of each key that is under way. */
  readonly #moves = new Map<string, number>();
  #lastMove = 0;

  readonly #name: string;
  readonly #shared: SharedCounters | null;

  /** `name` tells its counters from those of other limits where they are shared. */
  constructor(limit: Limit, name = '', shared: SharedCounters | null = null, mostKeys = 100_000) {
    this.limit = limit;
    this.#name = name;
    this.#shared = shared;
    this.#most = mostKeys;
  }

  /** Seconds until none of the keys is over the limit, or 0. */
  wait(keys: readonly ThrottleKey[], now: number): number {
    return Math.ceil(Math.max(0, ...keys.map((key) => this.waitMs(key, now))) / 1000);
  }

  /** Milliseconds until a key is not over the limit, or 0. */
  waitMs(key: ThrottleKey, now: number): number {
    const { interval, window } = this.#paceOf(key);
    return Math.max(0, this.#ahead(key, now) + interval - window);
  }

  /** How many guesses may be counted right now until a key is over the limit. */
  left(key: ThrottleKey, now: number): number {
    const { interval, window } = this.#paceOf(key);
    return Math.floor((window - this.#ahead(key, now)) / interval);
  }

  /** Counts one guess for each key. */
  count(keys: readonly ThrottleKey[], now: number): void {
    for (const counted of keys) {
      const { interval, window } = this.#paceOf(counted);
      const key = textOf(counted);
      const ahead = Math.min(this.#ahead(counted, now) + interval, window);
      this.#arrivals.delete(key);
      this.#arrivals.set(key, now + ahead);
      this.#share(counted, interval, now);
    }
    this.#forget();
  }

  /** Takes one guess back for each key, because it turned out to be none. */
  refund(keys: readonly ThrottleKey[], now: number): void {
    for (const counted of keys) {
      const { interval } = this.#paceOf(counted);
      const arrival = this.#arrivals.get(textOf(counted));
      if (arrival !== undefined) this.#arrivals.set(textOf(counted), arrival - interval);
      this.#share(counted, -interval, now);
    }
  }

  /** Forgets what was guessed for a key, as after a success. */
  reset(counted: ThrottleKey, now: number): void {
    this.#arrivals.delete(textOf(counted));
    this.#share(counted, -this.#paceOf(counted).window, now);
  }

  /** Counts for all instances, and learns what they counted; while that cannot be, this one counts alone. */
  #share(counted: ThrottleKey, by: number, now: number): void {
    if (!this.#shared) return;
    const key = textOf(counted);
    this.#lastMove += 1;
    const move = this.#lastMove;
    this.#moves.set(key, move);
    // An answer before the last one lacks what was counted or taken back here since.
    const isLast = () => this.#moves.get(key) === move && this.#moves.delete(key);
    this.#shared.move(`${this.#name} ${key}`, by, this.#paceOf(counted).window, now).then(
      (arrival) => {
        if (!isLast()) return;
        if (arrival > now) this.#arrivals.set(key, arrival);
        else this.#arrivals.delete(key);
      },
      () => void isLast(),
    );
  }

  /** How far the guesses for a key reach ahead of now; what is far beyond the window was left by a clock that stepped back. */
  #ahead(counted: ThrottleKey, now: number): number {
    const { window } = this.#paceOf(counted);
    const ahead = (this.#arrivals.get(textOf(counted)) ?? now) - now;
    return ahead > 2 * window ? 0 : Math.min(Math.max(0, ahead), window);
  }

  #paceOf(counted: ThrottleKey): Pace {
    const weight = typeof counted === 'string' ? 1 : counted.weight;
    const known = this.#paces.get(weight);
    if (known) return known;
    const count = this.limit.count * weight;
    const interval = Math.floor((this.limit.seconds * 1000) / count);
    const pace = { interval, window: interval * count };
    this.#paces.set(weight, pace);
    return pace;
  }

  #forget(): void {
    for (const key of this.#arrivals.keys()) {
      if (this.#arrivals.size <= this.#most) return;
      this.#arrivals.delete(key);
    }
  }
}

function textOf(counted: ThrottleKey): string {
  return typeof counted === 'string' ? counted : counted.key;
}
