/** Mistakes that an answer names: what a developer sees in a terminal or a browser, without the log. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addressElsewhere } from '../../../src/http/checks/unknown-addresses.ts';
import { withChecksum } from '../../../src/oauth/keys/credential.ts';
import { Browser } from '../../support/browser.ts';
import { asJson, authorizeUrl, postBody, postForm, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  basic,
  exchangeCode,
  postAs,
  refreshWith,
  scopes,
  sentTo,
  standardCode,
  standardPair,
  standardUrl,
} from '../../support/standard.ts';

const service = await startTestService({ after });
const { appUrl, apiUrl } = service;
await addUser(service);
const ada = await signedInBrowser(service);
const registered = { scopes: scopes('read', 'write'), deviceFlow: true };
const client = await addClient(service, registered);
const browser = new Browser();
const GENERAL = 'scope has a value that is not registered for this client';
const ASK = ': check how it is written, or ask the people who run this service for it';
const named = (name: string, remedy = ASK) => `the scope ${name} is not registered for this client${remedy}`;

const names: [scope: string, told: string][] = [
  ['read delete', named('delete')],
  ['read,write', named('read,write', ': scopes are separated by spaces, not by commas')],
  ['https://api.example/notes.read', named('https://api.example/notes.read')],
  ['xy'.repeat(10).concat('.').repeat(4), named('xy'.repeat(10).concat('.').repeat(4))],
  // Anything that is no scope-token (RFC 6749 §3.3), or longer than one may be here.
  ['a"b', GENERAL],
  ['a\\b', GENERAL],
  ['é', GENERAL],
  ['line\nfeed', GENERAL],
  ['a.'.repeat(50).concat('b'), GENERAL],
  // What comes back in an address holds no markup, and what goes to the log no credential.
  ['<script>alert(1)</script>', GENERAL],
  ['a&b', GENERAL],
  ['x'.repeat(40), GENERAL],
];
for (const [scope, told] of names) {
  test(`RFC 6749 §3.3: the scope ${JSON.stringify(scope)} that is refused is ${told === GENERAL ? 'not named' : 'named'}, in answer and log`, async () => {
    for (const url of [authorizeUrl(service, client, { scope }), standardUrl(service, client, { scope })]) {
      const { searchParams } = sentTo(await browser.get(url));
      assert.deepEqual([searchParams.get('error'), searchParams.get('error_description')], ['invalid_scope', told]);
    }
    const device = await postAs(service, client, 'device_authorization', { scope });
    const pushed = await postAs(service, client, 'par', {
      response_type: 'code',
      redirect_uri: 'https://client.example/callback',
      state: 'x',
      scope,
    });
    for (const { body } of [device, pushed])
      assert.deepEqual(body, { error: 'invalid_scope', error_description: told });
    const line = service.log.findLast((each) => each.includes('invalid_scope'));
    const logged = told.replace(ASK, ': "client update" registers it with --scope, which names the others as well');
    assert.equal(JSON.parse(String(line)).detail, logged);
  });
}

test('RFC 6749 §3.3: what OpenID Connect clients ask for is refused on the published face, with what to do', async () => {
  for (const [scope, told] of [
    ['openid', named('openid', ': leave it out, since these endpoints give no ID tokens')],
    ['read offline_access', named('offline_access', ': leave it out, since a refresh token comes without it')],
  ] as const) {
    const { searchParams } = sentTo(await browser.get(authorizeUrl(service, client, { scope })));
    assert.deepEqual([searchParams.get('error'), searchParams.get('error_description')], ['invalid_scope', told]);
  }
});

test('RFC 6749 §6: a refresh names the scope that was not granted', async () => {
  const { refreshToken } = await standardPair(service, ada, client, { scope: 'read' });
  const { body } = await refreshWith(service, client, refreshToken, { scope: 'read write' });
  assert.deepEqual(body, {
    error: 'invalid_scope',
    error_description: 'the scope write is not granted: leave it out, or ask the user again with it',
  });
});

test('RFC 9110 §15.5.6: a wrong method is told the right one', async () => {
  const onToken = await asJson(await fetch(`${appUrl}/api/auth/oauth/token`));
  assert.deepEqual(onToken.body, { error: 'invalid_request', error_description: 'this address accepts only POST' });
  const onMe = await asJson(await fetch(`${apiUrl}/v2/me`, { method: 'POST' }));
  assert.deepEqual(onMe.body['error'], { code: 'method_not_allowed', message: 'this address accepts only GET' });
});

test('an address that is asked at the other port tells the right one, for every method', async () => {
  for (const method of ['GET', 'POST']) {
    const me = await asJson(await fetch(`${appUrl}/v2/me`, { method }));
    const message = `there is nothing at this address: use ${apiUrl}/v2/me`;
    assert.deepEqual([me.status, me.body], [404, { status: 'error', error: { code: 'not_found', message } }]);
    for (const path of [
      '/api/auth/oauth/token',
      '/api/auth/oauth/refreshToken',
      '/oauth2/token',
      '/auth/oauth2/authorize',
    ]) {
      const { status, body } = await asJson(await fetch(apiUrl + path, { method }));
      assert.deepEqual(
        [status, (body['error'] as { message: string }).message],
        [404, `there is nothing at this address: use ${appUrl}${path}`],
      );
    }
  }
  assert.equal(addressElsewhere('/v2/us', appUrl, apiUrl), undefined);
});

test('RFC 6749 §5.2: what did not come is missing, and not wrong', async () => {
  const url = `${appUrl}/api/auth/oauth/token`;
  const fields = { grant_type: 'authorization_code', code: 'x', redirect_uri: 'https://client.example/callback' };
  for (const [name, given] of [
    ['client_id', { client_secret: 'x' }],
    ['client_secret', { client_id: client.clientId }],
    ['client_secret', { client_id: 'app_nobody' }],
  ] as const) {
    const { status, body } = await postForm(url, { ...fields, ...given });
    const told = `client authentication failed: ${name} is missing`;
    assert.deepEqual([status, body], [401, { error: 'invalid_client', error_description: told }]);
  }
});

test('RFC 6749 §5.2: on the standard face a secret that did not come is missing, whether such a client exists or not', async () => {
  const told =
    'client authentication failed: client_secret (or client_assertion) is missing, which only a public client may omit';
  for (const client_id of [client.clientId, 'app_nobody'])
    for (const endpoint of ['token', 'revoke', 'par', 'device_authorization']) {
      const { status, body } = await postForm(`${appUrl}/oauth2/${endpoint}`, {
        client_id,
        token: 'x',
        code: 'x',
        grant_type: 'authorization_code',
      });
      assert.deepEqual([endpoint, status, body], [endpoint, 401, { error: 'invalid_client', error_description: told }]);
    }
});

test('RFC 6749 §5.2: a credential that is sent in place of another is told by its kind', async () => {
  const { accessToken, refreshToken } = await standardPair(service, ada, client, { scope: 'read' });
  const exchanged = (code: string) =>
    postAs(service, client, 'token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'https://client.example/callback',
    });
  for (const [told, answer] of [
    ['this is an access token: send the refresh token', await refreshWith(service, client, accessToken, {})],
    ['this is a refresh token: send the authorization code', await exchanged(refreshToken)],
    ['this is an access token: send the authorization code', await exchanged(accessToken)],
  ] as const)
    assert.deepEqual([answer.status, answer.body], [400, { error: 'invalid_grant', error_description: told }]);
  assert.equal((await refreshWith(service, client, refreshToken, {})).status, 200, 'nothing was ended');
});

/** What the check answers to a header, in its body and its challenge. */
async function checked(authorization: string): Promise<string> {
  const { status, headers, body } = await asJson(
    await fetch(`${apiUrl}/v2/me`, { headers: { Authorization: authorization } }),
  );
  const { code, message } = body['error'] as { code: string; message: string };
  assert.deepEqual([status, code], [401, 'invalid_token']);
  assert.match(
    String(headers.get('www-authenticate')),
    new RegExp(`error="invalid_token", error_description="${message}"`),
  );
  return message;
}

test('RFC 6750 §3.1: the check tells a credential of another kind, one that is cut, and Bearer that came twice', async () => {
  const code = await standardCode(service, ada, client);
  const { accessToken, refreshToken } = await standardPair(service, ada, client, { scope: 'read' });
  const whole = 'the access token is invalid, expired or revoked';
  const cut = 'the access token is not whole: send all of it, and nothing else';
  const forged = `${accessToken.slice(0, 20)}AAAA${accessToken.slice(24, -6)}`;
  const told: [authorization: string, message: string][] = [
    [`Bearer ${refreshToken}`, 'this is a refresh token: send the access token'],
    [`Bearer ${code}`, 'this is an authorization code: send the access token'],
    [`Bearer ${client.clientSecret}`, 'this is a client secret: send the access token'],
    [`Bearer ${accessToken.slice(0, -1)}`, cut],
    [`Bearer ${accessToken}x`, cut],
    [`Bearer ${accessToken.slice(0, -1)}${accessToken.endsWith('A') ? 'B' : 'A'}`, cut],
    [`Bearer Bearer ${accessToken}`, 'the header has the word Bearer twice: send it once, before the token'],
    ['Bearer bearer', 'the header has the word Bearer twice: send it once, before the token'],
    [`Bearer ${withChecksum(forged)}`, whole],
    [`Bearer ${withChecksum(accessToken.slice(0, -6).replace(/_at_../, '_at_Ag'))}`, whole], // another version
    ['Bearer x', whole],
    [`Bearer ${accessToken} x`, whole],
  ];
  for (const [authorization, message] of told) assert.equal(await checked(authorization), message);
  assert.equal((await exchangeCode(service, client, code)).status, 200, 'and nothing was used up');
});

test('RFC 6749 §5.2: a code, a token or a secret that is not whole is told, and so is a secret with a line break', async () => {
  const code = await standardCode(service, ada, client);
  const { refreshToken } = await standardPair(service, ada, client, { scope: 'read' });
  const notWhole = (what: string) => `the ${what} is not whole: send all of it, and nothing else`;
  const exchanged = await exchangeCode(service, client, code.slice(0, -3));
  assert.deepEqual([exchanged.status, exchanged.body['error_description']], [400, notWhole('authorization code')]);
  const refreshed = await refreshWith(service, client, `${refreshToken}\n`);
  assert.deepEqual([refreshed.status, refreshed.body['error_description']], [400, notWhole('refresh token')]);
  const twice = await postForm(
    `${appUrl}/api/auth/oauth/refreshToken`,
    { grant_type: 'refresh_token', client_id: client.clientId, client_secret: client.clientSecret },
    { Authorization: `Bearer Bearer ${refreshToken}` },
  );
  assert.deepEqual(
    [twice.status, twice.body['error'], twice.body['error_description']],
    [400, 'invalid_request', 'the header has the word Bearer twice: send it once, before the token'],
  );
  const blank = 'client authentication failed: the secret contains a space or a line break: send it without';
  const cut = 'client authentication failed: the secret is not whole: send all of it, and nothing else';
  const general = 'client authentication failed: check client_id and client_secret, or client_assertion';
  const { clientSecret } = client;
  // The same for a client that is not there: what is told is seen of the secret alone.
  for (const [secret, told] of [
    [`${clientSecret}\n`, blank],
    [`\r\n${clientSecret}`, blank],
    [clientSecret.slice(0, -2), cut],
    ['a wrong one'.replaceAll(' ', '-'), general],
    [withChecksum(`${clientSecret.slice(0, -6)}`.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))), general],
  ] as const)
    for (const clientId of [client.clientId, 'app_nobody'])
      for (const inHeader of [false, true]) {
        const fields = { grant_type: 'authorization_code', code, redirect_uri: 'https://client.example/callback' };
        const { status, body } = inHeader
          ? await postForm(`${appUrl}/oauth2/token`, fields, basic(clientId, secret))
          : await postForm(`${appUrl}/oauth2/token`, { ...fields, client_id: clientId, client_secret: secret });
        assert.deepEqual([status, body['error'], body['error_description']], [401, 'invalid_client', told]);
      }
  const api = await addResourceServer(service);
  for (const id of [api.id, 'api_nobody']) {
    const { status, body } = await postForm(
      `${appUrl}/oauth2/introspect`,
      { token: 'x' },
      basic(id, `${api.secret.slice(0, -1)}`),
    );
    assert.deepEqual([status, body['error_description']], [401, cut]);
  }
});

test('RFC 6749 §3.2: JSON that was sent as a form is told, with the status that it had', async () => {
  const told = 'the body is JSON and was sent as a form: send it with Content-Type: application/json';
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const body = ` {"grant_type":"authorization_code","client_id":"a&b=c","client_secret":"x"}`;
  for (const [path, status] of [
    ['/api/auth/oauth/token', 400],
    ['/api/auth/oauth/refreshToken', 400],
    ['/oauth2/token', 400],
    ['/oauth2/par', 401],
    ['/oauth2/introspect', 401],
  ] as const) {
    const answer = await postBody(appUrl + path, body, form);
    assert.deepEqual([answer.status, answer.body['error_description']], [status, told], path);
  }
});

test('RFC 8414 §5: who asks the API for the metadata of the authorization server is told whom to ask', async () => {
  for (const path of ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']) {
    const { status, body } = await asJson(await fetch(apiUrl + path));
    assert.equal(status, 404);
    assert.ok(JSON.stringify(body).includes(`use ${appUrl}${path}`), JSON.stringify(body));
  }
});

test('RFC 6749 §5.2: the grant type of the other published address is told that address', async () => {
  const [token, refresh] = [`${appUrl}/api/auth/oauth/token`, `${appUrl}/api/auth/oauth/refreshToken`];
  for (const [url, grant_type, told] of [
    [token, 'refresh_token', `grant_type must be authorization_code; a refresh goes to ${refresh}`],
    [refresh, 'authorization_code', `grant_type must be refresh_token; a code goes to ${token}`],
    [token, 'password', 'grant_type must be authorization_code'],
    [refresh, 'client_credentials', 'grant_type must be refresh_token'],
  ] as const) {
    const { status, body } = await postForm(url, { grant_type });
    assert.deepEqual([status, body], [400, { error: 'unsupported_grant_type', error_description: told }]);
  }
});

test('RFC 6749 §4.1.2.1: pages tell a client_id that is missing from one that is unknown', async () => {
  for (const url of [
    authorizeUrl(service, client, { client_id: undefined }),
    standardUrl(service, client, { client_id: undefined }),
  ]) {
    const { status, body } = await browser.get(url);
    assert.equal(status, 400);
    assert.match(body, /<code>client_id<\/code> is missing/);
    assert.doesNotMatch(body, /isn’t registered/);
  }
  const { body } = await browser.get(authorizeUrl(service, client, { client_id: 'app_nobody' }));
  assert.match(body, /No client is registered under this <code>client_id<\/code>/);
});

test('RFC 6749 §4.1.2.1: the page for a wrong redirect URI says what was received, as text and no more than fits', async () => {
  const page = async (redirect_uri: string | undefined) =>
    (await browser.get(authorizeUrl(service, client, { redirect_uri }))).body;
  assert.match(
    await page('https://client.example/callbak'),
    /<dt>We received<\/dt><dd>.*https:\/\/client\.example\/callbak</,
  );
  const markup = await page('https://x.example/"><script>alert(1)</script><a href="javascript:x">');
  assert.doesNotMatch(markup, /<script|<a [^>]*(?:x\.example|javascript)/);
  assert.match(markup, /&lt;script&gt;/);
  const long = await page(`https://x.example/${'y'.repeat(5000)}`);
  assert.ok((/y{100,}/.exec(long)?.[0].length ?? 0) <= 320);
  assert.doesNotMatch(await page('https://x.example/\u202e\u200bgnp.exe'), /[\u202e\u200b]/);
  assert.match(await page(undefined), /<code>redirect_uri<\/code> is missing/);
});
