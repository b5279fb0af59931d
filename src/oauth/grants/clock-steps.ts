/**
 * Rules for times in the future: the clock stepped back, or another instance's clock is ahead. No credential may live
 * longer because of it, and no grant is revoked because of it.
 */
import type { Grant } from './grant.ts';

/** Maximum difference between the clocks of two instances (ms): a rotation this far in the future is new. */
const CLOCK_DIFFERENCE_MS = 2000;
/** An expiry that is further in the future than its lifetime and this time (ms) was written before the clock stepped back. */
const CLOCK_STEP_MS = 60_000;

/**
 * The age of the current generation (ms), or null if it begins in the future: then the clock stepped back since, and the age
 * is unknown. `now` in ms.
 */
export function ageOfGeneration({ rotatedAt }: Grant, now: number): number | null {
  const age = now - rotatedAt;
  return age < -CLOCK_DIFFERENCE_MS ? null : Math.max(0, age);
}

/** True if an expiry (ms) is further in the future than a lifetime (ms) allows: the clock stepped back. `now` in ms. */
export function isAheadOfClock(expiresAt: number, lifetime: number, now: number): boolean {
  return now < expiresAt - lifetime - CLOCK_STEP_MS;
}
