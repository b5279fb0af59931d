import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import { Browser } from '../../support/browser.ts';
import { asJson, me, pairOf, postForm, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, freePort, startTestService } from '../../support/service.ts';
import {
  ASSERTION_TYPE,
  addResourceServer,
  allowOn,
  assertionClaims,
  assertionFields,
  authorizationRequest,
  basic,
  DEVICE_GRANT,
  exchangeCode,
  type Fields,
  introspect,
  makeKey,
  PKCE,
  postAs,
  refreshWith,
  scopes,
  sentTo,
  standardCode,
  standardPair,
  standardUrl,
  VERIFIER,
} from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const ada = await signedInBrowser(service);
const { appUrl, apiUrl } = service;
const resourceServer = await addResourceServer(service);
const [key, RSA, ED25519] = [makeKey(), makeKey('RSA'), makeKey('Ed25519')];
const devices = { deviceFlow: true, scopes: scopes('notes.read') };
const clients = {
  secret: await addClient(service, devices),
  key: await addClient(service, { ...devices, keys: [key.jwk] }),
  none: await addClient(service, devices, 'public'),
};
await service.installation.scopes.define('notes.read', { en: 'Read your notes' }, service.installation.operator);
await service.installation.scopes.define('mail.read', { en: 'Read your mail' }, service.installation.operator);

/** A client with a key for each algorithm; the last two are not listed. */
const keys = {
  ES256: key,
  ES384: makeKey('P-384'),
  ES512: makeKey('P-521'),
  ...Object.fromEntries(['Ed25519', 'EdDSA'].map((alg) => [alg, ED25519])),
  ...Object.fromEntries(['PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'].map((alg) => [alg, RSA])),
};
const signer = await addClient(service, { keys: [...new Set(Object.values(keys))].map(({ jwk }) => jwk) });

/** A client as the operator admits it by its metadata document. */
const admit = async (at: typeof service, id: string) =>
  at.installation.clients.register(
    'public',
    { name: id, redirectUris: ['https://client.example/callback'], scopes: scopes('notes.read') },
    at.installation.operator,
    { address: id, sha256: 'ab'.repeat(32), jwksUri: null, fetchedAt: 0 },
  );
const AGENT = 'https://agent.example/client.json';
await admit(service, AGENT);

const address = `${appUrl}/.well-known/oauth-authorization-server`;
const { status, headers, body: metadata } = await asJson(await fetch(address));
const METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'];
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'Ed25519', 'EdDSA'];

test('RFC 8414 §3.1, §3.2, RFC 9728 §7.10: the metadata is JSON that everybody may read and keep for a while', () => {
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'application/json');
  assert.equal(headers.get('access-control-allow-origin'), '*');
  assert.equal(headers.get('cache-control'), 'public, max-age=300');
});

/** What a client's authentication by a method adds to a request. */
async function authentication(method: string): Promise<{ fields: Fields; headers?: Record<string, string> }> {
  const { clientId, clientSecret } = clients.secret;
  if (method === 'client_secret_basic') return { fields: {}, headers: basic(clientId, clientSecret) };
  if (method === 'client_secret_post') return { fields: { client_id: clientId, client_secret: clientSecret } };
  if (method === 'private_key_jwt') return { fields: await assertionFields(service, clients.key, key) };
  return { fields: { client_id: clients.none.clientId } };
}

/** Calls an endpoint that clients authenticate at, by one method; whether the client was taken for itself. */
async function authenticates(endpoint: string, fields: Fields, headers?: Record<string, string>): Promise<boolean> {
  const { client_id: _, ...request } = authorizationRequest(clients.secret);
  const whatever = { grant_type: 'refresh_token', refresh_token: 'x', token: 'x', ...request };
  const answer = await postForm(String(metadata[endpoint]), { ...whatever, ...fields }, headers);
  assert.equal(answer.status === 401, answer.body['error'] === 'invalid_client', JSON.stringify(answer.body));
  return answer.status !== 401;
}

/** Authentication that the metadata does not list: an assertion with the secret as key, and nothing at all. */
async function unlisted(): Promise<Fields[]> {
  const { clientId, clientSecret } = clients.secret;
  const assertion = await new SignJWT(assertionClaims(service, clients.secret))
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(clientSecret));
  return [
    { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion },
    { client_id: clientId },
    { client_id: clients.key.clientId },
    {},
  ];
}

async function assertMethods(endpoint: string): Promise<void> {
  const listed = metadata[`${endpoint}_auth_methods_supported`] as string[];
  assert.deepEqual(listed, METHODS);
  for (const method of listed) {
    const { fields, headers } = await authentication(method);
    assert.equal(await authenticates(endpoint, fields, headers), true, method);
  }
  for (const fields of await unlisted())
    assert.equal(await authenticates(endpoint, fields), false, JSON.stringify(fields));
}

async function assertAlgorithms(endpoint: string): Promise<void> {
  const listed = metadata[`${endpoint}_auth_signing_alg_values_supported`] as string[];
  assert.deepEqual(listed, ALGORITHMS);
  for (const [alg, each] of Object.entries(keys)) {
    const fields = await assertionFields(service, signer, each, {}, { alg });
    assert.equal(await authenticates(endpoint, fields), listed.includes(alg), alg);
  }
}

/** One check for each claim of the document; what the document says is what happens. */
const claims: Record<string, (value: unknown) => Promise<void> | void> = {
  issuer: (value) => assert.equal(value, appUrl),
  authorization_endpoint: async (value) => {
    const request = new URLSearchParams(authorizationRequest(clients.secret) as Record<string, string>);
    assert.match((await ada.get(`${value}?${request}`)).body, /value="allow"/);
  },
  token_endpoint: async (value) => {
    const code = await standardCode(service, ada, clients.secret);
    const { fields } = await authentication('client_secret_post');
    const request = { grant_type: 'authorization_code', code, code_verifier: VERIFIER, ...fields };
    pairOf(await postForm(String(value), { ...request, redirect_uri: 'https://client.example/callback' }));
  },
  token_endpoint_auth_methods_supported: () => assertMethods('token_endpoint'),
  token_endpoint_auth_signing_alg_values_supported: () => assertAlgorithms('token_endpoint'),
  revocation_endpoint: async (value) => {
    const { accessToken } = await standardPair(service, ada, clients.none);
    await postForm(String(value), { token: accessToken, client_id: clients.none.clientId });
    assert.equal((await me(service, accessToken)).status, 401);
  },
  revocation_endpoint_auth_methods_supported: () => assertMethods('revocation_endpoint'),
  revocation_endpoint_auth_signing_alg_values_supported: () => assertAlgorithms('revocation_endpoint'),
  introspection_endpoint: async (value) => {
    const { accessToken } = await standardPair(service, ada, clients.secret);
    const answer = await postForm(
      String(value),
      { token: accessToken },
      basic(resourceServer.id, resourceServer.secret),
    );
    assert.equal(answer.body['active'], true);
  },
  introspection_endpoint_auth_methods_supported: async (value) => {
    assert.deepEqual(value, ['client_secret_basic', 'client_secret_post']);
    const { id, secret } = resourceServer;
    const url = String(metadata['introspection_endpoint']);
    assert.equal((await postForm(url, { token: 'x' }, basic(id, secret))).status, 200);
    assert.equal((await postForm(url, { token: 'x', client_id: id, client_secret: secret })).status, 200);
    const others = [...(await unlisted()), await assertionFields(service, clients.key, key), { client_id: id }];
    for (const fields of others) assert.equal((await postForm(url, { token: 'x', ...fields })).status, 401);
  },
  pushed_authorization_request_endpoint: async (value) => {
    for (const method of METHODS) {
      const { fields, headers } = await authentication(method);
      const request = { ...authorizationRequest(clients.secret), client_id: undefined, ...fields };
      assert.equal((await postForm(String(value), request, headers)).status, 201, method);
    }
  },
  require_pushed_authorization_requests: async (value) => {
    assert.equal(value, false);
    await standardCode(service, ada, clients.secret);
  },
  device_authorization_endpoint: async (value) => {
    for (const method of METHODS) {
      const { fields, headers } = await authentication(method);
      const { body } = await postForm(String(value), fields, headers);
      assert.deepEqual([typeof body['user_code'], body['verification_uri']], ['string', `${appUrl}/device`], method);
    }
  },
  scopes_supported: async (value) => {
    assert.deepEqual(value, ['mail.read', 'notes.read']);
    const asking = await addClient(service, { scopes: scopes(...(value as string[])) });
    const { body } = await exchangeCode(service, asking, await standardCode(service, ada, asking));
    assert.equal(body['scope'], 'mail.read notes.read');
  },
  response_types_supported: async (value) => {
    assert.deepEqual(value, ['code']);
    for (const type of ['token', 'id_token', 'code token', 'code id_token', 'none']) {
      const url = standardUrl(service, clients.secret, { response_type: type });
      assert.equal(sentTo(await ada.get(url)).searchParams.get('error'), 'unsupported_response_type', type);
    }
  },
  response_modes_supported: async (value) => {
    assert.deepEqual(value, ['query']);
    for (const response_mode of ['query', 'fragment', 'form_post']) {
      const url = standardUrl(service, clients.secret, { response_mode });
      const { searchParams, hash } = await allowOn(ada, await ada.get(url));
      assert.deepEqual([searchParams.has('code'), hash], [true, ''], response_mode);
    }
  },
  grant_types_supported: async (value) => {
    assert.deepEqual(value, ['authorization_code', 'refresh_token', DEVICE_GRANT]);
    const pair = await standardPair(service, ada, clients.secret);
    pairOf(await refreshWith(service, clients.secret, pair.refreshToken));
    const { body } = await postAs(service, clients.none, 'device_authorization');
    const code = String(body['device_code']);
    const poll = { grant_type: DEVICE_GRANT, device_code: code };
    assert.equal((await postAs(service, clients.none, 'token', poll)).body['error'], 'authorization_pending');
    for (const type of [
      'password',
      'client_credentials',
      'implicit',
      'urn:ietf:params:oauth:grant-type:token-exchange',
    ])
      assert.equal(
        (await postAs(service, clients.secret, 'token', { grant_type: type })).body['error'],
        'unsupported_grant_type',
      );
  },
  code_challenge_methods_supported: async (value) => {
    assert.deepEqual(value, ['S256']);
    await standardPair(service, ada, clients.none);
    for (const code_challenge_method of ['plain', 's256', undefined]) {
      const url = standardUrl(service, clients.none, { ...PKCE, code_challenge_method });
      assert.equal(sentTo(await ada.get(url)).searchParams.get('error'), 'invalid_request');
    }
  },
  authorization_response_iss_parameter_supported: async (value) => {
    assert.equal(value, true);
    const page = await ada.get(standardUrl(service, clients.secret));
    const answers = [
      await allowOn(ada, page),
      sentTo(await ada.submit(page, '/oauth2/authorize', { decision: 'deny' })),
      sentTo(await ada.get(standardUrl(service, clients.secret, { scope: 'nope' }))),
      sentTo(await ada.get(standardUrl(service, clients.secret, { prompt: 'none' }))),
    ];
    for (const { searchParams } of answers) assert.deepEqual(searchParams.getAll('iss'), [metadata['issuer']]);
  },
  client_id_metadata_document_supported: async (value) => {
    assert.equal(value, true);
    const agent = { ...clients.none, clientId: AGENT, clientSecret: '' };
    await standardPair(service, ada, agent);
  },
  prompt_values_supported: async (value) => {
    assert.deepEqual(value, ['none', 'login', 'consent', 'select_account']);
    const visit = (prompt: string) => ada.get(standardUrl(service, clients.secret, { prompt }));
    assert.equal(sentTo(await visit('none')).searchParams.get('error'), 'consent_required');
    assert.match((await visit('login')).body, /name="password"/);
    assert.match((await visit('select_account')).body, /name="password"/);
    assert.match((await visit('consent')).body, /value="allow"/);
    for (const prompt of ['create', 'LOGIN'])
      assert.equal(sentTo(await visit(prompt)).searchParams.get('error'), 'invalid_request', prompt);
  },
  request_parameter_supported: async (value) => {
    assert.equal(value, false);
    const visit = await ada.get(standardUrl(service, clients.secret, { request: 'eyJhbGciOiJub25lIn0.e30.' }));
    assert.equal(sentTo(visit).searchParams.get('error'), 'request_not_supported');
  },
  request_uri_parameter_supported: async (value) => {
    assert.equal(value, false);
    const visit = await ada.get(
      standardUrl(service, clients.secret, { request_uri: 'https://client.example/request' }),
    );
    assert.equal(sentTo(visit).searchParams.get('error'), 'request_uri_not_supported');
  },
  protected_resources: async (value) => {
    assert.deepEqual(value, [apiUrl]);
    for (const resource of value as string[]) {
      const { accessToken } = await standardPair(service, ada, clients.secret, { resource });
      assert.equal(
        (await fetch(`${resource}/v2/me`, { headers: { Authorization: `Bearer ${accessToken}` } })).status,
        200,
      );
      assert.deepEqual((await introspect(service, resourceServer, accessToken)).body, { active: false });
    }
  },
  service_documentation: async (value) => {
    assert.match(String((await fetch(String(value))).headers.get('content-type')), /^text\/html/);
  },
  ui_locales_supported: async (value) => {
    assert.deepEqual(value, ['en', 'ar']);
    for (const locale of value as string[])
      assert.match(
        (await new Browser({ 'Accept-Language': locale }).get(appUrl)).body,
        new RegExp(`<html lang="${locale}"`),
      );
  },
};

/** Titles of claims that another clause than RFC 8414 §2 asks for. */
const OTHER_TITLES = [
  'RFC 8414 §3.3: issuer',
  'RFC 8628 §4: device_authorization_endpoint',
  'RFC 9126 §5: pushed_authorization_request_endpoint',
  'RFC 9207 §2.3, §3, RFC 9700 §2.1: authorization_response_iss_parameter_supported',
  'RFC 9700 §2.4: grant_types_supported',
  'RFC 9700 §2.1.1: code_challenge_methods_supported',
  'RFC 9728 §4: protected_resources',
];

describe('RFC 8414 §2: what the metadata says is so', { concurrency: true }, () => {
  test('RFC 8414 §2, RFC 9700 §2.6: the document has just the claims that are checked here', () => {
    assert.deepEqual(Object.keys(metadata).sort(), Object.keys(claims).sort());
  });
  for (const [claim, check] of Object.entries(claims)) test(titleOf(claim), async () => check(metadata[claim]));
});

test('RFC 8414 §3.2, RFC 9728 §3.2: a claim without values is left out, and appears with the first scope', async (t) => {
  const own = await startTestService(t);
  const read = async () =>
    Promise.all(
      [
        `${own.appUrl}/.well-known/oauth-authorization-server`,
        `${own.apiUrl}/.well-known/oauth-protected-resource`,
      ].map(async (url) => (await asJson(await fetch(url))).body['scopes_supported']),
    );
  assert.deepEqual(await read(), [undefined, undefined]);
  await own.installation.scopes.define('mail', { en: 'Read your mail' }, own.installation.operator);
  assert.deepEqual(await read(), [['mail'], ['mail']]);
  await own.installation.scopes.delete('mail', own.installation.operator);
  assert.deepEqual(await read(), [undefined, undefined]);
});

test('draft-ietf-oauth-client-id-metadata-document §6: documents are announced only while an active client has one', async (t) => {
  const own = await startTestService(t);
  const { clients, operator } = own.installation;
  const read = () =>
    Promise.all(
      ['oauth-authorization-server', 'openid-configuration'].map(
        async (name) =>
          (await asJson(await fetch(`${own.appUrl}/.well-known/${name}`))).body[
            'client_id_metadata_document_supported'
          ],
      ),
    );
  const [never, yes] = [
    [undefined, undefined],
    [true, true],
  ];
  await addClient(own);
  assert.deepEqual(await read(), never);
  await admit(own, AGENT);
  assert.deepEqual(await read(), yes);
  await admit(own, `${AGENT}/two`);
  await clients.pause(AGENT, operator);
  assert.deepEqual(await read(), yes);
  await clients.pause(`${AGENT}/two`, operator);
  assert.deepEqual(await read(), never);
  await clients.resume(AGENT, operator);
  assert.deepEqual(await read(), yes);
  await clients.delete(AGENT, operator);
  assert.deepEqual(await read(), never);
});

test('RFC 9728 §2, §3.2, §3.3: the API says whose tokens it takes and how, where its address says', async () => {
  const url = `${apiUrl}/.well-known/oauth-protected-resource`;
  const { status, headers, body } = await asJson(await fetch(url));
  assert.equal(status, 200);
  assert.deepEqual(body, {
    resource: apiUrl,
    authorization_servers: [appUrl],
    scopes_supported: ['mail.read', 'notes.read'],
    bearer_methods_supported: ['header'],
    resource_name: 'Valetkey',
    resource_documentation: `${appUrl}/developers`,
  });
  assert.equal(headers.get('content-type'), 'application/json');
  assert.equal(headers.get('access-control-allow-origin'), '*');
  assert.equal((await fetch(String(body['resource_documentation']))).status, 200);
});

test('RFC 9728 §5.1: who calls the API without a good token learns where its metadata is, and from there who gives tokens', async () => {
  for (const headers of [{}, { Authorization: 'Bearer x' }]) {
    const answer = await fetch(`${apiUrl}/v2/me`, { headers });
    const challenge = String(answer.headers.get('www-authenticate'));
    const [, url = ''] = /^Bearer .*\bresource_metadata="([^"]*)"/.exec(challenge) ?? [];
    const { body: resource } = await asJson(await fetch(url));
    const [issuer] = resource['authorization_servers'] as string[];
    const { body: server } = await asJson(await fetch(`${issuer}/.well-known/oauth-authorization-server`));
    assert.deepEqual([resource['resource'], server['issuer']], [apiUrl, issuer]);
    assert.ok((server['protected_resources'] as string[]).includes(apiUrl), 'RFC 9728 §4');
  }
});

test('RFC 8414 §3: both documents are there when one address is both the app and the API', async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  await startTestService(t, { VALETKEY_APP_URL: url, VALETKEY_API_URL: url });
  const read = async (name: string) => (await asJson(await fetch(`${url}/.well-known/${name}`))).body;
  assert.equal((await read('oauth-authorization-server'))['issuer'], url);
  assert.equal((await read('oauth-protected-resource'))['resource'], url);
});

function titleOf(claim: string): string {
  return OTHER_TITLES.find((title) => title.endsWith(`: ${claim}`)) ?? `RFC 8414 §2: ${claim}`;
}
