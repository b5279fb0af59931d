/** When the keys of a client are fetched again; the wire and both stores are in `test/http/api/client-keys.test.ts`. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Client } from '../../src/oauth/clients/client.ts';
import { ClientKeys } from '../../src/oauth/clients/client-keys.ts';
import { readMembers } from '../../src/oauth/trail/event-members.ts';
import { event } from '../support/storage.ts';
import { ecKeys, keyed, keys } from './assertions.ts';
import { openMemory, operator } from './memory.ts';
import { NOW } from './samples.ts';

const MINUTE = 60_000;
const address = 'https://agent.example/client.json';
const published: Client & { readonly jwksUri: string } = {
  ...keyed,
  id: address,
  jwksUri: 'https://agent.example/keys.json',
  jwksFetchedAt: NOW,
  jwksAskedAt: NOW,
};

/** A store with that client, and its keys as they are answered with `set`; the clock is five minutes on. */
async function setUp(t: TestContext) {
  const { store, clock } = await openMemory(t);
  await store.registerClient(published, event('client_registered'));
  clock.now = NOW + 5 * MINUTE;
  const asked: string[] = [];
  const host = { set: [keys.jwk] as readonly unknown[] };
  const clientKeys = new ClientKeys({
    ...{ store, now: () => clock.now, actor: operator, report: () => {} },
    async fetchJson(url) {
      asked.push(url);
      return { kind: 'fetched', value: { keys: host.set }, text: '' };
    },
  });
  const stored = async () => (await store.findClient(address)) ?? assert.fail();
  return { store, clock, asked, host, clientKeys, stored };
}

test('agents: of a hundred who read the client before any asked, one fetches its keys', async (t) => {
  const { asked, clientKeys, stored } = await setUp(t);
  await Promise.all(Array.from({ length: 100 }, () => clientKeys.refresh(published)));
  assert.deepEqual(asked, [published.jwksUri]);
  assert.equal(await clientKeys.refresh(await stored()), false);
  assert.equal(asked.length, 1);
});

test('agents: a clock that was ahead when keys were asked for locks nobody out', async (t) => {
  const { clock, asked, clientKeys, stored, store } = await setUp(t);
  await store.noteKeysAsked(published, NOW + 24 * 60 * MINUTE, 5 * MINUTE);
  await clientKeys.refresh(await stored());
  assert.equal(asked.length, 1);
  assert.equal((await stored()).jwksFetchedAt, clock.now);
});

test('agents: keys in another order are no other keys, and one of the same id is another key', async (t) => {
  const { clock, host, clientKeys, stored, store } = await setUp(t);
  const events = () => store.listAuditEvents({ action: 'client_keys_refreshed', limit: 9 });
  const [a, b] = [ecKeys('P-256', { kid: 'a' }), ecKeys('P-256', { kid: 'b' })];
  host.set = [a.jwk, b.jwk];
  assert.equal(await clientKeys.refresh(await stored()), true);
  clock.now += 5 * MINUTE;
  host.set = [b.jwk, { x5c: ['certificate'], ...a.jwk }];
  assert.equal(await clientKeys.refresh(await stored()), false);
  clock.now += 5 * MINUTE;
  host.set = [b.jwk, ecKeys('P-256', { kid: 'a' }).jwk];
  assert.equal(await clientKeys.refresh(await stored()), true);
  assert.deepEqual(
    (await events()).map(({ detail }) => readMembers(detail)),
    [
      { changes: [{ name: 'keys', removed: ['a'], added: ['a'] }] },
      { changes: [{ name: 'keys', removed: ['a key without an id'], added: ['a', 'b'] }] },
    ],
  );
});

test('agents: a set of which no key can be used keeps the old keys and is told; an empty one takes them out', async (t) => {
  const { clock, host, clientKeys, stored } = await setUp(t);
  const before = (await stored()).keys;
  host.set = [{ ...ecKeys('P-256', { kid: 'a' }).jwk, use: 'enc' }];
  assert.equal(await clientKeys.refresh(await stored()), false);
  assert.deepEqual((await stored()).keys, before);
  clock.now += 5 * MINUTE;
  host.set = [];
  assert.equal(await clientKeys.refresh(await stored()), true);
  assert.deepEqual((await stored()).keys, []);
});
