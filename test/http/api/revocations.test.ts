import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { grantIdText } from '../../../src/oauth/grants/grant.ts';
import type { Browser } from '../../support/browser.ts';
import { asJson, assertRefused, exchange, me, obtainCode, pairOf, signedInBrowser } from '../../support/flow.ts';
import { Looks } from '../../support/looks.ts';
import { startOnFile } from '../../support/on-file.ts';
import { RevocationStream } from '../../support/revocation-stream.ts';
import { addClient, addUser, type Lifetime, startTestService, type TestService } from '../../support/service.ts';
import {
  addResourceServer,
  basic,
  introspect,
  postAs,
  refreshWith,
  standardPair,
  type TestResourceServer,
} from '../../support/standard.ts';

const service = await startTestService({ after });
const { accounts, clients, grants, operator, resourceServers } = service.installation;
const resourceServer = await addResourceServer(service);
const stream = await RevocationStream.open({ after }, service, resourceServer);
/** How soon after a revocation was answered an API that keeps answers has to be told: in fewer looks than these. */
const MAX_LOOKS = 4;

/** A person's token for an app, and all that may end it. */
type World = {
  readonly service: TestService;
  readonly client: Awaited<ReturnType<typeof addClient>>;
  readonly person: string;
  readonly browser: Browser;
  readonly token: string;
  readonly grantId: string;
};

let people = 0;
async function makeWorld(own: TestService, asking: TestResourceServer): Promise<World> {
  const { id, email } = await addUser(own, `person${people++}@example.com`);
  const client = await addClient(own);
  const browser = await signedInBrowser(own, email);
  const { accessToken: token } = await standardPair(own, browser, client);
  const { body } = await introspect(own, asking, token);
  return { service: own, client, person: id, browser, token, grantId: String(body['grant_id']) };
}

/** Asserts that an act is told of soon, and that then the token is good no longer. */
async function assertTold(
  world: World,
  asking: TestResourceServer,
  told: RevocationStream,
  act: () => unknown,
  data: object,
) {
  await act();
  using looks = new Looks();
  await told.next('revoked', data);
  assert.ok(looks.count < MAX_LOOKS, `${looks.count} looks`);
  assert.deepEqual((await introspect(world.service, asking, world.token)).body, { active: false });
}

describe('interface: a stream hears of each act that ends access', { concurrency: true }, () => {
  const byGrant = ({ grantId }: World) => ({ grant_id: grantId });
  const byClient = ({ client }: World) => ({ client_id: client.clientId });
  const byPerson = ({ person }: World) => ({ sub: person });
  const byBoth = ({ person, client }: World) => ({ sub: person, client_id: client.clientId });
  const acts: Record<string, [act: (world: World) => unknown, data: (world: World) => object]> = {
    'the person removed the app': [
      async ({ browser, client }) => {
        const page = await browser.get(`${service.appUrl}/account/apps`);
        await browser.submit(page, '/account/apps/revoke', { client_id: client.clientId });
      },
      byBoth,
    ],
    'the client revoked its token': [({ client, token }) => postAs(service, client, 'revoke', { token }), byGrant],
    'the operator ended the grant': [({ grantId }) => grants.revoke(grantId, operator), byGrant],
    'the client is paused': [({ client }) => clients.pause(client.clientId, operator), byClient],
    'the grants of the client ended': [({ client }) => clients.revokeGrants(client.clientId, operator), byClient],
    'the client is deleted': [({ client }) => clients.delete(client.clientId, operator), byClient],
    'the account is disabled': [({ person }) => accounts.disable(person, operator), byPerson],
    'the grants of the account ended': [({ person }) => accounts.revokeGrants(person, operator), byPerson],
    'the account is deleted': [({ person }) => accounts.delete(person, operator), byPerson],
  };
  for (const [name, [act, data]] of Object.entries(acts))
    test(`interface: ${name}`, async () => {
      const world = await makeWorld(service, resourceServer);
      await assertTold(world, resourceServer, stream, () => act(world), data(world));
    });

  test('RFC 6749 §4.1.2: a code was replayed', async () => {
    const world = await makeWorld(service, resourceServer);
    const code = await obtainCode(service, world.browser, world.client);
    const { accessToken: token } = pairOf(await exchange(service, world.client, code));
    const { body } = await introspect(service, resourceServer, token);
    const replay = () => exchange(service, world.client, code);
    await assertTold({ ...world, token }, resourceServer, stream, replay, { grant_id: body['grant_id'] });
    assert.equal((await me(service, world.token)).status, 200, 'another grant of both lives on');
  });

  test('RFC 9700 §4.14.2: a refresh token was reused', async () => {
    const world = await makeWorld(service, resourceServer);
    const strict = await addClient(service, { refreshOverlap: 0, refreshRetryWindow: 0 });
    const { refreshToken } = await standardPair(service, world.browser, strict);
    const { accessToken: token } = pairOf(await refreshWith(service, strict, refreshToken));
    const { body } = await introspect(service, resourceServer, token);
    const reuse = () => refreshWith(service, strict, refreshToken);
    await assertTold({ ...world, token }, resourceServer, stream, reuse, { grant_id: body['grant_id'] });
  });

  test('interface: what is registered for a client changed, so that nobody keeps what was so before', async () => {
    const { clientId } = await addClient(service);
    await clients.update(clientId, { name: 'New name' }, operator);
    await stream.next('revoked', { client_id: clientId });
  });

  const ofAll: Record<string, (own: TestService, other: TestResourceServer) => Promise<unknown>> = {
    'every grant ended': (own) => own.installation.grants.revokeAll(operator),
    'a resource server changed': (own, other) =>
      own.installation.resourceServers.update(other.id, { scopes: ['x'] }, own.installation.operator),
    'a resource server is deleted': (own, other) =>
      own.installation.resourceServers.delete(other.id, own.installation.operator),
    'the secret of a resource server ended': async (own, other) => {
      await own.installation.resourceServers.rotateSecret(other.id, own.installation.operator);
      await own.installation.resourceServers.retireSecret(other.id, own.installation.operator);
    },
  };
  for (const [name, act] of Object.entries(ofAll))
    test(`interface: ${name}, which is told without saying whose`, async (t) => {
      const own = await startTestService(t);
      const [one, other] = [await addResourceServer(own), await addResourceServer(own)];
      const told = await RevocationStream.open(t, own, one);
      await act(own, other);
      await told.next('revoked', {});
    });
});

test('interface: a new user name is told to those who could have been told the old one, and no other change is told at all', async (t) => {
  const own = await startTestService(t);
  const { accounts: people, clients: apps } = own.installation;
  const app = await addClient(own, { scopes: [{ name: 'read', sentence: null, optional: false }] });
  const apis = await Promise.all(['read', 'write'].map((name) => addResourceServer(own, { scopes: [name] })));
  const [ada, bob] = [await addUser(own), await addUser(own, 'bob@example.com')];
  await people.update(ada.id, { username: 'lovelace' }, own.installation.operator);
  // After that: a notice is for whom it may concern when it is read.
  const [one, other] = await Promise.all(apis.map((api) => RevocationStream.open(t, own, api)));
  assert.ok(one && other);
  await standardPair(own, await signedInBrowser(own), app);
  await people.update(ada.id, { name: 'Countess', email: 'countess@example.com' }, own.installation.operator);
  await people.update(bob.id, { username: 'bob' }, own.installation.operator);
  await people.update(ada.id, { username: 'ada' }, own.installation.operator);
  await apps.pause(app.clientId, operator);
  const paused = { client_id: app.clientId };
  for (const stream of [one, other]) await stream.next('revoked', paused);
  const told = ({ events }: RevocationStream) =>
    events.filter(({ event }) => event === 'revoked').map(({ data }) => data);
  assert.deepEqual(told(one), [{ sub: ada.id }, paused]);
  assert.deepEqual(told(other), [paused], 'its scope was never granted by her');
  await apps.update(app.clientId, { personFields: [] }, operator);
  await apps.resume(app.clientId, operator);
  await own.installation.grants.revokeAll(own.installation.operator);
  await standardPair(own, await signedInBrowser(own, 'countess@example.com'), app);
  await people.update(ada.id, { username: 'countess' }, own.installation.operator);
  const { clientId: last } = await addClient(own);
  await apps.pause(last, operator);
  for (const stream of [one, other]) await stream.next('revoked', { client_id: last });
  assert.equal(
    told(one).filter((data) => 'sub' in (data as object)).length,
    1,
    'the app, and so its APIs, get no user name',
  );
});

test('interface: acts that end nothing are not told', async (t) => {
  const own = await startTestService(t);
  const asking = await addResourceServer(own);
  const told = await RevocationStream.open(t, own, asking);
  const { client, browser } = await makeWorld(own, asking);
  await own.installation.scopes.define('mail', { en: 'Read your mail' }, own.installation.operator);
  await own.installation.clients.rotateSecret(client.clientId, own.installation.operator);
  await browser.submit(await browser.get(`${own.appUrl}/sign-out`), '/sign-out');
  await own.installation.grants.revokeAll(operator);
  await told.next('revoked', {});
  assert.deepEqual(
    told.events.map(({ event }) => event),
    ['ready', 'revoked'],
  );
});

describe('interface: a stream says something all the time', { concurrency: true }, () => {
  test('interface: ready first, as server-sent events that nobody keeps or holds back', async (t) => {
    const own = await startTestService(t);
    const { headers, events } = await RevocationStream.open(t, own, await addResourceServer(own));
    assert.equal(events[0]?.event, 'ready');
    const names = ['content-type', 'cache-control', 'x-accel-buffering'];
    assert.deepEqual(
      names.map((name) => headers.get(name)),
      ['text/event-stream', 'no-store, no-transform', 'no'],
    );
    assert.match(String(headers.get('x-request-id')), /^[\w-]{12}$/);
  });

  test('interface: at least four times a second, whether anything ended or not', async () => {
    using looks = new Looks();
    const heard = [stream.heard.length];
    for (let look = 1; look <= 6; look += 1) {
      while (looks.count < look) await sleep(10);
      heard.push(stream.heard.length);
    }
    const within = (number: number) => heard.slice(number).map((now, look) => now - (heard[look] as number));
    assert.ok((within(6)[0] as number) >= 4, `${heard}`);
    assert.ok(Math.min(...within(MAX_LOOKS)) >= 1, `${heard}`);
  });

  test('interface: each of many streams hears the same, and who comes later nothing of before', async (t) => {
    const own = await startTestService(t);
    const asking = await addResourceServer(own);
    await own.installation.grants.revokeAll(operator);
    const many = await Promise.all(Array.from({ length: 20 }, () => RevocationStream.open(t, own, asking)));
    const { clientId } = await addClient(own);
    await own.installation.clients.pause(clientId, own.installation.operator);
    for (const each of many) {
      await each.next('revoked', { client_id: clientId });
      assert.equal(each.events.length, 2);
    }
    const late = await RevocationStream.open(t, own, asking);
    await sleep(300);
    assert.equal(late.events.length, 1);
  });
});

describe('interface: a stream ends', { concurrency: true }, () => {
  const ends: Record<string, (id: string) => Promise<unknown>> = {
    'when its resource server is deleted': (id) => resourceServers.delete(id, operator),
    'when its secret is retired': async (id) => {
      await resourceServers.rotateSecret(id, operator);
      await resourceServers.retireSecret(id, operator);
    },
  };
  for (const [name, act] of Object.entries(ends))
    test(`interface: ${name}, and that of others does not`, async (t) => {
      const each = await addResourceServer(service);
      const told = await RevocationStream.open(t, service, each);
      await act(each.id);
      await told.ended;
      assert.equal(
        (await fetch(`${service.appUrl}/oauth2/revocations`, { headers: basic(each.id, each.secret) })).status,
        401,
      );
      const heard = stream.heard.length;
      for (const until = performance.now() + 10_000; stream.heard.length === heard && performance.now() < until; )
        await sleep(20);
      assert.ok(stream.heard.length > heard);
    });

  test('interface: at once when the service stops, which takes no longer for it', async (t) => {
    const own = await startTestService(t);
    const asking = await addResourceServer(own);
    const open = await Promise.all([1, 2, 3].map(() => RevocationStream.open(t, own, asking)));
    using looks = new Looks();
    await own.stop();
    await Promise.all(open.map(({ ended }) => ended));
    // Without it the streams would be cut after 10 seconds.
    assert.ok(looks.count < 20, `${looks.count} looks`);
  });

  test('interface: whoever hangs up is forgotten, and the service goes on', async (t) => {
    const own = await startTestService(t);
    const asking = await addResourceServer(own);
    const ends: (() => void)[] = [];
    const lifetime: Lifetime = { after: (end) => void ends.push(end) };
    for (let time = 0; time < 3; time++) await RevocationStream.open(lifetime, own, asking);
    for (const end of ends) end();
    const left = () => own.log.filter((line) => line.includes('"route":"/oauth2/revocations"'));
    while (left().length < 3) await sleep(20);
    const told = await RevocationStream.open(t, own, asking);
    await own.installation.grants.revokeAll(operator);
    await told.next('revoked', {});
    assert.deepEqual(
      left()
        .map((line) => JSON.parse(line))
        .map(({ level, error }) => [level, error]),
      Array(3).fill(['info', 'aborted']),
    );
  });

  test('interface: when the trail cannot be read, rather than be silent about what it says; then all is as before', async (t) => {
    const { service: own, path } = await startOnFile(t);
    const asking = await addResourceServer(own);
    const cut = await RevocationStream.open(t, own, asking);
    const database = new DatabaseSync(path);
    t.after(() => database.close());
    database.exec('ALTER TABLE audit_event RENAME TO away');
    await cut.ended;
    const { status } = await fetch(`${own.appUrl}/oauth2/revocations`, { headers: basic(asking.id, asking.secret) });
    assert.ok(status >= 500);
    database.exec('ALTER TABLE away RENAME TO audit_event');
    const told = await RevocationStream.open(t, own, asking);
    await own.installation.grants.revokeAll(operator);
    await told.next('revoked', {});
  });
});

describe('interface: a stream tells of the end of grants only those that could have heard of them', {
  concurrency: true,
}, () => {
  const MAIL = 'https://mail.example';

  /** A service with one API for each way in which grants are none of its business, and one whose they are. */
  async function setApart(t: TestContext) {
    const own = await startTestService(t);
    const mail = await addResourceServer(own, { resource: MAIL, scopes: ['mail.read'] });
    const others = [
      await addResourceServer(own, { resource: 'https://other.example', acceptsUnbound: true }),
      await addResourceServer(own, { resource: null }),
      await addResourceServer(own, { resource: MAIL, acceptsUnbound: true, scopes: ['mail.send'] }),
    ];
    const [told, ...untold] = await Promise.all([mail, ...others].map((api) => RevocationStream.open(t, own, api)));
    const { id: person, email } = await addUser(own);
    const scopes = ['mail.read', 'mail.send', 'other'].map((name) => ({ name, sentence: null, optional: false }));
    const client = await addClient(own, { scopes });
    const browser = await signedInBrowser(own, email);
    const allow = (parameters: object = {}) =>
      standardPair(own, browser, client, { resource: MAIL, scope: 'mail.read other', ...parameters });
    return { own, mail, others, told: told as RevocationStream, untold, person, client, browser, allow };
  }
  type Apart = Awaited<ReturnType<typeof setApart>>;

  const acts: Record<string, (apart: Apart, token: string) => Promise<unknown>> = {
    'an app that gives its token back': ({ own, client }, token) => postAs(own, client, 'revoke', { token }),
    'a person who removes the app': async ({ own, browser, client }) => {
      const page = await browser.get(`${own.appUrl}/account/apps`);
      await browser.submit(page, '/account/apps/revoke', { client_id: client.clientId });
    },
    'an operator who ends the grant': async ({ own, client }) => {
      const [listed] = await own.installation.grants.list({ clientId: client.clientId, limit: 1 });
      await own.installation.grants.revoke(grantIdText((listed ?? assert.fail()).grant.id), operator);
    },
  };
  for (const [name, act] of Object.entries(acts))
    test(`RFC 7662 §4, Promise 2: ${name}; the others hear neither client nor person, and miss nothing after it`, async (t) => {
      const apart = await setApart(t);
      const { own, mail, others, told, untold } = apart;
      const { accessToken: token } = await apart.allow();
      assert.equal((await introspect(own, mail, token)).body['active'], true);
      for (const api of others) assert.equal((await introspect(own, api, token)).body['active'], false);
      await act(apart, token);
      await own.installation.grants.revokeAll(operator);
      for (const stream of [told, ...untold]) await stream.next('revoked', {});
      assert.equal(told.events.length, 3, JSON.stringify(told.events));
      for (const { events } of untold)
        assert.deepEqual(
          events.map(({ event, data }) => [event, data]),
          [
            ['ready', {}],
            ['revoked', {}],
          ],
        );
    });

  test('Promise 2: of several grants that a person ends at once each API hears that could have heard of any', async (t) => {
    const { told, untold, allow, browser, own, client, person } = await setApart(t);
    await allow();
    await allow({ resource: undefined, scope: 'mail.send' });
    const page = await browser.get(`${own.appUrl}/account/apps`);
    await browser.submit(page, '/account/apps/revoke', { client_id: client.clientId });
    const data = { sub: person, client_id: client.clientId };
    // The unbound token is good at all but the first, which hears of its own.
    for (const stream of [told, ...untold]) await stream.next('revoked', data);
  });

  test('Promise 2: the end of an unbound grant is told only to APIs that accept unbound tokens', async (t) => {
    const { own, mail, others, told, untold, allow, client } = await setApart(t);
    const { accessToken: token } = await allow({ resource: undefined, scope: 'mail.read mail.send' });
    assert.equal((await introspect(own, mail, token)).body['active'], false);
    const heard = await Promise.all(others.map((api) => introspect(own, api, token)));
    assert.deepEqual(new Set(heard.map(({ body }) => body['active'])), new Set([true]));
    await postAs(own, client, 'revoke', { token });
    for (const stream of untold) await stream.next('revoked', { grant_id: heard[0]?.body['grant_id'] });
    await own.installation.grants.revokeAll(operator);
    await told.next('revoked', {});
    assert.equal(told.events.length, 2, JSON.stringify(told.events));
  });

  test('Promise 2: an API that lost a scope is told to keep nothing, and hears no more of what it lost', async (t) => {
    const { own, mail, told, allow, client, browser } = await setApart(t);
    const { accessToken: token } = await allow();
    assert.equal((await introspect(own, mail, token)).body['active'], true);
    await own.installation.resourceServers.update(mail.id, { scopes: ['mail.send'] }, own.installation.operator);
    await told.next('revoked', {});
    await postAs(own, client, 'revoke', { token });
    const { accessToken: another } = await standardPair(own, browser, client, { resource: MAIL, scope: 'mail.send' });
    const { body } = await introspect(own, mail, another);
    await postAs(own, client, 'revoke', { token: another });
    await told.next('revoked', { grant_id: body['grant_id'] });
    assert.equal(told.events.length, 3, JSON.stringify(told.events));
  });
});

const url = `${service.appUrl}/oauth2/revocations`;
const client = await addClient(service);
const { id, secret } = await addResourceServer(service);

describe('interface: only resource servers may listen', { concurrency: true }, () => {
  const strangers: [name: string, headers: Record<string, string>, query?: string][] = [
    ['nobody', {}],
    ['a wrong secret', basic(id, 'x')],
    ['an empty secret', basic(id, '')],
    ['an unknown one', basic('rs_nobody', secret)],
    ['an app', basic(client.clientId, client.clientSecret)],
    ['an access token', { Authorization: 'Bearer vk_at_x' }],
    ['credentials in the address', {}, `?client_id=${id}&client_secret=${secret}`],
  ];
  for (const [name, headers, query = ''] of strangers)
    test(`RFC 7662 §2.1: ${name} is invalid_client`, async () => {
      assertRefused(await asJson(await fetch(url + query, { headers })), 401, 'invalid_client');
    });
});
