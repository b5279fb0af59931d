/** What `/openapi.json` says of each answer, against all that the real service answers. */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { assertFits, DescribedService, possibleAnswers } from '../../support/described.ts';
import { obtainCode, obtainPair, signedInBrowser } from '../../support/flow.ts';
import { requestHead, sendRaw } from '../../support/raw-http.ts';
import { addClient, addUser, PASSWORD, REDIRECT_URI, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  authorizationRequest,
  basic,
  DEVICE_GRANT,
  type Fields,
  scopes,
  standardCode,
  standardPair,
  VERIFIER,
} from '../../support/standard.ts';
import { temporaryPath } from '../../support/storage.ts';

const service = await startTestService({ after });
const described = await DescribedService.of(service);
await addUser(service);
const ada = await signedInBrowser(service);
const client = await addClient(service, {
  scopes: scopes('mail.read'),
  deviceFlow: true,
  signIn: true,
  consent: 'ask',
});
const secret = { client_id: client.clientId, client_secret: client.clientSecret };
const api = await addResourceServer(service, { resource: 'https://api.example', acceptsUnbound: true });
const asApi = basic(api.id, api.secret);
const exchange = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI };
const refresh = { grant_type: 'refresh_token', refresh_token: 'x' };
const push = authorizationRequest(client);
/** A request of each operation that authenticates who asks; the credentials are added. */
const requests: Record<string, Fields> = {
  exchangeAuthorizationCode: { ...exchange, code: 'x' },
  refreshTokens: refresh,
  token: refresh,
  revoke: { token: 'x' },
  pushAuthorizationRequest: push,
  authorizeDevice: {},
  introspect: { token: 'x' },
  revocations: {},
};
const isForApis = (id: string) => id === 'introspect' || id === 'revocations';
const withSecret = (id: string, fields: Fields) =>
  isForApis(id) ? { fields, headers: asApi } : { fields: { ...secret, ...fields } };
/** Asserts that an operation answers so. */
const answers = async (expected: string, fields: Fields, headers?: Record<string, string>) => {
  const [id = '', status, error] = expected.split(' ');
  const answer = await described.ask(id, headers ? { fields, headers } : withSecret(id, fields));
  assert.equal(`${answer.status} ${answer.body['error'] ?? ''}`.trim(), [status, error].join(' ').trim(), expected);
  return answer;
};

test('the published face: each of its answers is as described', async () => {
  const code = await obtainCode(service, ada, client);
  await answers('exchangeAuthorizationCode 400 invalid_request', { ...exchange });
  await answers('exchangeAuthorizationCode 400 unsupported_grant_type', { ...exchange, grant_type: 'x' });
  await answers('exchangeAuthorizationCode 400 invalid_grant', { ...exchange, code: 'x' });
  const { body } = await answers('exchangeAuthorizationCode 200', { ...exchange, code });
  const refreshToken = String(body['refresh_token']);
  await answers('refreshTokens 400 invalid_request', { grant_type: 'refresh_token' });
  await answers('refreshTokens 400 unsupported_grant_type', { ...refresh, grant_type: 'x' });
  await answers('refreshTokens 400 invalid_grant', refresh);
  const bearer = { Authorization: `Bearer ${refreshToken}` };
  const pair = await answers('refreshTokens 200', { grant_type: 'refresh_token', ...secret }, bearer);
  const headers = { Authorization: `Bearer ${pair.body['access_token']}` };
  assert.equal((await described.ask('me', { headers })).status, 200);
  assert.equal((await described.ask('me')).status, 401);
  assert.equal((await described.ask('me', { headers: bearer })).status, 401);
});

test('the standard face: each of its answers is as described', async () => {
  const { refreshToken } = await standardPair(service, ada, client);
  const again = { ...refresh, refresh_token: refreshToken };
  await answers('token 400 invalid_request', {});
  await answers('token 400 unsupported_grant_type', { grant_type: 'password' });
  await answers('token 400 invalid_grant', refresh);
  await answers('token 400 invalid_scope', { ...again, scope: 'x' });
  await answers('token 400 invalid_target', { ...again, resource: 'https://x.example' });
  await answers('token 400 invalid_authorization_details', { ...again, authorization_details: '[]' });
  assert.equal((await answers('token 200', again)).body['scope'], 'mail.read');
  const bare = await addClient(service);
  const code = await obtainCode(service, ada, bare);
  const fields = { ...exchange, code, client_id: bare.clientId, client_secret: bare.clientSecret };
  assert.equal((await answers('token 200', fields)).body['scope'], undefined);
  await answers('revoke 400 invalid_request', {});
  await answers('revoke 200', { token: refreshToken });
  await answers('pushAuthorizationRequest 201', push);
  const refused: [error: string, Fields][] = [
    ['invalid_request', { redirect_uri: undefined }],
    ['unsupported_response_type', { response_type: 'token' }],
    ['invalid_scope', { scope: 'x' }],
    ['invalid_target', { resource: 'https://x.example' }],
    ['request_not_supported', { request: 'x' }],
    ['registration_not_supported', { scope: 'openid', registration: '{}' }],
    ['invalid_authorization_details', { authorization_details: '[]' }],
  ];
  for (const [error, wrong] of refused) await answers(`pushAuthorizationRequest 400 ${error}`, { ...push, ...wrong });
});

test('OAuth 2.1 §3.2: what pages of an app may read, and of which headers, is as described', async () => {
  const page = await addClient(service, { deviceFlow: true }, 'public');
  const origin = { Origin: new URL(REDIRECT_URI).origin };
  const named = { client_id: page.clientId };
  const proven = { ...named, client_secret: 'x' };
  const asked: [expected: string, Fields][] = [
    ['token 400 invalid_grant', { ...refresh, ...named }],
    ['token 401 invalid_client', { ...refresh, ...proven }],
    ['revoke 200', { ...named, token: 'x' }],
    ['revoke 400 invalid_request', named],
    ['revoke 401 invalid_client', { ...proven, token: 'x' }],
    ['pushAuthorizationRequest 201', authorizationRequest(page)],
    ['pushAuthorizationRequest 400 invalid_request', named],
    ['pushAuthorizationRequest 401 invalid_client', { ...authorizationRequest(page), ...proven }],
    ['authorizeDevice 200', named],
    ['authorizeDevice 400 invalid_scope', { ...named, scope: 'x' }],
    ['authorizeDevice 401 invalid_client', proven],
  ];
  for (const [expected, fields] of asked) {
    const { headers } = await answers(expected, fields, origin);
    assert.equal(headers.get('access-control-allow-origin'), origin.Origin);
  }
});

test('RFC 8628 §3.5: a device is answered as described', async () => {
  const begin = async () => (await answers('authorizeDevice 200', { scope: 'mail.read' })).body;
  const poll = ({ device_code }: Record<string, unknown>) =>
    ({ grant_type: DEVICE_GRANT, device_code: String(device_code) }) as const;
  const decide = async ({ verification_uri_complete }: Record<string, unknown>, decision: string) => {
    const page = await ada.get(String(verification_uri_complete));
    assert.equal((await ada.submit(page, '/device', { decision })).status, 200);
  };
  const bare = await addClient(service);
  const fields = { client_id: bare.clientId, client_secret: bare.clientSecret };
  await answers('authorizeDevice 400 unauthorized_client', fields);
  await answers('authorizeDevice 400 invalid_request', fields, basic(bare.clientId, bare.clientSecret));
  await answers('authorizeDevice 400 invalid_scope', { scope: 'x' });
  await answers('authorizeDevice 400 invalid_target', { resource: 'https://x.example' });
  await answers('authorizeDevice 400 invalid_authorization_details', { authorization_details: '[]' });
  const [allowed, denied, late] = [await begin(), await begin(), await begin()];
  await answers('token 400 authorization_pending', poll(allowed));
  await answers('token 400 slow_down', poll(allowed));
  await decide(allowed, 'allow');
  await decide(denied, 'deny');
  await answers('token 200', poll(allowed));
  await answers('token 400 access_denied', poll(denied));
  service.clock.advance(600);
  await answers('token 400 expired_token', poll(late));
});

test('RFC 7662 §2.2: a resource server is answered as described', async () => {
  const resource = 'https://api.example';
  for (const pair of [await obtainPair(service, ada, client), await standardPair(service, ada, client, { resource })]) {
    const { body } = await answers('introspect 200', { token: pair.accessToken });
    assert.equal(body['active'], true);
  }
  const account = { email: 'bob@example.com', name: 'Bob', username: 'bob' };
  const { installation } = service;
  await installation.accounts.add({ ...account, password: PASSWORD }, installation.operator);
  const bob = await signedInBrowser(service, account.email);
  const { accessToken } = await obtainPair(service, bob, client);
  assert.equal((await answers('introspect 200', { token: accessToken })).body['username'], 'bob');
  assert.equal((await answers('introspect 200', { token: 'x' })).body['active'], false);
  await answers('introspect 400 invalid_request', {});
});

test('the stream of revocations is as described, and so are its events', async () => {
  const { urls, operation } = described.operation('revocations');
  const ending = new AbortController();
  const { status, headers, body } = await fetch(String(urls[0]), { headers: asApi, signal: ending.signal });
  const answer = operation.responses['200'];
  const events = answer?.content['text/event-stream']?.['x-events'];
  assert.ok(body && events);
  const { accessToken } = await obtainPair(service, ada, client);
  const revoked = answers('revoke 200', { token: accessToken });
  let heard = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    heard += chunk;
    if (heard.includes('event: revoked') && heard.endsWith('\n\n')) break;
  }
  ending.abort();
  await revoked;
  described.check('revocations', { status, headers, body: heard as never });
  for (const [, name = '', data = ''] of heard.matchAll(/^event: (.*)\ndata: (.*)$/gm))
    assertFits(events[name] ?? { not: {} }, JSON.parse(data), name);
  assert.deepEqual(
    [...heard.matchAll(/^event: (.*)$/gm)].map(([, name]) => name),
    Object.keys(events),
  );
});

test('RFC 8414 §3.2, RFC 9728 §3.2: metadata, with scopes and without, is as described', async () => {
  const discovery = [
    'authorizationServerMetadata',
    'openidConfiguration',
    'protectedResourceMetadata',
    'openApi',
    'healthz',
    'readyz',
  ];
  for (const id of discovery) assert.equal((await described.ask(id)).status, 200);
  await service.installation.scopes.define('mail.read', { en: 'Read your mail' }, service.installation.operator);
  const scopesAt = async (id: string) => (await described.ask(id)).body['scopes_supported'];
  assert.deepEqual(await scopesAt('authorizationServerMetadata'), ['mail.read']);
  assert.deepEqual(await scopesAt('openidConfiguration'), ['openid', 'profile', 'email', 'mail.read']);
});

test('OpenID Connect Core §5.3: a sign-in, userinfo and the keys are answered as described', async () => {
  const app = await addClient(service, { signIn: true, scopes: scopes('mail.read') });
  const signIn = async (scope: string) => {
    const code = await standardCode(service, ada, app, { scope });
    const own = { client_id: app.clientId, client_secret: app.clientSecret, code_verifier: VERIFIER };
    const { status, body } = await described.ask('token', { fields: { ...exchange, ...own, code } });
    assert.equal(status, 200);
    return { Authorization: `Bearer ${body['access_token']}` };
  };
  const [good, unfit] = [await signIn('openid profile email'), await signIn('mail.read')];
  for (const id of ['userInfo', 'postedUserInfo']) {
    assert.equal((await described.ask(id, { headers: good })).status, 200);
    assert.equal((await described.ask(id, { headers: unfit })).status, 403);
    assert.equal((await described.ask(id, { headers: { Authorization: 'Bearer x' } })).status, 401);
    assert.equal((await described.ask(id)).status, 401);
  }
  assert.equal((await described.ask('keySet')).status, 200);
  assert.equal((await described.ask('openidConfiguration')).status, 200);
});

/** What providers ask is held by `test/http/external`. */
function isForProviders(operation: object): boolean {
  return (operation as { tags?: readonly string[] }).tags?.[0] === 'identity providers';
}

test('RFC 9126 §2.3: what goes wrong before a handler is as described; forms and JSON are read', async () => {
  for (const [id, { method, operation }] of described.operations) {
    assert.equal((await described.ask(id, { method: 'PATCH' })).status, 405);
    if (method !== 'POST' || isForProviders(operation)) continue;
    assert.equal((await described.ask(id, { fields: { x: 'x'.repeat(70_000) } })).status, 413);
    const as = (type: string) => ({ body: '{}', headers: { 'Content-Type': type } });
    assert.equal((await described.ask(id, as('text/plain'))).status, 415);
    assert.notEqual((await described.ask(id, as('application/json'))).status, 415);
  }
});

test('RFC 6749 §3.2, RFC 7009 §2, RFC 8628 §3.1: what is posted is asked for by no GET, but for userinfo (OpenID Connect Core §5.3.1)', async () => {
  const posted = [...described.operations].filter(([id, { method }]) => method === 'POST' && id !== 'postedUserInfo');
  assert.ok(posted.length > 5);
  for (const [id, { urls }] of posted)
    for (const url of urls) assert.equal((await fetch(url)).status, 405, `${id} ${url}`);
});

test('RFC 6749 §5.2: who proves nothing, and who guesses too often, is answered as described', async () => {
  const guessed = await addClient(service);
  const asGuess = { client_id: guessed.clientId, client_secret: 'wrong' };
  const guesses = Object.entries(requests).map(([id, fields]) => ({
    id,
    sent: isForApis(id) ? { fields, headers: basic(api.id, 'wrong') } : { fields: { ...fields, ...asGuess } },
  }));
  for (const { id, sent } of guesses) assert.equal((await described.ask(id, sent)).status, 401, id);
  for (const id of ['token', 'introspect']) {
    const { sent } = guesses.find((guess) => guess.id === id) ?? {};
    for (let guess = 0; guess < 31; guess += 1) await described.ask(id, sent);
  }
  for (const { id, sent } of guesses) assert.equal((await described.ask(id, sent)).status, 429, id);
});

test('documents that are asked for too often answer as described', async (t) => {
  const asked = await startTestService(t);
  const own = await DescribedService.of(asked, described.seen);
  const document = requestHead(asked.appUrl, 'HEAD /openapi.json', { Connection: 'keep-alive' });
  await sendRaw(asked.appUrl, document.repeat(3001));
  const documents = [
    'openApi',
    'keySet',
    'authorizationServerMetadata',
    'openidConfiguration',
    'protectedResourceMetadata',
  ];
  for (const id of documents) assert.equal((await own.ask(id)).status, 429, id);
});

test('a broken service answers as described', async (t) => {
  // It closes its database when it stops, which is closed by then.
  const broken = await startTestService({
    after: (end) => t.after(async () => void (await Promise.allSettled([end()]))),
  });
  const own = await DescribedService.of(broken, described.seen);
  await addUser(broken);
  const { accessToken } = await obtainPair(broken, await signedInBrowser(broken), await addClient(broken));
  await broken.installation.close();
  const headers = { Authorization: `Bearer ${accessToken}` };
  for (const id of ['me', 'userInfo', 'postedUserInfo']) assert.equal((await own.ask(id, { headers })).status, 500);
  for (const [id, fields] of Object.entries(requests))
    assert.equal((await own.ask(id, withSecret(id, fields))).status, 500, id);
  for (const id of ['keySet', 'authorizationServerMetadata', 'openidConfiguration', 'protectedResourceMetadata'])
    assert.equal((await own.ask(id)).status, 500);
  assert.equal((await own.ask('readyz')).status, 503);
  assert.equal((await fetch(`${broken.apiUrl}/readyz`, { method: 'HEAD' })).status, 503);
});

test('a service that cannot write answers as described', async (t) => {
  const path = temporaryPath(t);
  const kept = await startTestService(t, {
    VALETKEY_DATABASE_URL: `sqlite:${path}`,
    VALETKEY_KEYS_FILE: `${path}.keys`,
  });
  const own = await DescribedService.of(kept, described.seen);
  await addUser(kept);
  const app = await addClient(kept);
  const browser = await signedInBrowser(kept);
  const code = await obtainCode(kept, browser, app);
  const { accessToken, refreshToken } = await obtainPair(kept, browser, app);
  const fields = { client_id: app.clientId, client_secret: app.clientSecret };
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const writes: [id: string, fields: Fields][] = [
    ['exchangeAuthorizationCode', { ...exchange, code }],
    ['refreshTokens', { ...refresh, refresh_token: refreshToken }],
    ['token', { ...exchange, code }],
    ['revoke', { token: accessToken }],
  ];
  const statuses = writes.map(async ([id, sent]) => (await own.ask(id, { fields: { ...fields, ...sent } })).status);
  assert.deepEqual(await Promise.all(statuses), [503, 503, 503, 503]);
  other.exec('ROLLBACK');
});

test('nothing is described that never comes', () => {
  const operations = [...described.operations.values()].filter(({ operation }) => !isForProviders(operation));
  const possible = operations.flatMap(({ operation }) => possibleAnswers(operation));
  // Only a disk that fails makes a read fail so.
  const ofReads = /^(?!readyz).* 503/;
  const missing = possible.filter((each) => !described.seen.has(each) && !ofReads.test(each));
  assert.deepEqual(missing, []);
});
