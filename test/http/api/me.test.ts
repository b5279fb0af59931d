import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  asJson,
  exchange,
  type JsonAnswer,
  me,
  obtainCode,
  obtainPair,
  pairOf,
  signedInBrowser,
} from '../../support/flow.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';

const service = await startTestService({ after });
const { id } = await addUser(service);
const scopes = ['a', 'b'].map((name) => ({ name, sentence: null, optional: false }));
const client = await addClient(service, { scopes });
const ada = await signedInBrowser(service);
const { accessToken, refreshToken } = await obtainPair(service, ada, client);
const url = `${service.apiUrl}/v2/me`;
const withHeader = async (Authorization: string) => asJson(await fetch(url, { headers: { Authorization } }));

function assertUnauthorized({ status, headers, body }: JsonAnswer, code: string, message?: string): void {
  assert.equal(status, 401, message);
  const challenge = headers.get('www-authenticate') ?? '';
  assert.match(challenge, /^Bearer realm="valetkey"/, message);
  assert.equal(challenge.includes('error='), code === 'invalid_token', message);
  assert.deepEqual([body['status'], (body['error'] as { code: string }).code], ['error', code], message);
  assert.deepEqual(Object.keys(body['error'] as object), ['code', 'message']);
  assert.equal(headers.get('cache-control'), 'no-store');
}

test('RFC 6750 §2.1: a good token answers whose it is and what for, and nothing else', async () => {
  for (const scheme of ['Bearer', 'bEaReR']) {
    const { status, headers, body } = await withHeader(`${scheme} ${accessToken}`);
    assert.equal(status, 200);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.deepEqual(body, {
      status: 'success',
      data: { id, username: null, email: 'ada@example.com', name: 'Ada Example', avatar_url: null },
      authorization: {
        client_id: client.clientId,
        scope: 'a b',
        granted_at: '2026-01-15T12:00:00.000Z',
        expires_at: '2026-01-15T12:30:00.000Z',
      },
    });
  }
});

test('RFC 6749 §3.3: without any scope it is an empty text', async () => {
  const { body } = await me(service, (await obtainPair(service, ada, await addClient(service))).accessToken);
  assert.equal((body['authorization'] as { scope: string }).scope, '');
});

test('RFC 6750 §3.1: where no token came, the answer names no error', async () => {
  assertUnauthorized(await asJson(await fetch(url)), 'missing_token');
  for (const header of ['', 'Basic YTpi', 'Bearer', 'Bearer ', `Token ${accessToken}`, accessToken])
    assertUnauthorized(await withHeader(header), 'missing_token', header);
});

test('RFC 6750 §2, §2.3, OAuth 2.1 §5.1: a token in the query or the body is not read', async () => {
  const inQuery = `${url}?access_token=${accessToken}`;
  assertUnauthorized(await asJson(await fetch(inQuery)), 'missing_token');
  assert.equal((await asJson(await fetch(inQuery, { headers: { Authorization: 'Bearer x' } }))).status, 401);
  const post = await fetch(url, { method: 'POST', body: new URLSearchParams({ access_token: accessToken }) });
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
});

test('RFC 6750 §3, §3.1, RFC 6749 §7.2: whatever is wrong with a token, the answer is the same, but what the token itself shows', async () => {
  const code = await obtainCode(service, ada, client);
  const presented = [
    'x',
    accessToken.slice(0, -1),
    `${accessToken.slice(0, -1)}${accessToken.endsWith('A') ? 'B' : 'A'}`,
    accessToken.toLowerCase(),
    `${accessToken} ${accessToken}`,
    `${accessToken},x`,
    refreshToken,
    refreshToken.replace('_rt_', '_at_'),
    code,
    String(ada.cookies.get('valetkey_session')),
    client.clientSecret,
    'x'.repeat(8000),
  ];
  const told = new Set<string>();
  for (const token of presented) {
    const answer = await withHeader(`Bearer ${token}`);
    assertUnauthorized(answer, 'invalid_token', token);
    told.add((answer.body['error'] as { message: string }).message);
  }
  assert.deepEqual([...told].sort(), [
    'the access token is invalid, expired or revoked',
    'the access token is not whole: send all of it, and nothing else',
    'this is a client secret: send the access token',
    'this is a refresh token: send the access token',
    'this is an authorization code: send the access token',
  ]);
  pairOf(await exchange(service, client, code));
  assert.equal((await me(service, accessToken)).status, 200);
});

test('RFC 6750 §3.1, §5.3: an access token works for 30 minutes', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const pair = await obtainPair(own, await signedInBrowser(own), await addClient(own));
  own.clock.advance(1799);
  assert.equal((await me(own, pair.accessToken)).status, 200);
  own.clock.advance(1);
  assertUnauthorized(await me(own, pair.accessToken), 'invalid_token');
});

test('OAuth 2.1 §3.2: pages of any origin may ask with a token, and never with cookies', async () => {
  const origin = { Origin: 'https://spa.example', 'Access-Control-Request-Method': 'GET' };
  const preflight = await fetch(`${service.apiUrl}/v2/me`, { method: 'OPTIONS', headers: origin });
  const allowed = ['origin', 'methods', 'headers'].map((name) => preflight.headers.get(`access-control-allow-${name}`));
  const headers = 'Authorization, Content-Type, DPoP, MCP-Protocol-Version, traceparent, tracestate, baggage';
  assert.deepEqual([preflight.status, ...allowed], [204, '*', 'GET', headers]);
  const answer = await fetch(`${service.apiUrl}/v2/me`, { headers: origin });
  assert.equal(answer.headers.get('access-control-allow-origin'), '*');
  assert.equal(answer.headers.get('access-control-allow-credentials'), null);
});

test('RFC 9728 §5.1: a refused check says where the API tells of itself', async () => {
  const refused = await fetch(`${service.apiUrl}/v2/me`);
  const [, url] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
  const metadata = (await (await fetch(String(url))).json()) as Record<string, unknown>;
  assert.equal(url, `${service.apiUrl}/.well-known/oauth-protected-resource`);
  assert.equal(metadata['resource'], service.apiUrl);
});
