import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { OperatorError, Refusal } from '../../src/oauth/error.ts';
import { authenticateResourceServer } from '../../src/oauth/resource-servers/resource-server.ts';
import {
  ResourceServerRegistry,
  type ResourceServerSettings,
} from '../../src/operator/products-and-apis/resource-server-registry.ts';
import { type Memory, openMemory, operator } from '../oauth/memory.ts';
import { keyring, PREFIX } from '../oauth/samples.ts';

const OWN_RESOURCE = 'https://api.test';
const settings: ResourceServerSettings = {
  name: 'Letters',
  resource: 'https://letters.test',
  acceptsUnbound: false,
  scopes: ['read'],
};

async function setUp(context: TestContext): Promise<Memory & { registry: ResourceServerRegistry }> {
  const memory = await openMemory(context);
  const parts = {
    store: memory.store,
    keyring,
    prefix: PREFIX,
    ownResource: OWN_RESOURCE,
    now: () => memory.clock.now,
  };
  return { ...memory, registry: new ResourceServerRegistry(parts) };
}

const wrongSettings: [string, Partial<ResourceServerSettings>, RegExp][] = [
  ['an empty name', { name: '' }, /1 to 100 characters/],
  ['a space around the name', { name: 'Letters ' }, /no space around/],
  ['a name with a direction character', { name: 'Let\u202eters' }, /invisible/],
  ['no scopes at all', { scopes: [] }, /sees no scope would refuse every token/],
  ['a scope twice', { scopes: ['read', 'read'] }, /twice/],
  ['a scope with a space', { scopes: ['a b'] }, /printable ASCII/],
  ['101 scopes', { scopes: Array.from({ length: 101 }, (_, n) => `s${n}`) }, /at most 100/],
  ['RFC 8707 §2: a resource that is no URI', { resource: 'letters' }, /absolute URI/],
  ['RFC 8707 §2: a resource with a fragment', { resource: 'https://letters.test#x' }, /fragment/],
  ['RFC 8707 §2: an empty resource', { resource: '' }, /1 to 500/],
  ['this service’s own API as resource', { resource: OWN_RESOURCE }, /own API/],
];
for (const [name, wrong, message] of wrongSettings) {
  test(`refused when registering and when updating, and nothing is changed: ${name}`, async (context) => {
    const { registry, store } = await setUp(context);
    const refusedWith = (error: unknown) => error instanceof OperatorError && message.test(error.message);
    await assert.rejects(registry.register({ ...settings, ...wrong }, operator), refusedWith);
    assert.deepEqual(await registry.list(), []);
    const { row: resourceServer } = await registry.register(settings, operator);
    await assert.rejects(registry.update(resourceServer.id, wrong, operator), refusedWith);
    assert.deepEqual(await registry.show(resourceServer.id), resourceServer);
    assert.equal((await store.listAuditEvents({ limit: 10 })).length, 1);
  });
}

test('RFC 7662 §2.1: a resource server is registered with a secret that is shown this once, and works', async (context) => {
  const { registry, store } = await setUp(context);
  const { row: resourceServer, secret } = await registry.register(settings, operator);
  assert.match(resourceServer.id, /^rs_[0-9a-hjkmnp-tv-z]{16}$/);
  assert.match(secret, /^vk_rs_/);
  const stored = await registry.show(resourceServer.id);
  assert.deepEqual(stored, resourceServer);
  assert.equal(authenticateResourceServer(stored, { id: stored.id, secret }), stored);
  const [event] = await store.listAuditEvents({ limit: 1 });
  assert.deepEqual([event?.action, event?.clientId], ['resource_server_registered', stored.id]);
  for (const each of [stored, event]) assert.ok(!JSON.stringify(each).includes(secret));
  assert.deepEqual(await store.listResources(), ['https://letters.test']);
});

test('design: a resource server may be for any resource and all scopes, and two may share a resource', async (context) => {
  const { registry } = await setUp(context);
  const any = await registry.register({ name: 'Any', resource: null, scopes: null }, operator);
  assert.deepEqual([any.row.resource, any.row.scopes], [null, null]);
  const [one, two] = [await registry.register(settings, operator), await registry.register(settings, operator)];
  assert.notEqual(one.row.id, two.row.id);
  assert.equal((await registry.list()).length, 3);
});

test('ASVS 15.3.3: what an operator may not decide is not taken from the settings', async (context) => {
  const { registry } = await setUp(context);
  const { row: resourceServer } = await registry.register(
    {
      ...settings,
      id: 'rs_chosen',
      secrets: [],
      createdAt: 0,
    } as never,
    operator,
  );
  assert.notEqual(resourceServer.id, 'rs_chosen');
  assert.equal(resourceServer.secrets.length, 1);
});

test('design: an update changes what it names, and no secret', async (context) => {
  const { registry, store } = await setUp(context);
  const { row: resourceServer } = await registry.register(settings, operator);
  const { id } = resourceServer;
  assert.deepEqual(await registry.update(id, { scopes: null }, operator), { ...resourceServer, scopes: null });
  assert.deepEqual(await registry.update(id, { resource: null, name: 'L' }, operator), await registry.show(id));
  assert.deepEqual(await registry.show(id), { ...resourceServer, scopes: null, resource: null, name: 'L' });
  const [event] = await store.listAuditEvents({ limit: 1 });
  assert.deepEqual(
    [event?.action, event?.clientId, event?.detail],
    [
      'resource_server_updated',
      id,
      '{"changes":[{"name":"resource","removed":["https://letters.test"],"added":[]},{"name":"name","removed":["Letters"],"added":["L"]}]}',
    ],
  );
});

test('a secret is rotated and the older one retired, never more than two, never the last', async (context) => {
  const { registry } = await setUp(context);
  const { row: resourceServer, secret: old } = await registry.register(settings, operator);
  const { id } = resourceServer;
  await assert.rejects(registry.retireSecret(id, operator), /only one secret is live/);
  const { secret: fresh } = await registry.rotateSecret(id, operator);
  await assert.rejects(registry.rotateSecret(id, operator), /two secrets are live/);
  const works = async (secret: string) =>
    !(authenticateResourceServer(await registry.show(id), { id, secret }) instanceof Refusal);
  assert.deepEqual([await works(old), await works(fresh)], [true, true]);
  await registry.retireSecret(id, operator);
  assert.deepEqual([await works(old), await works(fresh)], [false, true]);
});

test('ASVS 15.4.2: of two operators who rotate a secret at once one is told to look again', async (context) => {
  const { registry } = await setUp(context);
  const { id } = (await registry.register(settings, operator)).row;
  const both = await Promise.allSettled([registry.rotateSecret(id, operator), registry.rotateSecret(id, operator)]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  assert.equal((await registry.show(id)).secrets.length, 2);
});

test('design: every act on a resource server that is not there says so', async (context) => {
  const { registry } = await setUp(context);
  const { id } = (await registry.register(settings, operator)).row;
  await registry.delete(id, operator);
  const acts = [
    registry.show(id),
    registry.update(id, {}, operator),
    registry.rotateSecret(id, operator),
    registry.retireSecret(id, operator),
    registry.delete(id, operator),
  ];
  for (const act of acts) await assert.rejects(act, /there is no API/);
});
