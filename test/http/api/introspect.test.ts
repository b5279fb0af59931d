import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { assertRefused, type JsonAnswer, obtainPair, pairOf, postBody, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, PASSWORD, startTestService, type TestService } from '../../support/service.ts';
import {
  addResourceServer,
  assertionFields,
  basic,
  type Fields,
  introspect,
  makeKey,
  post,
  postAs,
  refreshWith,
  scopes,
  standardCode,
  standardPair,
} from '../../support/standard.ts';

const service = await startTestService({ after });
const { accounts, grants, operator, resourceServers } = service.installation;
const account = await addUser(service);
const ada = await signedInBrowser(service);
const MAIL = 'https://mail.example';
const client = await addClient(service, { scopes: scopes('mail', 'files') });
const any = await addResourceServer(service);
const mail = await addResourceServer(service, { resource: MAIL });
const open = await addResourceServer(service, { resource: MAIL, acceptsUnbound: true });
const narrow = await addResourceServer(service, { scopes: ['files', 'photos'] });

/** Asserts the one answer for everything that is not good (RFC 7662 §2.2). */
function assertInactive({ status, headers, body }: JsonAnswer, message?: string): void {
  assert.deepEqual([status, body], [200, { active: false }], message);
  assert.equal(headers.get('cache-control'), 'no-store', message);
}

async function assertActive(answer: Promise<JsonAnswer>): Promise<Record<string, unknown>> {
  const { status, headers, body } = await answer;
  assert.deepEqual([status, body['active']], [200, true]);
  assert.deepEqual([headers.get('content-type'), headers.get('cache-control')], ['application/json', 'no-store']);
  return body;
}

describe('RFC 7662 §2.2: a token that is good', { concurrency: true }, () => {
  test('RFC 7662 §2.2, §5: what is told of it, and nothing else', async () => {
    const { accessToken } = await standardPair(service, ada, client);
    const { grant_id, ...body } = await assertActive(introspect(service, any, accessToken));
    assert.deepEqual(body, {
      active: true,
      scope: 'mail files',
      client_id: client.clientId,
      sub: account.id,
      token_type: 'Bearer',
      exp: service.clock.now() / 1000 + 1800,
      iss: service.appUrl,
    });
    const listed = await grants.list({ clientId: client.clientId, limit: 100 });
    const ids = listed.map(({ grant }) => grant.id.toString('hex'));
    assert.match(String(grant_id), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.ok(ids.includes(String(grant_id).replaceAll('-', '')));
  });

  test('RFC 7662 §2.2: the user name of an account that has one', async () => {
    const grace = {
      email: 'grace@example.com',
      name: 'Grace',
      username: 'grace',
      password: PASSWORD,
    };
    await accounts.add(grace, operator);
    const { accessToken } = await standardPair(service, await signedInBrowser(service, 'grace@example.com'), client);
    assert.equal((await assertActive(introspect(service, any, accessToken)))['username'], 'grace');
  });

  test('RFC 7662 §2.1: by Basic or in the body, with whatever hint', async () => {
    const { accessToken: token } = await standardPair(service, ada, client);
    const inBody = { client_id: any.id, client_secret: any.secret };
    await assertActive(post(service, 'introspect', { token, ...inBody }));
    for (const token_type_hint of ['access_token', 'refresh_token', 'x', ''])
      await assertActive(introspect(service, any, token, { token_type_hint }));
    await assertActive(postBody(`${service.appUrl}/oauth2/introspect`, { token, ...inBody }));
  });

  test('RFC 7662 §2.2: a token of the published face, of an earlier pair, and of a public client', async () => {
    await assertActive(introspect(service, any, (await obtainPair(service, ada, client)).accessToken));
    const app = await addClient(service, {}, 'public');
    const first = await standardPair(service, ada, app);
    const next = pairOf(await refreshWith(service, app, first.refreshToken));
    const [one, two] = await Promise.all(
      [first, next].map(({ accessToken }) => assertActive(introspect(service, any, accessToken))),
    );
    assert.equal(one?.['grant_id'], two?.['grant_id']);
    assert.deepEqual(['scope' in Object(one), one?.['client_id']], [false, app.clientId], 'RFC 6749 §3.3');
  });

  test('RFC 8707 §2, RFC 6750 §5.3, RFC 9728 §7.4: one for a resource is told to that resource alone, as its audience', async () => {
    const { accessToken } = await standardPair(service, ada, client, { resource: MAIL });
    assert.equal((await assertActive(introspect(service, mail, accessToken)))['aud'], MAIL);
    for (const other of [any, narrow]) assertInactive(await introspect(service, other, accessToken));
    const ours = await standardPair(service, ada, client, { resource: service.apiUrl });
    for (const other of [any, mail, open]) assertInactive(await introspect(service, other, ours.accessToken));
  });

  test('RFC 9700 §2.3, RFC 8707 §2, §2.1: an unbound token is good where an API has no resource, or is registered to accept it', async () => {
    for (const { accessToken } of [await standardPair(service, ada, client), await obtainPair(service, ada, client)]) {
      for (const api of [any, open]) assert.ok(!('aud' in (await assertActive(introspect(service, api, accessToken)))));
      assertInactive(await introspect(service, mail, accessToken));
    }
    const bound = await standardPair(service, ada, client, { resource: MAIL });
    assert.equal((await assertActive(introspect(service, open, bound.accessToken)))['aud'], MAIL);
  });

  test('RFC 9700 §2.3: the operator changes what an API accepts, and the next question has the new answer', async () => {
    const api = await addResourceServer(service, { resource: 'https://changing.example' });
    const { accessToken } = await standardPair(service, ada, client);
    for (const acceptsUnbound of [true, false]) {
      await resourceServers.update(api.id, { acceptsUnbound }, operator);
      assert.equal((await introspect(service, api, accessToken)).body['active'], acceptsUnbound);
    }
  });

  test('RFC 7662 §2.2, §4: a resource server sees its own scopes, and of a token without them nothing', async () => {
    const both = await standardPair(service, ada, client);
    assert.equal((await assertActive(introspect(service, narrow, both.accessToken)))['scope'], 'files');
    const neither = await standardPair(service, ada, client, { scope: 'mail' });
    assertInactive(await introspect(service, narrow, neither.accessToken));
    const none = await standardPair(service, ada, await addClient(service));
    assertInactive(await introspect(service, narrow, none.accessToken));
  });

  test('interface: asking counts as use, so that a pair is given again no longer', async () => {
    const strict = await addClient(service, { refreshOverlap: 0 });
    const { refreshToken } = await standardPair(service, ada, strict);
    const { accessToken } = pairOf(await refreshWith(service, strict, refreshToken));
    await assertActive(introspect(service, any, accessToken));
    assertRefused(await refreshWith(service, strict, refreshToken), 400, 'invalid_grant');
    assertInactive(await introspect(service, any, accessToken));
  });
});

describe('RFC 7662 §2.2, §2.3, §4: inactive, for whatever reason', { concurrency: true }, () => {
  test('RFC 7662 §2.1, §2.2: what is no access token', async () => {
    const { accessToken, refreshToken } = await standardPair(service, ada, client);
    const code = await standardCode(service, ada, client);
    const middle = Math.floor(accessToken.length / 2);
    const forged =
      accessToken.slice(0, middle) + (accessToken[middle] === 'A' ? 'B' : 'A') + accessToken.slice(middle + 1);
    const others = [
      refreshToken.replace('_rt_', '_at_'),
      `${accessToken} `,
      accessToken.slice(0, -1),
      accessToken.toUpperCase(),
    ];
    const texts = [
      'x',
      '\0',
      forged,
      refreshToken,
      code,
      client.clientSecret,
      any.secret,
      'x'.repeat(60_000),
      ...others,
    ];
    for (const text of texts) assertInactive(await introspect(service, any, text), text.slice(0, 99));
    await assertActive(introspect(service, any, accessToken));
  });

  type World = { own: TestService; each: Awaited<ReturnType<typeof addClient>>; person: string; token: string };
  const ends: Record<string, [act: (world: World) => unknown, back?: (world: World) => unknown]> = {
    'once it has expired': [({ own }) => own.clock.advance(1800)],
    'once its client revoked it': [({ own, each, token }) => postAs(own, each, 'revoke', { token })],
    'while its client is paused': [
      ({ own, each }) => own.installation.clients.pause(each.clientId, own.installation.operator),
      ({ own, each }) => own.installation.clients.resume(each.clientId, own.installation.operator),
    ],
    'once its client is deleted': [
      ({ own, each }) => own.installation.clients.delete(each.clientId, own.installation.operator),
    ],
    'once the grants of its client ended': [
      ({ own, each }) => own.installation.clients.revokeGrants(each.clientId, own.installation.operator),
    ],
    'while its account is disabled': [
      ({ own, person }) => own.installation.accounts.disable(person, operator),
      ({ own, person }) => own.installation.accounts.enable(person, operator),
    ],
    'once its account is deleted': [({ own, person }) => own.installation.accounts.delete(person, operator)],
    'once all grants ended': [({ own }) => own.installation.grants.revokeAll(operator)],
  };
  for (const [name, [act, back]] of Object.entries(ends))
    test(`RFC 7662 §2.2: ${name}`, async (t) => {
      const own = await startTestService(t);
      const { id: person } = await addUser(own);
      const each = await addClient(own);
      const asking = await addResourceServer(own);
      const { accessToken: token } = await standardPair(own, await signedInBrowser(own), each);
      await assertActive(introspect(own, asking, token));
      await act({ own, each, person, token });
      assertInactive(await introspect(own, asking, token));
      if (!back) return;
      await back({ own, each, person, token });
      await assertActive(introspect(own, asking, token));
    });

  test('RFC 7662 §2.2: a token lives to the millisecond that it says', async (t) => {
    const own = await startTestService(t);
    await addUser(own);
    const { accessToken } = await standardPair(own, await signedInBrowser(own), await addClient(own));
    const asking = await addResourceServer(own);
    own.clock.advance(1799.999);
    const { exp } = await assertActive(introspect(own, asking, accessToken));
    assert.ok(Number(exp) * 1000 > own.clock.now());
  });

  test('RFC 7662 §4: once the resource server is for something else', async () => {
    const changing = await addResourceServer(service);
    const { accessToken } = await standardPair(service, ada, client);
    await assertActive(introspect(service, changing, accessToken));
    await resourceServers.update(changing.id, { scopes: ['photos'] }, operator);
    assertInactive(await introspect(service, changing, accessToken));
  });
});

describe('RFC 7662 §2.1, §2.3: only resource servers may ask', { concurrency: true }, () => {
  const { id, secret } = any;
  const keyed = makeKey();
  const strangers: [
    name: string,
    request: () => Promise<[Fields, Record<string, string>?]> | [Fields, Record<string, string>?],
  ][] = [
    ['nobody', () => [{}]],
    ['an id alone', () => [{ client_id: id }]],
    ['an id with an empty secret', () => [{ client_id: id, client_secret: '' }]],
    ['Basic with an empty secret', () => [{}, basic(id, '')]],
    ['a secret alone', () => [{ client_secret: secret }]],
    ['a wrong secret', () => [{}, basic(id, 'x')]],
    ['the secret of another resource server', () => [{}, basic(id, mail.secret)]],
    ['an unknown one', () => [{}, basic('rs_nobody', secret)]],
    ['an app with its secret (GHSA-vxv2)', () => [{}, basic(client.clientId, client.clientSecret)]],
    ['an app with its secret in the body', () => [{ client_id: client.clientId, client_secret: client.clientSecret }]],
    ['an id with the secret of an app', () => [{}, basic(id, client.clientSecret)]],
    ['a public client', async () => [{ client_id: (await addClient(service, {}, 'public')).clientId }]],
    [
      'an app with an assertion',
      async () => [await assertionFields(service, await addClient(service, { keys: [keyed.jwk] }), keyed)],
    ],
    ['malformed Basic', () => [{}, { Authorization: 'Basic !!!' }]],
  ];
  for (const [name, request] of strangers)
    test(`RFC 7662 §2.1: ${name} is invalid_client, and learns nothing`, async () => {
      const { accessToken: token } = await standardPair(service, ada, client);
      const [fields, headers] = await request();
      assertRefused(await post(service, 'introspect', { token, ...fields }, headers), 401, 'invalid_client');
    });

  test('RFC 7662 §2.3: an access token is no way to prove oneself', async () => {
    const { accessToken: token } = await standardPair(service, ada, client);
    const headers = { Authorization: `Bearer ${token}` };
    assertRefused(await post(service, 'introspect', { token }, headers), 401, 'invalid_client');
  });

  test('RFC 6749 §2.3: Basic and a secret in the body, two ids, or anything twice is invalid_request', async () => {
    for (const fields of [{ client_secret: secret }, { client_id: mail.id }])
      assertRefused(await introspect(service, any, 'x', fields), 400, 'invalid_request');
    assertRefused(await introspect(service, any, undefined), 400, 'invalid_request');
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    for (const added of ['token=y', `client_id=${id}`, 'x=1&x=1']) {
      const twice = `token=x&client_id=${id}&client_secret=${secret}&${added}`;
      assertRefused(await postBody(`${service.appUrl}/oauth2/introspect`, twice, type), 400, 'invalid_request', added);
    }
  });

  test('RFC 7662 §4, RFC 6749 §1.1: a resource server is no client, at any endpoint of clients', async () => {
    const { accessToken } = await standardPair(service, ada, client);
    for (const endpoint of ['token', 'revoke', 'par', 'device_authorization'])
      for (const [fields, headers] of [
        [{}, basic(id, secret)],
        [{ client_id: id, client_secret: secret }, {}],
        [{ client_id: id }, {}],
      ] as [Fields, Record<string, string>][]) {
        const request = { grant_type: 'refresh_token', refresh_token: 'x', token: accessToken, ...fields };
        assertRefused(await post(service, endpoint, request, headers), 401, 'invalid_client', endpoint);
      }
    await assertActive(introspect(service, any, accessToken));
  });

  test('RFC 6749 §2.3.1: two secrets are live during a rotation, then only the newer', async () => {
    const rotated = await addResourceServer(service);
    const { secret: newer } = await resourceServers.rotateSecret(rotated.id, operator);
    const answers = async () =>
      Promise.all(
        [rotated, { ...rotated, secret: newer }].map(async (each) => (await introspect(service, each, 'x')).status),
      );
    assert.deepEqual(await answers(), [200, 200]);
    await resourceServers.retireSecret(rotated.id, operator);
    assert.deepEqual(await answers(), [401, 200]);
    await resourceServers.delete(rotated.id, operator);
    assert.deepEqual(await answers(), [401, 401]);
  });
});

test('RFC 7662 §4: guessing slows its source down for that resource server, and for no other', async (t) => {
  const own = await startTestService(t);
  const [one, two] = [await addResourceServer(own), await addResourceServer(own)];
  for (let guess = 0; guess < 30; guess++)
    assertRefused(await introspect(own, { ...one, secret: 'x' }, 'x'), 401, 'invalid_client');
  const slowed = await introspect(own, one, 'x');
  assertRefused(slowed, 429, 'temporarily_unavailable');
  assert.equal(slowed.headers.get('retry-after'), '2');
  const stream = await fetch(`${own.appUrl}/oauth2/revocations`, { headers: basic(one.id, one.secret) });
  assert.equal(stream.status, 429);
  assert.equal((await introspect(own, two, 'x')).status, 200);
  own.clock.advance(2);
  assert.equal((await introspect(own, one, 'x')).status, 200);
});
