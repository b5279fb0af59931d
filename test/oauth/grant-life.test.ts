/** A grant's whole life: what ended it is found, whoever did, alone or with many others, and after its row is gone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantRegistry } from '../../src/oauth/connected-apps/grant-registry.ts';
import { OperatorError } from '../../src/oauth/error.ts';
import { grantIdText, newGrantId } from '../../src/oauth/grants/grant.ts';
import { type AuditAction, auditEvent } from '../../src/oauth/trail/audit.ts';
import { ada, addAccount, type Memory, openMemory, operator } from './memory.ts';
import { activeGrant, confidentialClient, NOW } from './samples.ts';

const client = confidentialClient;
const user = { kind: 'user', id: ada.id, source: '::1', requestId: 'r' } as const;

async function setUp(context: Parameters<typeof openMemory>[0]) {
  const memory = await openMemory(context);
  await addAccount(memory, ada);
  await memory.store.registerClient(
    client,
    auditEvent('client_registered', operator, NOW, { clientId: client.id }, { name: client.name }),
  );
  const grant = { ...activeGrant, id: newGrantId(NOW), epochs: { installation: 0, client: 0, resourceOwner: 0 } };
  const about = { grantId: grantIdText(grant.id), clientId: client.id, resourceOwnerId: ada.id };
  await memory.store.issueGrant(grant, auditEvent('consent_allowed', user, NOW, about, { scopes: ['read'] }));
  memory.clock.now += 5000;
  return { memory, grant, about, id: about.grantId, registry: new GrantRegistry(memory.store, () => memory.clock.now) };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;
const later = (
  action: AuditAction,
  about: object,
  { clock }: Memory,
  actor: typeof user | typeof operator = operator,
) => auditEvent(action, actor, clock.now, about);

/** What ends a grant, and the action by which its life says so. */
const ENDINGS: [says: AuditAction, end: (set: SetUp) => Promise<unknown>][] = [
  ['grant_revoked', ({ registry, id }) => registry.revoke(id, operator)],
  [
    'refresh_reuse',
    ({ memory, grant, about }) =>
      memory.store.revokeGrant(grant.id, 'refresh_reuse', later('refresh_reuse', about, memory)),
  ],
  ['grant_revoked', ({ registry }) => registry.disconnect(ada.id, client.id, user)],
  ['all_grants_revoked', ({ registry }) => registry.revokeAll(operator)],
  [
    'client_grants_revoked',
    ({ memory }) =>
      memory.store.revokeClientGrants(client.id, later('client_grants_revoked', { clientId: client.id }, memory)),
  ],
  [
    'user_grants_revoked',
    ({ memory }) =>
      memory.store.revokeAccountGrants(ada.id, later('user_grants_revoked', { resourceOwnerId: ada.id }, memory)),
  ],
  [
    'client_deleted',
    ({ memory }) => memory.store.deleteClient(client.id, later('client_deleted', { clientId: client.id }, memory)),
  ],
  [
    'user_deleted',
    ({ memory }) => memory.store.deleteAccount(ada.id, later('user_deleted', { resourceOwnerId: ada.id }, memory)),
  ],
];

for (const [action, end] of ENDINGS)
  test(`the life of a grant that ${action} ended says when and by whom, and not what came after`, async (context) => {
    const set = await setUp(context);
    const { memory, registry, id } = set;
    assert.equal((await registry.show(id)).ending, null);
    await end(set);
    const endedAt = memory.clock.now;
    memory.clock.now += 5000;
    await registry.revokeAll(operator);
    const life = await registry.show(id.toUpperCase());
    assert.equal(life.ending?.action, action);
    assert.equal(life.ending?.at, endedAt);
    assert.deepEqual(
      life.events.map((event) => event.action),
      ['consent_allowed', action],
    );
  });

test('the life of a grant has no event of another one of the same user and app', async (context) => {
  const { memory, grant, registry, id } = await setUp(context);
  const other = { ...grant, id: newGrantId(memory.clock.now), grantedAt: memory.clock.now };
  const about = { grantId: grantIdText(other.id), clientId: client.id, resourceOwnerId: ada.id };
  await memory.store.issueGrant(other, later('consent_allowed', about, memory, user));
  await registry.revoke(about.grantId, operator);
  const life = await registry.show(id);
  assert.deepEqual([life.ending, life.events.length], [null, 1]);
});

test('a grant that nobody ever had is refused', async (context) => {
  const { registry } = await setUp(context);
  for (const id of ['', 'x', grantIdText(newGrantId(NOW))]) await assert.rejects(registry.show(id), OperatorError);
});

for (const action of ['client_grants_revoked', 'user_grants_revoked', 'all_grants_revoked', 'grant_revoked'] as const)
  test(`a grant that ${action} ended with others, and whose row is gone, says so from the trail`, async (context) => {
    const set = await setUp(context);
    const { memory, registry, id } = set;
    await registry.disconnect(ada.id, 'app_other', user);
    memory.clock.now += 5000;
    const [, end] = ENDINGS.findLast(([says]) => says === action) ?? [];
    await end?.(set);
    const endedAt = memory.clock.now;
    memory.clock.now += 5000;
    await registry.revokeAll(operator);
    await memory.store.deleteEndedGrants(ada.id, client.id, memory.clock.now);
    const { found, ending, isCut } = await registry.show(id);
    assert.deepEqual([found, ending?.action, ending?.at, isCut], [null, action, endedAt, false]);
  });

test('the search for an ending reads a bounded part of the trail, and says when it was not enough', async (context) => {
  const { memory, grant, registry, id } = await setUp(context);
  const busy = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        memory.store.recordSignInEvent(later('sign_out', { clientId: client.id }, memory)),
      ),
    );
  await busy(4095);
  await memory.store.revokeClientGrants(client.id, later('client_grants_revoked', { clientId: client.id }, memory));
  await memory.store.deleteEndedGrants(ada.id, client.id, memory.clock.now);
  const near = await registry.show(id);
  assert.deepEqual([near.ending?.action, near.isCut], ['client_grants_revoked', true]);

  const second = { ...grant, id: newGrantId(memory.clock.now), epochs: { ...grant.epochs, client: 1 } };
  const about = { grantId: grantIdText(second.id), clientId: client.id, resourceOwnerId: ada.id };
  await memory.store.issueGrant(second, later('consent_allowed', about, memory, user));
  await busy(4096);
  await memory.store.revokeClientGrants(client.id, later('client_grants_revoked', { clientId: client.id }, memory));
  await memory.store.deleteEndedGrants(ada.id, client.id, memory.clock.now);
  const far = await registry.show(about.grantId);
  assert.deepEqual([far.found, far.ending, far.isCut], [null, null, true]);
});
