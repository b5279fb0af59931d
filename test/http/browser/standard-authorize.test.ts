import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser, type Visit, withoutReceived } from '../../support/browser.ts';
import { authorizeUrl, me, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, PASSWORD, REDIRECT_URI, startTestService } from '../../support/service.ts';
import {
  allowOn,
  authorizationRequest,
  exchangeCode,
  type Fields,
  PKCE,
  scopes,
  sentTo,
  standardCode,
  standardUrl,
} from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const client = await addClient(service, { name: 'Notes', scopes: scopes('read', 'write') });
const app = await addClient(service, { redirectUris: ['com.example.app:/callback', REDIRECT_URI] }, 'public');
const ada = await signedInBrowser(service);
const browsers = { 'signed in': ada, 'not signed in': new Browser() };
const noPkce = { code_challenge: undefined, code_challenge_method: undefined };

/** Asserts an error that goes back to the client, with its state and who says so, and answers its code. */
function errorOf(visit: Visit, state: string | null = 'xyz', message?: string): string {
  const { origin, pathname, searchParams, hash } = sentTo(visit);
  assert.equal(origin + pathname, REDIRECT_URI, message);
  const { error, error_description, ...rest } = Object.fromEntries(searchParams);
  assert.deepEqual(rest, { ...(state === null ? {} : { state }), iss: service.appUrl }, message);
  assert.match(String(error_description), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, message);
  assert.deepEqual([hash, visit.headers.get('referrer-policy')], ['', 'no-referrer'], message);
  return String(error);
}

describe('RFC 6749 §4.1.2.1: errors of the standard face that go back to the client', { concurrency: true }, () => {
  const refused: [name: string, error: string, parameters: Fields, state?: string | null][] = [
    ['RFC 6749 §3.1.1: no response_type', 'invalid_request', { response_type: undefined }],
    ['RFC 6749 §3.1.1: an empty response_type', 'invalid_request', { response_type: '' }],
    ...['token', 'code token', 'id_token', 'none', 'CODE'].map((response_type): [string, string, Fields] => [
      `RFC 6749 §3.1.1: response_type=${response_type}`,
      'unsupported_response_type',
      { response_type },
    ]),
    ['RFC 9700 §4.7.1: neither state nor PKCE', 'invalid_request', { ...noPkce, state: undefined }, null],
    ['RFC 9700 §4.7.1: an empty state without PKCE', 'invalid_request', { ...noPkce, state: '' }, null],
    ['a state that is too long', 'invalid_request', { state: 's'.repeat(4097) }, 's'.repeat(4097)],
    ['RFC 6749 §3.3: a scope that is not registered', 'invalid_scope', { scope: 'read admin' }],
    ['RFC 7636 §4.3: a challenge without a method', 'invalid_request', { code_challenge_method: undefined }],
    ['RFC 7636 §4.4.1: plain', 'invalid_request', { code_challenge_method: 'plain' }],
    ['RFC 7636 §4.2: a challenge that is too short', 'invalid_request', { code_challenge: 'x'.repeat(42) }],
    ['a method without a challenge', 'invalid_request', { code_challenge: undefined }],
    ['RFC 8707 §2: a resource that nobody is', 'invalid_target', { resource: 'https://nobody.example' }],
    ['RFC 8707 §2: a resource that is no URI', 'invalid_target', { resource: 'mail' }],
    ['RFC 9101 §7: a request object', 'request_not_supported', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['RFC 9101 §7: a request_uri of the client', 'request_uri_not_supported', { request_uri: 'https://a.example/r' }],
    ...['select_account none', 'create', 'LOGIN', 'login,consent', 'login none', 'none none consent'].map(
      (prompt): [string, string, Fields] => [
        `OpenID Connect Core §3.1.2.1: prompt=${prompt}`,
        'invalid_request',
        { prompt },
      ],
    ),
  ];
  for (const [name, error, parameters, state] of refused)
    test(`${name} is ${error}`, async () => {
      for (const [who, browser] of Object.entries(browsers)) {
        const visit = await browser.get(standardUrl(service, client, parameters));
        assert.equal(errorOf(visit, state, who), error, who);
      }
    });

  const repeated: [name: string, error: string, added: string][] = [
    ...['response_type=code', 'scope=read&scope=read', 'state=xyz', 'prompt=consent&prompt=consent', 'x=1&x=1'].map(
      (added): [string, string, string] => [`RFC 6749 §3.1: ${added} once more`, 'invalid_request', added],
    ),
    ['RFC 8707 §2: two resources', 'invalid_target', `resource=${service.apiUrl}&resource=https://nobody.example`],
    ['RFC 8707 §2: one resource twice', 'invalid_target', `resource=${service.apiUrl}&resource=${service.apiUrl}`],
    ['a prompt that is not UTF-8', 'invalid_request', 'prompt=%ff'],
    ['a login_hint that is not UTF-8', 'invalid_request', 'login_hint=%ff'],
  ];
  for (const [name, error, added] of repeated)
    test(`${name} is ${error}`, async () => {
      const visit = await ada.get(`${standardUrl(service, client)}&${added}`);
      assert.equal(errorOf(visit, added.startsWith('state') ? null : 'xyz'), error);
    });

  test('RFC 9700 §2.1.1, RFC 8252 §8.1, OAuth 2.1 §4.1.1: a public client without PKCE, and a client that must use it, are refused', async () => {
    const strict = await addClient(service, { requirePkce: true });
    for (const each of [app, strict])
      assert.equal(errorOf(await ada.get(standardUrl(service, each, noPkce))), 'invalid_request');
  });

  test('RFC 6749 §4.1.2.1, RFC 9207 §2: Deny is access_denied', async () => {
    const page = await ada.get(standardUrl(service, client));
    assert.equal(errorOf(await ada.submit(page, '/oauth2/authorize', { decision: 'deny' })), 'access_denied');
  });
});

describe('requests that the standard face takes', { concurrency: true }, () => {
  const taken: Record<string, Fields> = {
    'RFC 6749 §3.3: a scope of spaces is an absent one': { scope: '  ' },
    'RFC 3986 §6.2.3: the API with a slash is the API': { scope: undefined, resource: `${service.apiUrl}/` },
  };
  for (const [name, parameters] of Object.entries(taken))
    test(`${name}, and all that the client has is granted`, async () => {
      const code = await standardCode(service, ada, client, parameters);
      const { status, body } = await exchangeCode(service, client, code);
      assert.deepEqual([status, body['scope']], [200, 'read write']);
    });
});

describe('RFC 6749 §4.1.2.1: errors of the standard face that are told on a page', { concurrency: true }, () => {
  const shown: Record<string, Fields> = {
    'no client': { client_id: undefined },
    'an unknown client': { client_id: 'app_nobody' },
    'a client id of a NUL': { client_id: '\0' },
    'no redirect URI': { redirect_uri: undefined },
    'a foreign redirect URI': { redirect_uri: 'https://evil.test/callback' },
    'another path': { redirect_uri: `${REDIRECT_URI}/FAKEPATH` },
    'another scheme': { redirect_uri: 'http://client.example/callback' },
  };
  for (const [name, parameters] of Object.entries(shown))
    test(`RFC 6749 §4.1.2.1: ${name} is never redirected`, async () => {
      for (const browser of Object.values(browsers)) {
        const { status, headers, body } = await browser.get(standardUrl(service, client, parameters));
        assert.deepEqual([status, headers.get('location')], [400, null]);
        assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
        assert.doesNotMatch(withoutReceived(body), /evil\.test|FAKEPATH|client\.example/);
      }
    });

  test('RFC 6749 §4.1.2.1: a paused client is told on a page, and cannot be allowed from an open one', async () => {
    const paused = await addClient(service);
    const page = await ada.get(standardUrl(service, paused));
    await service.installation.clients.pause(paused.clientId, service.installation.operator);
    assert.equal((await ada.get(standardUrl(service, paused))).status, 400);
    assert.equal((await ada.submit(page, '/oauth2/authorize', { decision: 'allow' })).status, 400);
  });
});

test('RFC 9207 §2, RFC 8252 §8.10, OAuth 2.1 §4.1.2: the code comes with the unchanged state and the issuer, and nothing else', async () => {
  const page = await ada.get(standardUrl(service, client, { state: 'a b&c=ü', scope: 'read' }));
  const { searchParams } = await allowOn(ada, page);
  assert.deepEqual([...searchParams.keys()], ['code', 'state', 'iss']);
  assert.deepEqual([searchParams.get('state'), searchParams.get('iss')], ['a b&c=ü', service.appUrl]);
  const { body } = await exchangeCode(service, client, String(searchParams.get('code')));
  assert.equal(body['scope'], 'read');
});

test('RFC 9700 §4.7.1: with PKCE state may be absent, and is not made up', async () => {
  const { searchParams } = await allowOn(ada, await ada.get(standardUrl(service, client, { state: undefined })));
  assert.deepEqual([...searchParams.keys()], ['code', 'iss']);
  assert.equal((await exchangeCode(service, client, String(searchParams.get('code')))).status, 200);
});

test('RFC 6749 §3.1: a parameter without a value is one that did not come', async () => {
  const empty = { request: '', request_uri: '', prompt: '', login_hint: '', resource: '', scope: '' };
  assert.match((await allowOn(ada, await ada.get(standardUrl(service, client, empty)))).search, /code=/);
});

test('RFC 8252 §7.1: a public client gets its code at its private-use scheme', async () => {
  const redirect_uri = 'com.example.app:/callback';
  const page = await ada.get(standardUrl(service, app, { redirect_uri }));
  const location = await allowOn(ada, page);
  assert.equal(location.protocol, 'com.example.app:');
  assert.equal(
    (await exchangeCode(service, app, String(location.searchParams.get('code')), { redirect_uri })).status,
    200,
  );
});

describe('RFC 8252 §7.3: a public client as agents come gets its code', { concurrency: true }, () => {
  const habits: [client: string, registered: string, requested: string, repeated?: string][] = [
    ['Claude Code', 'http://localhost/callback', 'http://localhost:51733/callback'],
    ['VS Code', 'http://127.0.0.1:33418', 'http://127.0.0.1:33418/'],
    [
      'a client that writes the slash at the token endpoint alone',
      'http://127.0.0.1',
      'http://127.0.0.1:4',
      'http://127.0.0.1:4/',
    ],
    ['Cursor', 'cursor://anysphere.cursor-mcp/oauth/callback', 'cursor://anysphere.cursor-mcp/oauth/callback'],
    ['Codex', 'http://127.0.0.1/callback/abc', 'http://127.0.0.1:1455/callback/abc'],
  ];
  for (const [name, registered, requested, repeated = requested] of habits)
    test(`RFC 8252 §7.3: ${name} at ${requested}, asked each time`, async () => {
      const agent = await addClient(service, { redirectUris: [registered], consent: 'skip' }, 'public');
      const url = standardUrl(service, agent, { redirect_uri: requested });
      for (const _ of ['first', 'again']) {
        const page = await ada.get(url);
        assert.match(page.body, /Allow it only if you just started it/);
        const location = await allowOn(ada, page);
        assert.ok(location.href.startsWith(`${requested}?code=`) || location.href.startsWith(`${repeated}?code=`));
        const code = String(location.searchParams.get('code'));
        const { status } = await exchangeCode(service, agent, code, { redirect_uri: repeated });
        assert.equal(status, 200);
      }
    });

  test('RFC 8252 §8.6: another scheme, path or host is a page and no redirect', async () => {
    const redirectUris = ['http://localhost/callback', 'cursor://anysphere.cursor-mcp/oauth/callback'];
    const agent = await addClient(service, { redirectUris }, 'public');
    for (const redirect_uri of [
      'http://localhost:51733/other',
      'http://localhost.evil.test:51733/callback',
      'http://127.0.0.1:51733/callback',
      'https://localhost:51733/callback',
      'cursor://evil/oauth/callback',
      'vscode://anysphere.cursor-mcp/oauth/callback',
    ])
      assert.equal((await ada.get(standardUrl(service, agent, { redirect_uri }))).status, 400, redirect_uri);
  });
});

test('RFC 6749 §10.12: a consent form of one face, request or resource is wrong for another', async () => {
  const page = await ada.get(standardUrl(service, client));
  const addresses = [
    authorizeUrl(service, client, PKCE),
    standardUrl(service, client, { resource: service.apiUrl }),
    standardUrl(service, client, { scope: 'read' }),
    standardUrl(service, client, { state: 'other' }),
    standardUrl(service, client, { code_challenge: 'x'.repeat(43) }),
    standardUrl(service, client, noPkce),
    standardUrl(service, await addClient(service)),
  ];
  for (const address of addresses) {
    const action = new URL(address);
    const forged = page.body.replaceAll(
      /action="\/oauth2\/authorize[^"]*"/g,
      `action="${action.pathname}${action.search.replaceAll('&', '&amp;')}"`,
    );
    const visit = await ada.submit({ ...page, body: forged }, action.pathname, { decision: 'allow' });
    assert.equal(visit.status, 403, address);
  }
  assert.match((await allowOn(ada, page)).search, /code=/, 'and right for its own');
});

test('RFC 6749 §10.12: whoever was signed out meanwhile is asked to sign in, and nothing is granted', async () => {
  const browser = await signedInBrowser(service);
  const url = standardUrl(service, client);
  const page = await browser.get(url);
  await browser.submit(await browser.get(`${service.appUrl}/sign-out`), '/sign-out');
  const visit = await browser.submit(page, '/oauth2/authorize', { decision: 'allow' });
  const [location, chosen] = (visit.headers.get('location') ?? '').split('&chosen=');
  assert.deepEqual([visit.status, service.appUrl + location], [303, url]);
  assert.match(String(chosen), /^[\w.-]+$/, 'what was chosen is kept, sealed');
  assert.match((await browser.get(url)).body, /name="password"/);
});

test('RFC 6749 §3.1: the sign-in page names the app, also after a wrong password, and leads back', async () => {
  const browser = new Browser();
  const url = standardUrl(service, client);
  const first = await browser.get(url);
  assert.match(first.body, /to continue to <bdi[^>]*>Notes</);
  const again = await browser.submit(first, '/sign-in', { email: 'ada@example.com', password: 'a wrong password' });
  assert.equal(again.status, 400);
  assert.match(again.body, /to continue to <bdi[^>]*>Notes</);
  const visit = await browser.submit(again, '/sign-in', { email: 'ada@example.com', password: PASSWORD });
  const page = await browser.get(new URL(String(visit.headers.get('location')), url).href);
  assert.match((await allowOn(browser, page)).search, /code=/);
});

describe('OpenID Connect Core §3.1.2.1: login_hint', { concurrency: true }, () => {
  const emailIn = ({ body }: Visit) => /name="email"[^>]* value="([^"]*)"/.exec(body)?.[1];
  const visit = (login_hint: string) => new Browser().get(standardUrl(service, client, { login_hint }));

  test('OpenID Connect Core §3.1.2.1: the hint is in the sign-in form', async () => {
    assert.equal(emailIn(await visit('grace@example.com')), 'grace@example.com');
    assert.equal(emailIn(await visit('')), '');
  });

  test('OpenID Connect Core §3.1.2.1: whatever the hint holds is text', async () => {
    const { body } = await visit(`"><script>alert(1)</script>'&<b>`);
    assert.ok(!/<script>|<b>/.test(body));
    assert.match(body, /value="&quot;&gt;&lt;script&gt;/);
  });

  test('OpenID Connect Core §3.1.2.1: a hint signs nobody in, and takes nobody out', async () => {
    const { body } = await ada.get(standardUrl(service, client, { login_hint: 'grace@example.com' }));
    assert.match(body, /ada@example\.com/);
    assert.doesNotMatch(body, /name="password"/);
  });
});

test('RFC 8707 §2: a grant for the API works there; the page and the exchange may name it, and no other', async () => {
  const resource = service.apiUrl;
  const code = await standardCode(service, ada, client, { resource });
  const { status, body } = await exchangeCode(service, client, code, { resource });
  assert.equal(status, 200);
  assert.equal((await me(service, String(body['access_token']))).status, 200);
});

test('RFC 6749 §3.1: the request is in the query alone, and a posted one counts for nothing', async () => {
  const { status } = await ada.post(
    `${service.appUrl}/oauth2/authorize`,
    authorizationRequest(client) as Record<string, string>,
  );
  assert.equal(status, 400);
});
