/** Requests of devices that wait. */
import assert from 'node:assert/strict';
import { newGrantId } from '../../../src/oauth/grants/grant.ts';
import { networksOf } from '../../../src/oauth/guessing/networks.ts';
import { NOW, sampleDeviceRequest } from '../../support/storage.ts';
import { type AnyStore, HUNDRED, type WithStore, winners } from './any-store.ts';

const PACE = { polledAt: 0, interval: 5 };

/** A request that waits, with what it asks for. */
const waiting = (some: Partial<ReturnType<typeof sampleDeviceRequest>> = {}) => ({
  request: sampleDeviceRequest(some),
  decision: null,
  pace: PACE,
});

/** Adds a request that waits; for its source and the time of asking (ms). Returns false if there is no place for it. */
export const add = (store: AnyStore, some: Parameters<typeof waiting>[0] = {}, now = NOW, source = '192.0.2.1') =>
  store.addDeviceRequest(waiting(some), networksOf(source), now);

/** Device requests. */
export function deviceRequests(withStore: WithStore): void {
  const { userCode, expiresAt } = sampleDeviceRequest();

  withStore('a request comes back as it was made, until it expires', async (store) => {
    const device = waiting({
      resource: 'https://letters.test',
      resourceIsDefault: true,
      scope: [],
      grantId: newGrantId(NOW),
    });
    assert.equal(await store.addDeviceRequest(device, networksOf('2001:db8:1:2::/64'), NOW), true);
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
}
