/**
 * The power fails at any moment of a life under load: what the disk may hold then is rebuilt from a recording, opened by
 * the program, and every answer that somebody had by then must be true. The long version is
 * `VALETKEY_ROUNDS=40 node --test test/power/power-cuts.test.ts`: 80 lives and 12,000 cuts; `VALETKEY_SEED` draws other lots.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { whyNoDisk } from '../../bench/disk/build.ts';
import { rounds, SEED } from '../instances/effort.ts';
import { type Recording, record, recordAfterCut } from './recording.ts';
import { cutPower, type Extent } from './trial.ts';

const ROUNDS = rounds(1);
/** A round is a life and another that follows a power cut in it, with so much load (ms) and so many cuts each. */
const LOAD_MS = ROUNDS > 1 ? 4000 : 1000;
const CUTS: Extent = { cuts: ROUNDS > 1 ? 150 : 60, onTheWire: 1, seed: SEED };
const CUTS_OF_A_LIAR = 100;
const TIMEOUT = 300_000;
/** A fault that shows at all may show a thousand times. */
const SHOWN = 20;

const needsDisk = { skip: whyNoDisk() ?? false, timeout: TIMEOUT };
/** The first life serves two tests. */
let recorded: Promise<Recording> | undefined;
const firstLife = () => (recorded ??= record({ after }, SEED, LOAD_MS));

for (let seed = SEED; seed < SEED + ROUNDS; seed += 1)
  test(`Promises 1 to 3: a power cut at any moment costs no answer (seed ${seed})`, needsDisk, async (t) => {
    const life = seed === SEED ? await firstLife() : await record(t, seed, LOAD_MS);
    for (const recording of [life, await recordAfterCut(t, life, seed, LOAD_MS)]) {
      const { faults, cuts, judged, asked } = await cutPower(t, recording, { ...CUTS, seed });
      assert.deepEqual(faults.slice(0, SHOWN), [], `${faults.length} faults`);
      assert.ok(asked > 0, 'nothing was asked on the wire');
      t.diagnostic(`${cuts} cuts, ${judged} answers judged, ${asked} requests on the wire`);
    }
  });

test('Promises 1 to 3: a disk that lies about syncs is found out', needsDisk, async (t) => {
  const life = await firstLife();
  const lie = { ...CUTS, cuts: CUTS_OF_A_LIAR, onTheWire: 0, honestUntil: life.furnished };
  const { faults } = await cutPower(t, life, lie);
  const lost = faults.filter((fault) => /an Allow that was answered|stays exchanged|is final/.test(fault));
  assert.ok(lost.length > 0, `no answer was lost, with ${faults.length} faults`);
});
