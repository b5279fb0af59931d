/** Waiting for what a test waits for, without a time that is asserted. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

/** Asks again and again until the answer is yes, and returns the milliseconds that this took. Fails after `withinMs`. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<number> {
  const began = performance.now();
  for (; !(await holds()); await pause(5))
    if (performance.now() - began > withinMs) assert.fail(`not within ${withinMs} ms: ${holds}`);
  return performance.now() - began;
}
