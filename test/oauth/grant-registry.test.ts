import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditEvent } from '../../src/oauth/audit.ts';
import type { Client } from '../../src/oauth/client.ts';
import type { Grant } from '../../src/oauth/grant.ts';
import { grantIdText, newGrantId } from '../../src/oauth/grant.ts';
import { GrantRegistry } from '../../src/oauth/grant-registry.ts';
import { ada, addAccount, type Memory, openMemory, operator } from './memory.ts';
import { activeGrant, confidentialClient, NOW } from './samples.ts';

const one: Client = confidentialClient;
const two: Client = { ...confidentialClient, id: 'app_two', name: 'A second' };
const bob = { ...ada, id: 'usr_bob', email: 'bob@example.com', username: 'bob' };
const event = auditEvent('consent_allowed', operator, NOW, {});
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
  await addGrant(memory, { scope: 'read write', grantedAt: NOW - 5000, lastUsedAt: NOW - 10, generation: 1 });
  await addGrant(memory, { scope: 'write admin', grantedAt: NOW - 9000, lastUsedAt: NOW - 20, generation: 1 });
  await addGrant(memory, { clientId: two.id, scope: '', generation: 1, lastUsedAt: null });
  assert.deepEqual(await registry.connectedApps(ada.id), [
    { clientId: 'app_two', clientName: 'A second', scope: [], since: activeGrant.grantedAt, lastUsedAt: null },
    {
      clientId: 'app_one',
      clientName: 'One',
      scope: ['read', 'write', 'admin'],
      since: NOW - 9000,
      lastUsedAt: NOW - 10,
    },
  ]);
});

test('an app that was allowed a thousand times hides no other', async (context) => {
  const { memory, registry } = await setUp(context);
  await addGrant(memory, { clientId: two.id, grantedAt: NOW - 5000 });
  for (let time = 0; time < 1001; time += 1) await addGrant(memory, { grantedAt: NOW });
  assert.deepEqual(
    (await registry.connectedApps(ada.id)).map(({ clientId }) => clientId),
    ['app_two', 'app_one'],
  );
});

test('what is expired, revoked, not redeemed or another user’s is not shown', async (context) => {
  const { memory, registry } = await setUp(context);
  await addGrant(memory, { expiresAt: NOW });
  await addGrant(memory, { generation: 0, accessTokenExpiresAt: null });
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
  const granted = (resource: string | null = null, clientId = one.id) =>
    registry.grantedScope(ada.id, clientId, resource);
  assert.equal(await granted(), null);
  await addGrant(memory, { scope: 'write admin' });
  await addGrant(memory, { scope: 'read write' });
  await addGrant(memory, { scope: 'letters', resource: letters });
  await addGrant(memory, { scope: 'others', resourceOwnerId: bob.id });
  await addGrant(memory, { scope: '', clientId: two.id });
  assert.deepEqual(new Set(await granted()), new Set(['read', 'write', 'admin']));
  assert.deepEqual(await granted(letters), ['letters']);
  assert.deepEqual(await granted(null, two.id), [], 'a grant without scopes is a grant');
  for (const none of ['https://other.test', `${letters}/`, '']) assert.equal(await granted(none), null, none);
});

test('design: what is expired, revoked or was not redeemed is no access that an app has already', async (context) => {
  const { memory, registry } = await setUp(context);
  const granted = () => registry.grantedScope(ada.id, one.id, null);
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

test('interface: the operator ends one grant by its id, once', async (context) => {
  const { memory, registry } = await setUp(context);
  const grant = await addGrant(memory);
  const id = grantIdText(grant.id);
  await registry.revoke(id.toUpperCase(), operator);
  const [recorded] = await memory.store.listAuditEvents({ limit: 1 });
  assert.deepEqual([recorded?.action, recorded?.grantId, recorded?.clientId], ['grant_revoked', id, one.id]);
  await assert.rejects(registry.revoke(id, operator), /revoked already/);
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
