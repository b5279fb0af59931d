/**
 * Slows down guessing (GCRA): each key has a time at which its whole budget is available again, and a guess moves that time
 * forward. Counters are in memory, and their number is bounded. No counter locks an owner out: each is for one source, or for
 * one account from one source.
 */

/** Maximum number of guesses at once; then one more each `seconds / count`. */
export type Limit = { readonly count: number; readonly seconds: number };

/** The key of a counter of guesses. A network has `weight` times the limit, a plain text has the limit once. */
export type ThrottleKey = string | { readonly key: string; readonly weight: number };

/** The time that one guess takes of the budget, and the whole budget (whole ms, so that sums are exact). */
type Pace = { readonly interval: number; readonly window: number };

/**
 * Counters that all instances share. A guess is counted first in this instance, then in the shared counter, without waiting: a
 * request with the right secret never waits for another machine. Until the shared count arrives, an instance applies its own
 * count.
 */
export type SharedCounters = {
  /**
   * Moves a counter forward by `by` ms (back, if negative), from `now` at the earliest and to `most` ms ahead at most. Returns
   * its value (ms since the epoch). Throws `StoreUnavailable`.
   */
  move(key: string, by: number, most: number, now: number): Promise<number>;
};

/** A change of a counter (ms) at a time; a reset ends whatever was counted before. */
type Move = { by: number; now: number; readonly isReset: boolean };

/** Counters by key under one limit. Times in ms since the epoch. */
export class Throttle {
  readonly limit: Limit;
  readonly #paces = new Map<number, Pace>();
  readonly #most: number;
  /** The theoretical arrival times, least recently counted first. */
  readonly #arrivals = new Map<string, number>();

  /** The moves of each key that wait until the shared counter has answered the one under way: two at most. */
  readonly #waiting = new Map<string, Move[]>();

  readonly #name: string;
  readonly #shared: SharedCounters | null;

  /** `name` distinguishes this limit's counters from those of others if they are shared. */
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

  /** Refunds one guess for each key, because it was not a wrong one. */
  refund(keys: readonly ThrottleKey[], now: number): void {
    for (const counted of keys) {
      const { interval } = this.#paceOf(counted);
      const arrival = this.#arrivals.get(textOf(counted));
      if (arrival !== undefined) this.#arrivals.set(textOf(counted), arrival - interval);
      this.#share(counted, -interval, now);
    }
  }

  /** Clears a key's counter, as after a success. */
  reset(counted: ThrottleKey, now: number): void {
    this.#arrivals.delete(textOf(counted));
    this.#share(counted, -this.#paceOf(counted).window, now, true);
  }

  /**
   * Adds to the shared counter, and reads its value. Only one move of a key is under way: what is counted meanwhile goes
   * with the next one, so that a busy key learns of other instances as soon as an idle one does.
   */
  #share(counted: ThrottleKey, by: number, now: number, isReset = false): void {
    if (!this.#shared) return;
    const waiting = this.#waiting.get(textOf(counted));
    if (!waiting) return void this.#send(this.#shared, counted, { by, now, isReset });
    if (isReset) waiting.length = 0;
    const last = waiting.at(-1);
    // Merged with a reset, a later guess would be lost: no counter falls below its time.
    if (!last || last.isReset) waiting.push({ by, now, isReset });
    else Object.assign(last, { by: last.by + by, now });
  }

  /** Sends a move, and then what waits. While that fails, this instance counts alone. */
  async #send(shared: SharedCounters, counted: ThrottleKey, first: Move): Promise<void> {
    const key = textOf(counted);
    const { window } = this.#paceOf(counted);
    const waiting: Move[] = [];
    this.#waiting.set(key, waiting);
    for (let move: Move | undefined = first; move !== undefined; move = waiting.shift()) {
      const { by, now } = move;
      const arrival = await shared.move(`${this.#name} ${key}`, by, window, now).catch(() => null);
      if (arrival !== null) this.#learn(key, window, { arrival, now }, waiting);
    }
    this.#waiting.delete(key);
  }

  /** Takes over the shared counter's answer, which lacks the moves that this instance made since. */
  #learn(key: string, window: number, answer: { arrival: number; now: number }, since: readonly Move[]): void {
    let { arrival: own, now: at } = answer;
    for (const { by, now } of since) [own, at] = [Math.min(Math.max(own, now) + by, now + window), now];
    if (own > at) this.#arrivals.set(key, own);
    else this.#arrivals.delete(key);
  }

  /** How far a key's time is ahead of now (ms). If it is far beyond the window, the clock stepped back since: then 0. */
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
