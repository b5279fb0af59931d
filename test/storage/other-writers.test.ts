/** The next request finds each write of another process, and each write of a moment ago. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as furtherInput } from 'node:timers/promises';
import type { Grant } from '../../src/oauth/grants/grant.ts';
import {
  addAdaAndOne,
  event,
  NOW,
  openAsService,
  sampleClient,
  sampleGeneration,
  sampleGrant,
  sampleUse,
  secondConnection,
  temporaryPath,
} from '../support/storage.ts';

const SERVER = {
  id: 'rs_one',
  name: 'One',
  resource: null,
  acceptsUnbound: true,
  scopes: null,
  secrets: [],
  createdAt: 0,
};

test('Promise 2: a client that another process paused is paused for the next request that comes in', async (t) => {
  const path = temporaryPath(t);
  const { store, close } = await openAsService(path);
  t.after(close);
  await store.registerClient(sampleClient(), event('client_registered'));
  const { id } = sampleClient();
  const other = secondConnection(t, path);
  for (const status of ['paused', 'active', 'paused']) {
    assert.ok(await store.findClient(id));
    other.prepare('UPDATE client SET status = ? WHERE id = ?').run(status, id);
    await furtherInput();
    assert.equal((await store.findClient(id))?.status, status);
  }
  other.prepare('DELETE FROM client WHERE id = ?').run(id);
  await furtherInput();
  assert.equal(await store.findClient(id), null);
});

test('Promise 2: an act that was answered is seen at once, however often the client was read meanwhile', async (t) => {
  const { store, close } = await openAsService(temporaryPath(t));
  t.after(close);
  const { id } = sampleClient();
  await store.registerClient(sampleClient(), event('client_registered'));
  for (const status of ['paused', 'active', 'paused'] as const) {
    const acted = store.setClientStatus(id, status, event('client_paused'));
    await Promise.all(Array.from({ length: 20 }, () => store.findClient(id)));
    assert.equal(await acted, true);
    assert.equal((await store.findClient(id))?.status, status);
  }
});

/** Every way in which another process ends a grant or changes what it rests on, and whether the grant is still found. */
const ACTS_OF_OTHERS: Readonly<Record<string, string>> = {
  'revoked the grant': "UPDATE oauth_grant SET revoked_at = 1, revocation_reason = 'operator'",
  'rotated the grant': 'UPDATE oauth_grant SET generation = generation + 1',
  'marked the grant as used': 'UPDATE oauth_grant SET used_generation = 7, last_used_at = 8',
  'ended the grants of the client': 'UPDATE client SET epoch = epoch + 1',
  'paused the client': "UPDATE client SET status = 'paused'",
  'ended the grants of the account': 'UPDATE account SET epoch = epoch + 1',
  'disabled the account': "UPDATE account SET status = 'disabled'",
  'renamed the account': "UPDATE account SET name = 'Another'",
  'ended all grants': 'UPDATE installation SET epoch = epoch + 1',
  'deleted the account': 'DELETE FROM account',
  'deleted the client': 'DELETE FROM client',
  'deleted the grant': 'DELETE FROM oauth_grant',
};

for (const [what, sql] of Object.entries(ACTS_OF_OTHERS))
  test(`Promise 2: that another process ${what} is seen by the next request that comes in`, async (t) => {
    const path = temporaryPath(t);
    const opened = await openAsService(path);
    t.after(opened.close);
    await addAdaAndOne(opened);
    const grant = sampleGrant();
    await opened.store.issueGrant(grant, event('consent_allowed'));
    const before = await opened.store.findGrant(grant.id);
    assert.ok(before);
    secondConnection(t, path).exec(sql);
    await furtherInput();
    const found = await opened.store.findGrant(grant.id);
    assert.notDeepEqual(found, before);
    // A later opening finds the same.
    const fresh = await openAsService(path, { role: 'command' });
    t.after(fresh.close);
    assert.deepEqual(found, await fresh.store.findGrant(grant.id));
  });

test('a write that was undone leaves nothing behind', async (t) => {
  const opened = await openAsService(temporaryPath(t));
  t.after(opened.close);
  const { store } = opened;
  await addAdaAndOne(opened);
  const grant = sampleGrant();
  await store.issueGrant(grant, event('consent_allowed'));
  assert.ok(await store.findGrant(grant.id));
  const registered = event('resource_server_registered');
  // The schema refuses it: no caller leaves out a name.
  const refused = store.registerResourceServer({ ...SERVER, name: null as never }, registered);
  // In the same transaction, so that it is undone with the other and done again alone.
  const redeemed = store.redeemAuthorizationCode(sampleGeneration(grant, 1));
  await assert.rejects(refused);
  assert.equal(await redeemed, 'redeemed');
  const found = await store.findGrant(grant.id);
  assert.equal(found?.grant.generation, 1);
  assert.equal(await store.findResourceServer(SERVER.id), null);
});

test('a grant that was found stays as it was found, whatever becomes of its row', async (t) => {
  const opened = await openAsService(':memory:');
  t.after(opened.close);
  const { store } = opened;
  await addAdaAndOne(opened);
  const grant = sampleGrant();
  await store.issueGrant(grant, event('consent_allowed'));
  const found = await store.findGrant(grant.id);
  const before = structuredClone(found);
  assert.equal(await store.redeemAuthorizationCode(sampleGeneration(grant, 1)), 'redeemed');
  store.noteUse((await store.findGrant(grant.id))?.grant as Grant, sampleUse(1, NOW + 1));
  assert.deepEqual(structuredClone(found), before);
  const after = (await store.findGrant(grant.id))?.grant;
  assert.deepEqual([after?.generation, after?.usedGeneration, after?.lastUsedAt], [1, 1, NOW + 1]);
});

test('a grant that is found or listed is what its row says, in each of its fields', async (t) => {
  const path = temporaryPath(t);
  const opened = await openAsService(path);
  t.after(opened.close);
  const { store } = opened;
  await addAdaAndOne(opened);
  const other = secondConnection(t, path);
  other.exec('UPDATE installation SET epoch = 21; UPDATE client SET epoch = 22; UPDATE account SET epoch = 23');
  const full = sampleGrant({
    scope: 'scope',
    redirectUri: 'https://client.example/other',
    codeChallenge: 'challenge',
    resource: 'https://api.example/',
    epochs: { installation: 1, client: 2, resourceOwner: 3 },
    grantedAt: NOW + 4,
    absoluteExpiresAt: NOW + 5,
    generation: 6,
    keyId: 7,
    rotatedAt: NOW + 8,
    accessTokenExpiresAt: NOW + 9,
    expiresAt: NOW + 10,
    usedGeneration: 11,
    lastUsedAt: NOW + 12,
    revokedAt: NOW + 13,
    revocationReason: 'user',
  });
  for (const grant of [sampleGrant(), full]) {
    await store.issueGrant(grant, event('consent_allowed'));
    const fresh = await openAsService(path, { role: 'command' });
    t.after(fresh.close);
    for (const one of [store, fresh.store]) {
      const found = await one.findGrant(grant.id);
      const listed = (await one.listGrants({ limit: 10 })).find(({ grant: { id } }) => id.equals(grant.id));
      assert.deepEqual([found?.grant, listed?.grant], [grant, grant]);
      assert.deepEqual(listed?.standing, found?.standing);
      assert.deepEqual(found?.standing.epochs, { installation: 21, client: 22, resourceOwner: 23 });
    }
  }
});
