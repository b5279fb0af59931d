/** What devices ask for while they wait. */
import assert from 'node:assert/strict';
import { newGrantId } from '../../../src/oauth/grant.ts';
import { NOW, sampleDeviceRequest } from '../../support/storage.ts';
import { type AnyStore, HUNDRED, type WithStore, winners } from './any-store.ts';

const PACE = { polledAt: 0, interval: 5 };
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

/** Device requests. */
export function deviceRequests(withStore: WithStore): void {
  const waiting = (some: Partial<ReturnType<typeof sampleDeviceRequest>> = {}) => ({
    request: sampleDeviceRequest(some),
    decision: null,
    pace: PACE,
  });
  const { userCode, expiresAt } = sampleDeviceRequest();
  const add = (store: AnyStore, some: Parameters<typeof waiting>[0] = {}, now = NOW) =>
    store.addDeviceRequest(waiting(some), now);

  withStore('a request comes back as it was made, until it expires', async (store) => {
    const device = waiting({ resource: 'https://letters.test', scope: [], grantId: newGrantId(NOW) });
    assert.equal(await store.addDeviceRequest(device, NOW), true);
    for (const now of [NOW, expiresAt - 1]) assert.deepEqual(await store.findDeviceRequest(userCode, now), device);
    for (const now of [expiresAt, expiresAt + 1]) assert.equal(await store.findDeviceRequest(userCode, now), null);
    for (const other of ['ZZZZZZZZ', '', userCode.toLowerCase()])
      assert.equal(await store.findDeviceRequest(other, NOW), null);
  });

  withStore('a user code is one request’s, for as long as that lives', async (store) => {
    assert.equal(await winners(HUNDRED.map(() => add(store))), 1);
    assert.equal(await add(store, { expiresAt: expiresAt + 600_000 }, expiresAt - 1), false);
    assert.equal(await add(store, { expiresAt: expiresAt + 600_000 }, expiresAt), true);
    const found = await store.findDeviceRequest(userCode, expiresAt);
    assert.equal(found?.request.expiresAt, expiresAt + 600_000);
    assert.deepEqual([found?.decision, found?.pace], [null, PACE]);
  });

  withStore('of 100 who decide at once, one wins, and what it decided stays', async (store) => {
    await add(store);
    const decisions = ['allowed', 'denied'] as const;
    const attempts = HUNDRED.map((_, n) => store.decideDeviceRequest(userCode, null, decisions[n % 2] ?? null));
    assert.equal(await winners(attempts), 1);
    const winner = (await Promise.all(attempts)).indexOf(true);
    assert.equal((await store.findDeviceRequest(userCode, NOW))?.decision, decisions[winner % 2]);
    assert.equal(await store.decideDeviceRequest(userCode, null, 'allowed'), false);
  });

  withStore('a decision is taken back only from what it was', async (store) => {
    await add(store);
    assert.equal(await store.decideDeviceRequest(userCode, 'allowed', null), false);
    assert.equal(await store.decideDeviceRequest(userCode, null, 'allowed'), true);
    assert.equal(await store.decideDeviceRequest(userCode, 'denied', null), false);
    assert.equal(await store.decideDeviceRequest(userCode, 'allowed', null), true);
    assert.equal((await store.findDeviceRequest(userCode, NOW))?.decision, null);
    assert.equal(await store.decideDeviceRequest('ZZZZZZZZ', null, 'denied'), false);
  });

  withStore('a pace is kept beside what is decided, and neither changes the other', async (store) => {
    await add(store);
    const pace = { polledAt: NOW + 7, interval: 15 };
    await store.paceDeviceRequest(userCode, pace);
    await store.decideDeviceRequest(userCode, null, 'denied');
    await store.paceDeviceRequest(userCode, { ...pace, polledAt: NOW + 9 });
    await store.paceDeviceRequest('ZZZZZZZZ', pace);
    const found = await store.findDeviceRequest(userCode, NOW);
    assert.deepEqual([found?.decision, found?.pace], ['denied', { ...pace, polledAt: NOW + 9 }]);
    assert.equal(await store.findDeviceRequest('ZZZZZZZZ', NOW), null);
  });

  withStore('ten thousand may wait, decided on or not, and each that expires makes room', async (store) => {
    const codeOf = (n: number) =>
      `BB${n
        .toString()
        .padStart(6, '0')
        .replace(/./g, (digit) => LETTERS[Number(digit)] ?? '')}`;
    const addMany = (from: number, count: number, at: number) =>
      winners(
        Array.from({ length: count }, (_, n) =>
          add(store, { userCode: codeOf(from + n), expiresAt: at + 600_000 }, at),
        ),
      );
    assert.equal(await addMany(0, 100, NOW), 100);
    // Few enough at once for a database on a slow machine, which would have some of them wait for too long.
    for (let from = 100; from < 10_000; from += 300) assert.equal(await addMany(from, 300, NOW + 1000), 300);
    await store.decideDeviceRequest(codeOf(0), null, 'denied');
    assert.equal(await add(store, { userCode: codeOf(10_000) }, NOW + 1000), false);
    const later = NOW + 600_000;
    for (let n = 0; n < 100; n += 1) assert.equal(await addMany(20_000 + n, 1, later), 1);
    assert.equal(await add(store, { userCode: codeOf(30_000) }, later), false);
    assert.ok(await store.findDeviceRequest(codeOf(100), later), 'nobody who waits is pushed out');
  });
}
