/**
 * The modules of OpenID's basic certification plan, as docs/reference/openid-basic-plan.md reads them: each title begins with a
 * module's name. The official suite does not run here.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { Browser, type Visit } from '../../support/browser.ts';
import { asJson, forgetDecisions, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, PASSWORD, startTestService } from '../../support/service.ts';
import {
  allowOn,
  authorizationRequest,
  basic,
  exchangeCode,
  type Fields,
  PKCE,
  post,
  refreshWith,
  scopes,
  sentTo,
  standardUrl,
  VERIFIER,
} from '../../support/standard.ts';

const service = await startTestService({ after });
const account = await addUser(service);
const { appUrl, clock, installation } = service;
await installation.accounts.update(account.id, { username: 'ada' }, installation.operator);
const ada = await signedInBrowser(service);
const app = await addClient(service, { signIn: true, scopes: scopes('photos') });
const other = await addClient(service, { signIn: true, scopes: scopes('photos') });

const PROFILE = { name: 'Ada Example', preferred_username: 'ada' };
const EMAIL = { email: 'ada@example.com', email_verified: true };

/** The requests of the plan have no PKCE, except for one module. */
const WITHOUT_PKCE = { code_challenge: undefined, code_challenge_method: undefined };
const authorizeUrl = (parameters: Fields = {}) =>
  standardUrl(service, app, { scope: 'openid', nonce: 'n-0S6_WzA2Mj', ...WITHOUT_PKCE, ...parameters });

const asksForPassword = ({ status, body }: Visit) => status === 200 && body.includes('name="password"');
const asksForConsent = ({ status, body }: Visit) => status === 200 && body.includes('value="allow"');

/** Presses Allow if the page asks for consent, and returns where the browser is sent. */
async function callbackOf(page: Visit, browser = ada): Promise<URLSearchParams> {
  await forgetDecisions(service);
  const location = asksForConsent(page) ? await allowOn(browser, page) : sentTo(page);
  assert.equal(location.searchParams.get('state'), 'xyz');
  assert.equal(location.searchParams.get('iss'), appUrl);
  return location.searchParams;
}

const errorOf = async (parameters: Fields, browser = ada): Promise<string | null> =>
  sentTo(await browser.get(authorizeUrl(parameters))).searchParams.get('error');

type SignedIn = { readonly tokens: Record<string, unknown>; readonly claims: JWTPayload };

/** Exchanges the code of a callback, with the secret in the header, and verifies the ID token against the key set. */
async function exchangedFrom(callback: URLSearchParams, nonce: string | undefined = 'n-0S6_WzA2Mj'): Promise<SignedIn> {
  const fields = authorizationRequest(app);
  const { status, body } = await post(
    service,
    'token',
    { grant_type: 'authorization_code', code: String(callback.get('code')), redirect_uri: fields['redirect_uri'] },
    basic(app.clientId, app.clientSecret),
  );
  assert.equal(status, 200, JSON.stringify(body));
  return { tokens: body, claims: await verified(body['id_token'], nonce) };
}

/** Verifies as the suite does (Core §3.1.3.7). */
async function verified(idToken: unknown, nonce?: string): Promise<JWTPayload> {
  const { body } = await asJson(await fetch(`${appUrl}/oauth2/jwks`));
  const { payload } = await jwtVerify(String(idToken), createLocalJWKSet(body as unknown as JSONWebKeySet), {
    issuer: appUrl,
    audience: app.clientId,
    algorithms: ['RS256'],
    currentDate: new Date(clock.now()),
    requiredClaims: ['sub', 'exp', 'iat'],
  });
  assert.equal(payload['nonce'], nonce);
  return payload;
}

/** Requests, allows, exchanges and verifies. */
const signIn = async (parameters: Fields = {}): Promise<SignedIn> =>
  exchangedFrom(await callbackOf(await ada.get(authorizeUrl(parameters))));

/** Signs in on a page that asks for it, and goes back to the request. */
async function signInAgain(page: Visit): Promise<Visit> {
  assert.ok(asksForPassword(page), page.body);
  const { headers } = await ada.submit(page, '/sign-in', { email: EMAIL.email, password: PASSWORD });
  return ada.get(new URL(String(headers.get('location')), page.url).href);
}

const userInfo = async ({ tokens }: SignedIn, init: RequestInit = {}) => {
  const headers = { Authorization: `Bearer ${tokens['access_token']}` };
  return asJson(await fetch(`${appUrl}/oauth2/userinfo`, { headers, ...init }));
};

describe('the response, the ID token and userinfo', () => {
  test('oidcc-server, OpenID Connect Core §3.1.3.3: a code with the secret in the header gives tokens and a valid ID token', async () => {
    const { tokens, claims } = await signIn();
    assert.equal(tokens['token_type'], 'Bearer');
    assert.equal(typeof tokens['expires_in'], 'number');
    assert.deepEqual([claims.sub, claims.aud], [account.id, app.clientId]);
  });

  test('oidcc-response-type-missing, RFC 6749 §3.1.1: a request without response_type is an error', async () => {
    assert.equal(await errorOf({ response_type: undefined }), 'invalid_request');
  });

  test('oidcc-idtoken-signature, OpenID Connect Core §10.1: the header names RS256 and a kid of the key set', async () => {
    const { alg, kid } = decodeProtectedHeader(String((await signIn()).tokens['id_token']));
    const { body } = await asJson(await fetch(`${appUrl}/oauth2/jwks`));
    const [key, ...others] = (body['keys'] as Record<string, string>[]).filter((one) => one['kid'] === kid);
    assert.deepEqual([alg, key?.['alg'], key?.['use'], others], ['RS256', 'RS256', 'sig', []]);
  });

  test('oidcc-userinfo-get and oidcc-userinfo-post-header, OpenID Connect Core §5.3.1: both methods, with the sub of the ID token', async () => {
    const signedIn = await signIn();
    for (const method of ['GET', 'POST']) {
      const { status, headers, body } = await userInfo(signedIn, { method });
      assert.deepEqual([status, body], [200, { sub: signedIn.claims.sub }]);
      assert.match(String(headers.get('content-type')), /^application\/json/);
    }
  });

  test('oidcc-userinfo-post-body, RFC 6750 §2.2: the token in a body is refused, which the module reports as a warning', async () => {
    const { tokens } = await signIn();
    const body = new URLSearchParams({ access_token: String(tokens['access_token']) });
    assert.equal((await fetch(`${appUrl}/oauth2/userinfo`, { method: 'POST', body })).status, 401);
  });

  test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow, OpenID Connect Core §3.1.2.1: nonce is optional', async () => {
    const callback = await callbackOf(await ada.get(authorizeUrl({ nonce: undefined })));
    const code = { code: String(callback.get('code')), redirect_uri: authorizationRequest(app)['redirect_uri'] };
    const fields = { grant_type: 'authorization_code', ...code };
    const { body } = await post(service, 'token', fields, basic(app.clientId, app.clientSecret));
    assert.ok(!('nonce' in (await verified(body['id_token']))));
  });
});

describe('OpenID Connect Core §5.4: scopes', () => {
  const cases: [title: string, scope: string, claims: object][] = [
    ['oidcc-scope-profile, OpenID Connect Core §5.4', 'openid profile', PROFILE],
    ['oidcc-scope-email, OpenID Connect Core §5.4', 'openid email', EMAIL],
    ['oidcc-scope-address, OpenID Connect Core §5.4, which is not offered', 'openid address', {}],
    ['oidcc-scope-phone, OpenID Connect Core §5.4, which is not offered', 'openid phone', {}],
    [
      'oidcc-scope-all, OpenID Connect Core §5.4, as far as they are offered',
      'openid profile email address phone',
      { ...PROFILE, ...EMAIL },
    ],
    ['oidcc-ensure-other-scope-order-succeeds, RFC 6749 §3.3', 'email openid', EMAIL],
  ];
  for (const [title, scope, expected] of cases)
    test(`${title}: userinfo has the claims`, async () => {
      const signedIn = await signIn({ scope });
      assert.deepEqual((await userInfo(signedIn)).body, { sub: account.id, ...expected });
    });

  test('oidcc-scope-address and oidcc-scope-phone, OpenID Connect Discovery 1.0 §3: scopes_supported names neither, so that the modules are skipped', async () => {
    const { body } = await asJson(await fetch(`${appUrl}/.well-known/openid-configuration`));
    assert.deepEqual(body['scopes_supported'], ['openid', 'profile', 'email']);
  });
});

describe('OpenID Connect Core §3.1.2.1: parameters that change nothing', () => {
  const cases: [title: string, parameters: Fields][] = [
    ['oidcc-display-page, OpenID Connect Core §3.1.2.1', { display: 'page' }],
    ['oidcc-display-popup, OpenID Connect Core §3.1.2.1', { display: 'popup' }],
    ['oidcc-ensure-request-with-unknown-parameter-succeeds, OpenID Connect Core §3.1.2.1', { extra: 'foobar' }],
    ['oidcc-login-hint, OpenID Connect Core §3.1.2.1', { login_hint: 'bob@example.com' }],
    ['oidcc-ui-locales, OpenID Connect Core §3.1.2.1', { ui_locales: 'se' }],
    ['oidcc-claims-locales, OpenID Connect Core §5.2', { claims_locales: 'se' }],
    ['oidcc-ensure-request-with-acr-values-succeeds, OpenID Connect Core §3.1.2.1', { acr_values: '1 2' }],
    [
      'oidcc-claims-essential, OpenID Connect Core §5.5, without the claim, which the module reports as a warning',
      { claims: '{"userinfo":{"name":{"essential":true}}}' },
    ],
  ];
  for (const [title, parameters] of cases)
    test(`${title}: the request succeeds`, async () => {
      const signedIn = await signIn(parameters);
      assert.deepEqual((await userInfo(signedIn)).body, { sub: account.id });
    });
});

describe('OpenID Connect Core §3.1.2.1: prompt and max_age', () => {
  test('oidcc-prompt-login, OpenID Connect Core §3.1.2.1: a signed-in user signs in again, and auth_time moves', async () => {
    const first = await signIn();
    clock.advance(2);
    const page = await signInAgain(await ada.get(authorizeUrl({ prompt: 'login' })));
    const { claims } = await exchangedFrom(await callbackOf(page));
    assert.equal(claims.sub, first.claims.sub);
    assert.ok(Number(claims['auth_time']) > Number(first.claims['auth_time']));
  });

  test('oidcc-prompt-none-not-logged-in, OpenID Connect Core §3.1.2.6: login_required, and no page', async () => {
    assert.equal(await errorOf({ prompt: 'none' }, new Browser()), 'login_required');
  });

  test('oidcc-prompt-none-logged-in, OpenID Connect Core §3.1.2.1: the code comes without a page, for the same user', async () => {
    const first = await signIn();
    const page = await ada.get(authorizeUrl({ prompt: 'none' }));
    assert.equal(page.status, 303);
    const { claims } = await exchangedFrom(await callbackOf(page));
    assert.deepEqual([claims.sub, claims['auth_time']], [first.claims.sub, first.claims['auth_time']]);
  });

  test('oidcc-id-token-hint, OpenID Connect Core §3.1.2.1: with prompt=none and the first ID token, the code comes without a page', async () => {
    const { tokens, claims } = await signIn();
    const page = await ada.get(authorizeUrl({ prompt: 'none', id_token_hint: String(tokens['id_token']) }));
    assert.equal(page.status, 303);
    const second = await exchangedFrom(await callbackOf(page));
    assert.deepEqual([second.claims.sub, second.claims['auth_time']], [claims.sub, claims['auth_time']]);
  });

  test('oidcc-max-age-1, OpenID Connect Core §3.1.2.1: an older sign-in is repeated, and auth_time is new', async () => {
    const first = await signIn({ max_age: '10000' });
    clock.advance(2);
    const page = await signInAgain(await ada.get(authorizeUrl({ max_age: '1' })));
    const { claims } = await exchangedFrom(await callbackOf(page));
    const now = Math.floor(clock.now() / 1000);
    assert.ok(Number(claims['auth_time']) >= now - 1 && Number(claims['auth_time']) <= now);
    assert.ok(Number(claims['auth_time']) > Number(first.claims['auth_time']));
  });

  test('oidcc-max-age-10000, OpenID Connect Core §3.1.2.1: a newer sign-in counts, and auth_time stays', async () => {
    const first = await signIn({ max_age: '15000' });
    clock.advance(2);
    const page = await ada.get(authorizeUrl({ max_age: '10000' }));
    const { claims } = await exchangedFrom(await callbackOf(page));
    assert.equal(typeof claims['auth_time'], 'number');
    assert.deepEqual([claims.sub, claims['auth_time']], [first.claims.sub, first.claims['auth_time']]);
  });
});

describe('the code, the redirect URI and the request', () => {
  for (const [title, seconds] of [
    ['oidcc-codereuse, RFC 6749 §4.1.2: at once', 0],
    ['oidcc-codereuse-30seconds, RFC 6749 §4.1.2: after 30 seconds', 30],
  ] as const)
    test(`${title}, a second exchange is invalid_grant and ends the access token`, async () => {
      const callback = await callbackOf(await ada.get(authorizeUrl()));
      const signedIn = await exchangedFrom(callback);
      clock.advance(seconds);
      const again = await exchangeCode(service, app, String(callback.get('code')), { code_verifier: undefined });
      assert.deepEqual([again.status, again.body['error']], [400, 'invalid_grant']);
      assert.equal((await userInfo(signedIn)).status, 401);
    });

  test('oidcc-ensure-registered-redirect-uri, OpenID Connect Core §3.1.2.1: another URI gets a page and no redirect', async () => {
    const page = await ada.get(authorizeUrl({ redirect_uri: 'https://client.example/callback/x' }));
    assert.deepEqual([page.status, page.headers.get('location')], [400, null]);
  });

  test('oidcc-ensure-post-request-succeeds, OpenID Connect Core §3.1.2.1: the request may be posted', async () => {
    const url = new URL(authorizeUrl());
    const headers = { Origin: 'https://client.example', 'Sec-Fetch-Site': 'cross-site' };
    const { status, headers: answer } = await ada.post(
      `${appUrl}/oauth2/authorize`,
      Object.fromEntries(url.searchParams),
      headers,
    );
    assert.equal(status, 303);
    const page = await ada.get(new URL(String(answer.get('location')), appUrl).href);
    assert.equal((await exchangedFrom(await callbackOf(page))).claims.sub, account.id);
  });

  test('oidcc-server-client-secret-post, RFC 6749 §2.3.1: the secret may be in the body', async () => {
    const callback = await callbackOf(await ada.get(authorizeUrl()));
    const { status, body } = await exchangeCode(service, app, String(callback.get('code')), {
      code_verifier: undefined,
    });
    assert.equal(status, 200);
    await verified(body['id_token'], 'n-0S6_WzA2Mj');
  });

  test('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported, OpenID Connect Core §6.1: request_not_supported', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const object = `${part({ alg: 'none' })}.${part({ iss: app.clientId, aud: appUrl, scope: 'openid' })}.`;
    assert.equal(await errorOf({ request: object }), 'request_not_supported');
  });

  test('oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported, OpenID Connect Core §6.2: request_uri_not_supported', async () => {
    assert.equal(await errorOf({ request_uri: 'https://client.example/request.jwt' }), 'request_uri_not_supported');
  });

  test('oidcc-ensure-request-object-with-redirect-uri, OpenID Connect Core §6.1: a wrong redirect URI beside a request object is never redirected to', async () => {
    const page = await ada.get(authorizeUrl({ request: 'eyJ', redirect_uri: 'https://client.example/other' }));
    assert.deepEqual([page.status, page.headers.get('location')], [400, null]);
  });

  test('oidcc-refresh-token, OpenID Connect Core §12: with a scope of the app there is one, and no other client can use it', async () => {
    const { tokens, claims } = await signIn({ scope: 'openid photos' });
    const foreign = await refreshWith(service, other, String(tokens['refresh_token']));
    assert.deepEqual([foreign.status, foreign.body['error']], [400, 'invalid_grant']);
    const { status, body } = await refreshWith(service, app, String(tokens['refresh_token']));
    assert.deepEqual([status, 'id_token' in body], [200, false]);
    assert.equal((await userInfo({ tokens: body, claims })).body['sub'], claims.sub);
    assert.ok(!('refresh_token' in (await signIn()).tokens), 'and for a sign-in alone there is none');
  });

  test('oidcc-ensure-request-with-valid-pkce-succeeds, RFC 7636 §4: PKCE is taken', async () => {
    const callback = await callbackOf(await ada.get(authorizeUrl(PKCE)));
    const fields = { code_verifier: VERIFIER };
    const { status, body } = await exchangeCode(service, app, String(callback.get('code')), fields);
    assert.equal(status, 200);
    await verified(body['id_token'], 'n-0S6_WzA2Mj');
  });
});

test('each module of the document has a test here, or the document says that it has none', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const rows = [...read('../../../docs/reference/openid-basic-plan.md').matchAll(/^\| `(oidcc-[\w-]+)` \| (.*?) \|/gm)];
  assert.equal(rows.length, 38);
  const tested = new Set(read(import.meta.url).match(/oidcc-[\w-]+/g));
  const without = rows.filter(([, name = '', what = '']) => tested.has(name) === what.startsWith('no test'));
  assert.deepEqual(without, []);
});
