/**
 * How much the tests of this folder try. They are short as they are; `VALETKEY_ROUNDS=200 node --test test/instances/*.test.ts` is
 * the long version, and `VALETKEY_SEED` draws other lots. A round is one race, one cut line, a tenth of a kill, or 0.3 s
 * of load under faults.
 */

const ROUNDS = Number(process.env['VALETKEY_ROUNDS'] ?? 0);

/** What the lots of a run begin with. */
export const SEED = Number(process.env['VALETKEY_SEED'] ?? 20_261_121);

/** How often something is tried: so often in the short version, and `share` of the rounds in the long one. */
export function rounds(short: number, share = 1): number {
  return Math.max(short, Math.ceil(ROUNDS * share));
}

/** A round of load is so long, ms. */
export const ROUND_MS = 300;

/** How long a test may take, ms. */
export const TIMEOUT = 300_000 + ROUNDS * 5000;

/** Lots: numbers below a bound, the same for the same seed. */
export type Lots = (bound: number) => number;

/** Makes lots of a seed. */
export function lots(seed: number): Lots {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** One of several things, by lot. */
export function pick<T>(draw: Lots, things: readonly [T, ...T[]] | readonly T[]): T {
  return things[draw(things.length)] as T;
}
