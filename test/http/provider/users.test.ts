// What an identity provider asks about its people, on each store: one test for each promise.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountStore } from '../../../src/accounts/people/store.ts';
import { allAccounts } from '../../support/all-accounts.ts';
import { Browser } from '../../support/browser.ts';
import {
  assertRefused,
  auditActions,
  authorizeUrl,
  exchange,
  me,
  pairOf,
  postBody,
  type TestClient,
} from '../../support/flow.ts';
import {
  askUsers,
  atProvider,
  requestOf,
  signInThrough,
  state,
  storesWithProvider,
  type TestProvider,
  type WithProvider,
} from '../../support/provider.ts';
import { addClient, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';

const server = await sharedPostgres();
after(() => server.remove());

/** The first instance and the last, which are the same on SQLite. */
function ends({ instances }: WithProvider): [TestService, TestService] {
  return [instances[0] as TestService, instances.at(-1) as TestService];
}

/** A person allows an app: its pair. */
async function connect(service: TestService, provider: TestProvider, client: TestClient, subject = 'ada') {
  const browser = new Browser();
  const consent = await signInThrough(service, provider, browser, authorizeUrl(service, client), { subject });
  const allowed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow' });
  const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
  return { browser, ...pairOf(await exchange(service, client, code)) };
}

/** How many connections to PostgreSQL waited for a lock at the same time, at most, until something was done. */
async function mostWaiting({ database }: WithProvider, done: Promise<unknown>): Promise<number> {
  let [most, isDone] = [0, false];
  const settled = done.finally(() => (isDone = true)).catch(() => {});
  while (!isDone) {
    const [found] = await server.query<{ count: number }>(database, WAITING);
    most = Math.max(most, found?.count ?? 0);
    await Promise.race([settled, sleep(50)]);
  }
  return most;
}

/** Stops the instances and answers how often the server had to end a deadlock among them. */
async function deadlocks({ instances, database }: WithProvider): Promise<number> {
  await Promise.all(instances.map((instance) => instance.stop()));
  for (;;) {
    const [found] = await server.query<{ open: number; deadlocks: number }>(database, DEADLOCKS);
    // A connection hands on what it counted when it ends.
    if (found?.open === 1) return found.deadlocks;
    await sleep(50);
  }
}

const DEADLOCKS = `SELECT numbackends AS open, deadlocks::int FROM pg_stat_database WHERE datname = current_database()`;
const WAITING = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND wait_event_type = 'Lock'`;

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`what a provider asks about its people on ${store}`, { concurrency: true }, () => {
    test('PUT users makes one or many and brings them up to date; GET users shows them everywhere', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const put = (members: Record<string, unknown>) => askUsers(one, world.provider, 'PUT ', members);
      const made = await put({ subject: 'ada', name: 'Ada', email: 'ada@example.com', email_verified: true });
      assert.deepEqual([made.status, made.body, made.headers.get('cache-control')], [204, {}, 'no-store']);
      assert.equal(
        (
          await put({
            users: [
              { subject: 'ada', name: null },
              { subject: 'eve', username: 'e' },
            ],
          })
        ).status,
        204,
      );
      const ada = await askUsers(two, world.provider, 'GET ?subject=ada');
      assert.match(String(ada.body['id']), /^usr_/);
      const { id: _, ...rest } = ada.body;
      assert.deepEqual(rest, {
        subject: 'ada',
        status: 'active',
        email: 'ada@example.com',
        email_verified: true,
        name: null,
        username: null,
        avatar_url: null,
      });
      assert.equal((await askUsers(two, world.provider, 'GET ?subject=eve')).body['username'], 'e');
      await signInThrough(one, world.provider, new Browser(), `${one.appUrl}/account/apps`);
      assert.equal((await allAccounts(one.installation.accounts)).length, 2, 'who signs in then is the same person');
      const events = await one.installation.audit.listAuditEvents({ limit: 10 });
      const told = events.filter(({ actor }) => actor.kind === 'provider').map(({ action }) => action);
      assert.deepEqual(told.slice(-3).sort(), ['user_added', 'user_added', 'user_updated']);
    });

    test('PUT users is all or nothing, and an error names index and field', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const put = (members: Record<string, unknown>) => askUsers(one, world.provider, 'PUT ', members);
      const wrong: [Record<string, unknown>, RegExp][] = [
        [{ users: [{ subject: 'a' }, { subject: 'b', email: 7 }] }, /^users\[1\]\.email /],
        [{ users: [{ subject: 'a' }, { name: 'b' }] }, /^users\[1\]\.subject /],
        [{ users: [{ subject: 'a' }, { subject: 'a' }] }, /^users\[1\]\.subject .* users\[0\]/],
        [{ users: [{ subject: 'a' }, null] }, /^users\[1\] must be an object/],
        [{ users: Array.from({ length: 201 }, (_, n) => ({ subject: `n${n}` })) }, /^users must /],
        [{ users: [] }, /^users must /],
        [{ users: [{ subject: 'a' }], subject: 'b' }, /^send either /],
        [{ subject: 'a b' }, /^subject: /],
        [{}, /^subject is required/],
      ];
      for (const [members, text] of wrong) {
        const refused = await put(members);
        assertRefused(refused, 400, 'invalid_request');
        assert.match(String(refused.body['error_description']), text);
      }
      assert.equal((await put({ subject: 'a', name: 'x'.repeat(70_000) })).status, 413);
      assert.equal(await one.installation.accounts.hasAny(), false);
    });

    test('PUT users: many that write the same 200 people at once all get 204, and all people are as one of them said', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      // The first round makes them, the second one changes them.
      for (const round of ['first', 'second']) {
        const write = async (writer: number) => {
          const users = Array.from({ length: 200 }, (_, n) => ({ subject: `n${n}`, name: `${round} ${writer}` }));
          const sent = { users: writer % 2 === 0 ? users : users.toReversed() };
          return (await askUsers(writer < 10 ? one : two, world.provider, 'PUT ', sent)).status;
        };
        const writing = Promise.all(Array.from({ length: 12 }, (_, writer) => write(writer)));
        const waited = store === 'PostgreSQL' ? await mostWaiting(world, writing) : 0;
        assert.deepEqual(new Set(await writing), new Set([204]));
        assert.ok(waited <= 1, `${waited} connections waited for the rows of another`);
        const people = await allAccounts(one.installation.accounts);
        assert.equal(people.length, 200);
        const names = new Set(people.map(({ name }) => name));
        assert.equal(names.size, 1, [...names].join(', '));
        assert.match([...names].join(), new RegExp(`^${round} `));
      }
      if (store === 'PostgreSQL') assert.equal(await deadlocks(world), 0);
    });

    test('PUT users: of two at once that say different things of a person both are kept', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      await askUsers(one, world.provider, 'PUT ', { subject: 'ada' });
      for (let round = 0; round < 10; round += 1) {
        const [name, email] = [`Ada ${round}`, `ada${round}@example.com`];
        await Promise.all([
          askUsers(one, world.provider, 'PUT ', { subject: 'ada', name }),
          askUsers(two, world.provider, 'PUT ', { subject: 'ada', email }),
        ]);
        const { body } = await askUsers(one, world.provider, 'GET ?subject=ada');
        assert.deepEqual([body['name'], body['email']], [name, email]);
      }
    });

    test('POST users/disable ends sessions and stops apps on every instance; enable brings the apps back', async (t) => {
      const world = await start(t, { sessionLifetime: 43_200 });
      const [one, two] = ends(world);
      const { browser, accessToken } = await connect(one, world.provider, await addClient(one));
      const post = (what: string) => askUsers(one, world.provider, `POST /${what}`, { subject: 'ada' });
      assert.equal((await me(two, accessToken)).status, 200);
      assert.deepEqual([(await post('disable')).status, (await me(two, accessToken)).status], [204, 401]);
      assert.equal((await post('disable')).status, 204, 'twice is no error');
      atProvider(await browser.get(`${two.appUrl}/account/apps`));
      const shown = await askUsers(two, world.provider, 'GET ?subject=ada');
      assert.equal(shown.body['status'], 'disabled');
      const request = requestOf(await new Browser().get(`${two.appUrl}/account/apps`));
      assertRefused(await state(two, world.provider, request), 403, 'access_denied');
      assert.deepEqual([(await post('enable')).status, (await me(two, accessToken)).status], [204, 200]);
      const events = await one.installation.audit.listAuditEvents({ action: 'user_disabled', limit: 5 });
      assert.deepEqual(
        events.map(({ actor }) => `${actor.kind} ${actor.id}`),
        ['provider product'],
      );
    });

    test('POST users/end-sessions ends the sessions on every instance, and no grant', async (t) => {
      const world = await start(t, { sessionLifetime: 43_200 });
      const [one, two] = ends(world);
      const { browser, accessToken } = await connect(one, world.provider, await addClient(one));
      assert.equal((await browser.get(`${two.appUrl}/account/apps`)).status, 200);
      const ended = await askUsers(one, world.provider, 'POST /end-sessions', { subject: 'ada' });
      assert.equal(ended.status, 204);
      atProvider(await browser.get(`${two.appUrl}/account/apps`));
      assert.equal((await me(two, accessToken)).status, 200);
    });

    for (const ownIds of [false, true])
      test(`POST users/delete: who signs in again is somebody new, and old tokens stay dead${ownIds ? ', with --own-ids' : ''}`, async (t) => {
        const world = await start(t, { ownIds });
        const [one, two] = ends(world);
        const client = await addClient(one);
        const before = await connect(one, world.provider, client);
        const { id } = (await askUsers(one, world.provider, 'GET ?subject=ada')).body;
        assert.equal((await me(two, before.accessToken)).status, 200);
        const erased = await askUsers(one, world.provider, 'POST /delete', { subject: 'ada' });
        assert.deepEqual([erased.status, (await me(two, before.accessToken)).status], [204, 401]);
        assertRefused(await askUsers(two, world.provider, 'GET ?subject=ada'), 404, 'not_found');
        const again = await connect(two, world.provider, client);
        assert.equal((await askUsers(one, world.provider, 'GET ?subject=ada')).body['id'] === id, ownIds);
        assert.equal((await me(one, again.accessToken)).status, 200);
        for (const each of [one, two]) assert.equal((await me(each, before.accessToken)).status, 401);
        const left = await askUsers(one, world.provider, 'GET /connections?subject=ada');
        assert.equal((left.body['connections'] as unknown[]).length, 1);
      });

    test('GET users/connections is what Connected apps shows; revoke takes an app back on every instance', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const client = await addClient(one);
      const { accessToken } = await connect(one, world.provider, client);
      const eve = await connect(one, world.provider, client, 'eve');
      const list = async () => {
        const { body } = await askUsers(two, world.provider, 'GET /connections?subject=ada');
        return body['connections'] as Record<string, unknown>[];
      };
      const granted_at = new Date(one.clock.now()).toISOString();
      const [connection] = await list();
      const { connection_id, expires_at, expires_at_the_latest, ...shown } = connection ?? {};
      assert.match(String(connection_id), /^[\w-]+$/);
      assert.ok(String(expires_at) <= String(expires_at_the_latest) && String(expires_at) > granted_at);
      assert.deepEqual(
        { ...shown, last_used_at: null },
        {
          ...{
            client_id: client.clientId,
            name: 'Test App',
            scope: '',
            permissions: [],
            granted_at,
            last_used_at: null,
          },
          ...{ publisher: null, homepage: null, privacy_page: null, contact: null, is_checked: false },
          ...{
            host: null,
            redirect_hosts: ['client.example'],
            signs_in: false,
            profile: ['name'],
            device: false,
            is_waiting: false,
          },
        },
      );
      const revoke = () =>
        askUsers(one, world.provider, 'POST /connections/revoke', { subject: 'ada', client_id: client.clientId });
      assert.deepEqual([(await revoke()).status, (await me(two, accessToken)).status], [204, 401]);
      assert.equal((await me(two, eve.accessToken)).status, 200, 'of this person alone');
      assert.deepEqual([await list(), (await revoke()).status], [[], 204]);
      const [event] = await one.installation.audit.listAuditEvents({ action: 'grant_revoked', limit: 1 });
      assert.deepEqual([event?.actor.kind, event?.clientId], ['provider', client.clientId]);
    });

    test('a call that waits while its provider is paused, or loses its right or its secret, writes nothing', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const { audit, identityProviders, operator } = one.installation;
      await askUsers(one, world.provider, 'PUT ', { subject: 'ada', name: 'Ada' });
      const shown = async () => (await askUsers(one, world.provider, 'GET ?subject=ada')).body;
      const before = await shown();
      let provider = world.provider;
      const takings: Record<string, [take: () => Promise<unknown>, giveBack: () => Promise<unknown>]> = {
        paused: [
          () => identityProviders.pause('product', operator),
          () => identityProviders.resume('product', operator),
        ],
        'without the right': [
          () => identityProviders.update('product', { rights: ['sign-in'] }, operator),
          () => identityProviders.update('product', { rights: ['sign-in', 'users'] }, operator),
        ],
        'without the secret': [
          async () => {
            const { secret } = await identityProviders.rotateSecret('product', operator);
            await identityProviders.retireSecret('product', operator);
            provider = { id: 'product', secret };
          },
          async () => undefined,
        ],
      };
      const store = audit as unknown as Pick<AccountStore, 'findIdentity' | 'findPeople'>;
      const { findIdentity, findPeople } = store;
      const calls: Record<string, Record<string, unknown>> = {
        'PUT ': { subject: 'ada', name: 'Eve' },
        'POST /disable': { subject: 'ada' },
        'POST /end-sessions': { subject: 'ada' },
        'POST /delete': { subject: 'ada' },
        'POST /connections/revoke': { subject: 'ada', client_id: 'app_example' },
      };
      const told = async () => (await auditActions(one)).filter((action) => action.startsWith('user_'));
      const toldBefore = await told();
      for (const [how, [take, giveBack]] of Object.entries(takings))
        for (const [call, members] of Object.entries(calls)) {
          // The call has proven itself, and reads whom it is about.
          store.findIdentity = async (...asked) => [await findIdentity(...asked), await take()][0] as never;
          store.findPeople = async (...asked) => [await findPeople(...asked), await take()][0] as never;
          const answer = await askUsers(one, provider, call, members);
          Object.assign(store, { findIdentity, findPeople });
          await giveBack();
          assertRefused(answer, 401, 'invalid_client', `${call}, ${how}`);
        }
      Object.assign(world.provider, provider);
      assert.deepEqual(await told(), toldBefore);
      assert.deepEqual(await shown(), before);
    });

    test('a provider reaches its own subjects alone, and only with the right "users"', async (t) => {
      const world = await start(t, {}, {}, [{ id: 'other' }, { id: 'without', rights: ['sign-in'] }]);
      const [one, two] = ends(world);
      const [other, without] = world.others as [TestProvider, TestProvider];
      await askUsers(one, world.provider, 'PUT ', { subject: 'ada', name: 'Ada' });
      const calls = ['disable', 'enable', 'delete', 'end-sessions', 'connections/revoke'].map(
        (path) => `POST /${path}`,
      );
      for (const call of [...calls, 'GET ?subject=ada', 'GET /connections?subject=ada']) {
        const client_id = call.endsWith('revoke') ? 'app_example' : undefined;
        const members = call.startsWith('GET') ? undefined : { subject: 'ada', client_id };
        assertRefused(await askUsers(two, other, call, members), 404, 'not_found', call);
        assertRefused(await askUsers(two, without, call, members), 403, 'unauthorized_client', call);
        assertRefused(
          await askUsers(two, { ...world.provider, secret: 'x' }, call, members),
          401,
          'invalid_client',
          call,
        );
      }
      assertRefused(await askUsers(two, without, 'PUT ', { subject: 'ada' }), 403, 'unauthorized_client');
      assert.equal((await askUsers(two, other, 'PUT ', { subject: 'ada', name: 'Eve' })).status, 204);
      assert.equal((await askUsers(two, world.provider, 'GET ?subject=ada')).body['name'], 'Ada', 'another’s ada');
    });

    test('credentials are taken by Basic, or in the body where there is one', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const { id: client_id, secret: client_secret } = world.provider;
      const url = `${one.appUrl}/api/auth/oauth/users`;
      await askUsers(one, world.provider, 'PUT ', { subject: 'ada' });
      const said = { client_id, client_secret, subject: 'ada' };
      const response = await fetch(`${url}/disable`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(said),
      });
      assert.equal(response.status, 204);
      const revoked = await postBody(`${url}/connections/revoke`, said);
      assertRefused(revoked, 400, 'invalid_request');
      assert.match(String(revoked.body['error_description']), /^client_id is the app here/);
    });

    test('calls that end something have a budget of their own: a synchronization never keeps them waiting, nor they it', async (t) => {
      const world = await start(t);
      const [one] = ends(world);
      const ask = (call: string, members?: object) => askUsers(one, world.provider, call, members as never);
      assert.equal((await ask('PUT ', { subject: 'ada' })).status, 204);
      while ((await ask('GET ?subject=ada')).status !== 429);
      for (const act of ['/end-sessions', '/disable'])
        assert.equal((await ask(`POST ${act}`, { subject: 'ada' })).status, 204);
      const revoke = () => ask('POST /connections/revoke', { subject: 'ada', client_id: 'app_x' });
      assert.equal((await revoke()).status, 204);
      assertRefused(await ask('POST /enable', { subject: 'ada' }), 429, 'temporarily_unavailable');
      while ((await revoke()).status !== 429);
      assertRefused(await ask('POST /delete', { subject: 'ada' }), 429, 'temporarily_unavailable');
      one.clock.advance(10);
      assert.equal((await ask('POST /delete', { subject: 'ada' })).status, 204);
    });

    test('100 calls in 10 s for a provider, all instances together; then 429 says when to come back', async (t) => {
      const world = await start(t);
      const [one, two] = ends(world);
      const ask = (service: TestService) => askUsers(service, world.provider, 'GET ?subject=nobody');
      for (let n = 0; n < 100; n += 1) assert.equal((await ask(one)).status, 404);
      const refused = await ask(one);
      assertRefused(refused, 429, 'temporarily_unavailable');
      assert.equal(refused.headers.get('retry-after'), '1');
      assert.equal(refused.headers.get('ratelimit'), '"default";r=0;t=1');
      // Another instance learns of it with the answer to one of its first counts.
      let asked = 0;
      while ((await ask(two)).status !== 429 && asked < 90) asked += 1;
      assert.ok(asked < 90, 'what one instance counted is counted for all');
      one.clock.advance(10);
      assert.equal((await ask(two)).status, 404);
    });
  });
