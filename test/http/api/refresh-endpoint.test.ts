import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ClientSettings } from '../../../src/oauth/clients/client.ts';
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
import { addClient, addUser, type Lifetime, startTestService } from '../../support/service.ts';

const service = await startTestService({ after });
await addUser(service);
const client = await addClient(service);
const other = await addClient(service);
const ada = await signedInBrowser(service);
const url = `${service.appUrl}/api/auth/oauth/refreshToken`;
const fields = { grant_type: 'refresh_token', client_id: client.clientId, client_secret: client.clientSecret };
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** A service of its own with one pair, for tests in which time passes. */
async function ownPair(t: Lifetime, settings: Partial<ClientSettings> = {}, variables: Record<string, string> = {}) {
  const own = await startTestService(t, variables);
  const account = await addUser(own);
  const app = await addClient(own, settings);
  const browser = await signedInBrowser(own);
  return { own, app, account, browser, pair: await obtainPair(own, browser, app) };
}

describe('RFC 6749 §6: a refresh that works', { concurrency: true }, () => {
  const requests: Record<string, (token: string) => Promise<JsonAnswer>> = {
    'as a form': (token) => refresh(service, client, token),
    'as JSON': (token) => postBody(url, fields, { 'Content-Type': 'application/json', ...bearer(token) }),
    'with bearer in lower case': (token) => postForm(url, fields, { Authorization: `bearer ${token}` }),
    'with BEARER in capitals': (token) => postForm(url, fields, { Authorization: `BEARER  ${token}` }),
    'with the token in the body': (token) => postForm(url, { ...fields, refresh_token: token }),
    'with the token in header and body': (token) => postForm(url, { ...fields, refresh_token: token }, bearer(token)),
    'with unknown parameters': (token) => refresh(service, client, token, { scope: 'x', extra: 'y', code: 'z' }),
  };
  for (const [name, request] of Object.entries(requests))
    test(`RFC 6749 §6: ${name} it answers exactly a new pair; both access tokens work`, async () => {
      const before = await obtainPair(service, ada, client);
      const answer = await request(before.refreshToken);
      const pair = pairOf(answer);
      assert.deepEqual(Object.keys(answer.body), ['access_token', 'refresh_token']);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.equal(answer.headers.get('pragma'), 'no-cache');
      assert.equal(new Set([...Object.values(before), ...Object.values(pair)]).size, 4);
      for (const { accessToken } of [before, pair]) assert.equal((await me(service, accessToken)).status, 200);
    });
});

describe('RFC 6749 §5.2: a refused refresh uses nothing up', { concurrency: true }, () => {
  type Sent = Record<string, string | undefined>;
  const refused: [name: string, status: number, error: string, fields: Sent, header?: (token: string) => Sent][] = [
    ['without client_id', 401, 'invalid_client', { client_id: undefined }],
    ['without client_secret', 401, 'invalid_client', { client_secret: undefined }],
    ['with a wrong secret', 401, 'invalid_client', { client_secret: 'wrong' }],
    ['without grant_type', 400, 'invalid_request', { grant_type: undefined }],
    ['with another grant_type', 400, 'unsupported_grant_type', { grant_type: 'authorization_code' }],
    ['by another client', 400, 'invalid_grant', { client_id: other.clientId, client_secret: other.clientSecret }],
    ['without a token', 400, 'invalid_request', {}, () => ({})],
    ['with an empty header', 400, 'invalid_request', {}, () => ({ Authorization: '' })],
    ['with Bearer alone', 400, 'invalid_request', {}, () => ({ Authorization: 'Bearer' })],
    ['with another scheme', 400, 'invalid_request', {}, (token) => ({ Authorization: `Token ${token}` })],
    ['with Basic', 400, 'invalid_request', {}, (token) => ({ Authorization: `Basic ${btoa(`x:${token}`)}` })],
    ['with the token alone', 400, 'invalid_request', {}, (token) => ({ Authorization: token })],
    ['with two tokens', 400, 'invalid_request', {}, (token) => ({ Authorization: `Bearer ${token} ${token}` })],
    ['with a different token in the body', 400, 'invalid_request', { refresh_token: 'x' }],
  ];
  for (const [name, status, error, changed, header = bearer] of refused)
    test(`RFC 6749 §5.2: ${name} it is ${error}, and the token still works`, async () => {
      const { refreshToken } = await obtainPair(service, ada, client);
      const headers = header(refreshToken) as Record<string, string>;
      assertRefused(await postForm(url, { ...fields, ...changed }, headers), status, error);
      pairOf(await refresh(service, client, refreshToken));
    });

  test('RFC 6749 §3.2: a repeated refresh_token is invalid_request', async () => {
    const { refreshToken } = await obtainPair(service, ada, client);
    const twice = `${new URLSearchParams({ ...fields, refresh_token: refreshToken })}&refresh_token=${refreshToken}`;
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    assertRefused(await postBody(url, twice, type), 400, 'invalid_request');
    pairOf(await refresh(service, client, refreshToken));
  });

  test('RFC 6749 §10.4: nothing but a refresh token is one', async () => {
    const { accessToken, refreshToken } = await obtainPair(service, ada, client);
    const code = await obtainCode(service, ada, client);
    for (const text of [accessToken, code, client.clientSecret, refreshToken.slice(0, -1), refreshToken.toUpperCase()])
      assertRefused(await refresh(service, client, text), 400, 'invalid_grant', text);
    pairOf(await exchange(service, client, code));
    pairOf(await refresh(service, client, refreshToken));
  });
});

describe('Promise 3: retries and theft', { concurrency: true }, () => {
  test('Promise 3: within the overlap the predecessor gets the same pair, even when the pair is used', async (t) => {
    const { own, app, pair } = await ownPair(t);
    const next = pairOf(await refresh(own, app, pair.refreshToken));
    await me(own, next.accessToken);
    own.clock.advance(9);
    assert.deepEqual(pairOf(await refresh(own, app, pair.refreshToken)), next);
  });

  test('Promise 3: within the retry window the predecessor gets the same pair, while it is unused', async (t) => {
    const { own, app, pair } = await ownPair(t);
    const next = pairOf(await refresh(own, app, pair.refreshToken));
    own.clock.advance(599);
    assert.deepEqual(pairOf(await refresh(own, app, pair.refreshToken)), next);
    assert.equal((await me(own, next.accessToken)).status, 200);
    assertRefused(await refresh(own, app, pair.refreshToken), 400, 'invalid_grant');
    assert.equal((await me(own, next.accessToken)).status, 401);
  });

  const thefts: [name: string, settings: Partial<ClientSettings>, wait: number][] = [
    ['after the retry window', {}, 600],
    ['at once where settings are strict', { refreshOverlap: 0, refreshRetryWindow: 0 }, 0],
  ];
  for (const [name, settings, wait] of thefts)
    test(`RFC 9700 §4.14.2: ${name} a used refresh token ends its grant, and leaves an audit event`, async (t) => {
      const { own, app, pair } = await ownPair(t, settings);
      const next = pairOf(await refresh(own, app, pair.refreshToken));
      own.clock.advance(wait);
      assertRefused(await refresh(own, app, pair.refreshToken), 400, 'invalid_grant');
      assertRefused(await refresh(own, app, next.refreshToken), 400, 'invalid_grant');
      for (const { accessToken } of [pair, next]) assert.equal((await me(own, accessToken)).status, 401);
      assert.equal((await auditActions(own)).at(-1), 'refresh_reuse');
    });

  test('RFC 9700 §4.14.2: older than the predecessor is reuse once the overlap has passed, refused before', async (t) => {
    const { own, app, pair } = await ownPair(t);
    const second = pairOf(await refresh(own, app, pair.refreshToken));
    const third = pairOf(await refresh(own, app, second.refreshToken));
    assertRefused(await refresh(own, app, pair.refreshToken), 400, 'invalid_grant');
    assert.equal((await me(own, third.accessToken)).status, 200, 'three workers are late, not thieves');
    own.clock.advance(10);
    assertRefused(await refresh(own, app, pair.refreshToken), 400, 'invalid_grant');
    assert.equal((await me(own, third.accessToken)).status, 401);
  });

  test('RFC 9700 §4.14.2: a stolen token without the secret ends nothing', async (t) => {
    const { own, app, pair } = await ownPair(t, { refreshOverlap: 0, refreshRetryWindow: 0 });
    const thief = await addClient(own);
    const next = pairOf(await refresh(own, app, pair.refreshToken));
    assertRefused(await refresh(own, app, pair.refreshToken, { client_secret: 'x' }), 401, 'invalid_client');
    assertRefused(await refresh(own, thief, pair.refreshToken), 400, 'invalid_grant');
    assert.equal((await me(own, next.accessToken)).status, 200);
  });
});

describe('RFC 9700 §4.14.2: refresh tokens end', { concurrency: true }, () => {
  test('RFC 9700 §4.14.2: after 30 days without use', async (t) => {
    const { own, app, browser, pair } = await ownPair(t);
    const other = await obtainPair(own, browser, app);
    own.clock.advance(30 * 86_400 - 1);
    pairOf(await refresh(own, app, pair.refreshToken));
    own.clock.advance(1);
    assertRefused(await refresh(own, app, other.refreshToken), 400, 'invalid_grant');
  });

  test('RFC 9700 §4.14.2: after a year in any case, and no access token outlives it', async (t) => {
    const { own, app, pair } = await ownPair(t);
    let { refreshToken } = pair;
    for (let month = 0; month < 13; month++) {
      own.clock.advance(28 * 86_400);
      ({ refreshToken } = pairOf(await refresh(own, app, refreshToken)));
    }
    own.clock.advance(86_400 - 60);
    const last = pairOf(await refresh(own, app, refreshToken));
    const { authorization } = (await me(own, last.accessToken)).body as { authorization: Record<string, string> };
    assert.equal(Date.parse(String(authorization['expires_at'])), own.clock.now() + 60_000);
    own.clock.advance(60);
    assertRefused(await refresh(own, app, last.refreshToken), 400, 'invalid_grant');
    assert.equal((await me(own, last.accessToken)).status, 401);
  });

  type Own = Awaited<ReturnType<typeof ownPair>>;
  const acts: Record<string, [act: (own: Own) => Promise<unknown>, error: string]> = {
    'the account is disabled': [
      ({ own, account }) => own.installation.accounts.disable(account.id, own.installation.operator),
      '400 invalid_grant',
    ],
    'the account is deleted': [
      ({ own, account }) => own.installation.accounts.delete(account.id, own.installation.operator),
      '400 invalid_grant',
    ],
    'the client is paused': [
      ({ own, app }) => own.installation.clients.pause(app.clientId, own.installation.operator),
      '401 invalid_client',
    ],
    'the client is deleted': [
      ({ own, app }) => own.installation.clients.delete(app.clientId, own.installation.operator),
      '401 invalid_client',
    ],
    'the person took it back': [
      async ({ own, browser, app }) => {
        const page = await browser.get(`${own.appUrl}/account/apps`);
        await browser.submit(page, '/account/apps/revoke', { client_id: app.clientId });
      },
      '400 invalid_grant',
    ],
  };
  for (const [name, [act, expected]] of Object.entries(acts))
    test(`Promise 2: at once when ${name}`, async (t) => {
      const all = await ownPair(t);
      await act(all);
      const { status, body } = await refresh(all.own, all.app, all.pair.refreshToken);
      assert.equal(`${status} ${body['error']}`, expected);
      assert.equal((await me(all.own, all.pair.accessToken)).status, 401);
    });
});
