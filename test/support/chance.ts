/** Chance that is known to a test. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';

/** Has these bytes drawn, and these lots, until the test ends. */
export function drawInstead(
  t: TestContext,
  bytes: (count: number) => Buffer,
  lot: (lots: number) => number = () => 0,
): void {
  const { randomBytes, randomInt } = crypto;
  const set = (draws: Pick<typeof crypto, 'randomBytes' | 'randomInt'>) => {
    Object.assign(crypto, draws);
    syncBuiltinESMExports();
  };
  set({ randomBytes: bytes as typeof randomBytes, randomInt: lot as typeof randomInt });
  t.after(() => set({ randomBytes, randomInt }));
}
