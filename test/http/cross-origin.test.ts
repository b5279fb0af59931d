import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { postForm, signedInBrowser } from '../support/flow.ts';
import { requestHead, sendRaw } from '../support/raw-http.ts';
import { addClient, addUser, REDIRECT_URI, startTestService } from '../support/service.ts';
import { addResourceServer, basic, type Fields, PKCE, standardPair, standardUrl } from '../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const ada = await signedInBrowser(service);
const redirectUris = [REDIRECT_URI, 'https://app.example:8443/cb', 'http://127.0.0.1:4711/cb', 'com.example.app:/cb'];
const app = await addClient(service, { redirectUris, deviceFlow: true }, 'public');
const confidential = await addClient(service);
const { appUrl, apiUrl } = service;
const OWN = 'https://client.example';
const EXPOSED = { 'access-control-expose-headers': 'DPoP-Nonce, WWW-Authenticate, Retry-After' };

/** The CORS headers of an answer, and whether caches are told that it depends on the origin. */
function corsOf(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control')));
}

describe('OAuth 2.1 §3.2: the own pages of a public client may read its answers', { concurrency: true }, () => {
  const call = (endpoint: string, origin: string, fields: Fields = {}) =>
    postForm(`${appUrl}/oauth2/${endpoint}`, { client_id: app.clientId, token: 'x', ...fields }, { Origin: origin });
  const endpoints = ['token', 'revoke', 'par', 'device_authorization'];
  for (const endpoint of endpoints)
    test(`OAuth 2.1 §3.2, RFC 7009 §2.3: at ${endpoint}, and no other origin may, never with cookies`, async () => {
      for (const origin of [OWN, 'https://app.example:8443', 'http://127.0.0.1:4711', 'http://127.0.0.1:51234']) {
        const { headers } = await call(endpoint, origin);
        assert.deepEqual(corsOf(headers), { 'access-control-allow-origin': origin, ...EXPOSED });
        assert.equal(headers.get('vary'), 'Origin');
        assert.equal(headers.get('set-cookie'), null);
      }
      const foreign = [
        'https://evil.test',
        'https://client.example.evil.test',
        'http://client.example',
        'https://client.example:8443',
        'https://app.example',
        'https://CLIENT.example',
        `${OWN}/`,
        'com.example.app:',
        'com.example.app://',
        'null',
        '*',
        '',
        'http://localhost:4711',
        'https://127.0.0.1:4711',
      ];
      for (const origin of foreign) {
        const { headers } = await call(endpoint, origin);
        assert.deepEqual([corsOf(headers), headers.get('vary')], [{}, 'Origin'], origin);
      }
    });

  test('OAuth 2.1 §3.2: whatever the answer is', async () => {
    const answers = [
      await call('token', OWN, { grant_type: 'x' }),
      await call('revoke', OWN, { client_secret: 'x' }),
      await call('revoke', OWN, { token: undefined }),
      await call('par', OWN, { response_type: 'code', redirect_uri: REDIRECT_URI, ...PKCE }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [400, 401, 400, 201],
    );
    for (const { headers } of answers) assert.equal(headers.get('access-control-allow-origin'), OWN);
  });

  test('OAuth 2.1 §3.2: not for a client that could not keep a secret there, and not for an unknown one', async () => {
    const basicOnly = { client_id: undefined };
    const others: [Fields, Record<string, string>][] = [
      [{ client_id: confidential.clientId, client_secret: confidential.clientSecret }, {}],
      [basicOnly, basic(confidential.clientId, confidential.clientSecret)],
      [{ client_id: 'app_nobody' }, {}],
      [{ client_id: '__proto__' }, {}],
      [{ client_id: '\0' }, {}],
      [basicOnly, {}],
    ];
    for (const [fields, headers] of others) {
      const answer = await postForm(`${appUrl}/oauth2/token`, { ...fields }, { Origin: OWN, ...headers });
      assert.deepEqual([corsOf(answer.headers), answer.headers.get('vary')], [{}, 'Origin'], JSON.stringify(fields));
    }
  });

  test('OAuth 2.1 §3.2: once a redirect URI is taken from the client, its origin is nobody any more', async () => {
    const moved = await addClient(service, {}, 'public');
    const origin = async () =>
      corsOf((await postForm(`${appUrl}/oauth2/token`, { client_id: moved.clientId }, { Origin: OWN })).headers);
    assert.notDeepEqual(await origin(), {});
    await service.installation.clients.update(
      moved.clientId,
      { redirectUris: ['https://new.example/'] },
      service.installation.operator,
    );
    assert.deepEqual(await origin(), {});
  });
});

test('RFC 9700 §2.6: no page, no other endpoint and no preflight of them answers another origin', async () => {
  const { id, secret } = await addResourceServer(service);
  const cookie = `valetkey_session=${ada.cookies.get('valetkey_session')}`;
  const path = standardUrl(service, app).slice(appUrl.length);
  const addresses: [base: string, path: string, headers?: Record<string, string>][] = [
    [appUrl, path],
    [appUrl, path, { Cookie: cookie }],
    [appUrl, '/device', { Cookie: cookie }],
    [appUrl, '/sign-in'],
    [appUrl, '/oauth2/introspect', basic(id, secret)],
    [appUrl, '/oauth2/revocations'],
    [appUrl, '/oauth2/nope'],
    [appUrl, '/api/auth/oauth/token'],
    [appUrl, '/api/auth/oauth/refreshToken'],
    [appUrl, '/auth/oauth2/authorize'],
  ];
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
  for (const [base, path, headers] of addresses)
    for (const method of ['OPTIONS', 'GET', 'POST']) {
      const cross = { Origin: OWN, 'Access-Control-Request-Method': 'POST', 'Content-Length': '0', ...type };
      const answer = await sendRaw(base, requestHead(base, `${method} ${path}`, { ...cross, ...headers }));
      assert.ok(answer.status > 0);
      assert.deepEqual(corsOf(answer.headers), {}, `${method} ${path}`);
    }
});

const METADATA = [
  `${appUrl}/.well-known/oauth-authorization-server`,
  `${appUrl}/.well-known/openid-configuration`,
  `${apiUrl}/.well-known/oauth-protected-resource`,
];
const PREFLIGHTS: [url: string, method: string][] = [
  ...METADATA.map((url): [string, string] => [url, 'GET']),
  [`${apiUrl}/v2/me`, 'GET'],
  ...['token', 'revoke', 'par', 'device_authorization'].map((name): [string, string] => [
    `${appUrl}/oauth2/${name}`,
    'POST',
  ]),
];
for (const [url, method] of PREFLIGHTS)
  test(`OAuth 2.1 §3.2: any origin may ask before it calls ${new URL(url).pathname}, with the headers that agents add`, async () => {
    const asking = {
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'mcp-protocol-version',
    };
    for (const Origin of [OWN, 'https://anybody.example', 'null']) {
      const preflight = await fetch(url, { method: 'OPTIONS', headers: { Origin, ...asking } });
      assert.equal(preflight.status, 204);
      assert.deepEqual(corsOf(preflight.headers), {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': method,
        'access-control-allow-headers':
          'Authorization, Content-Type, DPoP, MCP-Protocol-Version, traceparent, tracestate, baggage',
        'access-control-max-age': '86400',
      });
      assert.equal(preflight.headers.get('set-cookie'), null);
    }
  });

test('OAuth 2.1 §3.2: the pages of any app may call the API with a token, and never with cookies', async () => {
  const { accessToken } = await standardPair(service, ada, app);
  const url = `${apiUrl}/v2/me`;
  const Origin = 'https://anybody.example';
  for (const [token, status] of [
    [accessToken, 200],
    ['x', 401],
  ] as const) {
    const answer = await fetch(url, { headers: { Origin, Authorization: `Bearer ${token}` } });
    assert.equal(answer.status, status);
    assert.deepEqual(corsOf(answer.headers), { 'access-control-allow-origin': '*', ...EXPOSED });
  }
  const { status, headers } = await fetch(url, { method: 'PUT', headers: { Origin } });
  assert.deepEqual([status, corsOf(headers)], [405, {}]);
});

test('RFC 8414 §3: the metadata is for every origin, and never with cookies, also when there were too many requests', async (t) => {
  for (const url of METADATA) {
    const { headers } = await fetch(url, { headers: { Origin: 'https://anybody.example' } });
    assert.deepEqual(corsOf(headers), { 'access-control-allow-origin': '*', ...EXPOSED });
  }
  const own = await startTestService(t);
  const head = requestHead(own.appUrl, 'GET /.well-known/oauth-authorization-server', { Connection: 'keep-alive' });
  await sendRaw(own.appUrl, head.repeat(3001));
  const limited = await fetch(`${own.appUrl}/.well-known/oauth-authorization-server`);
  assert.equal(limited.status, 429);
  assert.deepEqual(corsOf(limited.headers), { 'access-control-allow-origin': '*', ...EXPOSED });
});
