/** What devices ask for while they wait. */
import assert from 'node:assert/strict';
import { newGrantId } from '../../../src/oauth/grant.ts';
import { networksOf } from '../../../src/oauth/networks.ts';
import { NOW, sampleDeviceRequest } from '../../support/storage.ts';
import { type AnyStore, HUNDRED, type WithStore, winners } from './any-store.ts';

const PACE = { polledAt: 0, interval: 5 };
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

/** Copies a request, which waits, that often; each comes from a network of its own. For a store whose own way takes long. */
export type CopyWaiting = (store: AnyStore, userCode: string, times: number) => Promise<void>;

/** Device requests. */
export function deviceRequests(withStore: WithStore, copyWaiting?: CopyWaiting): void {
  const waiting = (some: Partial<ReturnType<typeof sampleDeviceRequest>> = {}) => ({
    request: sampleDeviceRequest(some),
    decision: null,
    pace: PACE,
  });
  const { userCode, expiresAt } = sampleDeviceRequest();
  const add = (store: AnyStore, some: Parameters<typeof waiting>[0] = {}, now = NOW, source = '192.0.2.1') =>
    store.addDeviceRequest(waiting(some), networksOf(source), now);

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

  const codeOf = (n: number) =>
    `BB${n
      .toString()
      .padStart(6, '0')
      .replace(/./g, (digit) => LETTERS[Number(digit)] ?? '')}`;

  withStore('ten thousand may wait, decided on or not, and each that expires makes room', async (store) => {
    const sourceOf = (n: number) => `10.${n >> 8}.${n & 255}.1`;
    const addMany = (from: number, count: number, at: number) =>
      winners(
        Array.from({ length: count }, (_, n) =>
          add(store, { userCode: codeOf(from + n), expiresAt: at + 600_000 }, at, sourceOf(from + n)),
        ),
      );
    assert.equal(await addMany(0, 100, NOW), 100);
    assert.equal(await addMany(100, 1, NOW + 1000), 1);
    if (copyWaiting) await copyWaiting(store, codeOf(100), 9799);
    else assert.equal(await addMany(101, 9799, NOW + 1000), 9799);
    assert.equal(await addMany(9900, 100, NOW + 1000), 100);
    await store.decideDeviceRequest(codeOf(0), null, 'denied');
    assert.equal(await add(store, { userCode: codeOf(10_000) }, NOW + 1000, sourceOf(10_000)), false);
    const later = NOW + 600_000;
    for (let n = 0; n < 100; n += 1) assert.equal(await addMany(20_000 + n, 1, later), 1);
    assert.equal(await add(store, { userCode: codeOf(30_000) }, later, sourceOf(30_000)), false);
    assert.ok(await store.findDeviceRequest(codeOf(100), later), 'nobody who waits is pushed out');
  });

  withStore('Promise 6: however many wait of one address or network, the next one finds places', async (store) => {
    let made = 0;
    /** As many as sources get, in turn; answers how many. */
    const fill = async (sources: readonly string[], turns: number) => {
      let got = 0;
      for (let turn = 0; turn < turns; turn += 1) {
        got += await winners(sources.map((source, n) => add(store, { userCode: codeOf(made + n) }, NOW, source)));
        made += sources.length;
      }
      return got;
    };
    assert.equal(await fill(['198.51.100.1'], 320), 304);
    assert.equal(await fill(['203.0.113.1'], 5), 5);
    const of56 = Array.from({ length: 50 }, (_, n) => `2001:db8:1:1${n.toString(16).padStart(2, '0')}::/64`);
    const got = await fill(of56, 24);
    // Those that come at once may each be the last one.
    assert.ok(got >= 1077 && got <= 1077 + of56.length, `${got} of one /56`);
    assert.equal(await fill(['203.0.113.2'], 5), 5);
  });
}
