/** A disk that says that it synced what it did not: the test of power cuts must notice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SEED } from '../instances/effort.ts';
import { CUTS, LOAD_MS, needsDisk } from './extent.ts';
import { record } from './recording.ts';
import { cutPower } from './trial.ts';

const CUTS_OF_A_LIAR = 100;

test('Promises 1 to 3: a disk that lies about syncs is found out', needsDisk, async (t) => {
  const life = await record(t, SEED, LOAD_MS);
  const lie = { ...CUTS, cuts: CUTS_OF_A_LIAR, onTheWire: 0, honestUntil: life.furnished };
  const { faults } = await cutPower(t, life, lie);
  const lost = faults.filter((fault) => /an Allow that was answered|stays exchanged|is final/.test(fault));
  assert.ok(lost.length > 0, `no answer was lost, with ${faults.length} faults`);
});
