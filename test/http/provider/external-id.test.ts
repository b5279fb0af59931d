// What APIs and chosen apps hear of what a product calls its people, on each store.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser } from '../../support/browser.ts';
import { authorizeUrl, exchange, me, pairOf, refresh } from '../../support/flow.ts';
import { askUsers, signInThrough, storesWithProvider, type TestProvider } from '../../support/provider.ts';
import { addClient, addUser, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { addResourceServer, introspect } from '../../support/standard.ts';

const server = await sharedPostgres();
after(() => server.remove());

type Client = Awaited<ReturnType<typeof addClient>>;

/** The pair of a new grant that somebody allows who signs in at the provider. */
async function pairThrough(service: TestService, provider: TestProvider, client: Client, subject: string) {
  const browser = new Browser();
  const consent = await signInThrough(service, provider, browser, authorizeUrl(service, client), { subject });
  const allowed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow' });
  const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
  return pairOf(await exchange(service, client, code));
}

async function dataOf(service: TestService, accessToken: string): Promise<Record<string, unknown>> {
  const { status, body } = await me(service, accessToken);
  assert.equal(status, 200);
  return body['data'] as Record<string, unknown>;
}

const PUBLISHED = ['id', 'username', 'email', 'name', 'avatar_url'];

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`external_id on ${store}`, () => {
    test('external_id: APIs are told it, apps only while the operator wants it, seen by the next check', async (t) => {
      const world = await start(t);
      const one = world.instances[0] as TestService;
      const two = world.instances.at(-1) as TestService;
      const [client, other, api] = [await addClient(one), await addClient(one), await addResourceServer(one)];
      const { accessToken, refreshToken } = await pairThrough(one, world.provider, client, 'Ada#17');
      for (const service of [one, two]) {
        assert.deepEqual(Object.keys(await dataOf(service, accessToken)), PUBLISHED);
        assert.equal((await introspect(service, api, accessToken)).body['external_id'], 'Ada#17');
      }
      const { clients, operator } = one.installation;
      await clients.update(client.clientId, { seesExternalId: true }, operator);
      for (const service of [two, one]) assert.equal((await dataOf(service, accessToken))['external_id'], 'Ada#17');
      const next = pairOf(await refresh(two, client, refreshToken));
      assert.equal((await dataOf(one, next.accessToken))['external_id'], 'Ada#17');
      const others = await pairThrough(one, world.provider, other, 'Ada#17');
      assert.deepEqual(Object.keys(await dataOf(one, others.accessToken)), PUBLISHED, 'not the other app');
      await clients.update(client.clientId, { seesExternalId: false }, operator);
      for (const service of [two, one])
        assert.deepEqual(Object.keys(await dataOf(service, next.accessToken)), PUBLISHED);
    });

    test('external_id: it is the subject of this grant’s sign-in, whoever else the account is', async (t) => {
      const world = await start(t);
      const [one] = world.instances as [TestService];
      const [client, api] = [await addClient(one, { seesExternalId: true }), await addResourceServer(one)];
      const ada = await addUser(one);
      const { links, operator } = one.installation;
      await links.link({ account: ada.id, provider: 'product', subject: 'a-1' }, operator);
      const first = await pairThrough(one, world.provider, client, 'a-1');
      await links.link({ account: ada.id, provider: 'product', subject: 'a-2' }, operator);
      const second = await pairThrough(one, world.provider, client, 'a-2');
      const told = async (accessToken: string) => [
        (await dataOf(one, accessToken))['id'],
        (await dataOf(one, accessToken))['external_id'],
        (await introspect(one, api, accessToken)).body['external_id'],
      ];
      assert.deepEqual(await told(first.accessToken), [ada.id, 'a-1', 'a-1']);
      assert.deepEqual(await told(second.accessToken), [ada.id, 'a-2', 'a-2']);
      await askUsers(one, world.provider, 'POST /delete', { subject: 'a-1' });
      assert.deepEqual((await introspect(one, api, second.accessToken)).body, { active: false });
    });

    test('external_id: with --own-ids the id says it, and nothing else does', async (t) => {
      const world = await start(t, { ownIds: true });
      const [one] = world.instances as [TestService];
      const [client, api] = [await addClient(one, { seesExternalId: true }), await addResourceServer(one)];
      const { accessToken } = await pairThrough(one, world.provider, client, 'ada');
      const data = await dataOf(one, accessToken);
      assert.deepEqual([data['id'], Object.keys(data)], ['ada', PUBLISHED]);
      const { body } = await introspect(one, api, accessToken);
      assert.deepEqual([body['sub'], 'external_id' in body], ['ada', false]);
    });
  });
