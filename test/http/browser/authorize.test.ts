import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser, type Visit, withoutReceived } from '../../support/browser.ts';
import {
  auditActions,
  authorizeUrl,
  exchange,
  forgetDecisions,
  pressAllow,
  signedInBrowser,
} from '../../support/flow.ts';
import { addClient, addUser, PASSWORD, REDIRECT_URI, startTestService } from '../../support/service.ts';
import { standardUrl } from '../../support/standard.ts';

const service = await startTestService({ after });
const account = await addUser(service);
const client = await addClient(service, { redirectUris: [REDIRECT_URI, 'https://client.example/cb?tenant=7'] });
const signedIn = await signedInBrowser(service);
const browsers = { 'signed in': signedIn, 'not signed in': new Browser() };
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const start = `${service.appUrl}/auth/oauth2/authorize?client_id=${client.clientId}`;

function assertPage(visit: Visit, message: string): void {
  assert.equal(visit.status, 400, message);
  assert.equal(visit.headers.get('location'), null, message);
  assert.equal(visit.headers.get('content-type'), 'text/html; charset=utf-8', message);
  assert.doesNotMatch(withoutReceived(visit.body), /evil\.test|FAKEPATH|client\.example/, message);
}

/** Asserts a redirect to the client with an error, and answers its parameters. */
function errorOf(visit: Visit, message?: string): URLSearchParams {
  const location = visit.headers.get('location') ?? '';
  assert.equal(visit.status, 303, message);
  assert.ok(location.startsWith(`${REDIRECT_URI}?`), `${message}: ${location}`);
  assert.equal(visit.headers.get('referrer-policy'), 'no-referrer', message);
  const { searchParams, hash } = new URL(location);
  assert.deepEqual([searchParams.get('code'), hash], [null, ''], message);
  return searchParams;
}

describe('RFC 6749 §3.1.2.4, §4.1.2.1, OAuth 2.1 §4.1.2.1: a page, never a redirect', { concurrency: true }, () => {
  const requests: Record<string, Record<string, string | undefined>> = {
    'an unknown client': { client_id: 'nope' },
    'an unknown client with a foreign redirect URI': { client_id: 'nope', redirect_uri: 'https://evil.test' },
    'no client': { client_id: undefined },
    'an empty client': { client_id: '' },
    'a client id of 10 KB': { client_id: 'x'.repeat(10_000) },
    'a client id of a NUL': { client_id: '\0' },
    'the name of a built-in as client id': { client_id: '__proto__' },
    'no redirect URI': { redirect_uri: undefined },
    'an empty redirect URI': { redirect_uri: '' },
    'a foreign redirect URI': { redirect_uri: 'https://evil.test/callback' },
  };
  for (const [who, browser] of Object.entries(browsers))
    for (const [name, parameters] of Object.entries(requests))
      test(`RFC 6749 §4.1.2.1: ${name} is told on a page, ${who}`, async () => {
        assertPage(await browser.get(authorizeUrl(service, client, parameters)), name);
      });

  test('RFC 6749 §3.1: a repeated client_id or redirect_uri is told on a page', async () => {
    const callback = encodeURIComponent(REDIRECT_URI);
    for (const query of [
      `&client_id=${client.clientId}&state=s&redirect_uri=${callback}`,
      `&client_id=nope&state=s&redirect_uri=${callback}`,
      `&state=s&redirect_uri=${callback}&redirect_uri=${callback}`,
      `&state=s&redirect_uri=${callback}&redirect_uri=https://evil.test`,
      `&state=s&redirect_uri=%ff${callback}`,
    ])
      assertPage(await signedIn.get(start + query), query);
  });
});

test('RFC 9700 §2.1: a redirect URI matches as an exact string only', async () => {
  const appended = [
    '/FAKEPATH',
    '%2FFAKEPATH',
    '/..%2FFAKEPATH',
    '/%2e%2e%2FFAKEPATH',
    '/..%252FFAKEPATH',
    '/%252e%252e%252FFAKEPATH',
    '/FAKEPATH/..',
    '%2FFAKEPATH%2F..',
    '%2FFAKEPATH%2F%2e%2e',
    '%252FFAKEPATH%252F..',
    '%252FFAKEPATH%252F%252e%252e',
    '/;/../../FAKEPATH',
    '/%3B/../../FAKEPATH',
    '%3B%2F..%2F..%2FFAKEPATH',
    '%3B%2F%2e%2e%2F%2F%2e%2eFAKEPATH',
    '%253B%252F..%252F..%252FFAKEPATH',
    '%0A%0D/../../FAKEPATH',
    '%0A%0D%2F..%2F..%2FFAKEPATH',
    '%0A%0D%2F%2e%2e%2F%2F%2e%2eFAKEPATH',
    '%250A%250D%252F..%252F..%252FFAKEPATH',
    '/x',
    'x',
    '/',
    '%20',
    '%00',
    '%3Fextra=FAKEPATH',
    '%23FAKEPATH',
  ].map((suffix) => REDIRECT_URI + suffix);
  const others = [
    'https://client.example',
    'https://client.example/',
    'https://CLIENT.example/callback',
    'HTTPS://client.example/callback',
    'https://client.example:443/callback',
    'https://client.example:8443/callback',
    'http://client.example/callback',
    'https://client.example./callback',
    'https://client.example/%2563allback',
    'https://client.example@evil.test/callback',
    'https://client.example.evil.test/callback',
    'https://evil.test/callback',
    '//client.example/callback',
    '/callback',
    'javascript:alert(1)//https://client.example/callback',
    'https://client.example/cb',
    'https://client.example/cb?tenant=8',
    'https://client.example/cb?tenant=7%26x=1',
    'https://client.example/cb%3Ftenant%3D7%23',
  ];
  for (const uri of [...appended, ...others])
    assertPage(await signedIn.get(`${start}&state=s&redirect_uri=${uri}`), uri);
});

test('RFC 6749 §3.1.2: the query of a registered redirect URI stays, and code and state are added to it', async () => {
  const redirectUri = 'https://client.example/cb?tenant=7';
  const { href } = await pressAllow(service, signedIn, client, { redirect_uri: redirectUri });
  assert.match(href, /^https:\/\/client\.example\/cb\?tenant=7&code=vk_ac_[A-Za-z0-9_-]+&state=xyz$/);
});

describe('RFC 6749 §4.1.2.1, RFC 9700 §4.11.2: errors that go back to the client', { concurrency: true }, () => {
  const refused: [name: string, error: string, query: string, state?: string | null][] = [
    ['RFC 6749 §10.12: no state', 'invalid_request', '', null],
    ['RFC 6749 §10.12: an empty state', 'invalid_request', '&state=', null],
    ['RFC 6749 §3.1: a repeated state', 'invalid_request', '&state=s&state=s', null],
    ['RFC 6749 §3.1: two states', 'invalid_request', '&state=s&state=t', null],
    ['a state that is too long', 'invalid_request', `&state=${'s'.repeat(4097)}`, 's'.repeat(4097)],
    ['a state that is not UTF-8', 'invalid_request', '&state=%ff', null],
    ['RFC 6749 §3.1: a repeated response_type', 'invalid_request', '&state=s&response_type=code&response_type=code'],
    ['RFC 6749 §3.1: a repeated unknown parameter', 'invalid_request', '&state=s&x=1&x=1'],
    [
      'RFC 6749 §3.1: a repeated code_challenge',
      'invalid_request',
      `&state=s&code_challenge_method=S256&code_challenge=${CHALLENGE}&code_challenge=${CHALLENGE}`,
    ],
    ...['token', 'id_token', 'code%20token', 'code+id_token', 'none', 'CODE', 'code%20code', 'code%20'].map(
      (type): [string, string, string] => [
        `RFC 6749 §3.1.1, RFC 9700 §2.1.2: response_type=${type}`,
        'unsupported_response_type',
        `&state=s&response_type=${type}`,
      ],
    ),
    ['RFC 6749 §3.3: a scope that is not registered', 'invalid_scope', '&state=s&scope=admin'],
    ...[
      `code_challenge=${CHALLENGE}&code_challenge_method=plain`,
      `code_challenge=${CHALLENGE}`,
      `code_challenge=${CHALLENGE}&code_challenge_method=s256`,
      `code_challenge=${CHALLENGE}&code_challenge_method=S512`,
      `code_challenge=${CHALLENGE.slice(1)}&code_challenge_method=S256`,
      `code_challenge=${CHALLENGE}x&code_challenge_method=S256`,
      `code_challenge=${'x'.repeat(128)}&code_challenge_method=S256`,
      `code_challenge=${CHALLENGE.slice(1)}=&code_challenge_method=S256`,
      `code_challenge=${CHALLENGE.slice(2)}%2B/&code_challenge_method=S256`,
      'code_challenge_method=S256',
      'code_challenge=&code_challenge_method=S256',
      'code_challenge=',
    ].map((query): [string, string, string] => [
      `RFC 7636 §4.3, §4.4.1, §7.2: ${query}`,
      'invalid_request',
      `&state=s&${query}`,
    ]),
  ];
  for (const [name, error, query, state = 's'] of refused)
    test(`${name} is ${error}`, async () => {
      for (const [who, browser] of Object.entries(browsers)) {
        const answer = errorOf(await browser.get(`${start}&redirect_uri=${REDIRECT_URI}${query}`), who);
        assert.deepEqual([answer.get('error'), answer.getAll('state')], [error, state === null ? [] : [state]], who);
      }
    });

  test('RFC 7636 §4.4.1: no code_challenge is refused for a client that must use PKCE', async () => {
    const strict = await addClient(service, { requirePkce: true });
    assert.equal(errorOf(await signedIn.get(authorizeUrl(service, strict))).get('error'), 'invalid_request');
  });

  test('RFC 6749 §2.1: a public client cannot use the endpoint that demands a secret', async () => {
    const app = await addClient(service, {}, 'public');
    assert.equal(errorOf(await signedIn.get(authorizeUrl(service, app))).get('error'), 'unauthorized_client');
  });
});

test('RFC 6749 §3.1, §4.1.1: response_type=code, a challenge and unknown parameters are accepted, and never echoed', async () => {
  for (const parameters of [
    { response_type: 'code' },
    { code_challenge: CHALLENGE, code_challenge_method: 'S256' },
    { extra: 'foobar', nonce: 'n', ui_locales: 'se', login_hint: 'x', display: 'page', claims: '{}', scope: '' },
  ]) {
    const { origin, pathname, searchParams } = await pressAllow(service, signedIn, client, parameters);
    assert.equal(origin + pathname, REDIRECT_URI);
    assert.deepEqual([...searchParams.keys()], ['code', 'state']);
  }
});

describe('RFC 6749 §4.1.2: state comes back unchanged', () => {
  const states = {
    'percent-encoded space': 'a%20b',
    'encoded plus': 'a%2Bb',
    plus: 'a+b',
    'reserved characters': '%26%3D%23%25',
    'quotes and brackets': '%22%27%3Cscript%3E%60',
    'line breaks': '%0d%0aSet-Cookie:%20x=1',
    'an encoded NUL': 'a%00b',
    emoji: '%F0%9F%94%91',
    'raw backslash': 'a\\b',
    'raw other ASCII': 'a|b^c`d{e}f\'g"h[i]j',
    'the name of a built-in': '__proto__',
    'the word null': 'null',
    '4096 characters': 's'.repeat(4096),
  };
  for (const [name, state] of Object.entries(states))
    test(`RFC 6749 §4.1.2: ${name} in state comes back unchanged, through sign-in and Allow`, async () => {
      const url = `${start}&redirect_uri=${REDIRECT_URI}&state=${state}`;
      const browser = new Browser();
      const signIn = await browser.submit(await browser.get(url), '/sign-in', {
        email: account.email,
        password: PASSWORD,
      });
      const page = await browser.get(new URL(signIn.headers.get('location') ?? '', url).href);
      const allowed = await browser.submit(page, '/auth/oauth2/authorize', { decision: 'allow' });
      const { searchParams } = new URL(allowed.headers.get('location') ?? '');
      assert.deepEqual(searchParams.getAll('state'), new URLSearchParams(`state=${state}`).getAll('state'));
      assert.deepEqual([...searchParams.keys()], ['code', 'state']);
      assert.equal(allowed.headers.get('set-cookie'), null);
    });
});

test('RFC 6749 §10.10: codes never repeat, and say what they are', async () => {
  const page = await signedIn.get(authorizeUrl(service, client));
  const press = () => signedIn.submit(page, '/auth/oauth2/authorize', { decision: 'allow' });
  const visits: Visit[] = [];
  for (let n = 0; n < 4; n += 1) {
    await forgetDecisions(service);
    visits.push(...(await Promise.all(Array.from({ length: 50 }, press))));
  }
  const codes = visits.map((visit) => new URL(visit.headers.get('location') ?? '').searchParams.get('code') ?? '');
  assert.equal(new Set(codes).size, 200);
  for (const code of codes) assert.match(code, /^vk_ac_[A-Za-z0-9_-]{74}$/);
});

test('RFC 6749 §4.1.2: Allow issues one grant, with what was asked, and one audit event', async (t) => {
  const own = await startTestService(t);
  const [{ id }, app] = [
    await addUser(own),
    await addClient(own, { scopes: [{ name: 'read', sentence: null, optional: false }] }),
  ];
  const location = await pressAllow(own, await signedInBrowser(own), app, { state: 's', scope: 'read' });
  assert.deepEqual([...location.searchParams.keys()], ['code', 'state']);
  const [listed, ...more] = await own.installation.grants.list({ limit: 10 });
  assert.equal(more.length, 0);
  const { clientId, resourceOwnerId, redirectUri, scope, generation, expiresAt } = (
    listed as NonNullable<typeof listed>
  ).grant;
  assert.deepEqual(
    [clientId, resourceOwnerId, redirectUri, scope, generation],
    [app.clientId, id, REDIRECT_URI, 'read', 0],
  );
  assert.equal(expiresAt, own.clock.now() + 60_000);
  assert.deepEqual((await auditActions(own)).slice(-2), ['sign_in', 'consent_allowed']);
});

test('RFC 6749 §4.1.2.1: Deny tells the client access_denied with its state, and leaves an audit event and no grant', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const app = await addClient(own);
  const browser = await signedInBrowser(own);
  const page = await browser.get(authorizeUrl(own, app));
  const answer = errorOf(await browser.submit(page, '/auth/oauth2/authorize', { decision: 'deny' }));
  assert.deepEqual([answer.get('error'), answer.getAll('state')], ['access_denied', ['xyz']]);
  assert.deepEqual(await own.installation.grants.list({ limit: 10 }), []);
  assert.equal((await auditActions(own)).at(-1), 'consent_denied');
});

test('RFC 8252 §7.3: only the port of a loopback redirect URI may vary', async () => {
  const uris = ['http://127.0.0.1/cb', 'http://[::1]/cb', 'http://localhost:4000/cb'];
  const app = await addClient(service, { redirectUris: uris });
  for (const uri of ['http://127.0.0.1:51234/cb', 'http://[::1]:9/cb', ...uris]) {
    const code = (await pressAllow(service, signedIn, app, { redirect_uri: uri })).searchParams.get('code') ?? '';
    assert.equal((await exchange(service, app, code, { redirect_uri: uri })).status, 200, uri);
  }
  for (const uri of [
    'http://127.0.0.1:51234/other',
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:65536/cb',
    'http://127.0.0.1:/cb',
    'https://127.0.0.1/cb',
    'http://localhost:4001/cb', // Not for a client with a secret.
    'http://localhost.evil.test/cb',
    'http://127.0.0.1.evil.test/cb',
    'http://127.0.0.1@evil.test/cb',
    'http://127.0.0.1:80@evil.test/cb',
    'http://127.1/cb',
    'http://2130706433/cb',
    'http://[::ffff:127.0.0.1]/cb',
  ])
    assertPage(await signedIn.get(authorizeUrl(service, app, { redirect_uri: uri })), uri);
});

test('RFC 6749 §4.1.2.1: what the service fails at is told on a page, and redirected nowhere', async (t) => {
  // It closes its database when it stops, which is closed by then.
  const broken = await startTestService({
    after: (end) => t.after(async () => void (await Promise.allSettled([end()]))),
  });
  const app = await addClient(broken);
  await broken.installation.close();
  for (const url of [authorizeUrl(broken, app), standardUrl(broken, app)]) {
    const { status, headers } = await new Browser().get(url);
    assert.deepEqual(
      [status, headers.get('location'), headers.get('content-type')],
      [500, null, 'text/html; charset=utf-8'],
    );
  }
});

test('RFC 6749 §4.1.2.1: a paused or deleted client is told on a page, and nothing of it is shown', async () => {
  const app = await addClient(service, { name: 'Vanishing App' });
  for (const act of ['pause', 'delete'] as const) {
    await service.installation.clients[act](app.clientId, service.installation.operator);
    const visit = await signedIn.get(authorizeUrl(service, app));
    assertPage(visit, act);
    assert.doesNotMatch(visit.body, /Vanishing/);
  }
});

test('RFC 6749 §3.3: the consent page says in words what was asked for, all by default', async () => {
  const scopes = [
    { name: 'mail', sentence: 'Read your mail', optional: false },
    { name: 'files', sentence: 'See your files', optional: false },
  ];
  const app = await addClient(service, { scopes });
  for (const [scope, shown] of [
    [undefined, [true, true]],
    ['files', [false, true]],
    ['files mail', [true, true]],
  ] as const) {
    const { body } = await signedIn.get(authorizeUrl(service, app, { scope }));
    assert.deepEqual([body.includes('Read your mail'), body.includes('See your files')], shown, scope);
  }
});

test('RFC 9700 §4.16, RFC 6749 §10.14: whatever is in the parameters, pages show it escaped or not at all', async () => {
  const probes = [
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    '</title><script>',
    'javascript:alert(1)',
  ];
  const app = await addClient(service, { name: `A "><script>alert(1)</script>` });
  for (const probe of probes)
    for (const name of ['client_id', 'redirect_uri', 'state', 'scope', 'response_type', 'login_hint'])
      for (const browser of Object.values(browsers)) {
        const { body } = await browser.get(authorizeUrl(service, app, { [name]: probe }));
        assert.doesNotMatch(
          body,
          /<script|<img src=x|onerror=(?!alert\(1\)&gt;)|href="javascript/i,
          `${name} ${probe}`,
        );
      }
});

test('RFC 6749 §3.1: a POST with the parameters in the body shows nothing and skips nothing', async () => {
  const fields = { client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's', decision: 'allow' };
  for (const browser of Object.values(browsers))
    assertPage(await browser.post(`${service.appUrl}/auth/oauth2/authorize`, fields), 'POST');
});
