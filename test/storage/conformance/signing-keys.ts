/** The keys that sign ID tokens, as both stores keep them. */
import assert from 'node:assert/strict';
import type { SigningKey, SigningKeyPair } from '../../../src/oauth/openid/signing-key.ts';
import { event, NOW } from '../../support/storage.ts';
import { type AnyStore, type WithStore, winners } from './any-store.ts';

const THREE = ['a', 'b', 'c'];

function sampleKey(id: string, some: Partial<SigningKey> = {}): SigningKey {
  return {
    ...{ id, state: 'next', publicKey: { kty: 'RSA', n: `n of ${id}`, e: 'AQAB' } },
    ...{ sealedKey: `sealed ${id}`, rootKeyId: 7, createdAt: NOW, signsSince: null, dropAt: null },
    ...some,
  };
}

const pair = (name: string): SigningKeyPair => ({
  signing: sampleKey(`${name} signing`, { state: 'signing', signsSince: NOW }),
  next: sampleKey(`${name} next`),
});
const made = event('signing_keys_made');
const turned = { ...event('signing_keys_turned'), at: NOW + 5 };
const replaced = event('signing_keys_replaced');

const turnTo = (store: AnyStore, id: string) =>
  store.turnSigningKeys({ signing: 'a signing', next: 'a next', made: sampleKey(id), dropAt: NOW + 100 }, turned);
const statesIn = async (store: AnyStore) =>
  Object.fromEntries((await store.listSigningKeys()).map(({ id, state }) => [id, state]));
const eventsIn = async (store: AnyStore) =>
  (await store.listAuditEvents({ limit: 9 }))
    .map(({ action }) => action)
    .filter((action) => action.includes('signing'));

/** Making, turning, replacing and resealing. */
export function signingKeys(withStore: WithStore): void {
  withStore('of all who make the first keys, one does, with one event', async (store) => {
    assert.equal(await winners(THREE.map((name) => store.replaceSigningKeys(null, pair(name), made))), 1);
    const [first, second] = await store.listSigningKeys();
    assert.deepEqual([first?.state, second?.state].sort(), ['next', 'signing']);
    assert.deepEqual(await eventsIn(store), ['signing_keys_made']);
  });

  withStore('of all who turn the keys, one does; the former key loses its private key', async (store) => {
    await store.replaceSigningKeys(null, pair('a'), made);
    assert.equal(await winners(THREE.map((id) => turnTo(store, id))), 1);
    const states = await statesIn(store);
    assert.deepEqual([states['a signing'], states['a next']], ['former', 'signing']);
    assert.equal(Object.values(states).filter((state) => state === 'next').length, 1);
    const keys = await store.listSigningKeys();
    const former = keys.find(({ state }) => state === 'former');
    assert.deepEqual([former?.sealedKey, former?.rootKeyId, former?.dropAt], [null, null, NOW + 100]);
    assert.equal(keys.find(({ state }) => state === 'signing')?.signsSince, NOW + 5);
    assert.equal(await turnTo(store, 'late'), false, 'another key signs by now');
    assert.deepEqual(await eventsIn(store), ['signing_keys_turned', 'signing_keys_made']);
  });

  withStore('of a turn and a replacement at the same time, one is done', async (store) => {
    await store.replaceSigningKeys(null, pair('a'), made);
    const [isTurned, isReplaced] = await Promise.all([
      turnTo(store, 'made'),
      store.replaceSigningKeys('a signing', pair('b'), replaced),
    ]);
    assert.notEqual(isTurned, isReplaced);
    assert.deepEqual(
      await statesIn(store),
      isTurned
        ? { 'a signing': 'former', 'a next': 'signing', made: 'next' }
        : { 'b signing': 'signing', 'b next': 'next' },
    );
  });

  withStore('a replacement drops former keys too, and none if another key signs by now', async (store) => {
    await store.replaceSigningKeys(null, pair('a'), made);
    await turnTo(store, 'made');
    assert.equal(await store.replaceSigningKeys('a signing', pair('b'), replaced), false);
    assert.equal((await store.listSigningKeys()).length, 3);
    assert.equal(await store.replaceSigningKeys('a next', pair('b'), replaced), true);
    assert.deepEqual(await statesIn(store), { 'b signing': 'signing', 'b next': 'next' });
  });

  withStore('a key that was changed meanwhile is not sealed over', async (store) => {
    await store.replaceSigningKeys(null, pair('a'), made);
    const key = pair('a').signing;
    await store.resealSigningKey(key, { text: 'again', rootKeyId: 8 });
    await store.resealSigningKey(key, { text: 'late', rootKeyId: 9 });
    const found = (await store.listSigningKeys()).find(({ id }) => id === key.id);
    assert.deepEqual([found?.sealedKey, found?.rootKeyId], ['again', 8]);
  });

  withStore('a restore drops all: one of them may have leaked, and been replaced, since the backup', async (store) => {
    await store.replaceSigningKeys(null, pair('a'), made);
    const nothingElse = { endAll: null, ended: null, revived: [], events: [] };
    await store.beginHistory(Buffer.alloc(16, 7), event('database_restored'), nothingElse);
    assert.deepEqual(await store.listSigningKeys(), []);
  });
}
