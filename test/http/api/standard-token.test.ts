import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import {
  assertRefused,
  auditActions,
  exchange,
  type JsonAnswer,
  me,
  obtainCode,
  obtainPair,
  pairOf,
  postBody,
  postForm,
  refresh,
  signedInBrowser,
} from '../../support/flow.ts';
import { addClient, addUser, REDIRECT_URI, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  basic,
  DEVICE_GRANT,
  exchangeCode,
  type Fields,
  post,
  refreshWith,
  scopes,
  standardCode,
  standardPair,
  VERIFIER,
} from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const ada = await signedInBrowser(service);
const client = await addClient(service, { scopes: scopes('read', 'write') });
const other = await addClient(service);
const app = await addClient(service, { scopes: scopes('read') }, 'public');
const noPkce = { code_challenge: undefined, code_challenge_method: undefined };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const url = `${service.appUrl}/oauth2/token`;

/** Asserts an answer of RFC 6749 §5.1, and answers its tokens. */
async function assertTokens(
  answer: JsonAnswer,
  scope?: string,
): Promise<{ accessToken: string; refreshToken: string }> {
  const pair = pairOf(answer);
  const { access_token: _, refresh_token: __, ...rest } = answer.body;
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 1800, ...(scope ? { scope } : {}) });
  const names = ['content-type', 'cache-control', 'pragma', 'x-content-type-options', 'set-cookie', 'www-authenticate'];
  assert.deepEqual(
    names.map((name) => answer.headers.get(name)),
    ['application/json', 'no-store', 'no-cache', 'nosniff', null, null],
  );
  assert.equal((await me(service, pair.accessToken)).status, 200);
  return pair;
}

/** Each character of a text percent-encoded, as a form may do. */
const escaped = (text: string) => [...text].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('');
const header = (text: string, scheme = 'Basic') => ({
  Authorization: `${scheme} ${Buffer.from(text).toString('base64')}`,
});
const { clientId: id, clientSecret: secret } = client;

describe('RFC 6749 §2.3.1: a client is taken for itself', { concurrency: true }, () => {
  const ways: Record<string, [fields: Fields, headers?: Record<string, string>]> = {
    'with its secret in the body': [{ client_id: id, client_secret: secret }],
    'with Basic': [{}, header(`${id}:${secret}`)],
    'with Basic and form-encoded parts': [{}, header(`${escaped(id)}:${escaped(secret)}`)],
    'with Basic in lower case': [{}, header(`${id}:${secret}`, 'basic')],
    'with Basic in capitals and more spaces': [{}, header(`${id}:${secret}`, 'BASIC  ')],
    'with Basic and the same client_id': [{ client_id: id }, basic(id, secret)],
    'with Basic and an empty secret in the body': [{ client_id: id, client_secret: '' }, basic(id, secret)],
  };
  for (const [name, [fields, headers]] of Object.entries(ways))
    test(`RFC 6749 §2.3.1: ${name}`, async () => {
      const exchanged = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code_verifier: VERIFIER };
      const code = await standardCode(service, ada, client);
      const { refreshToken } = await assertTokens(
        await post(service, 'token', { ...exchanged, code, ...fields }, headers),
        'read write',
      );
      const refreshed = { grant_type: 'refresh_token', refresh_token: refreshToken };
      await assertTokens(await post(service, 'token', { ...refreshed, ...fields }, headers), 'read write');
    });

  test('RFC 6749 §3.2.1, OAuth 2.1 §8.1: a public client by its word, also in a header with an empty secret', async () => {
    const code = await standardCode(service, ada, app);
    const { refreshToken } = await assertTokens(await exchangeCode(service, app, code), 'read');
    const second = await assertTokens(await refreshWith(service, app, refreshToken), 'read');
    const refreshing = { grant_type: 'refresh_token', refresh_token: second.refreshToken };
    await assertTokens(await post(service, 'token', refreshing, basic(app.clientId, '')), 'read');
  });
});

describe('RFC 6749 §5.2: a refused request of the standard face burns nothing', { concurrency: true }, () => {
  const own = { client_id: id, client_secret: secret };
  const refused: [name: string, answer: string, fields: Fields, headers?: Record<string, string>][] = [
    ['without any client', '401 invalid_client', {}],
    ['RFC 6749 §2.2, §5.2: with the id alone', '401 invalid_client', { client_id: id }],
    ['with the secret alone', '401 invalid_client', { client_secret: secret }],
    ['with a wrong secret', '401 invalid_client', { ...own, client_secret: 'x' }],
    ['with the secret of another client', '401 invalid_client', { ...own, client_secret: other.clientSecret }],
    ['with an unknown client', '401 invalid_client', { ...own, client_id: 'app_nobody' }],
    ['with the id of a built-in', '401 invalid_client', { ...own, client_id: '__proto__' }],
    ['with a NUL as id', '401 invalid_client', { ...own, client_id: '\0' }],
    ['with an id of 10 KB', '401 invalid_client', { ...own, client_id: 'x'.repeat(10_000) }],
    ['by a public client with a secret', '401 invalid_client', { client_id: app.clientId, client_secret: secret }],
    ['by a public client with Basic', '401 invalid_client', {}, basic(app.clientId, 'x')],
    ['with Basic and a wrong secret', '401 invalid_client', {}, basic(id, 'x')],
    ['with Basic and no colon', '401 invalid_client', {}, header(`${id}${secret}`)],
    ['with Basic and nothing', '401 invalid_client', {}, { Authorization: 'Basic' }],
    ['with Basic and a colon alone', '401 invalid_client', {}, header(':')],
    ['with Basic that is no base64', '401 invalid_client', {}, { Authorization: 'Basic !!!' }],
    ['with Basic and an empty secret', '401 invalid_client', {}, basic(id, '')],
    ['with Basic and a broken escape', '401 invalid_client', {}, header(`${id}:%zz`)],
    ['with Basic and bytes that are not UTF-8', '401 invalid_client', {}, { Authorization: 'Basic //////8=' }],
    [
      'with two Basic credentials',
      '401 invalid_client',
      {},
      { Authorization: `${basic(id, secret).Authorization}, x` },
    ],
    ['RFC 6749 §2.3, §5.2: with Basic and a secret in the body', '400 invalid_request', own, basic(id, secret)],
    [
      'with Basic of another client than client_id',
      '400 invalid_request',
      { client_id: other.clientId },
      basic(id, secret),
    ],
    ['with Bearer', '401 invalid_client', own, { Authorization: 'Bearer x' }],
    ['with Digest', '401 invalid_client', {}, { Authorization: `Digest username="${id}"` }],
    [
      'RFC 7521 §4.2, RFC 7523 §2.2: with an unknown assertion type',
      '400 invalid_request',
      { client_id: id, client_assertion_type: 'x', client_assertion: 'x' },
    ],
    ['without grant_type', '400 invalid_request', { ...own, grant_type: undefined }],
    ['with an empty grant_type', '400 invalid_request', { ...own, grant_type: '' }],
    ...['password', 'client_credentials', 'implicit', 'code', 'AUTHORIZATION_CODE', '__proto__'].map(
      (grant_type): [string, string, Fields] => [
        `RFC 6749 §5.2, RFC 9700 §2.4: with grant_type ${grant_type}`,
        '400 unsupported_grant_type',
        { ...own, grant_type },
      ],
    ),
    ['without code', '400 invalid_request', { ...own, code: undefined }],
    ['as a refresh without refresh_token', '400 invalid_request', { ...own, grant_type: 'refresh_token' }],
    ['as a poll without device_code', '400 invalid_request', { ...own, grant_type: DEVICE_GRANT }],
    ['by another client', '400 invalid_grant', { client_id: other.clientId, client_secret: other.clientSecret }],
    ['by a public client', '400 invalid_grant', { client_id: app.clientId }],
    ['with another redirect URI', '400 invalid_grant', { ...own, redirect_uri: 'https://client.example/other' }],
    ['without the verifier', '400 invalid_grant', { ...own, code_verifier: undefined }],
    ['with another verifier', '400 invalid_grant', { ...own, code_verifier: 'v'.repeat(43) }],
    ['with a verifier that is too short', '400 invalid_request', { ...own, code_verifier: 'v'.repeat(42) }],
    ['for a resource', '400 invalid_target', { ...own, resource: service.apiUrl }],
  ];
  for (const [name, expected, fields, headers] of refused)
    test(`${name.startsWith('RFC') ? name : `RFC 6749 §5.2: ${name}`} it is ${expected}`, async () => {
      const code = await standardCode(service, ada, client);
      const usual = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER };
      const [status, error = ''] = expected.split(' ');
      assertRefused(await post(service, 'token', { ...usual, ...fields }, headers), Number(status), error);
      await assertTokens(await exchangeCode(service, client, code), 'read write');
    });

  const repeated = ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'client_id', 'client_secret', 'x'];
  for (const name of repeated)
    test(`RFC 6749 §3.2: ${name} twice is invalid_request, in a form and in JSON`, async () => {
      const code = await standardCode(service, ada, client);
      const usual = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER };
      const fields: Record<string, string> = { ...usual, ...own, x: '1' };
      const again = new URLSearchParams({ [name]: String(fields[name]) });
      assertRefused(await postBody(url, `${new URLSearchParams(fields)}&${again}`, FORM), 400, 'invalid_request');
      const json = `{"${name}":${JSON.stringify(fields[name])},${JSON.stringify(fields).slice(1)}`;
      assertRefused(await postBody(url, json), 400, 'invalid_request');
      await assertTokens(await exchangeCode(service, client, code), 'read write');
    });

  test('RFC 6749 §2.3.1: credentials in the address are not read', async () => {
    const code = await standardCode(service, ada, client);
    const fields = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER };
    const query = `?${new URLSearchParams({ client_id: id, client_secret: secret })}`;
    assertRefused(await post(service, `token${query}`, fields), 401, 'invalid_client');
    await assertTokens(await exchangeCode(service, client, code), 'read write');
  });

  test('RFC 6749 §2.3.1: a paused client is refused like a wrong secret', async () => {
    const paused = await addClient(service, {}, 'public');
    const code = await standardCode(service, ada, paused);
    await service.installation.clients.pause(paused.clientId, service.installation.operator);
    assertRefused(await exchangeCode(service, paused, code), 401, 'invalid_client');
    await service.installation.clients.resume(paused.clientId, service.installation.operator);
    await assertTokens(await exchangeCode(service, paused, code));
  });
});

describe('RFC 7636 §4.6: PKCE stands for the redirect URI, and never goes missing', { concurrency: true }, () => {
  test('OAuth 2.1 §10.2, RFC 6749 §4.1.3: with PKCE the exchange need not repeat the redirect URI', async () => {
    for (const each of [client, app]) {
      const code = await standardCode(service, ada, each);
      pairOf(await exchangeCode(service, each, code, { redirect_uri: undefined }));
    }
  });

  test('RFC 6749 §4.1.3, OAuth 2.1 §10.2: without PKCE it must', async () => {
    const code = await standardCode(service, ada, client, noPkce);
    const fields = { code_verifier: undefined };
    assertRefused(
      await exchangeCode(service, client, code, { ...fields, redirect_uri: undefined }),
      400,
      'invalid_grant',
    );
    pairOf(await exchangeCode(service, client, code, fields));
  });

  test('RFC 9700 §4.8.2, OAuth 2.1 §3.2.4: a verifier for a code without a challenge is a downgrade', async () => {
    const code = await standardCode(service, ada, client, noPkce);
    assertRefused(await exchangeCode(service, client, code), 400, 'invalid_request');
  });

  test('RFC 9700 §2.1.1, RFC 8252 §6: nobody redeems a code of a public client without its verifier', async () => {
    const code = await standardCode(service, ada, app);
    for (const code_verifier of [undefined, '', 'v'.repeat(43)])
      assertRefused(await exchangeCode(service, app, code, { code_verifier }), 400, 'invalid_grant');
    pairOf(await exchangeCode(service, app, code));
  });

  test('RFC 6749 §4.1.2: a code used again ends what was issued from it', async () => {
    const code = await standardCode(service, ada, app);
    const { accessToken } = pairOf(await exchangeCode(service, app, code));
    assertRefused(await exchangeCode(service, app, code), 400, 'invalid_grant');
    assert.equal((await me(service, accessToken)).status, 401);
  });
});

const mail = 'https://mail.example/';
await addResourceServer(service, { resource: mail });

describe('RFC 8707 §2.2: the resource of a token request', { concurrency: true }, () => {
  test('RFC 8707 §2.2: the one of the grant may be repeated, every other is invalid_target', async () => {
    const code = await standardCode(service, ada, client, { resource: mail });
    for (const resource of [service.apiUrl, 'https://mail.example/v1', 'x'])
      assertRefused(await exchangeCode(service, client, code, { resource }), 400, 'invalid_target');
    const { refreshToken } = pairOf(await exchangeCode(service, client, code, { resource: mail }));
    assertRefused(
      await refreshWith(service, client, refreshToken, { resource: service.apiUrl }),
      400,
      'invalid_target',
    );
    const fields = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: id, client_secret: secret };
    const two = `${new URLSearchParams({ ...fields, resource: mail })}&resource=${encodeURIComponent(service.apiUrl)}`;
    assertRefused(await postBody(url, two, FORM), 400, 'invalid_target');
    pairOf(await refreshWith(service, client, refreshToken, { resource: mail }));
  });

  test('RFC 8707 §2, §2.1, RFC 9700 §4.10.2: a token for another resource does not work at the API', async () => {
    const { accessToken } = await standardPair(service, ada, client, { resource: mail });
    assert.equal((await me(service, accessToken)).status, 401);
  });
});

describe('RFC 6749 §6: the scope of a refresh', { concurrency: true }, () => {
  test('RFC 6749 §6: a part may be named, and the answer says that the whole was given', async () => {
    const { refreshToken } = await standardPair(service, ada, client);
    await assertTokens(await refreshWith(service, client, refreshToken, { scope: 'read' }), 'read write');
  });

  test('RFC 6749 §6, RFC 9700 §4.14.2: more than was granted is invalid_scope, and the token still works', async () => {
    const { refreshToken } = await standardPair(service, ada, client, { scope: 'read' });
    for (const scope of ['write', 'read write', 'admin'])
      assertRefused(await refreshWith(service, client, refreshToken, { scope }), 400, 'invalid_scope');
    await assertTokens(await refreshWith(service, client, refreshToken, { scope: 'read' }), 'read');
  });

  test('RFC 6749 §4.1.3: the exchange of a code knows no scope', async () => {
    const code = await standardCode(service, ada, client, { scope: 'read' });
    await assertTokens(await exchangeCode(service, client, code, { scope: 'admin' }), 'read');
  });

  test('RFC 6749 §5.1: without any scope the answer has none', async () => {
    await assertTokens(await exchangeCode(service, other, await standardCode(service, ada, other)));
  });
});

test('RFC 6749 §4.1.4, §5.1, OAuth 2.1 §3.2.3: expires_in is what is left, to the second', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const each = await addClient(own);
  const browser = await signedInBrowser(own);
  const { refreshToken } = await standardPair(own, browser, each);
  const left = async () => (await refreshWith(own, each, refreshToken)).body['expires_in'];
  assert.equal(await left(), 1800);
  own.clock.advance(7);
  assert.equal(await left(), 1793, 'the same pair, later');
  own.clock.advance(0.001);
  assert.equal(await left(), 1792, 'never more than what is left');
  let token = refreshToken;
  for (let month = 0; month < 13; month++) {
    token = pairOf(await refreshWith(own, each, token)).refreshToken;
    own.clock.advance(28 * 86_400);
  }
  own.clock.advance(86_400 - 60);
  const last = await refreshWith(own, each, token);
  assert.equal(last.body['expires_in'], 52, 'no access token outlives its grant');
});

describe('interface: the two faces are one service', { concurrency: true }, () => {
  test('interface: a code of the published face is exchanged on the standard one, and the reverse', async () => {
    const published = await obtainCode(service, ada, client);
    await assertTokens(await exchangeCode(service, client, published, { code_verifier: undefined }), 'read write');
    const code = await standardCode(service, ada, client);
    const answer = await exchange(service, client, code, { code_verifier: VERIFIER });
    assert.deepEqual(Object.keys(answer.body), ['access_token', 'refresh_token']);
    assert.equal((await me(service, pairOf(answer).accessToken)).status, 200);
  });

  test('interface: a refresh token goes to and fro', async () => {
    const first = await obtainPair(service, ada, client);
    const second = await assertTokens(await refreshWith(service, client, first.refreshToken), 'read write');
    const third = pairOf(await refresh(service, client, second.refreshToken));
    assert.deepEqual(
      pairOf(await refreshWith(service, client, second.refreshToken)),
      third,
      'a retry on the other face',
    );
  });

  test('interface: a code replayed on the other face ends its grant', async () => {
    const code = await standardCode(service, ada, client);
    const { accessToken } = pairOf(await exchangeCode(service, client, code));
    assertRefused(await exchange(service, client, code, { code_verifier: VERIFIER }), 400, 'invalid_grant');
    assert.equal((await me(service, accessToken)).status, 401);
  });

  test('RFC 6749 §2.1, OAuth 2.1 §2.1: the published face serves no public client, by whatever means', async () => {
    const code = await standardCode(service, ada, app);
    const fields = { code_verifier: VERIFIER };
    for (const clientSecret of ['', 'x', secret])
      assertRefused(await exchange(service, { ...app, clientSecret }, code, fields), 401, 'invalid_client');
    const byHeader = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...fields };
    const answer = await postForm(`${service.appUrl}/api/auth/oauth/token`, byHeader, basic(app.clientId, ''));
    assertRefused(answer, 401, 'invalid_client');
    const { refreshToken } = pairOf(await exchangeCode(service, app, code));
    assertRefused(await refresh(service, app, refreshToken), 401, 'invalid_client');
    pairOf(await refreshWith(service, app, refreshToken));
  });

  test('interface: the published face reads none of the new parameters', async () => {
    const code = await obtainCode(service, ada, client);
    const added = {
      resource: 'https://nobody.example',
      client_assertion: 'x',
      client_assertion_type: 'x',
      scope: 'admin',
    };
    const { refreshToken } = pairOf(await exchange(service, client, code, added));
    pairOf(await refresh(service, client, refreshToken, added));
  });
});

test('RFC 9700 §2.2.2, §4.14.2, OAuth 2.1 §4.3.1: a public client has no overlap: once its new pair is used, the token before is reuse', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const each = await addClient(own, {}, 'public');
  const { refreshToken } = await standardPair(own, await signedInBrowser(own), each);
  const next = pairOf(await refreshWith(own, each, refreshToken));
  own.clock.advance(59);
  assert.deepEqual(pairOf(await refreshWith(own, each, refreshToken)), next, 'a lost answer is given again');
  assert.equal((await me(own, next.accessToken)).status, 200);
  assertRefused(await refreshWith(own, each, refreshToken), 400, 'invalid_grant');
  assert.equal((await me(own, next.accessToken)).status, 401);
  assert.equal((await auditActions(own)).at(-1), 'refresh_reuse');
});

test('RFC 7009 §5, Promise 6: guessing a secret slows its source down at every endpoint at once, and public clients not at all', async (t) => {
  const own = await startTestService(t);
  const [each, open] = [await addClient(own), await addClient(own, {}, 'public')];
  const refreshing = { grant_type: 'refresh_token', refresh_token: 'x' };
  const wrong = { client_id: each.clientId, client_secret: 'x', token: 'x', ...refreshing };
  const endpoints = ['token', 'revoke', 'par', 'device_authorization'];
  for (let guess = 0; guess < 30; guess++)
    assert.equal((await post(own, String(endpoints[guess % 4]), wrong)).status, 401);
  for (const endpoint of endpoints) {
    const answer = await post(own, endpoint, { ...wrong, client_secret: each.clientSecret });
    assertRefused(answer, 429, 'temporarily_unavailable');
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
  }
  assert.equal((await post(own, 'revoke', { client_id: open.clientId, token: 'x' })).status, 200);
});
