/** The power fails in a life that follows a power cut: the same people and apps go on. Its long version is that of `power-cuts`. */
import { test } from 'node:test';
import { SEED } from '../instances/effort.ts';
import { assertNoFault, LOAD_MS, needsDisk, ROUNDS } from './extent.ts';
import { record, recordAfterCut } from './recording.ts';

for (let seed = SEED; seed < SEED + ROUNDS; seed += 1)
  test(`Promises 1 to 3: a power cut after a power cut costs no answer (seed ${seed})`, needsDisk, async (t) => {
    const first = await record(t, seed, LOAD_MS);
    await assertNoFault(t, await recordAfterCut(t, first, seed, LOAD_MS), seed);
  });
