/** Hand-overs where something else wrote to the database, such as an earlier version. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandOvers } from '../../src/operator/hand-over/hand-overs.ts';
import { keyring, PREFIX } from '../oauth/samples.ts';
import {
  event,
  NOW,
  openAsService,
  operator,
  sampleClient,
  secondConnection,
  temporaryPath,
} from '../support/storage.ts';

test('an address makes no third secret, whoever made the second one', async (t) => {
  const path = temporaryPath(t);
  const { store, close } = await openAsService(path);
  t.after(() => close());
  const pickUpUrl = 'https://app.test/developers/pick-up';
  const handOvers = new HandOvers({ store, keyring, prefix: PREFIX, pickUpUrl, now: () => NOW });
  const client = sampleClient({ id: 'app_new', secrets: [] });
  await store.registerClient(client, event('client_registered'));
  const { address } = await handOvers.make({ kind: 'client', id: client.id }, operator);
  const token = new URL(address).searchParams.get('token') ?? '';
  const secrets = JSON.stringify(['one', 'two'].map((text) => ({ digest: btoa(text.padEnd(32)), createdAt: NOW })));
  secondConnection(t, path).prepare('UPDATE client SET secrets = ? WHERE id = ?').run(secrets, client.id);
  assert.deepEqual(await handOvers.look(token), { kind: 'two_secrets' });
  const picked = await handOvers.pickUp(token, 'browser', { source: '192.0.2.7', requestId: 'req' });
  assert.deepEqual(picked, { kind: 'two_secrets' });
  assert.equal((await store.findClient(client.id))?.secrets.length, 2);
  assert.equal((await handOvers.newest({ kind: 'client', id: client.id }))?.fetchedAt, null);
});
