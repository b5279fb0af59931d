/** As many devices as may wait. */
import assert from 'node:assert/strict';
import { NOW } from '../../support/storage.ts';
import { type AnyStore, type WithStore, winners } from './any-store.ts';
import { add } from './device-requests.ts';

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const codeOf = (n: number) =>
  `BB${n
    .toString()
    .padStart(6, '0')
    .replace(/./g, (digit) => LETTERS[Number(digit)] ?? '')}`;

/** Copies a request, which waits, that often; each comes from a network of its own. For a store whose own way takes long. */
export type CopyWaiting = (store: AnyStore, userCode: string, times: number) => Promise<void>;

/** Crowds of devices. */
export function deviceCrowds(withStore: WithStore, copyWaiting?: CopyWaiting): void {
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
