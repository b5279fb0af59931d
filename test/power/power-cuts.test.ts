/**
 * The power fails at any moment of a life under load: what the disk may hold then is rebuilt from a recording, opened by
 * the program, and every answer that somebody had by then must be true. The long version is
 * `VALETKEY_ROUNDS=40 node --test test/power/power-cuts.test.ts test/power/second-life.test.ts`: 80 lives and 12,000 cuts; `VALETKEY_SEED` draws other lots.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SEED } from '../instances/effort.ts';
import { assertNoFault, CUTS, LOAD_MS, needsDisk, ROUNDS } from './extent.ts';
import { type Recording, record } from './recording.ts';
import { cutPower } from './trial.ts';

const CUTS_OF_A_LIAR = 100;

/** The first life serves two tests. */
let recorded: Promise<Recording> | undefined;
const firstLife = () => (recorded ??= record({ after }, SEED, LOAD_MS));

for (let seed = SEED; seed < SEED + ROUNDS; seed += 1)
  test(`Promises 1 to 3: a power cut at any moment costs no answer (seed ${seed})`, needsDisk, async (t) => {
    await assertNoFault(t, seed === SEED ? await firstLife() : await record(t, seed, LOAD_MS), seed);
  });

test('Promises 1 to 3: a disk that lies about syncs is found out', needsDisk, async (t) => {
  const life = await firstLife();
  const lie = { ...CUTS, cuts: CUTS_OF_A_LIAR, onTheWire: 0, honestUntil: life.furnished };
  const { faults } = await cutPower(t, life, lie);
  const lost = faults.filter((fault) => /an Allow that was answered|stays exchanged|is final/.test(fault));
  assert.ok(lost.length > 0, `no answer was lost, with ${faults.length} faults`);
});
