/**
 * The time that every check of a password takes at least while there are hashes of other programs: these take longer or
 * shorter than our own, and without it the time would tell which kind an account has, and so that there is one (ASVS 6.3.8).
 */

import type { PasswordHasher } from '../passwords/password-hash.ts';
import { type ForeignFunction, functionRank } from '../people/foreign-function.ts';
import type { AccountStore } from '../people/store.ts';

/**
 * The parts of a floor. `stopwatch` returns ms from any origin; `later` acts after a number of ms, and returns a
 * function that cancels it.
 */
export type SignInFloorParts = {
  readonly store: Pick<AccountStore, 'listSlowestForeign'>;
  readonly hasher: Pick<PasswordHasher, 'rehearse'>;
  readonly stopwatch: () => number;
  readonly later: (act: () => void, ms: number) => () => void;
};

/** Factor on the time that the slowest function took alone: while others sign in, it takes longer. */
const MARGIN = 2;

/** The floor under the sign-ins of an installation. */
export class SignInFloor {
  readonly #parts: SignInFloorParts;
  /** By the rank of the function; each is measured once. */
  readonly #measured = new Map<number, Promise<number>>();

  constructor(parts: SignInFloorParts) {
    this.#parts = parts;
  }

  /**
   * Begins a floor, and returns how to wait for its end; a timer ends it, whatever else there is to do. Where all hashes are our
   * own the end is now.
   */
  async begin(): Promise<() => Promise<void>> {
    const slowest = await this.#parts.store.listSlowestForeign();
    if (slowest.length === 0) return async () => {};
    const ms = Math.max(...(await this.#timesOf(slowest)));
    const end = new Promise<void>((resolve) => this.#parts.later(resolve, ms));
    return () => end;
  }

  /** One after the other, so that none waits for another. */
  async #timesOf(slowest: readonly ForeignFunction[]): Promise<number[]> {
    const times: number[] = [];
    for (const each of slowest) times.push(await this.#timeOf(each));
    return times;
  }

  #timeOf(slowest: ForeignFunction): Promise<number> {
    const rank = functionRank(slowest);
    const known = this.#measured.get(rank);
    if (known) return known;
    const measured = this.#measure(slowest);
    this.#measured.set(rank, measured);
    measured.catch(() => this.#measured.delete(rank));
    return measured;
  }

  async #measure(slowest: ForeignFunction): Promise<number> {
    const { hasher, stopwatch } = this.#parts;
    const begun = stopwatch();
    await hasher.rehearse(slowest);
    return MARGIN * (stopwatch() - begun);
  }
}
