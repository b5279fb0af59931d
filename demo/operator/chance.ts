/** Numbers that look random, and are the same in each run. */

/** A sequence of numbers from a seed (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A number from 0 to 1, without 1. */
  number(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A number between two. */
  between(low: number, high: number): number {
    return low + (high - low) * this.number();
  }

  /** A whole number around an expected value, which may have a fraction. */
  around(expected: number): number {
    return Math.floor(expected * this.between(0.8, 1.2) + this.number());
  }

  /** True with a probability. */
  happens(probability: number): boolean {
    return this.number() < probability;
  }

  /** One of some things. */
  pick<Thing>(things: readonly Thing[]): Thing {
    return things[Math.floor(this.number() * things.length)] as Thing;
  }

  /** One of some things, the likelier the more it weighs; undefined without things. */
  weighted<Thing>(things: readonly Thing[], weigh: (thing: Thing) => number): Thing | undefined {
    let left = this.number() * things.reduce((sum, thing) => sum + weigh(thing), 0);
    return things.find((thing) => {
      left -= weigh(thing);
      return left < 0;
    });
  }
}
