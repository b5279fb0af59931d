/** Freshness of news from the authorization server. */

/**
 * Maximum age of fresh news (ms). The server sends something at least every 250 ms. A tenth less than the promised
 * second, since the news was on its way before it arrived.
 */
export const FRESH_MS = 900;

/** A time on both clocks: the wall clock may be set back, and the steady clock stops while a machine sleeps. */
export type Moment = { readonly steady: number; readonly wall: number };

/** Returns the present time on both clocks. */
export function moment(): Moment {
  return { steady: performance.now(), wall: Date.now() };
}

/** True if less than `FRESH_MS` have passed, on both clocks. */
export function isFresh({ steady, wall }: Moment): boolean {
  return performance.now() - steady < FRESH_MS && Date.now() - wall < FRESH_MS;
}
