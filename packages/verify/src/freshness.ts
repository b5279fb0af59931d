/** For how long what was heard from the authorization server stays true without another sign of it. */

/**
 * In ms. The server sends something every 250 ms at the latest. A tenth less than the second that is promised, since a
 * sign was under way before it arrived.
 */
export const FRESH_MS = 900;

/** A point in time on both clocks: the wall clock may be set back, the steady one stands still while a machine sleeps. */
export type Moment = { readonly steady: number; readonly wall: number };

/** Now. */
export function moment(): Moment {
  return { steady: performance.now(), wall: Date.now() };
}

/** Whether less than `FRESH_MS` have gone by, on either clock. */
export function isFresh({ steady, wall }: Moment): boolean {
  return performance.now() - steady < FRESH_MS && Date.now() - wall < FRESH_MS;
}
