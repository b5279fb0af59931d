/** How much the tests of power cuts try, and how one ends. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { whyNoDisk } from '../../bench/disk/build.ts';
import { rounds, SEED } from '../instances/effort.ts';
import type { Recording } from './recording.ts';
import { cutPower, type Extent } from './trial.ts';

export const ROUNDS = rounds(1);
/** A round is a life with so much load (ms) and so many cuts. */
export const LOAD_MS = ROUNDS > 1 ? 4000 : 1000;
export const CUTS: Extent = { cuts: ROUNDS > 1 ? 150 : 60, onTheWire: 1, seed: SEED };
export const needsDisk = { skip: whyNoDisk() ?? false, timeout: 300_000 };
/** A fault that shows at all may show a thousand times. */
const SHOWN = 20;

/** Asserts that no cut in a life makes an answer untrue. */
export async function assertNoFault(t: TestContext, life: Recording, seed: number): Promise<void> {
  const { faults, cuts, judged, asked } = await cutPower(t, life, { ...CUTS, seed });
  assert.deepEqual(faults.slice(0, SHOWN), [], `${faults.length} faults`);
  assert.ok(asked > 0, 'nothing was asked on the wire');
  t.diagnostic(`${cuts} cuts, ${judged} answers judged, ${asked} requests on the wire`);
}
