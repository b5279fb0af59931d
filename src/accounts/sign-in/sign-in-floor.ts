/**
 * The minimum duration of every password check while there are imported hashes. These take longer or shorter than our own:
 * without a minimum, the duration would reveal the kind of an account's hash, and so that the account exists (ASVS 6.3.8).
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

/** Factor on the slowest function's time on an idle process: concurrent sign-ins make it slower. */
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
   * Starts the minimum duration, and returns a function that waits for its end. A timer ends it, however busy the process is.
   * If all hashes are our own, it ends at once.
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
