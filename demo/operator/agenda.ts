/** The acts of a time, in their order. */
import type { SetClock } from './clock.ts';

type Act = { readonly at: number; readonly run: () => Promise<unknown> };

/** Acts that each happen at a moment. */
export class Agenda {
  readonly #clock: SetClock;
  /** The earliest first. */
  readonly #acts: Act[] = [];

  constructor(clock: SetClock) {
    this.#clock = clock;
  }

  /** Adds an act at a moment (ms since the epoch). */
  at(moment: number, run: () => Promise<unknown>): void {
    const at = Math.round(moment);
    this.#acts.splice(this.#acts.findLastIndex((act) => act.at <= at) + 1, 0, { at, run });
  }

  /** Runs all acts before a moment, one after the other; also those that they add. */
  async runUntil(end: number): Promise<void> {
    for (let next = this.#acts[0]; next && next.at < end; next = this.#acts[0]) {
      this.#acts.shift();
      this.#clock.set(next.at);
      await next.run();
    }
  }
}
