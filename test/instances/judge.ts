/** The verdict on an installation after a trial. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { SEED } from './effort.ts';
import { type Entry, violations } from './history.ts';
import type { TestInstallation } from './instances.ts';
import { type Pace, startLoad, sweep } from './load.ts';
import type { Instance } from './recorder.ts';
import { oddRows, type Queried } from './rows.ts';

/** A fault that shows at all may show a thousand times. */
const SHOWN = 20;
/** On a busy machine a load goes on until so much of it was done: else the verdict would be on little. */
const FEWEST_DONE = 100;

/** Asserts that what was asked and answered may be so, and that the rows are as they must be. */
export async function judge(installation: TestInstallation<Instance>, server: Queried): Promise<void> {
  const { recorder, shared } = installation;
  const wrong = [...violations(recorder.entries), ...(await oddRows(server, shared.VALETKEY_DATABASE_URL))];
  assert.deepEqual(wrong.slice(0, SHOWN), [], `${wrong.length} faults`);
}

/**
 * Does something to an installation under load, whose revocations are listened to at each instance; then looks at
 * everything that was answered once more, and judges. Answers the figures.
 */
export async function trial(
  installation: TestInstallation<Instance>,
  server: Queried,
  act: () => Promise<void>,
  pace?: Pace,
): Promise<string> {
  const { instances, recorder } = installation;
  const stops = instances.map((at) => recorder.listen(at));
  const load = startLoad(installation, SEED, pace);
  try {
    await act();
    while (doneOf(recorder.entries) <= FEWEST_DONE) await sleep(100);
  } finally {
    await load.stop();
    await Promise.all(stops.map((stop) => stop()));
  }
  await sweep(installation, SEED);
  await judge(installation, server);
  return figures(recorder.entries);
}

function doneOf(entries: readonly Entry[]): number {
  return entries.filter(({ outcome }) => outcome === 'done').length;
}

function figures(entries: readonly Entry[]): string {
  const counts = Map.groupBy(entries, ({ kind, outcome }) => `${kind} ${outcome}`);
  return [...counts]
    .map(([what, { length }]) => `${length} ${what}`)
    .sort()
    .join(', ');
}
