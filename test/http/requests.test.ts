import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Browser, formOf } from '../support/browser.ts';
import {
  asJson,
  assertRefused,
  authorizeUrl,
  exchange,
  obtainCode,
  obtainPair,
  pairOf,
  postBody,
  signedInBrowser,
} from '../support/flow.ts';
import { type RawAnswer, requestHead, sendRaw } from '../support/raw-http.ts';
import {
  addClient,
  addUser,
  freePort,
  type Lifetime,
  REDIRECT_URI,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { ASSERTION_TYPE, addResourceServer, basic, DEVICE_GRANT, makeKey, standardUrl } from '../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const client = await addClient(service);
const ada = await signedInBrowser(service);
const { accessToken } = await obtainPair(service, ada, client);
const { appUrl, apiUrl } = service;
const TOKEN = '/api/auth/oauth/token';
const REFRESH = '/api/auth/oauth/refreshToken';
const AUTHORIZE = '/auth/oauth2/authorize';
/** Where programs post to on the standard face. */
const ENDPOINTS = ['token', 'revoke', 'introspect', 'par', 'device_authorization'].map((name) => `/oauth2/${name}`);

const send = (base: string, line: string, headers: Record<string, string> = {}, body: string | Buffer = '') =>
  sendRaw(base, Buffer.concat([Buffer.from(requestHead(base, line, headers), 'latin1'), Buffer.from(body)]));

/** Starts a service whose two addresses are one. */
async function startOneAddress(t: Lifetime): Promise<TestService> {
  const url = `http://127.0.0.1:${await freePort()}`;
  return startTestService(t, { VALETKEY_APP_URL: url, VALETKEY_API_URL: url });
}

describe('RFC 9110 §15.5.6: a method that an address does not know is 405 with Allow', { concurrency: true }, () => {
  const routes: [base: string, path: string, allow: string][] = [
    [appUrl, AUTHORIZE, 'GET, HEAD, POST'],
    [appUrl, TOKEN, 'POST'],
    [appUrl, REFRESH, 'POST'],
    [apiUrl, '/v2/me', 'GET, HEAD, OPTIONS'],
    [appUrl, '/oauth2/authorize', 'GET, HEAD, POST'],
    ...ENDPOINTS.map((path): [string, string, string] => [
      appUrl,
      path,
      path === '/oauth2/introspect' ? 'POST' : 'POST, OPTIONS',
    ]),
    [appUrl, '/oauth2/revocations', 'GET, HEAD'],
    [appUrl, '/.well-known/oauth-authorization-server', 'GET, HEAD, OPTIONS'],
    [appUrl, '/.well-known/openid-configuration', 'GET, HEAD, OPTIONS'],
    [apiUrl, '/.well-known/oauth-protected-resource', 'GET, HEAD, OPTIONS'],
    [appUrl, '/device', 'GET, HEAD, POST'],
    [appUrl, '/', 'GET, HEAD'],
    [appUrl, '/sign-in', 'GET, HEAD, POST'],
    [appUrl, '/sign-out', 'GET, HEAD, POST'],
    [appUrl, '/account/apps', 'GET, HEAD'],
    [appUrl, '/account/apps/revoke', 'POST'],
    [appUrl, '/developers', 'GET, HEAD'],
    [appUrl, '/developers.md', 'GET, HEAD'],
    [appUrl, '/llms.txt', 'GET, HEAD'],
    [apiUrl, '/healthz', 'GET, HEAD'],
    [apiUrl, '/readyz', 'GET, HEAD'],
  ];
  const methods = ['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY'];
  for (const [base, path, allow] of routes)
    test(`RFC 9110 §15.5.6: ${path} allows ${allow}`, async () => {
      for (const method of methods.filter((method) => !allow.split(', ').includes(method))) {
        const headers = { 'Content-Length': '7', 'Content-Type': 'text/plain', Authorization: `Bearer ${accessToken}` };
        const answer = await send(base, `${method} ${path}?x=1`, headers, 'x=1&y=2');
        assert.deepEqual([answer.status, answer.headers.get('allow')], [405, allow], method);
        const isJson = /^\/(api|oauth2|\.well-known)\//.test(path) && path !== '/oauth2/authorize';
        const isPage = base === appUrl && !isJson;
        assert.match(String(answer.headers.get('content-type')), isPage ? /^text\/html/ : /^application\/json/);
        if (method === 'HEAD') assert.equal(answer.body, '');
        if (isJson) assert.equal(answer.headers.get('cache-control'), 'no-store');
        if (isJson && base === appUrl && method !== 'HEAD')
          assert.equal(JSON.parse(answer.body).error, 'invalid_request', method);
      }
    });

  test('RFC 9110 §9.1: a method that nobody knows is refused', async () => {
    for (const method of ['FOO', 'get', 'G\0T', ''])
      assert.equal((await send(appUrl, `${method} /sign-in`)).status, 400);
  });
});

describe('RFC 9110 §15.5.5: an address that is not there', { concurrency: true }, () => {
  const addresses: [base: string, path: string, type: RegExp][] = [
    [appUrl, '/nope', /^text\/html/],
    [appUrl, '/api/nope', /^application\/json/],
    [appUrl, '/v2/me', /^application\/json/],
    [appUrl, '/oauth2/nope', /^application\/json/],
    [appUrl, '/oauth2/token/', /^application\/json/],
    [appUrl, '/oauth2/authorize/x', /^application\/json/],
    [apiUrl, '/.well-known/openid-configuration', /^application\/json/],
    [appUrl, '/.well-known/oauth-authorization-server/x', /^application\/json/],
    [appUrl, '/.well-known/oauth-protected-resource', /^application\/json/],
    [appUrl, '/OAUTH2/token', /^application\/json/],
    [appUrl, '//oauth2//token', /^application\/json/],
    [appUrl, '/device/', /^text\/html/],
    [apiUrl, '/oauth2/token', /^application\/json/],
    [apiUrl, '/.well-known/oauth-authorization-server', /^application\/json/],
    [appUrl, `${TOKEN}/`, /^application\/json/],
    [appUrl, TOKEN.toUpperCase(), /^application\/json/],
    [appUrl, '/refresh_token', /^application\/json/],
    [appUrl, '//evil.test/..', /^text\/html/],
    [appUrl, '/account/../sign-in', /^text\/html/],
    [appUrl, '/%2e%2e/etc/passwd', /^text\/html/],
    [appUrl, '/assets/../../package.json', /^text\/html/],
    [apiUrl, '/sign-in', /^application\/json/],
    [apiUrl, TOKEN, /^application\/json/],
    [apiUrl, '/v2/me/', /^application\/json/],
  ];
  for (const [base, path, type] of addresses)
    test(`RFC 9110 §15.5.5: ${path} is 404, tells nothing of the program, and names its request id`, async () => {
      const browser = [type, { Accept: 'text/html,*/*;q=0.8' }] as const;
      for (const [method, [expected, accept]] of [
        ['GET', browser],
        ['POST', browser],
        ['GET', [/^application\/json$/, {}]],
        ['POST', [/^application\/json$/, {}]],
      ] as const) {
        const { status, headers, body } = await send(base, `${method} ${path}`, { 'Content-Length': '0', ...accept });
        assert.equal(status, 404);
        assert.match(String(headers.get('content-type')), expected);
        assert.match(String(headers.get('x-request-id')), /^[\w-]{12}$/);
        assert.deepEqual([headers.get('server'), headers.get('x-powered-by')], [null, null]);
        assert.doesNotMatch(body, /fastify|node_modules|at \w+ \(|evil|passwd/i);
      }
    });

  test('RFC 9110 §15.5.1: an address that cannot be decoded is 400, and its request id is in the log', async () => {
    for (const path of ['/%', '/%ff', '/sign-in%zz', '/api/%c0%af']) {
      const { status, headers } = await send(appUrl, `GET ${path}`);
      const id = String(headers.get('x-request-id'));
      assert.equal(status, 400);
      assert.ok(
        service.log.some((line) => JSON.parse(line).request_id === id),
        path,
      );
    }
  });
});

describe('RFC 9110 §15.5: bodies that the standard face cannot read', { concurrency: true }, () => {
  const form = 'application/x-www-form-urlencoded';
  const bodies: [name: string, status: number, headers: Record<string, string>, body: string | Buffer][] = [
    ['of 64 KiB and a byte', 413, { 'Content-Type': form }, `x=${'x'.repeat(64 * 1024 - 1)}`],
    ['as plain text', 415, { 'Content-Type': 'text/plain' }, 'token=x'],
    ['of no type', 415, {}, Buffer.from('token=x')],
    ['in UTF-16', 415, { 'Content-Type': `${form}; charset=utf-16` }, 'token=x'],
    ['compressed', 415, { 'Content-Type': form, 'Content-Encoding': 'gzip' }, 'token=x'],
    ['not UTF-8', 400, { 'Content-Type': form }, Buffer.from('token=\xff', 'latin1')],
    ['of broken JSON', 400, { 'Content-Type': 'application/json' }, '{"token":"canary"'],
    ['of a JSON array', 400, { 'Content-Type': 'application/json' }, '["canary"]'],
  ];
  for (const [name, status, headers, body] of bodies)
    test(`RFC 9110 §15.5: ${name} they are ${status}, as JSON that quotes nothing`, async () => {
      for (const path of ENDPOINTS) {
        const answer = await asJson(await fetch(appUrl + path, { method: 'POST', headers, body: body as string }));
        assertRefused(answer, status, 'invalid_request', path);
        assert.ok(!JSON.stringify(answer.body).includes('canary'));
      }
    });

  test('interface: a body has at most 200 parameters, as a form and as JSON, on both ways of reading', async () => {
    const types: Record<string, (names: readonly string[]) => string> = {
      [form]: (names) => names.map((name) => `${name}=x`).join('&'),
      'application/json': (names) => JSON.stringify(Object.fromEntries(names.map((name) => [name, 'x']))),
    };
    const names = (count: number) => Array.from({ length: count }, (_, n) => `p${n}`);
    // With this header a request is not plain, and is read by Node.js.
    for (const [type, write] of Object.entries(types))
      for (const path of [...ENDPOINTS, TOKEN, REFRESH])
        for (const more of [{}, { TE: 'trailers' }]) {
          const ask = async (count: number) => {
            const body = write(names(count));
            const about = { ...more, 'Content-Type': type, 'Content-Length': `${body.length}` };
            return send(appUrl, `POST ${path}`, about, body);
          };
          const tooMany = await ask(201);
          assert.equal(tooMany.status, 400, path);
          assert.deepEqual(JSON.parse(tooMany.body), {
            error: 'invalid_request',
            error_description: 'the body has more than 200 parameters',
          });
          assert.doesNotMatch((await ask(200)).body, /200 parameters/, path);
        }
  });

  test('RFC 9110 §8.3.2: a body of ASCII alone may name another character set, and `identity` is no coding', async () => {
    const ask = (path: string, headers: Record<string, string>, body: string | Buffer) =>
      postBody(appUrl + path, body, headers);
    const charsets = ['us-ascii', 'iso-8859-1', 'windows-1252', 'ISO-8859-1', '"Windows-1252"', 'utf-8'];
    for (const path of [...ENDPOINTS, TOKEN, REFRESH]) {
      const read = await ask(path, { 'Content-Type': form }, 'client_id=x');
      for (const charset of charsets) {
        const answer = await ask(path, { 'Content-Type': `${form}; charset=${charset}` }, 'client_id=x');
        assert.deepEqual([answer.status, answer.body], [read.status, read.body], charset);
      }
      const plain = await ask(path, { 'Content-Type': form, 'Content-Encoding': 'Identity' }, 'client_id=x');
      assert.deepEqual([plain.status, plain.body], [read.status, read.body]);
      for (const type of [`${form}; charset=iso-8859-1`, `${form}; charset=utf-7`])
        assertRefused(
          await ask(path, { 'Content-Type': type }, Buffer.from('x=\xe9', 'latin1')),
          415,
          'invalid_request',
        );
      assertRefused(
        await ask(path, { 'Content-Type': form, 'Content-Encoding': 'identity, gzip' }, 'x=y'),
        415,
        'invalid_request',
      );
    }
  });

  test('RFC 6749 §3.1: a member that is null is absent, on both ways of reading, and a repeated one stays an error', async () => {
    for (const more of [{}, { TE: 'trailers' }]) {
      const ask = async (fields: string) => {
        const about = { ...more, 'Content-Type': 'application/json', 'Content-Length': `${fields.length}` };
        return JSON.parse((await send(appUrl, `POST ${TOKEN}`, about, fields)).body).error_description;
      };
      assert.equal(await ask('{"grant_type":null}'), 'grant_type is required');
      const rest = `"grant_type":"authorization_code","client_id":"${client.clientId}","client_secret":"${client.clientSecret}"`;
      const code = await obtainCode(service, ada, client);
      assert.equal(await ask(`{${rest},"code":"${code}","redirect_uri":null}`), 'redirect_uri is required');
      assert.equal(await ask(`{${rest},"code":"${code}","code":null}`), 'code is repeated');
      assert.equal(await ask(`{${rest},"code":null,"code":null}`), 'code is repeated');
      const all = `{${rest},"code":"${code}","redirect_uri":"${REDIRECT_URI}","code_verifier":null,"scope":null}`;
      assert.equal(await ask(all), undefined, 'null is no verifier');
    }
  });

  test('RFC 9110 §11.6.2: an empty Authorization header is none, on both ways of reading', async () => {
    for (const more of [{}, { TE: 'trailers' }])
      for (const empty of ['', ' ']) {
        const about = { ...more, Authorization: empty };
        const credentials = { client_id: client.clientId, client_secret: client.clientSecret };
        const ask = async (path: string, fields: Record<string, string>) => {
          const text = String(new URLSearchParams({ ...fields, ...credentials }));
          const type = { 'Content-Type': form, 'Content-Length': `${text.length}` };
          const { status, body } = await send(appUrl, `POST ${path}`, { ...about, ...type }, text);
          assert.equal(status, 200, body);
          return JSON.parse(body);
        };
        const code = await obtainCode(service, ada, client);
        const first = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
        const { refresh_token } = await ask(TOKEN, first);
        await ask(REFRESH, { grant_type: 'refresh_token', refresh_token });
        const me = await send(apiUrl, 'GET /v2/me', about);
        assert.deepEqual([me.status, JSON.parse(me.body).error.code], [401, 'missing_token']);
      }
  });

  test('interface: with more than 200 parameters in its body a request uses up nothing', async () => {
    const code = await obtainCode(service, ada, client);
    const more = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`p${n}`, 'x']));
    assertRefused(await exchange(service, client, code, more), 400, 'invalid_request');
    pairOf(await exchange(service, client, code));
  });

  test('RFC 6749 §3.2: without any body they say what is missing', async () => {
    for (const path of ENDPOINTS) {
      const { status } = await asJson(await fetch(appUrl + path, { method: 'POST' }));
      assert.ok([400, 401].includes(status), path);
    }
  });
});

test('RFC 9110 §15.5.5: an address in another case, or with a slash too many, is told the right one as JSON', async () => {
  const mistakes: [base: string, path: string, right: string][] = [
    [appUrl, '//oauth2/token', `${appUrl}/oauth2/token`],
    [appUrl, '/oauth2//token/', `${appUrl}/oauth2/token`],
    [appUrl, '/OAuth2/Token', `${appUrl}/oauth2/token`],
    [appUrl, '/oauth2/device-authorization', `${appUrl}/oauth2/device_authorization`],
    [appUrl, '/api//auth/oauth/token', appUrl + TOKEN],
    [appUrl, '/api/auth/oauth/refreshtoken', appUrl + REFRESH],
    [appUrl, '/api/auth/oauth/refresh_token', appUrl + REFRESH],
    [
      appUrl,
      '/refresh_token',
      `a refresh goes to ${appUrl + REFRESH}, or with grant_type=refresh_token to ${appUrl}/oauth2/token`,
    ],
    [appUrl, '/V2/me', `${apiUrl}/v2/me`],
    [apiUrl, '//v2/me', `${apiUrl}/v2/me`],
    [apiUrl, '/v2/Me', `${apiUrl}/v2/me`],
    [apiUrl, '/oauth2/Token', `${appUrl}/oauth2/token`],
  ];
  for (const [base, path, right] of mistakes)
    for (const method of ['GET', 'POST']) {
      const { status, headers, body } = await send(base, `${method} ${path}?x=1`, { 'Content-Length': '0' });
      assert.deepEqual([status, headers.get('content-type')], [404, 'application/json'], path);
      const { error, error_description = error.message } = JSON.parse(body);
      const told = right.startsWith('http') ? `use ${right}` : right;
      assert.equal(error_description, `there is nothing at this address: ${told}`);
    }
});

test('interface: an address has at most 200 parameters, wherever it leads', async () => {
  const few = Array.from({ length: 190 }, (_, n) => `p${n}=x`).join('&');
  const address = authorizeUrl(service, client).slice(appUrl.length);
  assert.equal((await send(appUrl, `GET ${address}&${few}`)).status, 200);
  for (const path of [address, '/sign-in?x=x', '/developers?x=x']) {
    const { status, headers } = await send(appUrl, `GET ${path}&${few}&${few}`);
    assert.deepEqual(
      [status, headers.get('location'), headers.get('content-type')?.slice(0, 9)],
      [400, null, 'text/html'],
    );
  }
  for (const [base, path] of [
    [appUrl, '/oauth2/revocations'],
    [apiUrl, '/v2/me'],
  ] as const) {
    const { status, text } = await send(base, `GET ${path}?${few}&${few}`);
    assert.equal(status, 400);
    assert.match(text, /the address has more than 200 parameters/);
  }
  const post = { 'Content-Length': '1', 'Content-Type': 'application/x-www-form-urlencoded' };
  assert.equal((await send(appUrl, `POST ${TOKEN}?${few}&${few}`, post, 'x')).status, 400);
});

test('RFC 9112 §3.2.2: whatever host a request names, links, forms, redirects and cookies are of the app URL', async () => {
  const path = authorizeUrl(service, client).slice(appUrl.length);
  const cookie = { Cookie: `valetkey_session=${ada.cookies.get('valetkey_session')}` };
  const lies: [string, Record<string, string>][] = [
    [path, { Host: 'evil.test' }],
    [path, { Host: '' }],
    [path, { 'X-Forwarded-Host': 'evil.test', 'X-Forwarded-Proto': 'https', 'X-Original-URL': '/evil.test' }],
    [
      path,
      { Forwarded: 'host=evil.test;proto=https', 'X-Rewrite-URL': '//evil.test', 'X-HTTP-Method-Override': 'POST' },
    ],
    [`http://evil.test${path}`, {}],
    [`HTTPS://evil.test${path}`, {}],
  ];
  for (const [target, headers] of lies)
    for (const more of [{}, cookie]) {
      const { status, text } = await send(appUrl, `GET ${target}`, { ...headers, ...more });
      assert.equal(status, 200);
      assert.doesNotMatch(text, /evil\.test|Secure|Domain/);
      assert.match(text, /action="\/|name="continue" value="\//);
    }
  const post = await send(appUrl, `POST http://evil.test${path}`, {
    'Content-Length': '0',
    'Sec-Fetch-Site': 'same-origin',
  });
  assert.equal(post.headers.get('location'), path);
});

test('ASVS 3.4: the developers’ page alone has a script, from this site, and its file is what the address says', async () => {
  const browser = new Browser();
  const { headers, body } = await browser.get(`${appUrl}/developers`);
  const csp = String(headers.get('content-security-policy')).split('; ');
  assert.deepEqual(
    csp.filter((part) => part.startsWith('script-src')),
    ["script-src 'self'"],
  );
  const [[tag = '', path = ''] = [], ...others] = [...body.matchAll(/<script src="([^"]*)"[^>]*>/g)];
  assert.deepEqual([others, body.split('<script').length], [[], 2], tag);
  const file = await fetch(appUrl + path);
  assert.match(path, new RegExp(`-${hash('sha256', await file.text()).slice(0, 12)}\\.js$`));
  assert.deepEqual(
    ['content-type', 'x-content-type-options', 'cache-control'].map((name) => file.headers.get(name)),
    ['text/javascript; charset=utf-8', 'nosniff', 'public, max-age=31536000, immutable'],
  );
});

test('every page has the headers that keep it safe', async (t) => {
  const pages = [
    await ada.get(appUrl),
    await ada.get(`${appUrl}/developers`),
    await ada.get(authorizeUrl(service, client)),
    await ada.get(`${appUrl}/account/apps`),
    await ada.get(`${appUrl}/sign-out`),
    await ada.get(`${appUrl}/nope`),
    await ada.get(authorizeUrl(service, client, { client_id: 'x' })),
    await ada.post(`${appUrl}/account/apps`, {}),
    await ada.post(`${appUrl}/account/apps/revoke`, {}, { 'Sec-Fetch-Site': 'cross-site' }),
    await ada.submit(await ada.get(authorizeUrl(service, client)), AUTHORIZE, { decision: 'allow' }),
    await ada.get(`${appUrl}/sign-in`),
    await ada.get(authorizeUrl(service, client, { state: undefined })),
    await ada.get(standardUrl(service, client)),
    await ada.get(standardUrl(service, client, { prompt: 'login' })),
    await ada.get(standardUrl(service, client, { prompt: 'none' })),
    await ada.get(standardUrl(service, client, { client_id: 'x' })),
    await ada.submit(await ada.get(standardUrl(service, client)), '/oauth2/authorize', { decision: 'deny' }),
  ];
  const cspOf = (headers: Headers) => String(headers.get('content-security-policy')).split('; ');
  await t.test('RFC 9700 §4.16, RFC 6749 §10.13, OAuth 2.1 §7.11: no page can be framed', () => {
    for (const { url, headers } of pages) {
      assert.ok(cspOf(headers).includes("frame-ancestors 'none'"), url);
      assert.equal(headers.get('x-frame-options'), 'DENY', url);
    }
  });
  await t.test('RFC 9700 §4.2.4, ASVS 3.4: they bind the browser, and tell no other site where it came from', () => {
    const leaves = [AUTHORIZE, '/oauth2/authorize', '/sign-in'];
    for (const { url, status, headers, body } of pages) {
      const csp = cspOf(headers);
      for (const part of ["default-src 'none'", "base-uri 'none'", "style-src 'self'"])
        assert.ok(csp.includes(part), `${url} ${part}`);
      assert.ok(!csp.some((part) => /unsafe|\*/.test(part)), url);
      const mayHaveScript = url === `${appUrl}/developers`; // Its one script has a test of its own.
      assert.equal(
        csp.some((part) => part.startsWith('script-src')),
        mayHaveScript,
        url,
      );
      if (status < 300 || status >= 400) {
        const mayLeave = status === 200 && leaves.includes(new URL(url).pathname);
        assert.equal(csp.includes("form-action 'self'"), !mayLeave, url);
        assert.equal(headers.get('content-type'), 'text/html; charset=utf-8', url);
        assert.equal(headers.get('referrer-policy'), 'same-origin', url);
        if (!mayHaveScript) assert.doesNotMatch(body, /<script/, url);
        assert.doesNotMatch(body, / style="| on\w+="/, url);
      }
      const {
        'x-content-type-options': sniff,
        'cache-control': cache,
        'cross-origin-opener-policy': coop,
        'cross-origin-embedder-policy': coep,
      } = Object.fromEntries(headers);
      assert.deepEqual([sniff, cache, coop, coep], ['nosniff', 'no-store', 'same-origin', 'require-corp'], url);
    }
  });
});

test('RFC 9700 §2.6, OAuth 2.1 §3.1: no page and no endpoint that takes a secret answers another origin', async () => {
  const cross = { Origin: 'https://evil.test', 'Access-Control-Request-Method': 'POST' };
  for (const [base, path] of [
    [appUrl, AUTHORIZE],
    [appUrl, '/oauth2/authorize'],
    [appUrl, '/sign-in'],
    [appUrl, '/account/apps'],
    [appUrl, TOKEN],
    [appUrl, REFRESH],
  ] as const)
    for (const method of ['OPTIONS', 'GET', 'POST']) {
      const { headers } = await send(base, `${method} ${path}`, { ...cross, 'Content-Length': '0' });
      assert.ok(![...headers.keys()].some((name) => name.startsWith('access-control')), `${method} ${path}`);
    }
});

test('RFC 9110 §9.3.2: HEAD answers as GET does, without a body, wherever GET is', async () => {
  const stylesheet = /href="(\/assets\/[^"]*\.css)"/.exec((await send(appUrl, 'GET /')).body)?.[1] ?? assert.fail();
  const cookie = { Cookie: `valetkey_session=${ada.cookies.get('valetkey_session')}` };
  const bearer = { Authorization: `Bearer ${accessToken}` };
  const asked: [base: string, path: string, headers?: Record<string, string>][] = [
    [appUrl, '/'],
    [appUrl, '/sign-in'],
    [appUrl, '/account/apps', cookie],
    [appUrl, '/device', cookie],
    [appUrl, '/developers'],
    [appUrl, '/developers.md'],
    [appUrl, '/llms.txt'],
    [appUrl, stylesheet],
    [appUrl, '/openapi.json'],
    [appUrl, authorizeUrl(service, client).slice(appUrl.length), cookie],
    [appUrl, authorizeUrl(service, client).slice(appUrl.length)],
    [appUrl, '/auth/oauth2/authorize'],
    [appUrl, '/.well-known/oauth-authorization-server'],
    [apiUrl, '/.well-known/oauth-protected-resource'],
    [apiUrl, '/v2/me', bearer],
    [apiUrl, '/v2/me'],
    [apiUrl, '/healthz'],
    [appUrl, '/oauth2/revocations'],
  ];
  for (const [base, path, headers] of asked) {
    const [got, head] = [await send(base, `GET ${path}`, headers), await send(base, `HEAD ${path}`, headers)];
    assert.deepEqual([head.status, head.body], [got.status, ''], path);
    assert.equal(head.headers.get('set-cookie'), null, `${path}: a HEAD changes nothing in the browser`);
    for (const name of ['content-type', 'cache-control', 'content-security-policy', 'www-authenticate', 'location'])
      assert.equal(head.headers.get(name), got.headers.get(name), `${name} of ${path}`);
  }
  const api = await addResourceServer(service);
  const stream = await send(appUrl, 'HEAD /oauth2/revocations', basic(api.id, api.secret));
  assert.deepEqual([stream.status, stream.headers.get('content-type')], [200, 'text/event-stream']);
});

test('health: alive and ready on both addresses, and on one address that is both', async (t) => {
  for (const base of [appUrl, apiUrl, (await startOneAddress(t)).appUrl])
    for (const [path, status] of [
      ['/healthz', 'alive'],
      ['/readyz', 'ready'],
    ]) {
      const answer = await asJson(await fetch(base + path));
      assert.deepEqual([answer.status, answer.body], [200, { status }]);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      const { status: ofHead, headers, body } = await send(base, `HEAD ${path}`);
      assert.deepEqual([ofHead, body], [200, '']);
      for (const name of ['content-type', 'content-length', 'cache-control'])
        assert.equal(headers.get(name), answer.headers.get(name), name);
    }
});

test('interface §1: one address can be both the app and the API', async (t) => {
  const one = await startOneAddress(t);
  const url = one.appUrl;
  await addUser(one);
  const pair = await obtainPair(one, await signedInBrowser(one), await addClient(one));
  const { status } = await fetch(`${url}/v2/me`, { headers: { Authorization: `Bearer ${pair.accessToken}` } });
  assert.equal(status, 200);
  assert.equal((await asJson(await fetch(`${url}/v2/nope`))).status, 404);
});

describe('RFC 9112: requests that are not whole', { concurrency: true }, () => {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const refused: [name: string, bytes: string, status: number][] = [
    [
      'two lengths',
      `${requestHead(appUrl, `POST ${TOKEN}`, { ...form, 'Content-Length': '3\r\nContent-Length: 4' })}abcd`,
      400,
    ],
    [
      'a length and chunks',
      `${requestHead(appUrl, `POST ${TOKEN}`, { ...form, 'Content-Length': '3', 'Transfer-Encoding': 'chunked' })}0\r\n\r\n`,
      400,
    ],
    ['a length that is none', requestHead(appUrl, `POST ${TOKEN}`, { ...form, 'Content-Length': '-1' }), 400],
    [
      'a chunk that is none',
      `${requestHead(appUrl, `POST ${TOKEN}`, { ...form, 'Transfer-Encoding': 'chunked' })}zz\r\n`,
      400,
    ],
    ['no host', `POST ${TOKEN} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`, 400],
    ['two hosts', `POST ${TOKEN} HTTP/1.1\r\nHost: a\r\nHost: a\r\nContent-Length: 0\r\n\r\n`, 400],
    ['headers of 20 KB', requestHead(appUrl, 'GET /sign-in', { X: 'x'.repeat(20_000) }), 431],
    ['a target of 20 KB', requestHead(appUrl, `GET /?${'x'.repeat(20_000)}`), 431],
    ['raw bytes in the target', requestHead(appUrl, 'GET /sign-in?x=é'), 400],
    ['a line break in a header', requestHead(appUrl, 'GET /sign-in', { X: 'a\nb' }), 400],
    ['100 MB announced', `${requestHead(appUrl, `POST ${TOKEN}`, { ...form, 'Content-Length': '104857600' })}x`, 413],
    [
      '100 KB in chunks',
      `${requestHead(appUrl, `POST ${TOKEN}`, { ...form, 'Transfer-Encoding': 'chunked' })}19000\r\n${'x'.repeat(0x19000)}\r\n`,
      413,
    ],
  ];
  for (const [name, bytes, status] of refused)
    test(`RFC 9112: ${name} is ${status}, and the connection ends`, async () => {
      const answer = await sendRaw(appUrl, bytes);
      assert.equal(answer.status, status);
      assert.doesNotMatch(answer.body, /xxx|at \w+ \(/);
      assert.equal(answer.headers.get('connection'), 'close');
      await isFound(answer, status);
    });

  test('RFC 9110 §15.5.9: a body that does not come whole in time is 408, and is found', async () => {
    const head = requestHead(appUrl, `POST ${TOKEN}`, { ...form, 'Content-Length': '1000' });
    await isFound(await sendRaw(appUrl, `${head}code=x`), 408);
  });

  test('RFC 9112 §9.3.2: what cannot be read behind a request does not cost it its answer', async () => {
    const asked = requestHead(appUrl, `POST ${TOKEN}`, {
      ...form,
      Connection: 'TE',
      TE: 'trailers',
      'Content-Length': '0',
    });
    const { text } = await sendRaw(appUrl, `${asked}no request\r\n\r\n`);
    const [, first, second, ...more] = text.split('HTTP/1.1 ');
    assert.match(String(first), /^400 .*grant_type/s);
    assert.match(String(second), /^400 .*Connection: close.*cannot be read/s);
    assert.equal(more.length, 0);
  });

  test('RFC 9112 §9.3.2: what cannot be read is answered after the request before it, and once', async (t) => {
    const own = await startTestService(t);
    const browser = new Browser();
    const { body: page } = await browser.get(`${own.appUrl}/sign-in`);
    const guess = { ...formOf(page, '/sign-in').fields, email: 'ada@example.com', password: 'a wrong password' };
    const body = new URLSearchParams(guess).toString();
    const cookie = `valetkey_visitor=${browser.cookies.get('valetkey_visitor')}`;
    const first = { ...form, 'Content-Length': `${body.length}`, 'Sec-Fetch-Site': 'same-origin', Cookie: cookie };
    const second = { ...form, 'Transfer-Encoding': 'chunked' };
    const heads = [first, second].map((headers, at) =>
      requestHead(own.appUrl, `POST ${['/sign-in', TOKEN][at]}`, { ...headers, Connection: 'keep-alive' }),
    );
    for (const behind of ['no request\r\n\r\n', `${heads[1]}zz\r\n`]) {
      const answer = await sendRaw(own.appUrl, `${heads[0]}${body}${behind}`);
      const answers = answer.text.split('HTTP/1.1 ').slice(1);
      assert.match(answers[0] ?? '', /^400 .*content-type: text\/html/is, 'a page, about the password');
      assert.match(answers[1] ?? '', /^400 .*"error":"invalid_request"/s);
      assert.equal(answers.length, 2);
    }
  });

  test('RFC 9112 §9.3: whoever was answered before the body came is not answered again when it never comes', async () => {
    const half = { ...form, Connection: 'keep-alive', 'Content-Length': '9' };
    const sent = ['/nowhere', '/%ff'].map((path) => sendRaw(appUrl, requestHead(appUrl, `POST ${path}`, half)));
    const answers = await Promise.all(sent);
    assert.deepEqual(
      answers.map(({ status, text }) => [status, text.split('HTTP/1.1').length]),
      [
        [404, 2],
        [400, 2],
      ],
    );
  });

  test('RFC 9110 §10.1.1: an expectation that nobody knows is ignored', async () => {
    const answer = await sendRaw(
      appUrl,
      requestHead(appUrl, `POST ${TOKEN}`, { ...form, Expect: 'a', 'Content-Length': '0' }),
    );
    await isFound(answer, 400);
  });

  test('RFC 9112 §2.3: a method that nobody knows is 400 in the form of its server, and is found', async () => {
    const [app, api] = await Promise.all(
      [appUrl, apiUrl].map((url) => sendRaw(url, requestHead(url, 'FOO /anything'))),
    );
    await isFound(app as RawAnswer, 400);
    assert.deepEqual(JSON.parse((api as RawAnswer).body), {
      status: 'error',
      error: { code: 'bad_request', message: 'the request cannot be read' },
    });
  });
});

/** An answer of the app's address has a body as others have, and its id is in the log with its status. */
async function isFound({ headers, body, status: answered }: RawAnswer, status: number): Promise<void> {
  assert.equal(answered, status);
  assert.equal(JSON.parse(body).error, 'invalid_request');
  assert.equal(headers.get('cache-control'), 'no-store');
  const id = headers.get('x-request-id') ?? 'none';
  while (!service.log.some((line) => line.includes(id))) await sleep(10);
  const lines = service.log.filter((line) => line.includes(id)).map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map((line) => [line.msg, line.status, line.source]),
    [['request', status, '127.0.0.1']],
  );
  assert.ok(lines[0].error);
  assert.notEqual(lines[0].error, 'aborted', 'the client did not hang up');
}

test('RFC 9110 §15.6.1: no request whatever is answered with an error of ours', async () => {
  const odd = { iss: client.clientId, sub: [client.clientId], aud: appUrl, exp: 1.5, jti: {} };
  const assertion = await makeKey().sign(odd as never);
  const piece = fc.constantFrom(
    ...['client_id', 'state', 'redirect_uri', 'code', 'grant_type', 'form_token', 'email', 'password', 'continue'],
    ...['=', '&', '%', '%00', '%ff', '+', ';', '"', '<', '\\', '/', '//', '..', '{', '}', '[', ':', ',', '\\u0000'],
    ...[client.clientId, client.clientSecret, accessToken, 'authorization_code', 'refresh_token', '__proto__', 'é'],
    ...[
      'request_uri',
      'urn:ietf:params:oauth:request_uri:',
      'prompt',
      'login',
      'signed_after',
      'user_code',
      'resource',
    ],
    ...['client_assertion', 'client_assertion_type', ASSERTION_TYPE, assertion, 'device_code', DEVICE_GRANT, 'token'],
  );
  const garbage = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  const type = fc.constantFrom(
    'application/json',
    'application/x-www-form-urlencoded',
    'application/json;charset=x',
    'x/y',
    '',
  );
  const header = fc.constantFrom(
    'Authorization',
    'Cookie',
    'Origin',
    'Accept-Language',
    'X-Forwarded-For',
    'Sec-Fetch-Site',
    'Range',
  );
  const request = fc.record({
    base: fc.constantFrom(appUrl, apiUrl),
    method: fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'OPTIONS'),
    path: fc.constantFrom(
      TOKEN,
      REFRESH,
      AUTHORIZE,
      '/oauth2/authorize',
      ...ENDPOINTS,
      '/oauth2/revocations',
      '/device',
      '/v2/me',
      '/sign-in',
      '/sign-out',
      '/account/apps',
      '/account/apps/revoke',
      '/',
    ),
    query: garbage,
    type,
    headers: fc.array(fc.tuple(header, garbage), { maxLength: 3 }),
    body: garbage,
  });
  const answered = fc.asyncProperty(request, async ({ base, method, path, query, type, headers, body }) => {
    const bytes = Buffer.from(body);
    const all = { ...Object.fromEntries(headers), 'Content-Type': type, 'Content-Length': String(bytes.length) };
    const { status, text } = await send(base, `${method} ${path}?${query.replaceAll('é', '%C3%A9')}`, all, bytes);
    assert.ok(status >= 200 && status < 500, text.slice(0, 300));
  });
  await fc.assert(answered, { seed: 20260115, numRuns: 500 });
  assert.equal((await fetch(`${appUrl}/readyz`)).status, 200);
});
