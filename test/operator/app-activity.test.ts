/** The apps with the most failures of several hours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyTally, SPAN_MS } from '../../src/oauth/activity/app-tally.ts';
import { AppActivity, type RefusedApp } from '../../src/operator/apps/app-activity.ts';
import { largestRead } from '../support/rows-read.ts';
import { event, NOW, openAsService, sampleClient, temporaryPath } from '../support/storage.ts';

test('operators §7: the worst apps of a day are found by few rows, though all fail in each hour', async (t) => {
  const [APPS, HOURS] = [30, 4];
  const { store, close } = await openAsService(temporaryPath(t));
  const since = NOW - (HOURS - 1) * SPAN_MS.hour;
  const fail = (id: string, at: number, other: number) =>
    store.addActivity({ clientId: id, at, tally: { ...emptyTally(), other }, failures: [] }, NOW);
  for (let n = 0; n < APPS; n += 1) {
    const id = `app_${n}`;
    await store.registerClient(sampleClient({ id }), event('client_registered', { clientId: id }));
    for (let hour = 0; hour < HOURS; hour += 1) await fail(id, since + hour * SPAN_MS.hour, n + 1);
  }
  await fail('app_0', NOW, 2000);
  await fail('app_1', NOW - 24 * SPAN_MS.hour, 9000); // Before the 24 hours.
  const activity = new AppActivity(store, () => NOW);
  let found: readonly RefusedApp[] = [];
  const { rows } = await largestRead(async () => {
    found = await activity.mostRefused();
  });
  const worst = found.map(({ clientId, failures, isFailing }) => [clientId, failures, isFailing]);
  assert.deepEqual(worst.slice(0, 3), [
    ['app_0', 2004, true],
    ['app_29', 30 * 4, true],
    ['app_28', 29 * 4, true],
  ]);
  assert.equal(worst.length, 20);
  assert.ok(rows <= 20, `${rows} rows at once`);
  await close();
});
