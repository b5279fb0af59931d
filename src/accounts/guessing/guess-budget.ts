/**
 * Limits for password guesses: at one account from one source, and from one source at all accounts together. Each guess counts
 * for every network of the source, since one subscriber may have thousands of sources in one network.
 */
import { networksOf } from '../../oauth/guessing/networks.ts';
import type { Throttle, ThrottleKey } from './throttle.ts';

/** A counted guess: its account as typed (`emailKey`), and its source. */
export type Guess = { readonly account: string; readonly source: string };

/** The budgets of guesses. Times in ms since the epoch. */
export class GuessBudget {
  readonly #accountAndSource: Throttle;
  readonly #source: Throttle;

  constructor({ accountAndSource, source }: { readonly accountAndSource: Throttle; readonly source: Throttle }) {
    this.#accountAndSource = accountAndSource;
    this.#source = source;
  }

  /** Counts a guess and returns 0; or returns the seconds to wait, without counting. */
  count(guess: Guess, now: number): number {
    const pairs = pairsOf(guess);
    const networks = networksOf(guess.source);
    const wait = Math.max(this.#accountAndSource.wait(pairs, now), this.#source.wait(networks, now));
    if (wait > 0) return wait;
    this.#accountAndSource.count(pairs, now);
    this.#source.count(networks, now);
    return 0;
  }

  /** Counts a guess at no certain account for its source, and returns 0; or returns the seconds to wait, without counting. */
  countSource(source: string, now: number): number {
    const networks = networksOf(source);
    const wait = this.#source.wait(networks, now);
    if (wait === 0) this.#source.count(networks, now);
    return wait;
  }

  /** Refunds such a guess, which was right. */
  refundSource(source: string, now: number): void {
    this.#source.refund(networksOf(source), now);
  }

  /** Refunds a guess, which was right. */
  refund(guess: Guess, now: number): void {
    this.refundUndecided(guess, now);
    this.refundSource(guess.source, now);
  }

  /** Refunds an unchecked guess for the account. It stays counted for its source; otherwise a flood would have no cost. */
  refundUndecided(guess: Guess, now: number): void {
    this.#accountAndSource.refund(pairsOf(guess), now);
  }

  /** Clears only this source's guesses at the account, after a right one. */
  forget(guess: Guess, now: number): void {
    this.#accountAndSource.reset(pairsOf(guess)[0] as ThrottleKey, now);
  }
}

function pairsOf({ account, source }: Guess): ThrottleKey[] {
  return networksOf(source).map(({ key, weight }) => ({ key: `${account} ${key}`, weight }));
}
