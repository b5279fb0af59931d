// What an identity provider hears when apps of its people are disconnected, on each store: one test for each promise.
import assert from 'node:assert/strict';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditEvent } from '../../../src/oauth/audit.ts';
import { grantIdText } from '../../../src/oauth/grant.ts';
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
import { DisconnectStream } from '../../support/revocation-stream.ts';
import { addClient, addUser, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { basic } from '../../support/standard.ts';

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
  const [one, two] = [world.instances[0] as TestService, world.instances.at(-1) as TestService];
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

/** The end of everything, after which a stream has heard all that was before. */
async function hearTheEnd({ installation }: TestService, streams: readonly DisconnectStream[]): Promise<void> {
  await installation.grants.revokeAll(installation.operator);
  for (const stream of streams)
    for (const deadline = performance.now() + 30_000; ; await sleep(5)) {
      const last = stream.events.at(-1)?.data as { subject?: string; client_id?: string; reason?: string };
      if (last.reason === 'operator' && last.subject === undefined && last.client_id === undefined) break;
      assert.ok(performance.now() < deadline, JSON.stringify(stream.events));
    }
}

const EVERYTHING = { reason: 'operator', at: undefined };

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`the stream of disconnects on ${store}`, { concurrency: true }, () => {
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
        ({ one, client }) => one.installation.clients.revokeGrants(client.clientId),
        { reason: 'operator', subject: undefined },
      ],
      'an operator deletes the app': [
        ({ one, client }) => one.installation.clients.delete(client.clientId),
        { reason: 'operator', subject: undefined },
      ],
    };

    test('each way in which an app of a person ends is told, with whose and why, at another instance', async (t) => {
      const { one, two, provider } = await setUp(t, start);
      for (const [what, [act, told]] of Object.entries(acts)) {
        const client = await addClient(one);
        const connected = await connect(one, provider, client);
        const stream = await DisconnectStream.open(t, two, provider);
        const at = one.clock.now();
        await act({ one, two, provider, client, connected });
        const expected = { subject: 'ada', client_id: client.clientId, ...told };
        const isSo = () => stream.events.at(-1)?.event === 'disconnected';
        for (const deadline = performance.now() + 30_000; !isSo(); await sleep(5))
          assert.ok(performance.now() < deadline, what);
        const { at: when, ...data } = (stream.events.at(-1) ?? assert.fail()).data as { at: string };
        assert.deepEqual(data, JSON.parse(JSON.stringify(expected)), what);
        assert.ok(Date.parse(when) >= at && Date.parse(when) <= one.clock.now(), what);
        assert.equal(stream.events.length, 2, `${what}: once`);
      }
    });

    test('with --own-ids the subject is the id of the account, also after it was erased', async (t) => {
      const { one, two, provider, client } = await setUp(t, start, { ownIds: true });
      const stream = await DisconnectStream.open(t, two, provider);
      for (let round = 0; round < 2; round += 1) {
        await connect(one, provider, client, '4711');
        await askUsers(one, provider, 'POST /connections/revoke', { subject: '4711', client_id: client.clientId });
        await askUsers(one, provider, 'POST /delete', { subject: '4711' });
      }
      await hearTheEnd(one, [stream]);
      const both = [
        { subject: '4711', client_id: client.clientId, reason: 'provider', at: undefined },
        { subject: '4711', reason: 'account_ended', at: undefined },
      ];
      assert.deepEqual(stream.told, [...both, ...both, EVERYTHING]);
    });

    test('nobody hears of another provider’s people, of those with a password, or of what was before they were its own', async (t) => {
      const { one, two, provider, other, client } = await setUp(t, start, {}, [{ id: 'other' }]);
      const { installation, clock } = one;
      const { id: withPassword } = await addUser(one);
      await askUsers(one, other, 'PUT ', { subject: 'ada' });
      await connect(one, provider, client, 'ada');
      const { id: ours } = (await askUsers(one, provider, 'GET ?subject=ada')).body;
      const streams = await Promise.all([provider, other].map((each) => DisconnectStream.open(t, two, each)));
      const [mine, theirs] = streams as [DisconnectStream, DisconnectStream];
      await installation.accounts.revokeGrants(withPassword, installation.operator);
      await askUsers(one, other, 'POST /delete', { subject: 'ada' });
      await askUsers(one, provider, 'POST /connections/revoke', { subject: 'ada', client_id: client.clientId });
      // Linked after it happened: then it is the other's business as well, but not what was before.
      await hearTheEnd(one, streams);
      const { lastId } = theirs;
      await installation.accounts.revokeGrants(String(ours), installation.operator);
      clock.advance(1);
      const identity = { id: 'other:eve', providerId: 'other', accountId: String(ours), createdAt: clock.now() };
      await installation.audit.linkIdentity(identity, auditEvent('user_linked', installation.operator, 0, {}));
      const again = await DisconnectStream.open(t, two, other, lastId);
      await installation.accounts.revokeGrants(String(ours), installation.operator);
      await hearTheEnd(one, [...streams, again]);
      const revoked = { reason: 'operator', at: undefined };
      assert.deepEqual(theirs.told, [
        { subject: 'ada', reason: 'account_ended', at: undefined },
        EVERYTHING,
        { subject: 'eve', ...revoked },
        EVERYTHING,
      ]);
      assert.deepEqual(again.told, [{ subject: 'eve', ...revoked }, EVERYTHING]);
      assert.deepEqual(mine.told, [
        { subject: 'ada', client_id: client.clientId, reason: 'provider', at: undefined },
        EVERYTHING,
        { subject: 'ada', ...revoked },
        { subject: 'ada', ...revoked },
        EVERYTHING,
      ]);
    });

    test('a stream goes on from the last id, also of another instance, and misses nothing that came between', async (t) => {
      const { one, two, provider, client } = await setUp(t, start);
      await askUsers(one, provider, 'PUT ', { users: [{ subject: 'ada' }, { subject: 'eve' }] });
      const first = await DisconnectStream.open(t, one, provider);
      const end = async (subject: string) => {
        await connect(one, provider, client, subject);
        await askUsers(one, provider, 'POST /connections/revoke', { subject, client_id: client.clientId });
        return { subject, client_id: client.clientId, reason: 'provider', at: undefined };
      };
      const told = [await end('ada')];
      for (const deadline = performance.now() + 30_000; first.events.length < 2; await sleep(5))
        assert.ok(performance.now() < deadline);
      assert.deepEqual(first.told, told);
      const { lastId } = first;
      const missed = [await end('eve'), await end('ada')];
      // More than are read at once.
      for (let n = 0; n < 6; n += 1) {
        const users = Array.from({ length: 100 }, (_, person) => ({ subject: `${n}-${person}` }));
        assert.equal((await askUsers(one, provider, 'PUT ', { users })).status, 204);
      }
      await askUsers(one, provider, 'POST /delete', { subject: 'eve' });
      const again = await DisconnectStream.open(t, two, provider, lastId);
      const live = await end('ada');
      await hearTheEnd(one, [again]);
      const erased = { subject: 'eve', reason: 'account_ended', at: undefined };
      assert.deepEqual(again.told, [...missed, erased, live, EVERYTHING]);
      const third = await DisconnectStream.open(t, one, provider, again.lastId);
      await hearTheEnd(one, [third]);
      assert.deepEqual(third.told, [EVERYTHING], 'nothing is told twice');
    });

    test('a place that is too old, somebody else’s or no place begins anew, and says so', async (t) => {
      const { one, two, provider, other } = await setUp(t, start, {}, [{ id: 'other' }]);
      const mine = await DisconnectStream.open(t, one, provider);
      const theirs = await DisconnectStream.open(t, one, other);
      const readyOf = async (lastId: string) => {
        const url = `${two.appUrl}/api/auth/oauth/users/disconnects`;
        const leaving = new AbortController();
        const headers = { ...basic(provider.id, provider.secret), 'Last-Event-ID': lastId };
        const { body } = await fetch(url, { headers, signal: leaving.signal });
        let heard = '';
        for await (const chunk of (body ?? assert.fail()).pipeThrough(new TextDecoderStream())) {
          heard += chunk;
          if (heard.includes('\n\n')) break;
        }
        leaving.abort();
        return /data: (.*)/.exec(heard)?.[1];
      };
      const lastId = mine.lastId ?? assert.fail();
      assert.equal(await readyOf(lastId), '{"resumed":true}');
      for (const wrong of ['', '7', 'x'.repeat(2000), `${lastId}A`, theirs.lastId ?? assert.fail()])
        assert.equal(await readyOf(wrong), '{"resumed":false}', wrong);
      one.clock.advance(24 * 3600);
      assert.equal(await readyOf(lastId), '{"resumed":false}');
    });

    test('where nothing happens something is sent four times a second, and now and then a place', async (t) => {
      const { two, provider } = await setUp(t, start);
      const stream = await DisconnectStream.open(t, two, provider);
      assert.equal(stream.headers.get('content-type'), 'text/event-stream');
      assert.equal(stream.headers.get('cache-control'), 'no-store, no-transform');
      const { lastId } = stream;
      for (const deadline = performance.now() + 30_000; stream.lastId === lastId; await sleep(20))
        assert.ok(performance.now() < deadline);
      assert.ok(stream.heard.length > 10);
      assert.equal(stream.events.length, 1);
    });

    const ends: Record<string, (service: TestService, id: string) => Promise<unknown>> = {
      'is paused': ({ installation }, id) => installation.identityProviders.pause(id),
      'is deleted': ({ installation }, id) => installation.identityProviders.delete(id),
      'loses the right': ({ installation }, id) => installation.identityProviders.update(id, { rights: ['sign-in'] }),
      'has its secret retired': async ({ installation }, id) => {
        await installation.identityProviders.rotateSecret(id);
        await installation.identityProviders.retireSecret(id);
      },
    };
    for (const [what, act] of Object.entries(ends))
      test(`a stream ends when its provider ${what}, and that of others does not`, async (t) => {
        const { one, two, provider, other } = await setUp(t, start, {}, [{ id: 'other' }]);
        const [ending, staying] = await Promise.all(
          [other, provider].map((each) => DisconnectStream.open(t, two, each)),
        );
        await act(one, 'other');
        await ending?.ended;
        const url = `${two.appUrl}/api/auth/oauth/users/disconnects`;
        const { status } = await fetch(url, { headers: basic(other.id, other.secret) });
        assert.equal(status, what === 'loses the right' ? 403 : 401);
        await hearTheEnd(one, [staying as DisconnectStream]);
      });

    test('only a provider with the right "users" may listen, and each beginning counts as a call', async (t) => {
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
      for (let n = 0; n < 64; n += 1) await DisconnectStream.open(t, two, provider);
      const tooMany = await ask(basic(provider.id, provider.secret));
      assertRefused(tooMany, 429, 'temporarily_unavailable');
      assert.match(String(tooMany.body['error_description']), /close one/);
      assert.equal(tooMany.headers.get('retry-after'), '5');
      for (let n = 0; n < 35; n += 1) await ask(basic(provider.id, provider.secret));
      const tooOften = await ask(basic(provider.id, provider.secret));
      assertRefused(tooOften, 429, 'temporarily_unavailable');
      assert.match(String(tooOften.body['error_description']), /too often/);
    });
  });
