/** The apps with the most failures of several hours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyTally, SPAN_MS } from '../../src/oauth/activity/app-tally.ts';
import { AppActivity } from '../../src/operator/apps/app-activity.ts';
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
  await fail('app_1', since - SPAN_MS.hour, 9000); // Before these hours.
  const activity = new AppActivity(store, () => NOW);
  let found: unknown;
  const { rows } = await largestRead(async () => {
    found = await activity.mostFailing(since, 3);
  });
  assert.deepEqual(found, [
    { clientId: 'app_0', failures: 2004 },
    { clientId: 'app_29', failures: 30 * 4 },
    { clientId: 'app_28', failures: 29 * 4 },
  ]);
  assert.ok(rows <= 20, `${rows} rows at once`);
  await close();
});
