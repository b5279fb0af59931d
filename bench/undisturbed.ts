/**
 * Measuring again what others disturbed. On a shared machine the host now and then gives its processors to somebody else, for
 * seconds or minutes: what was measured meanwhile tells of them. A virtual machine can see it (`steal`, proc_stat(5)).
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** What became of it: how many measurements were made again, and how many were kept though they were disturbed. */
export type Disturbance = { readonly again: number; readonly kept: number };

/** More than this share of all cores' time, and somebody disturbed: a quiet machine loses a third of it. */
export const MAX_STOLEN = 0.005;
/** Others are not done at once. */
const PAUSE_MS = 2000;
/** What proc_stat(5) counts in, on every architecture of Node.js. */
const TICKS_A_SECOND = 100;

/** Of the patience that is left, so much is for one thing: what comes later shall have some as well. */
const SHARE = 0.1;

/** Measures each thing until nobody disturbed it, or its share of the patience is used up. */
export class Undisturbed {
  readonly #stolen: () => number;
  readonly #pauseMs: number;
  #patienceMs: number;
  #again = 0;
  #kept = 0;

  /** `patience` is how many seconds may be spent on measuring again, a tenth of the rest on each thing; `stolen` answers what was taken since the start, in ms. */
  constructor(patience: number, stolen: () => number = stolenMs, pauseMs: number = PAUSE_MS) {
    this.#patienceMs = patience * 1000;
    this.#stolen = stolen;
    this.#pauseMs = pauseMs;
  }

  get disturbance(): Disturbance {
    return { again: this.#again, kept: this.#kept };
  }

  /** Answers what `run` does, which is told whether it is run again. Throws what it throws. */
  async measure<T>(run: (isAgain: boolean) => Promise<T>): Promise<T> {
    let shareMs = this.#patienceMs * SHARE;
    for (let isAgain = false; ; isAgain = true) {
      const begin = performance.now();
      const before = this.#stolen();
      const outcome = await run(isAgain);
      const took = performance.now() - begin;
      if (this.#stolen() - before <= took * cpus().length * MAX_STOLEN) return outcome;
      if (shareMs < took + this.#pauseMs) {
        this.#kept += 1;
        return outcome;
      }
      this.#again += 1;
      shareMs -= took + this.#pauseMs;
      this.#patienceMs -= took + this.#pauseMs;
      await sleep(this.#pauseMs);
    }
  }
}

/** Zero where nobody says. */
function stolenMs(): number {
  try {
    const [, , , , , , , , ticks] = readFileSync('/proc/stat', 'utf8').split(/\s+/, 9);
    return (Number(ticks) / TICKS_A_SECOND) * 1000;
  } catch {
    return 0;
  }
}
