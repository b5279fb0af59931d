/**
 * The power fails at any moment of a life under load: what the disk may hold then is rebuilt from a recording, opened by
 * the program, and every answer that somebody had by then must be true. The long version is
 * `VALETKEY_ROUNDS=40 node --test test/power/power-cuts.test.ts test/power/second-life.test.ts`: 80 lives and 12,000 cuts; `VALETKEY_SEED` draws other lots.
 */
import { test } from 'node:test';
import { SEED } from '../instances/effort.ts';
import { assertNoFault, LOAD_MS, needsDisk, ROUNDS } from './extent.ts';
import { record } from './recording.ts';

for (let seed = SEED; seed < SEED + ROUNDS; seed += 1)
  test(`Promises 1 to 3: a power cut at any moment costs no answer (seed ${seed})`, needsDisk, async (t) => {
    await assertNoFault(t, await record(t, seed, LOAD_MS), seed);
  });
