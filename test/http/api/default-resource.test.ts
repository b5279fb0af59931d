/** An app with a default resource: its tokens are for that resource when a request names none, and the API is not told. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import {
  authorizeUrl,
  exchange,
  me,
  obtainCode,
  obtainPair,
  pairOf,
  refresh,
  signedInBrowser,
} from '../../support/flow.ts';
import { requestHead, sendRaw } from '../../support/raw-http.ts';
import { addClient, addUser, REDIRECT_URI, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  allowOn,
  authorizationRequest,
  DEVICE_GRANT,
  exchangeCode,
  introspect,
  postAs,
  refreshWith,
  scopes,
  standardCode,
  standardPair,
  standardUrl,
  type TestResourceServer,
} from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const ada = await signedInBrowser(service);
const { clients, resourceServers, operator } = service.installation;
const MAIL = 'https://Mail.example';
const FILES = 'https://files.example';
const mail = await addResourceServer(service, { resource: MAIL });
const open = await addResourceServer(service, { resource: FILES, acceptsUnbound: true });
const any = await addResourceServer(service);
const client = await addClient(service, {
  scopes: scopes('mail'),
  deviceFlow: true,
  defaultResource: 'https://mail.example/',
});

const isActive = async (api: TestResourceServer, token: string) =>
  (await introspect(service, api, token)).body['active'];

/** Asserts that a token is good at the API of mail, with its audience, and at `/v2/me`; and at no other API. */
async function assertBoundByDefault(accessToken: string): Promise<void> {
  assert.equal((await introspect(service, mail, accessToken)).body['aud'], MAIL);
  for (const other of [open, any]) assert.equal(await isActive(other, accessToken), false);
  assert.equal((await me(service, accessToken)).status, 200);
}

/** An answer as it came, byte for byte, with the same words for all credentials, times and request ids. */
async function bytes(url: string, method: string, headers: Record<string, string>, body = ''): Promise<string> {
  const { pathname, search } = new URL(url);
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const head = requestHead(url, `${method} ${pathname}${search}`, { ...headers, ...length });
  const { text } = await sendRaw(url, head + body);
  return text
    .replace(/^Date: .*/gim, 'date')
    .replace(/^X-Request-Id: .*/gim, 'request id')
    .replace(/vk_(ac|at|rt)_[\w-]+/g, (credential, kind) => `${kind} of ${credential.length}`);
}

describe('interface: an app with a default resource on the published face', () => {
  test('RFC 8707 §2, interface: the published answers are byte-equal with a default resource and without, and /v2/me confirms with 200', async () => {
    const app = await addClient(service, { scopes: scopes('mail') });
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const { clientId: client_id, clientSecret: client_secret } = app;
    const walk = async () => {
      const page = await ada.get(authorizeUrl(service, app));
      const { status, headers } = await ada.submit(page, '/auth/oauth2/authorize', { decision: 'allow' });
      const location = new URL(String(headers.get('location')));
      const code = String(location.searchParams.get('code'));
      location.searchParams.set('code', `ac of ${code.length}`);
      const spare = await obtainCode(service, ada, app);
      const exchanged = { grant_type: 'authorization_code', code: spare, client_id, client_secret };
      const body = String(new URLSearchParams({ ...exchanged, redirect_uri: REDIRECT_URI }));
      const token = await bytes(`${service.appUrl}/api/auth/oauth/token`, 'POST', form, body);
      const { accessToken, refreshToken } = pairOf(await exchange(service, app, code));
      const check = await bytes(`${service.apiUrl}/v2/me`, 'GET', { Authorization: `Bearer ${accessToken}` });
      const again = String(new URLSearchParams({ grant_type: 'refresh_token', client_id, client_secret }));
      const header = { ...form, Authorization: `Bearer ${refreshToken}` };
      const refreshed = await bytes(`${service.appUrl}/api/auth/oauth/refreshToken`, 'POST', header, again);
      return { accessToken, answers: [status, location.href, token, check, refreshed] };
    };
    const before = await walk();
    await clients.update(client_id, { defaultResource: MAIL }, operator);
    const bound = await walk();
    assert.deepEqual(bound.answers, before.answers);
    assert.match(String(before.answers[3]), /^HTTP\/1\.1 200 /);
    assert.deepEqual(
      [await isActive(mail, before.accessToken), await isActive(open, before.accessToken)],
      [false, true],
    );
    await assertBoundByDefault(bound.accessToken);
    await clients.update(client_id, { defaultResource: null }, operator);
    const without = await walk();
    assert.deepEqual(without.answers, before.answers);
    assert.equal(await isActive(mail, without.accessToken), false);
  });

  test('interface: it does not read resource, so that the default holds', async () => {
    const code = await obtainCode(service, ada, client, { resource: FILES });
    await assertBoundByDefault(pairOf(await exchange(service, client, code)).accessToken);
  });

  test('interface: a refreshed token is bound as the first one is, on either face', async () => {
    const first = await obtainPair(service, ada, client);
    const second = pairOf(await refresh(service, client, first.refreshToken));
    const third = pairOf(await refreshWith(service, client, second.refreshToken));
    for (const { accessToken } of [first, second, third]) await assertBoundByDefault(accessToken);
  });
});

describe('RFC 8707 §2: an app with a default resource on the standard face', { concurrency: true }, () => {
  const ways: Record<string, (resource?: string) => Promise<string>> = {
    'at the authorization page': async (resource) =>
      (await standardPair(service, ada, client, { resource })).accessToken,
    'in a pushed request': async (resource) => {
      const { body } = await postAs(service, client, 'par', authorizationRequest(client, { resource }));
      const query = new URLSearchParams({ client_id: client.clientId, request_uri: String(body['request_uri']) });
      const location = await allowOn(ada, await ada.get(`${service.appUrl}/oauth2/authorize?${query}`));
      return pairOf(await exchangeCode(service, client, String(location.searchParams.get('code')))).accessToken;
    },
    'of a device': async (resource) => {
      const { body } = await postAs(service, client, 'device_authorization', { resource });
      const page = await ada.get(String(body['verification_uri_complete']));
      await ada.submit(page, '/device', { decision: 'allow' });
      const poll = { grant_type: DEVICE_GRANT, device_code: String(body['device_code']) };
      return pairOf(await postAs(service, client, 'token', poll)).accessToken;
    },
  };
  for (const [where, obtain] of Object.entries(ways)) {
    test(`RFC 8707 §2: no resource ${where} means the default`, async () => assertBoundByDefault(await obtain()));

    test(`RFC 8707 §2: an empty resource ${where} is none`, async () => assertBoundByDefault(await obtain('')));

    test(`RFC 8707 §2: a resource ${where} is used as sent, be it the default`, async () => {
      const ofMail = await obtain(MAIL);
      assert.deepEqual([await isActive(mail, ofMail), (await me(service, ofMail)).status], [true, 401]);
      const ofFiles = await obtain(FILES);
      assert.deepEqual([await isActive(mail, ofFiles), await isActive(open, ofFiles)], [false, true]);
      assert.equal((await me(service, ofFiles)).status, 401);
      const own = await obtain(service.apiUrl);
      assert.deepEqual([await isActive(mail, own), (await me(service, own)).status], [false, 200]);
    });
  }

  test('RFC 8707 §2.2: token requests may name the default resource, and no other', async () => {
    const code = await standardCode(service, ada, client);
    assert.equal((await exchangeCode(service, client, code, { resource: FILES })).body['error'], 'invalid_target');
    const pair = pairOf(await exchangeCode(service, client, code, { resource: 'https://mail.example' }));
    for (const resource of [FILES, service.apiUrl])
      assert.equal(
        (await refreshWith(service, client, pair.refreshToken, { resource })).body['error'],
        'invalid_target',
      );
    const next = pairOf(await refreshWith(service, client, pair.refreshToken, { resource: MAIL }));
    await assertBoundByDefault(next.accessToken);
  });

  test('interface: an Allow is for the default resource that was shown to hold', async () => {
    const app = await addClient(service, { scopes: scopes('mail') });
    const page = await ada.get(standardUrl(service, app));
    await clients.update(app.clientId, { defaultResource: MAIL }, operator);
    const again = await ada.submit(page, '/oauth2/authorize', { decision: 'allow' });
    assert.equal(again.status, 403, 'the form is outdated');
    const location = await allowOn(ada, again);
    const pair = pairOf(await exchangeCode(service, app, String(location.searchParams.get('code'))));
    await assertBoundByDefault(pair.accessToken);
  });

  test('interface: once its API is gone or renamed, its tokens are good at /v2/me alone, and none is unbound', async () => {
    const resource = 'https://notes.example';
    const notes = await addResourceServer(service, { resource });
    const app = await addClient(service, { defaultResource: resource });
    const tokens = [(await standardPair(service, ada, app)).accessToken];
    const other = await addResourceServer(service, { resource: 'https://other.example', acceptsUnbound: true });
    await resourceServers.update(notes.id, { resource: 'https://notes.example/v2' }, operator);
    tokens.push((await obtainPair(service, ada, app)).accessToken, (await standardPair(service, ada, app)).accessToken);
    for (const token of tokens) {
      for (const api of [notes, any, other]) assert.equal(await isActive(api, token), false);
      assert.equal((await me(service, token)).status, 200);
    }
    assert.deepEqual(await resourceServers.lostDefaults(), [resource]);
    await resourceServers.update(notes.id, { resource: `${resource}/` }, operator);
    for (const token of tokens) assert.equal(await isActive(notes, token), true);
    assert.deepEqual(await resourceServers.lostDefaults(), [], 'another spelling is the same resource');
  });
});
