/** Rows that are kept as they were read: never longer than they are so. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Grant } from '../../src/oauth/grants/grant.ts';
import { STORED_GRANT } from '../../src/storage/tables/grant-rows.ts';
import {
  addAdaAndOne,
  event,
  NOW,
  openAsService,
  sampleAccount,
  sampleClient,
  sampleGeneration,
  sampleGrant,
  sampleSession,
  sampleUse,
  secondConnection,
  temporaryPath,
} from '../support/storage.ts';

test('Promise 2: a client that another process paused is paused for the next request that comes in', async (t) => {
  const path = temporaryPath(t);
  const { store, close } = await openAsService(path);
  t.after(close);
  await store.registerClient(sampleClient(), event('client_registered'));
  const { id } = sampleClient();
  const other = secondConnection(t, path);
  for (const status of ['paused', 'active', 'paused']) {
    assert.ok(await store.findClient(id), 'it is kept now');
    other.prepare('UPDATE client SET status = ? WHERE id = ?').run(status, id);
    assert.equal((await store.findClient(id))?.status, status);
  }
  other.prepare('DELETE FROM client WHERE id = ?').run(id);
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
    assert.ok(before, 'it is kept now');
    const version = opened.store.version();
    await nextTurn(); // Who asks without a pause between shares an answer.
    assert.equal(opened.store.version(), version);
    await nextTurn();
    secondConnection(t, path).exec(sql);
    assert.notEqual(opened.store.version(), version);
    const found = await opened.store.findGrant(grant.id);
    assert.notDeepEqual(found, before);
    // One that keeps nothing finds the same.
    const fresh = await openAsService(path, { role: 'command' });
    t.after(fresh.close);
    assert.deepEqual(found, await fresh.store.findGrant(grant.id));
  });

test('a write that was undone leaves nothing behind in what is kept', async (t) => {
  const opened = await openAsService(temporaryPath(t));
  t.after(opened.close);
  const { store } = opened;
  await addAdaAndOne(opened);
  const grant = sampleGrant();
  await store.issueGrant(grant, event('consent_allowed'));
  assert.ok(await store.findGrant(grant.id), 'it is kept now');
  const version = store.version();
  const taken = store.issueGrant({ ...grant, scope: 'another' }, event('consent_allowed'));
  // In the same transaction, so that it is undone with the other and done again alone.
  const redeemed = store.redeemAuthorizationCode(sampleGeneration(grant, 1));
  await assert.rejects(taken);
  assert.equal(await redeemed, 'redeemed');
  assert.notEqual(store.version(), version);
  const found = await store.findGrant(grant.id);
  assert.deepEqual([found?.grant.scope, found?.grant.generation], [grant.scope, 1]);
});

/** Number of grants that are kept before those that were not asked for meanwhile may go. */
const GENERATION = 16_384;

/** A store with a grant and so many more that are alike, by their ids: SQL made them, so that none of them is kept. */
async function openWithMany(t: TestContext, count: number) {
  const path = temporaryPath(t);
  const opened = await openAsService(path);
  t.after(opened.close);
  await addAdaAndOne(opened);
  const grant = sampleGrant();
  await opened.store.issueGrant(grant, event('consent_allowed'));
  const same = STORED_GRANT.without('id').names;
  const made = secondConnection(t, path).prepare(
    `WITH RECURSIVE counter (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < ?1)
     INSERT INTO oauth_grant (id, ${same}) SELECT randomblob(16), ${same} FROM counter, oauth_grant WHERE id = ?2
     RETURNING id`,
  );
  const ids = made.all(count, grant.id).map(({ id }) => Buffer.from(id as Uint8Array));
  assert.equal(ids.length, count);
  return { store: opened.store, grant, ids };
}

test('more rows than are kept are all found as they are', async (t) => {
  const { store, grant, ids } = await openWithMany(t, 33_000);
  for (const id of ids) assert.equal((await store.findGrant(id))?.grant.generation, 0);
  for (let start = 0; start < ids.length; start += 10_000) {
    const some = ids.slice(start, start + 10_000);
    await Promise.all(some.map((id) => store.redeemAuthorizationCode(sampleGeneration({ ...grant, id }, 1))));
  }
  for (const id of ids) assert.equal((await store.findGrant(id))?.grant.generation, 1);
});

for (const [when, isAskedFor] of [
  ['that was not asked for while many others were', false],
  ['that was asked for again after many others', true],
] as const)
  test(`Promise 2: what is written of a row ${when} is what is found`, async (t) => {
    const { store, ids } = await openWithMany(t, GENERATION);
    const grants = Array.from({ length: 3 }, () => sampleGrant());
    const [redeemed, revoked, ended] = grants as [Grant, Grant, Grant];
    assert.equal(await store.findGrant(redeemed.id), null); // From now on what is written is kept.
    await Promise.all(grants.map((grant) => store.issueGrant(grant, event('consent_allowed'))));
    for (const id of ids) assert.ok(await store.findGrant(id));
    for (const { id } of isAskedFor ? grants : []) assert.ok(await store.findGrant(id));
    assert.ok(await store.redeemAuthorizationCode(sampleGeneration(redeemed, 1)));
    assert.equal((await store.findGrant(redeemed.id))?.grant.generation, 1);
    const version = store.version();
    assert.equal(await store.revokeGrant(revoked.id, 'operator', event('grant_revoked')), true);
    assert.notEqual(store.version(), version);
    assert.equal((await store.findGrant(revoked.id))?.grant.revocationReason, 'operator');
    await store.revokeGrantsOfClient(ended.resourceOwnerId, ended.clientId, event('client_grants_revoked'));
    assert.equal((await store.findGrant(ended.id))?.grant.revocationReason, 'user');
  });

test('Promise 2: with a row that is kept no more the version goes, since what is written of it is not noticed', async (t) => {
  const { store, ids } = await openWithMany(t, 2 * GENERATION + 1);
  const [first] = ids;
  assert.ok(first && (await store.findGrant(first)));
  const version = store.version();
  for (const id of ids) await store.findGrant(id);
  assert.notEqual(store.version(), version);
});

test('design: the version stays while grants are given, refreshed and used, and people sign in', async (t) => {
  const opened = await openAsService(temporaryPath(t));
  t.after(opened.close);
  const { store } = opened;
  await addAdaAndOne(opened);
  const grant = sampleGrant();
  await store.issueGrant(grant, event('consent_allowed'));
  const found = await store.findGrant(grant.id);
  const version = store.version();
  assert.equal(await store.redeemAuthorizationCode(sampleGeneration(grant, 1)), 'redeemed');
  store.noteUse(found?.grant as Grant, sampleUse(1, NOW + 1));
  const another = sampleGrant();
  await store.issueGrant(another, event('consent_allowed'));
  await store.findGrant(another.id);
  const { password } = sampleAccount();
  const session = sampleSession();
  assert.equal(await store.addSession(session, password, null, event('sign_in')), true);
  await store.touchSession(session.digest, NOW + 2);
  await store.endSession(session.digest, event('sign_out'));
  assert.equal(store.version(), version);
});

test('a grant that was found stays as it was found, whatever becomes of what is kept', async (t) => {
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

test('a grant that is kept, found or listed is what its row says, in each of its fields', async (t) => {
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
