/** Tallies and failures of apps. */
import assert from 'node:assert/strict';
import { type AppFailure, FAILURES_KEPT } from '../../../src/oauth/activity/app-failure.ts';
import { type AppTally, emptyTally, SPAN_MS, type Span } from '../../../src/oauth/activity/app-tally.ts';
import { AppActivity } from '../../../src/operator/apps/app-activity.ts';
import type { WholeStore } from '../../../src/storage/tables/whole-store.ts';
import { event, NOW, sampleClient } from '../../support/storage.ts';
import type { WithStore } from './any-store.ts';

const HOUR = SPAN_MS.hour;
const [app, other] = ['app_mail', 'app_mail2'];
const tally = (counts: Partial<AppTally>) => ({ ...emptyTally(), ...counts });

/** Adds what an app did at a time. */
function add(store: Pick<WholeStore, 'addActivity'>, at: number, counts: Partial<AppTally>, clientId = app) {
  return store.addActivity({ clientId, at, tally: tally(counts), failures: [] }, at);
}

function failure(n: number, clientId = app): AppFailure {
  const told = { endpoint: 'token', error: 'invalid_grant', reason: `reason ${n}` } as const;
  return { clientId, at: NOW + n, requestId: `req_${n}`, ...told, network: '192.0.2.0/24', grantId: null };
}

/** Tallies and failures. */
export function activity(withStore: WithStore): void {
  const withApps = (name: string, body: (store: WholeStore) => Promise<void>) =>
    withStore(name, async (store) => {
      for (const id of [app, other])
        await store.registerClient(sampleClient({ id }), event('client_registered', { clientId: id }));
      await body(store);
    });
  const counts = async (store: WholeStore, span: Span, since = 0) =>
    (await store.listTallies(app, span, since)).map(({ bucket, exchanges, checks }) => [bucket, exchanges, checks]);

  const failing = async (store: WholeStore, span: Span, since: number) =>
    (await store.listClients(null, 10, { failing: { span, since } })).map(({ id }) => id);

  withApps('tallies of an app add up by hour and by day, beside those of another', async (store) => {
    const day = NOW - (NOW % SPAN_MS.day);
    await add(store, day + 1, { exchanges: 1, checks: 5 });
    await add(store, day + HOUR - 1, { exchanges: 2 });
    await add(store, day + HOUR, { exchanges: 4 });
    await add(store, day, { exchanges: 100 }, other);
    assert.deepEqual(await counts(store, 'hour'), [
      [day, 3, 5],
      [day + HOUR, 4, 0],
    ]);
    assert.deepEqual(await counts(store, 'day'), [[day, 7, 5]]);
    assert.deepEqual(await counts(store, 'hour', day + HOUR), [[day + HOUR, 4, 0]], 'a span that ended is not listed');
    assert.deepEqual(await counts(store, 'hour', day + HOUR - 1).then((all) => all.length), 2);
  });

  withApps('every counter has its column', async (store) => {
    const all = Object.fromEntries(Object.keys(emptyTally()).map((counter, n) => [counter, n + 1])) as AppTally;
    await add(store, NOW, all);
    const [found] = await store.listTallies(app, 'hour', 0);
    assert.deepEqual(found, { clientId: app, span: 'hour', bucket: NOW - (NOW % HOUR), ...all });
  });

  withApps('failures are listed from the time that was asked, and counted from its hour or day', async (store) => {
    const hour = NOW - (NOW % HOUR);
    const at = (time: number) => ({ ...failure(time - NOW), at: time });
    const asked = hour + HOUR / 2;
    const failures = [at(hour), at(asked - 1), at(asked)];
    await store.addActivity({ clientId: app, at: hour, tally: tally({ invalidGrant: 3 }), failures }, NOW);
    const { countedSince, span, ...found } = await new AppActivity(store, () => NOW + HOUR).find(app, asked);
    assert.deepEqual([countedSince, span, found.tally.invalidGrant], [hour, 'hour', 3]);
    assert.deepEqual(
      found.failures.map((each) => each.at),
      [asked],
    );
    const later = await new AppActivity(store, () => NOW + 10 * SPAN_MS.day).find(app, asked);
    assert.deepEqual([later.countedSince, later.span], [hour - (hour % SPAN_MS.day), 'day']);
    assert.equal(later.failures.length, 1);
  });

  withApps('numbers since before the first day that is kept say which day they begin with', async (store) => {
    const now = NOW + 401 * SPAN_MS.day;
    await add(store, NOW - (NOW % SPAN_MS.day), { exchanges: 1 });
    const { countedSince, span, tally: counted } = await new AppActivity(store, () => now).find(app, 0);
    const first = now - 400 * SPAN_MS.day;
    assert.deepEqual([countedSince, span], [first - (first % SPAN_MS.day), 'day']);
    assert.equal(counted.exchanges, 0, 'an earlier day that is not deleted yet is not counted either');
  });

  withApps('nobody unknown makes a row, and an app that is deleted keeps none', async (store) => {
    await store.addActivity({ clientId: 'app_nobody', at: NOW, tally: tally({ invalidClient: 1 }), failures: [] }, NOW);
    assert.deepEqual(await store.listTallies('app_nobody', 'hour', 0), []);
    await store.addActivity({ clientId: app, at: NOW, tally: tally({ other: 1 }), failures: [failure(1)] }, NOW);
    await store.addActivity(
      { clientId: other, at: NOW, tally: tally({ other: 1 }), failures: [failure(1, other)] },
      NOW,
    );
    await store.deleteClient(app, event('client_deleted', { clientId: app }));
    assert.deepEqual(await store.listTallies(app, 'day', 0), []);
    assert.deepEqual(await store.listFailures(app, 0, 10), []);
    assert.equal((await store.listFailures(other, 0, 10)).length, 1);
    assert.equal((await store.listTallies(other, 'day', 0)).length, 1);
  });

  withApps(`the last ${FAILURES_KEPT} failures of an app are kept, newest first`, async (store) => {
    const many = Array.from({ length: FAILURES_KEPT }, (_, n) => failure(n));
    await store.addActivity({ clientId: app, at: NOW, tally: tally({}), failures: many }, NOW);
    await store.addActivity({ clientId: other, at: NOW, tally: tally({}), failures: [failure(0, other)] }, NOW);
    const grantId = 'g'.repeat(22);
    const last = { ...failure(FAILURES_KEPT), grantId };
    await store.addActivity({ clientId: app, at: NOW, tally: tally({}), failures: [last] }, NOW);
    const found = await store.listFailures(app, 0, 1000);
    assert.deepEqual(found, [last, ...many.slice(1).reverse()]);
    assert.deepEqual(
      await store.listFailures(app, NOW + FAILURES_KEPT - 1, 10),
      found.slice(0, 2),
      'at that time or later',
    );
    assert.deepEqual(await store.listFailures(app, 0, 1), [last]);
    assert.equal((await store.listFailures(other, 0, 10)).length, 1);
  });

  withApps('failures that a wrong clock recorded ahead do not hide those of today', async (store) => {
    const ahead = Array.from({ length: FAILURES_KEPT }, (_, n) => ({ ...failure(n), at: NOW + 2 * HOUR + n }));
    await store.addActivity({ clientId: app, at: NOW, tally: tally({}), failures: ahead }, NOW + 2 * HOUR);
    const soon = { ...failure(0, other), at: NOW + HOUR - 1 };
    await store.addActivity({ clientId: other, at: NOW, tally: tally({}), failures: [soon] }, NOW);
    const today = [failure(1), failure(2)];
    await store.addActivity({ clientId: app, at: NOW, tally: tally({}), failures: today }, NOW);
    assert.deepEqual(await store.listFailures(app, 0, 10), today.toReversed());
    assert.deepEqual(await store.listFailures(other, 0, 10), [soon], 'clocks of instances differ a little');
  });

  withApps('apps that failed are found by the hour or the day of it', async (store) => {
    await add(store, NOW, { exchanges: 1, checks: 1 }, other);
    await add(store, NOW, { invalidGrant: 1 });
    const end = NOW - (NOW % HOUR) + HOUR;
    assert.deepEqual(await failing(store, 'hour', NOW), [app]);
    assert.deepEqual(await failing(store, 'hour', end), []);
    assert.deepEqual(await failing(store, 'day', end - HOUR), [app]);
    for (const counter of ['invalidClient', 'invalidRequest', 'limited', 'other'] as const)
      await add(store, NOW, { [counter]: 1 }, other);
    assert.deepEqual(await failing(store, 'hour', NOW), [app, other]);
  });

  withApps('hours of all apps are summed up as they are counted, and stay when an app is deleted', async (store) => {
    const hour = NOW - (NOW % HOUR);
    await add(store, hour, { checks: 5, invalidGrant: 1 });
    await add(store, hour + 1, { checks: 2 }, other);
    await add(store, hour + HOUR, { allowed: 1 }, other);
    await add(store, hour, { checks: 100 }, 'app_nobody');
    await store.deleteClient(app, event('client_deleted', { clientId: app }));
    const sums = [
      { bucket: hour, ...tally({ checks: 7, invalidGrant: 1 }) },
      { bucket: hour + HOUR, ...tally({ allowed: 1 }) },
    ];
    assert.deepEqual(await store.listTalliesOfAll(hour), sums);
    assert.deepEqual(await store.listTalliesOfAll(hour + HOUR), sums.slice(1), 'an hour that ended is not listed');
    assert.deepEqual(await store.listMostFailing(hour, 5), [], 'the sum is no app');
  });

  withApps('the apps with the most failures of an hour come first, and nobody without one', async (store) => {
    const hour = NOW - (NOW % HOUR);
    await add(store, hour, { invalidGrant: 2, limited: 1, checks: 50 });
    await add(store, hour - 1, { invalidClient: 9 });
    await add(store, hour, { invalidRequest: 2, other: 2 }, other);
    await add(store, hour + HOUR, { checks: 1 });
    assert.deepEqual(await store.listMostFailing(hour, 5), [
      { clientId: other, failures: 4 },
      { clientId: app, failures: 3 },
    ]);
    assert.deepEqual(await store.listMostFailing(hour, 1), [{ clientId: other, failures: 4 }]);
    assert.deepEqual(await store.listMostFailing(hour - HOUR, 5), [{ clientId: app, failures: 9 }]);
    assert.deepEqual(await store.listMostFailing(hour + HOUR, 5), []);
  });
}
