import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../src/oauth/clients/client.ts';
import { GrantRegistry } from '../../src/oauth/connected-apps/grant-registry.ts';
import { DEVICE_GRANT_TYPE } from '../../src/oauth/grants/device-grant.ts';
import type { Grant } from '../../src/oauth/grants/grant.ts';
import { grantIdText, newGrantId } from '../../src/oauth/grants/grant.ts';
import { PERSON_FIELDS } from '../../src/oauth/grants/person-fields.ts';
import { auditEvent } from '../../src/oauth/trail/audit.ts';
import { ada, addAccount, type Memory, openMemory, operator } from './memory.ts';
import { activeGrant, confidentialClient, issuedGrant, NOW } from './samples.ts';

const one: Client = confidentialClient;
const two: Client = { ...confidentialClient, id: 'app_two', name: 'A second' };
const bob = { ...ada, id: 'usr_bob', email: 'bob@example.com', username: 'bob' };
const event = auditEvent('consent_allowed', operator, NOW, {}, { scopes: [] });
const user = { kind: 'user', id: ada.id, source: null, requestId: null } as const;

async function addGrant({ store }: Memory, changes: Partial<Grant> = {}): Promise<Grant> {
  const epochs = { installation: 0, client: 0, resourceOwner: 0 };
  const grant = { ...activeGrant, id: newGrantId(changes.grantedAt ?? NOW), epochs, ...changes };
  await store.issueGrant(grant, event);
  return grant;
}

async function setUp(context: Parameters<typeof openMemory>[0]) {
  const memory = await openMemory(context);
  for (const account of [ada, bob]) await addAccount(memory, account);
  for (const client of [one, two]) await memory.store.registerClient(client, event);
  return { memory, registry: new GrantRegistry(memory.store, () => memory.clock.now) };
}

test('a user sees each app once, with all its live grants together, by name', async (context) => {
  const { memory, registry } = await setUp(context);
  const ends = { expiresAt: NOW + 9000, absoluteExpiresAt: NOW + 10_000 };
  const newest = await addGrant(memory, {
    scope: 'read write',
    grantedAt: NOW - 5000,
    lastUsedAt: NOW - 10,
    expiresAt: NOW + 8000,
  });
  await addGrant(memory, {
    scope: 'write admin',
    grantedAt: NOW - 9000,
    lastUsedAt: NOW - 20,
    rotatedAt: NOW - 15,
    ...ends,
  });
  await addGrant(memory, { scope: 'read', resource: 'urn:x', grantedAt: NOW - 7000, rotatedAt: NOW - 15 });
  const other = await addGrant(memory, { clientId: two.id, scope: '', generation: 1, lastUsedAt: null });
  const together = { kind: 'app', isWaiting: false, signsIn: false };
  const [first, second, ...more] = await registry.connectedApps(ada.id);
  assert.deepEqual(more, []);
  assert.deepEqual(first, {
    ...together,
    clientId: 'app_two',
    clientName: 'A second',
    grantId: grantIdText(other.id),
    redirectHosts: ['one.test'],
    scope: [],
    personFields: [...PERSON_FIELDS],
    since: activeGrant.grantedAt,
    lastUsedAt: null,
    expiresAt: activeGrant.expiresAt,
    absoluteExpiresAt: activeGrant.absoluteExpiresAt,
  });
  assert.deepEqual(
    { ...second, scope: second?.scope.toSorted() },
    {
      ...together,
      clientId: 'app_one',
      clientName: 'One',
      grantId: grantIdText(newest.id),
      redirectHosts: ['one.test'],
      scope: ['admin', 'read', 'write'],
      personFields: [...PERSON_FIELDS],
      since: NOW - 9000,
      lastUsedAt: NOW,
      expiresAt: activeGrant.expiresAt,
      absoluteExpiresAt: activeGrant.absoluteExpiresAt,
    },
  );
});

test('a device and what waits are lines of their own', async (context) => {
  const { memory, registry } = await setUp(context);
  const forDevice = { redirectUri: DEVICE_GRANT_TYPE };
  const notRedeemed = { generation: 0, accessTokenExpiresAt: null };
  const made: Grant[] = [];
  for (const [place, changes] of [
    {},
    forDevice,
    forDevice,
    notRedeemed,
    notRedeemed,
    { ...forDevice, ...notRedeemed },
  ].entries())
    made.push(await addGrant(memory, { ...changes, grantedAt: NOW - 9000 + place }));
  const lines = (await registry.connectedApps(ada.id)).map(({ grantId, kind, isWaiting, since }) => ({
    grantId,
    kind,
    isWaiting,
    since,
  }));
  assert.deepEqual(
    lines,
    made.map(({ id, redirectUri, generation, grantedAt }) => ({
      grantId: grantIdText(id),
      kind: redirectUri === DEVICE_GRANT_TYPE ? 'device' : 'app',
      isWaiting: generation === 0,
      since: grantedAt,
    })),
  );
  assert.deepEqual(await registry.connectedApps(bob.id), []);
});

const lines: [what: string, grant: Partial<Grant>, isWaiting: boolean, ended: boolean[]][] = [
  ['a device', { redirectUri: DEVICE_GRANT_TYPE }, false, [false, false, true, false]],
  ['what waits', { generation: 0, accessTokenExpiresAt: null }, true, [false, false, true, false]],
  ['what waited and was fetched meanwhile', {}, true, [false, false, true, false]],
  ['an app', {}, false, [true, false, true, true]],
];
for (const [what, changes, isWaiting, ended] of lines)
  test(`Promise 2: a user takes back ${what}, and nothing of another line`, async (context) => {
    const { memory, registry } = await setUp(context);
    const grants = [
      await addGrant(memory, { redirectUri: 'https://one.test/other' }),
      await addGrant(memory, { redirectUri: DEVICE_GRANT_TYPE }),
      await addGrant(memory, changes),
      await addGrant(memory, { generation: 0, accessTokenExpiresAt: null }),
    ];
    const others = [await addGrant(memory, { clientId: two.id }), await addGrant(memory, { resourceOwnerId: bob.id })];
    const taken = { clientId: one.id, grantId: grantIdText(grants[2]?.id as Buffer), isWaiting };
    const revoked = async ({ id }: Grant) => (await memory.store.findGrant(id))?.grant.revocationReason === 'user';
    for (const wrong of [{ clientId: two.id }, { grantId: '' }, { grantId: grantIdText(newGrantId(NOW)) }])
      assert.equal(await registry.takeBack(ada.id, { ...taken, ...wrong }, user), null);
    assert.equal(await registry.takeBack(bob.id, taken, { ...user, id: bob.id }), null, 'another person’s');
    assert.deepEqual(await Promise.all(grants.map(revoked)), [false, false, false, false]);
    for (const time of ['first', 'second'])
      assert.equal(await registry.takeBack(ada.id, taken, user), what === 'a device' ? 'device' : 'app', time);
    assert.deepEqual(await Promise.all(grants.map(revoked)), ended);
    assert.deepEqual(await Promise.all(others.map(revoked)), [false, false]);
    const [event, ...more] = await memory.store.listAuditEvents({ action: 'grant_revoked', limit: 9 });
    assert.deepEqual(more, []);
    assert.deepEqual(
      [event?.clientId, event?.resourceOwnerId, event?.grantId],
      [one.id, ada.id, what === 'an app' ? null : taken.grantId],
    );
  });

test('what is expired, revoked or another user’s is not shown', async (context) => {
  const { memory, registry } = await setUp(context);
  await addGrant(memory, { expiresAt: NOW });
  await addGrant(memory, { expiresAt: NOW, generation: 0, accessTokenExpiresAt: null });
  await addGrant(memory, { resourceOwnerId: bob.id });
  const revoked = await addGrant(memory);
  await registry.revoke(grantIdText(revoked.id), operator);
  assert.deepEqual(await registry.connectedApps(ada.id), []);
});

test('disconnecting an app ends all its grants of this user, and no others', async (context) => {
  const { memory, registry } = await setUp(context);
  await addGrant(memory);
  await addGrant(memory, { generation: 0, accessTokenExpiresAt: null });
  await addGrant(memory, { clientId: two.id });
  await addGrant(memory, { resourceOwnerId: bob.id });
  assert.equal(await registry.disconnect(ada.id, one.id, user), 2);
  assert.equal(await registry.disconnect(ada.id, one.id, user), 0, 'again is harmless');
  assert.deepEqual(
    (await registry.connectedApps(ada.id)).map(({ clientId }) => clientId),
    ['app_two'],
  );
  assert.deepEqual(
    (await registry.connectedApps(bob.id)).map(({ clientId }) => clientId),
    ['app_one'],
  );
});

test('design: what an app may do already is that of all its live grants for the same resource together', async (context) => {
  const { memory, registry } = await setUp(context);
  const letters = 'https://letters.test';
  const granted = async (resource: string | null = null, clientId = one.id, resourceIsDefault = false) =>
    (await registry.earlierConsent(ada.id, clientId, { resource, resourceIsDefault }))?.granted ?? null;
  assert.equal(await granted(), null);
  await addGrant(memory, { scope: 'write admin' });
  await addGrant(memory, { scope: 'read write' });
  await addGrant(memory, { scope: 'letters', resource: letters });
  await addGrant(memory, { scope: 'others', resourceOwnerId: bob.id });
  await addGrant(memory, { scope: '', clientId: two.id });
  assert.deepEqual(new Set(await granted()), new Set(['read', 'write', 'admin']));
  assert.deepEqual(await granted(letters), ['letters']);
  assert.equal(await granted(letters, one.id, true), null);
  await addGrant(memory, { scope: 'default', resource: letters, resourceIsDefault: true });
  assert.deepEqual(await granted(letters, one.id, true), ['default'], 'its tokens are good at /v2/me as well');
  assert.deepEqual(await granted(letters), ['letters']);
  assert.deepEqual(await granted(null, two.id), [], 'a grant without scopes is a grant');
  for (const none of ['https://other.test', `${letters}/`, '']) assert.equal(await granted(none), null, none);
});

test('design: what is expired, revoked or was not redeemed is no access that an app has already', async (context) => {
  const { memory, registry } = await setUp(context);
  const granted = async () => (await registry.earlierConsent(ada.id, one.id, issuedGrant))?.granted ?? null;
  await addGrant(memory, { expiresAt: NOW });
  await addGrant(memory, { generation: 0, accessTokenExpiresAt: null });
  await addGrant(memory, { revokedAt: NOW, revocationReason: 'user' });
  assert.equal(await granted(), null);
  await addGrant(memory);
  assert.deepEqual(await granted(), ['read', 'write']);
  await registry.disconnect(ada.id, one.id, user);
  assert.equal(await granted(), null);
  const epochs = (await memory.store.findEpochs(one.id, ada.id)) ?? assert.fail();
  await addGrant(memory, { epochs });
  await memory.store.revokeClientGrants(one.id, event);
  assert.equal(await granted(), null);
});

test('RFC 6749 §3.3: of two decisions on a scope the later one holds', async (context) => {
  const { memory, registry } = await setUp(context);
  const left = async () => (await registry.earlierConsent(ada.id, one.id, issuedGrant))?.leftOut;
  await addGrant(memory, { scope: 'read', leftOut: 'write admin', grantedAt: NOW - 3 });
  assert.deepEqual(await left(), ['write', 'admin']);
  await addGrant(memory, { scope: 'read write', leftOut: '', grantedAt: NOW - 2 });
  assert.deepEqual(await left(), ['admin']);
  await addGrant(memory, { scope: 'admin', leftOut: 'write', grantedAt: NOW - 1 });
  assert.deepEqual(await left(), ['write']);
  await addGrant(memory, { scope: 'write', leftOut: 'admin', resource: 'https://letters.test' });
  assert.deepEqual(await left(), ['write'], 'of another resource');
});

test('interface: the operator ends one grant by its id, once', async (context) => {
  const { memory, registry } = await setUp(context);
  const grant = await addGrant(memory);
  const id = grantIdText(grant.id);
  await registry.revoke(id.toUpperCase(), operator);
  const [recorded] = await memory.store.listAuditEvents({ limit: 1 });
  assert.deepEqual([recorded?.action, recorded?.grantId, recorded?.clientId], ['grant_revoked', id, one.id]);
  await assert.rejects(registry.revoke(id, operator), /ended already/);
  for (const unknown of [grantIdText(newGrantId(NOW)), 'x', ''])
    await assert.rejects(registry.revoke(unknown, operator), /there is no grant/);
});

test('interface: the operator ends every grant of the installation', async (context) => {
  const { memory, registry } = await setUp(context);
  await addGrant(memory);
  await addGrant(memory, { resourceOwnerId: bob.id, clientId: two.id });
  await registry.revokeAll(operator);
  assert.deepEqual([...(await registry.connectedApps(ada.id)), ...(await registry.connectedApps(bob.id))], []);
  assert.equal((await registry.list({ limit: 10 })).length, 2, 'they are still listed');
});
