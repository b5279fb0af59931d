// What an identity provider is told when apps of its people are disconnected, on each store: one test for each promise.
import assert from 'node:assert/strict';
import { after, describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { grantIdText } from '../../../src/oauth/grants/grant.ts';
import { auditEvent } from '../../../src/oauth/trail/audit.ts';
import { Browser } from '../../support/browser.ts';
import {
  asJson,
  assertRefused,
  authorizeUrl,
  exchange,
  pairOf,
  postBody,
  refresh,
  type TestClient,
} from '../../support/flow.ts';
import {
  askUsers,
  type StartWithProvider,
  signInThrough,
  storesWithProvider,
  type TestProvider,
} from '../../support/provider.ts';
import { addClient, addUser, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { basic } from '../../support/standard.ts';
import { NO_CHAIN } from '../../support/storage.ts';

const server = await sharedPostgres();
after(() => server.remove());

/** An installation whose acts happen at the first instance, and whose streams are those of the last: on SQLite the same. */
async function setUp(
  t: TestContext,
  start: StartWithProvider,
  settings: Parameters<StartWithProvider>[1] = {},
  more: Parameters<StartWithProvider>[3] = [],
) {
  const world = await start(t, { sessionLifetime: 43_200, ...settings }, {}, more);
  const one = world.instances[0] as TestService;
  const two = world.instances.at(-1) as TestService;
  const [other = world.provider] = world.others;
  return { one, two, provider: world.provider, other, client: await addClient(one) };
}

/** A person allows an app: the browser, the code and the pair. */
async function connect(service: TestService, provider: TestProvider, client: TestClient, subject = 'ada') {
  const browser = new Browser();
  const consent = await signInThrough(service, provider, browser, authorizeUrl(service, client), { subject });
  const allowed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow' });
  const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
  return { browser, code, ...pairOf(await exchange(service, client, code)) };
}

/** A page of disconnects at an instance, and the answer that brought it. */
async function pageOf(service: TestService, provider: TestProvider, query: Record<string, string> = {}) {
  const answer = await askUsers(service, provider, `GET /disconnects?${new URLSearchParams(query)}`);
  const { disconnects, next, has_more: hasMore } = answer.body as Record<string, unknown>;
  return { answer, told: (disconnects ?? []) as Told[], next: String(next), hasMore };
}

type Told = { readonly at?: string; readonly subject?: string; readonly client_id?: string; readonly reason: string };

/** All that is told behind a cursor, without when. */
async function allAfter(service: TestService, provider: TestProvider, after: string, limit = '1000') {
  const told: object[] = [];
  for (let next = after; ; ) {
    const page = await pageOf(service, provider, { after: next, limit });
    assert.equal(page.answer.status, 200);
    told.push(...page.told.map(({ at: _, ...rest }) => rest));
    next = page.next;
    if (!page.hasMore) return { told, next };
  }
}

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`the list of disconnects on ${store}`, { concurrency: true }, () => {
    type World = Omit<Awaited<ReturnType<typeof setUp>>, 'other'> & {
      readonly connected: Awaited<ReturnType<typeof connect>>;
    };
    const acts: Record<string, [act: (world: World) => Promise<unknown>, told: object]> = {
      'the person disconnects it at /account/apps': [
        async ({ one, client, connected: { browser } }) => {
          const page = await browser.get(`${one.appUrl}/account/apps`);
          await browser.submit(page, '/account/apps/revoke', { client_id: client.clientId });
        },
        { reason: 'user' },
      ],
      'the product takes it back': [
        ({ one, provider, client }) =>
          askUsers(one, provider, 'POST /connections/revoke', { subject: 'ada', client_id: client.clientId }),
        { reason: 'provider' },
      ],
      'the app gives its token back': [
        ({ one, client, connected }) =>
          postBody(`${one.appUrl}/oauth2/revoke`, {
            client_id: client.clientId,
            client_secret: client.clientSecret,
            token: connected.refreshToken,
          }),
        { reason: 'app' },
      ],
      'an operator ends the grant': [
        async ({ one: { installation }, client: { clientId } }) => {
          const [listed] = await installation.grants.list({ clientId, limit: 1 });
          await installation.grants.revoke(grantIdText((listed ?? assert.fail()).grant.id), installation.operator);
        },
        { reason: 'operator' },
      ],
      'its code is replayed': [
        ({ one, client, connected }) => exchange(one, client, connected.code),
        { reason: 'reuse' },
      ],
      'a refresh token is reused': [
        async ({ one, client, connected }) => {
          const next = pairOf(await refresh(one, client, connected.refreshToken));
          await refresh(one, client, next.refreshToken);
          one.clock.advance(700);
          assertRefused(await refresh(one, client, connected.refreshToken), 400, 'invalid_grant');
        },
        { reason: 'reuse' },
      ],
      'an operator ends all grants of the person': [
        async ({ one: { installation }, one, provider }) => {
          const { id } = (await askUsers(one, provider, 'GET ?subject=ada')).body;
          await installation.accounts.revokeGrants(String(id), installation.operator);
        },
        { reason: 'operator', client_id: undefined },
      ],
      'an operator deletes the account': [
        async ({ one: { installation }, one, provider }) => {
          const { id } = (await askUsers(one, provider, 'GET ?subject=ada')).body;
          await installation.accounts.delete(String(id), installation.operator);
        },
        { reason: 'account_ended', client_id: undefined },
      ],
      'the product erases the person': [
        ({ one, provider }) => askUsers(one, provider, 'POST /delete', { subject: 'ada' }),
        { reason: 'account_ended', client_id: undefined },
      ],
      'an operator ends all grants of the app': [
        ({ one, client }) => one.installation.clients.revokeGrants(client.clientId, one.installation.operator),
        { reason: 'operator', subject: undefined },
      ],
      'an operator deletes the app': [
        ({ one, client }) => one.installation.clients.delete(client.clientId, one.installation.operator),
        { reason: 'operator', subject: undefined },
      ],
    };

    test('each way in which an app of a person ends is told, with whose and why, at another instance', async (t) => {
      const { one, two, provider } = await setUp(t, start);
      for (const [what, [act, said]] of Object.entries(acts)) {
        const client = await addClient(one);
        const connected = await connect(one, provider, client);
        const { next: after } = await pageOf(two, provider);
        const at = one.clock.now();
        await act({ one, two, provider, client, connected });
        const { told, hasMore } = await pageOf(two, provider, { after });
        const { at: when = '', ...data } = told[0] ?? assert.fail(what);
        const expected = { subject: 'ada', client_id: client.clientId, ...said };
        assert.deepEqual(data, JSON.parse(JSON.stringify(expected)), what);
        assert.ok(Date.parse(when) >= at && Date.parse(when) <= one.clock.now(), what);
        assert.deepEqual([told.length, hasMore], [1, false], `${what}: once`);
      }
    });

    test('with --own-ids the subject is the id of the account, also after it was erased', async (t) => {
      const { one, two, provider, client } = await setUp(t, start, { ownIds: true });
      const { next } = await pageOf(two, provider);
      for (let round = 0; round < 2; round += 1) {
        await connect(one, provider, client, '4711');
        await askUsers(one, provider, 'POST /connections/revoke', { subject: '4711', client_id: client.clientId });
        await askUsers(one, provider, 'POST /delete', { subject: '4711' });
      }
      const both = [
        { subject: '4711', client_id: client.clientId, reason: 'provider' },
        { subject: '4711', reason: 'account_ended' },
      ];
      assert.deepEqual((await allAfter(two, provider, next)).told, [...both, ...both]);
    });

    test('nobody hears of another provider’s people, of those with a password, or of what was before they were its own', async (t) => {
      const { one, two, provider, other, client } = await setUp(t, start, {}, [{ id: 'other' }]);
      const { installation, clock } = one;
      const { id: withPassword } = await addUser(one);
      await askUsers(one, other, 'PUT ', { subject: 'ada' });
      await connect(one, provider, client, 'ada');
      const { id: ours } = (await askUsers(one, provider, 'GET ?subject=ada')).body;
      const [mine, theirs] = [await pageOf(two, provider), await pageOf(two, other)];
      await installation.accounts.revokeGrants(withPassword, installation.operator);
      await askUsers(one, other, 'POST /delete', { subject: 'ada' });
      await askUsers(one, provider, 'POST /connections/revoke', { subject: 'ada', client_id: client.clientId });
      await installation.accounts.revokeGrants(String(ours), installation.operator);
      clock.advance(1);
      // Linked after it happened: then it is the other's business as well, but not what was before.
      const identity = { id: 'other:eve', providerId: 'other', accountId: String(ours), createdAt: clock.now() };
      await installation.audit.linkIdentity(identity, auditEvent('user_linked', installation.operator, 0, {}));
      await installation.accounts.revokeGrants(String(ours), installation.operator);
      await installation.grants.revokeAll(installation.operator);
      const everything = { reason: 'operator' };
      assert.deepEqual((await allAfter(two, other, theirs.next)).told, [
        { subject: 'ada', reason: 'account_ended' },
        { subject: 'eve', reason: 'operator' },
        everything,
      ]);
      assert.deepEqual((await allAfter(two, provider, mine.next)).told, [
        { subject: 'ada', client_id: client.clientId, reason: 'provider' },
        { subject: 'ada', reason: 'operator' },
        { subject: 'ada', reason: 'operator' },
        everything,
      ]);
    });

    test('pages follow each other without a gap or a repetition, whatever their limit; one reads at most 500 events', async (t) => {
      const { one, two, provider, client } = await setUp(t, start);
      const first = await pageOf(one, provider);
      assert.deepEqual([first.told, first.hasMore], [[], false]);
      const end = async (subject: string) => {
        await connect(one, provider, client, subject);
        await askUsers(one, provider, 'POST /connections/revoke', { subject, client_id: client.clientId });
        return { subject, client_id: client.clientId, reason: 'provider' };
      };
      const all: object[] = [await end('ada'), await end('eve'), await end('ada')];
      for (let n = 0; n < 6; n += 1) {
        const users = Array.from({ length: 200 }, (_, person) => ({ subject: `${n}-${person}` }));
        assert.equal((await askUsers(one, provider, 'PUT ', { users })).status, 204);
      }
      await askUsers(one, provider, 'POST /delete', { subject: 'eve' });
      all.push({ subject: 'eve', reason: 'account_ended' }, await end('ada'));
      const page = await pageOf(two, provider, { after: first.next });
      assert.deepEqual([page.told.length, page.hasMore], [3, true], 'the rest is behind 1,200 events');
      for (const limit of ['1', '2', '1000']) {
        const { told, next } = await allAfter(limit === '2' ? one : two, provider, first.next, limit);
        assert.deepEqual(told, all, limit);
        assert.deepEqual((await allAfter(one, provider, next)).told, []);
      }
      const newest = await pageOf(two, provider);
      assert.deepEqual(
        newest.told.map(({ at: _, ...rest }) => rest),
        all.slice(-2),
        'without a cursor: what the newest events tell',
      );
      assert.deepEqual((await allAfter(two, provider, newest.next)).told, []);
    });

    test('a cursor that is too old, somebody else’s or none at all is 410; a wrong limit is 400', async (t) => {
      const { one, two, provider, other } = await setUp(t, start, {}, [{ id: 'other' }]);
      const [mine, theirs] = [await pageOf(one, provider), await pageOf(one, other)];
      const ask = async (query: Record<string, string>) => (await pageOf(two, provider, query)).answer;
      assert.equal((await ask({ after: mine.next })).status, 200);
      for (const after of ['7', 'x'.repeat(2000), `${mine.next}A`, theirs.next])
        assertRefused(await ask({ after }), 410, 'gone');
      for (const limit of ['', '0', '1001', '-1', '1.5', 'all'])
        assertRefused(await ask({ limit }), 400, 'invalid_request');
      one.clock.advance(24 * 3600);
      assertRefused(await ask({ after: mine.next }), 410, 'gone');
    });

    test('only a provider with the right "users" may ask', async (t) => {
      const elsewhere = { id: 'without', rights: ['sign-in'] } as const;
      const { two, provider, other: without, client } = await setUp(t, start, {}, [elsewhere]);
      const ask = async (headers: Record<string, string>, query = '') =>
        asJson(await fetch(`${two.appUrl}/api/auth/oauth/users/disconnects${query}`, { headers }));
      assertRefused(await ask({}), 401, 'invalid_client');
      assertRefused(await ask(basic(provider.id, 'x')), 401, 'invalid_client');
      assertRefused(await ask(basic(client.clientId, client.clientSecret)), 401, 'invalid_client');
      const inQuery = `?client_id=${provider.id}&client_secret=${provider.secret}`;
      assertRefused(await ask({}, inQuery), 401, 'invalid_client');
      assertRefused(await ask(basic(without.id, without.secret)), 403, 'unauthorized_client');
    });
  });

/** Only there a later place may be seen earlier. */
const onPostgresql = storesWithProvider(server)['PostgreSQL'];
if (onPostgresql)
  test('interface: while an event may be hidden, the answer is 503; then nothing is missing', async (t) => {
    const world = await onPostgresql(t);
    const one = world.instances[0] as TestService;
    const two = world.instances.at(-1) as TestService;
    const { provider } = world;
    await askUsers(one, provider, 'PUT ', { subject: 'ada' });
    const { next: after } = await pageOf(two, provider);
    const open = new pg.Client({ connectionString: world.database });
    await open.connect();
    t.after(() => open.end());
    await open.query('BEGIN');
    await open.query(
      `INSERT INTO audit_event (at, action, actor_kind, actor_id, client_id, ${NO_CHAIN.columns})
       VALUES (0, 'client_paused', 'operator', 'slow', 'app_slow', ${NO_CHAIN.postgresql})`,
    );
    await askUsers(one, provider, 'POST /delete', { subject: 'ada' });
    const held = await pageOf(two, provider, { after });
    assertRefused(held.answer, 503, 'temporarily_unavailable');
    assert.ok(Number(held.answer.headers.get('retry-after')) >= 1);
    assertRefused((await pageOf(two, provider)).answer, 503, 'temporarily_unavailable');
    await open.query('ROLLBACK');
    assert.deepEqual((await allAfter(two, provider, after)).told, [{ subject: 'ada', reason: 'account_ended' }]);
  });
