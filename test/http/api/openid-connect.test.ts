/** OpenID Connect on the wire: the ID token, userinfo, the key set, discovery, and an ID token as a hint. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose';
import type { ClientSettings } from '../../../src/oauth/clients/client.ts';
import { makeSigningKey, openSigningKey } from '../../../src/oauth/openid/signing-key.ts';
import { keyring } from '../../oauth/samples.ts';
import { asJson, exchange, me, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, type Lifetime, startTestService, type TestService } from '../../support/service.ts';
import {
  addResourceServer,
  assertionFields,
  exchangeCode,
  type Fields,
  introspect,
  makeKey,
  refreshWith,
  scopes,
  sentTo,
  standardCode,
  standardUrl,
} from '../../support/standard.ts';
import { secondConnection, temporaryPath } from '../../support/storage.ts';

const service = await startTestService({ after });
const account = await addUser(service);
const { accounts, audit, clients, operator, signingKeys } = service.installation;
await accounts.update(account.id, { username: 'ada' }, operator);
const ada = await signedInBrowser(service);
const { appUrl } = service;

type App = Awaited<ReturnType<typeof addClient>>;
const addApp = (settings: Partial<ClientSettings> = {}, at: TestService = service) =>
  addClient(at, { signIn: true, scopes: scopes('photos'), consent: 'ask', ...settings });

/** Signs Ada in at an app; returns the fields of the token answer. */
async function signedIn(app: App, parameters: Fields = {}): Promise<Record<string, unknown>> {
  const { status, body } = await exchangeCode(
    ...([service, app, await standardCode(service, ada, app, { scope: 'openid', ...parameters })] as const),
  );
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const keySet = async (at = service) => asJson(await fetch(`${at.appUrl}/oauth2/jwks`));
/** Verifies an ID token as an app does, with the key set as it is. */
async function verified(idToken: unknown, app: App): Promise<JWTPayload> {
  const { body } = await keySet();
  const options = {
    issuer: appUrl,
    audience: app.clientId,
    algorithms: ['RS256'],
    currentDate: new Date(service.clock.now()),
  };
  return (await jwtVerify(String(idToken), createLocalJWKSet(body as unknown as JSONWebKeySet), options)).payload;
}
const userInfo = async (token: unknown, init: RequestInit = {}) =>
  asJson(await fetch(`${appUrl}/oauth2/userinfo`, { headers: { Authorization: `Bearer ${token}` }, ...init }));

describe('OpenID Connect Core §2: the ID token', { concurrency: true }, () => {
  test('OpenID Connect Core §2, §3.1.3.6, §15.1: it says who signed in, where, when, for which app and beside which access token', async () => {
    const app = await addApp();
    const now = Math.floor(service.clock.now() / 1000);
    const body = await signedIn(app, { nonce: 'n-0S6_WzA2Mj', scope: 'openid photos' });
    const { auth_time: signedInAt, ...claims } = await verified(body['id_token'], app);
    const half = createHash('sha256').update(String(body['access_token'])).digest().subarray(0, 16);
    const times = { iat: claims.iat, exp: (claims.iat ?? 0) + 600 };
    assert.deepEqual(claims, {
      ...{ iss: appUrl, sub: account.id, aud: app.clientId, ...times },
      ...{ nonce: 'n-0S6_WzA2Mj', at_hash: half.toString('base64url') },
    });
    assert.ok(Number(claims.iat) >= now && Number(signedInAt) <= now);
    const [{ kid } = assert.fail()] = (await signingKeys.list())
      .filter(({ state }) => state === 'signing')
      .map(({ id }) => ({ kid: id }));
    assert.deepEqual(decodeProtectedHeader(String(body['id_token'])), { alg: 'RS256', typ: 'JWT', kid });
  });

  test('OpenID Connect Core §5.3, §5.4: it names the fields that profile and email ask for, that the app may have and that are there', async () => {
    const claimsFor = async (settings: Partial<ClientSettings>, scope: string) => {
      const app = await addApp(settings);
      const body = await signedIn(app, { scope });
      const { iss, aud, iat, exp, auth_time, at_hash, ...claims } = await verified(body['id_token'], app);
      assert.deepEqual((await userInfo(body['access_token'])).body, claims, 'userinfo says the same');
      return claims;
    };
    const { id: sub } = account;
    const all = { sub, name: 'Ada Example', preferred_username: 'ada', email: 'ada@example.com', email_verified: true };
    assert.deepEqual(await claimsFor({}, 'openid'), { sub });
    assert.deepEqual(await claimsFor({}, 'openid profile email'), all);
    assert.deepEqual(await claimsFor({}, 'openid email'), { sub, email: all.email, email_verified: true });
    assert.deepEqual(await claimsFor({ personFields: ['username'] }, 'openid profile email'), {
      sub,
      preferred_username: 'ada',
    });
  });

  test('OpenID Connect Core §3.1.3.3, §12.2: a refresh gives none, and neither does the published face', async () => {
    const app = await addApp();
    const body = await signedIn(app, { scope: 'openid photos' });
    const refreshed = await refreshWith(service, app, String(body['refresh_token']));
    assert.deepEqual([refreshed.status, 'id_token' in refreshed.body], [200, false]);
    const unproven = { code_challenge: undefined, code_challenge_method: undefined, scope: 'openid' };
    const code = await standardCode(service, ada, app, unproven);
    assert.deepEqual(Object.keys((await exchange(service, app, code)).body), ['access_token', 'refresh_token']);
  });

  test('an app without sign-in gets none, and one that loses it gets none from the next request on', async () => {
    const plain = await addApp({ signIn: false });
    assert.ok(!('id_token' in (await signedIn(plain, { scope: 'openid photos' }))));
    const app = await addApp();
    const before = await signedIn(app);
    const code = await standardCode(service, ada, app, { scope: 'openid' });
    await clients.update(app.clientId, { signIn: false }, operator);
    const { status, body } = await exchangeCode(service, app, code);
    assert.deepEqual([status, 'id_token' in body], [200, false]);
    const refused = await userInfo(before['access_token']);
    assert.deepEqual([refused.status, refused.body['error']], [403, 'insufficient_scope']);
  });

  test('it is no access token, nowhere', async () => {
    const app = await addApp();
    const { id_token: idToken } = await signedIn(app, { scope: 'openid photos' });
    assert.equal((await me(service, String(idToken))).status, 401);
    assert.equal((await userInfo(idToken)).status, 401);
    const api = await addResourceServer(service);
    assert.deepEqual((await introspect(service, api, String(idToken))).body, { active: false });
    assert.equal((await refreshWith(service, app, String(idToken))).body['error'], 'invalid_grant');
    assert.equal((await exchangeCode(service, app, String(idToken))).body['error'], 'invalid_grant');
  });

  test('Promise 4: no log line and no event holds an ID token or a hint', async () => {
    const app = await addApp();
    const { id_token: idToken } = await signedIn(app);
    await ada.get(standardUrl(service, app, { scope: 'openid', prompt: 'none', id_token_hint: String(idToken) }));
    const signature = String(idToken).split('.')[2] as string;
    assert.ok(service.log.every((line) => !line.includes(signature)));
    const events = await audit.listAuditEvents({ limit: 1000 });
    assert.ok(!JSON.stringify(events).includes(signature));
  });
});

describe('OpenID Connect Core §5.3: userinfo', { concurrency: true }, () => {
  test('OpenID Connect Core §5.3.1, RFC 6750 §2.1: GET and POST take the token from the header alone', async () => {
    const { access_token: token } = await signedIn(await addApp());
    for (const method of ['GET', 'POST']) {
      const { status, headers, body } = await userInfo(token, { method });
      assert.deepEqual([status, body], [200, { sub: account.id }]);
      assert.deepEqual([headers.get('cache-control'), headers.get('content-type')], ['no-store', 'application/json']);
    }
    const body = new URLSearchParams({ access_token: String(token) });
    for (const [query, init] of [
      ['', { method: 'POST', body }],
      [`?access_token=${token}`, {}],
    ] as const) {
      const answer = await fetch(`${appUrl}/oauth2/userinfo${query}`, init);
      assert.deepEqual([answer.status, answer.headers.get('www-authenticate')], [401, 'Bearer realm="valetkey"']);
    }
  });

  test('RFC 6750 §3.1, OpenID Connect Core §5.3.3: a token without openid is insufficient_scope, and any other text is invalid_token', async () => {
    const app = await addApp();
    const { access_token: token } = await signedIn(app, { scope: 'photos' });
    const refused = await userInfo(token);
    assert.deepEqual([refused.status, refused.body['error']], [403, 'insufficient_scope']);
    assert.match(
      String(refused.headers.get('www-authenticate')),
      /^Bearer realm="valetkey", error="insufficient_scope", /,
    );
    for (const wrong of ['x', 'vk_at_x', `${token}x`]) {
      const { status, headers, body } = await userInfo(wrong);
      assert.deepEqual([status, body['error']], [401, 'invalid_token']);
      assert.match(String(headers.get('www-authenticate')), /error="invalid_token"/);
    }
  });

  test('counts as a token check of the app, as one at /v2/me does', async () => {
    const app = await addApp();
    const { access_token: token } = await signedIn(app);
    const { activity, appActivity } = service.installation;
    const checks = async () => {
      await activity.flush();
      return (await appActivity.find(app.clientId, 0)).tally.checks;
    };
    for (const [status, sent] of [
      [200, token],
      [401, `${token}x`],
    ] as const)
      assert.equal((await userInfo(sent)).status, status);
    assert.equal(await checks(), 1);
  });

  test('RFC 8707 §2: a token that is bound to an API is refused, because that API could present it', async () => {
    await addResourceServer(service, { resource: 'https://photos.example' });
    const bound = await signedIn(await addApp(), { scope: 'openid photos', resource: 'https://photos.example' });
    const byDefault = await signedIn(await addApp({ defaultResource: 'https://photos.example' }));
    for (const { access_token: token, id_token: idToken } of [bound, byDefault]) {
      const { status, body } = await userInfo(token);
      assert.deepEqual([status, body['error']], [401, 'invalid_token']);
      assert.equal(typeof idToken, 'string', 'the ID token says who it is');
    }
  });

  test('Promise 2: the answered removal of an app, its pause and the disabled account end it with the next request', async () => {
    const own = await startOwn();
    const all = await Promise.all([1, 2, 3].map(async () => own.signedIn(await addApp({}, own.service))));
    const [one, two] = all as [Own, Own];
    const { installation } = own.service;
    const statuses = () => Promise.all(all.map(async ({ token }) => (await own.userInfo(token)).status));
    assert.deepEqual(await statuses(), [200, 200, 200]);
    await installation.grants.disconnect(own.accountId, one.app.clientId, {
      kind: 'user',
      id: own.accountId,
      source: null,
      requestId: null,
    });
    assert.deepEqual(await statuses(), [401, 200, 200]);
    await installation.clients.pause(two.app.clientId, installation.operator);
    assert.deepEqual(await statuses(), [401, 401, 200]);
    await installation.accounts.disable(own.accountId, installation.operator);
    assert.deepEqual(await statuses(), [401, 401, 401]);
  });

  test('pages of any origin read userinfo and the key set, and send no cookies for it', async () => {
    const { access_token: token } = await signedIn(await addApp());
    const headers = { Authorization: `Bearer ${token}`, Origin: 'https://any.example' };
    for (const answer of [
      await fetch(`${appUrl}/oauth2/userinfo`, { headers }),
      await fetch(`${appUrl}/oauth2/userinfo`, { headers: { ...headers, Authorization: 'Bearer x' } }),
      await fetch(`${appUrl}/oauth2/jwks`, { headers }),
    ]) {
      assert.equal(answer.headers.get('access-control-allow-origin'), '*');
      assert.equal(answer.headers.get('access-control-allow-credentials'), null);
    }
    const preflight = await fetch(`${appUrl}/oauth2/userinfo`, { method: 'OPTIONS', headers });
    assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, POST');
  });
});

type Own = { readonly app: App; readonly token: string };

/** A service of a test's own, with Ada signed in. */
async function startOwn(variables: Record<string, string> = {}, t: Lifetime = { after }) {
  const own = await startTestService(t, variables);
  const { id: accountId } = await addUser(own);
  const browser = await signedInBrowser(own);
  const code = (app: App) => standardCode(own, browser, app, { scope: 'openid' });
  return {
    ...{ service: own, accountId, code },
    signedIn: async (app: App): Promise<Own> => {
      const { body } = await exchangeCode(own, app, await code(app));
      return { app, token: String(body['access_token']) };
    },
    userInfo: async (token: string) =>
      asJson(await fetch(`${own.appUrl}/oauth2/userinfo`, { headers: { Authorization: `Bearer ${token}` } })),
  };
}

describe('OpenID Connect Discovery 1.0: metadata and keys', { concurrency: true }, () => {
  test('OpenID Connect Discovery 1.0 §3: the metadata begins with the first app with sign-in; RFC 8414’s stays byte for byte', async () => {
    const own = await startTestService({ after });
    const read = async (name: string) => (await fetch(`${own.appUrl}/.well-known/${name}`)).text();
    const [plain, openId] = [await read('oauth-authorization-server'), await read('openid-configuration')];
    assert.equal(openId, plain);
    const empty = await keySet(own);
    assert.deepEqual([empty.body, empty.headers.get('cache-control')], [{ keys: [] }, 'no-store']);
    assert.deepEqual(await own.installation.signingKeys.list(), [], 'no read makes keys for nobody');
    await addApp({}, own);
    assert.equal(await read('oauth-authorization-server'), plain);
    const { userinfo_endpoint, jwks_uri, subject_types_supported, ...metadata } = JSON.parse(
      await read('openid-configuration'),
    );
    const { id_token_signing_alg_values_supported, claims_supported, claims_parameter_supported, ...rest } = metadata;
    assert.deepEqual({ ...rest, scopes_supported: undefined }, { ...JSON.parse(plain), scopes_supported: undefined });
    assert.deepEqual(rest.scopes_supported, ['openid', 'profile', 'email']);
    assert.deepEqual([userinfo_endpoint, jwks_uri], [`${own.appUrl}/oauth2/userinfo`, `${own.appUrl}/oauth2/jwks`]);
    assert.deepEqual([subject_types_supported, id_token_signing_alg_values_supported], [['public'], ['RS256']]);
    assert.deepEqual(
      [claims_parameter_supported, rest.request_parameter_supported, rest.request_uri_parameter_supported],
      [false, false, false],
    );
    assert.ok(claims_supported.includes('sub') && claims_supported.includes('email_verified'));
    assert.equal(((await keySet(own)).body['keys'] as object[]).length, 2);
  });

  test('RFC 7517 §5: the key set may be cached for an hour, and holds public members alone', async () => {
    await addApp();
    const { headers, body } = await keySet();
    assert.equal(headers.get('cache-control'), 'public, max-age=3600');
    assert.equal(headers.get('pragma'), null);
    for (const key of body['keys'] as object[])
      assert.deepEqual(Object.keys(key).toSorted(), ['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });

  test('keys that a process which ended could not make are made by the service, and sign users in', async (t) => {
    const path = temporaryPath(t);
    const own = await startOwn({ VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS_FILE: `${path}.keys` }, t);
    const app = await addApp({}, own.service);
    const code = await own.code(app);
    const kids = async () => ((await keySet(own.service)).body['keys'] as { kid: string }[]).map(({ kid }) => kid);
    const before = await kids();
    secondConnection(t, path).exec('DELETE FROM signing_key');
    assert.deepEqual([await kids(), (await keySet(own.service)).headers.get('cache-control')], [[], 'no-store']);
    await own.service.installation.signingKeys.keep();
    const discovered = await asJson(await fetch(`${own.service.appUrl}/.well-known/openid-configuration`));
    assert.equal(discovered.body['jwks_uri'], `${own.service.appUrl}/oauth2/jwks`);
    const { body } = await exchangeCode(own.service, app, code);
    const { kid = '' } = decodeProtectedHeader(String(body['id_token']));
    const after = await kids();
    assert.ok(after.length === 2 && after.includes(kid) && !before.includes(kid));
  });

  test('a key that cannot be opened is 503 and burns no code; no other key signs, and a replacement ends it', async (t) => {
    const path = temporaryPath(t);
    const own = await startOwn({ VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS_FILE: `${path}.keys` }, t);
    const app = await addApp({}, own.service);
    const code = await own.code(app);
    await keySet(own.service);
    const { id, sealedKey } = await makeSigningKey(keyring, 0);
    const database = secondConnection(t, path);
    database.prepare('UPDATE signing_key SET sealed_key = ?').run(sealedKey);
    const refused = await exchangeCode(own.service, app, code);
    assert.deepEqual([refused.status, refused.body['error']], [503, 'temporarily_unavailable']);
    assert.equal(refused.headers.get('retry-after'), '1');
    const key = makeKey();
    const byKey = { ...(await addApp({ keys: [key.jwk] }, own.service)), clientSecret: '' };
    const itsCode = await own.code(byKey);
    const used = await assertionFields(own.service, byKey, key);
    const unsigned = await exchangeCode(own.service, byKey, itsCode, used);
    assert.equal(unsigned.status, 503);
    assert.match(String(unsigned.body['error_description']), /: send the code again, with a new client assertion if/);
    const { signingKeys: keys, operator: who } = own.service.installation;
    assert.ok((await keys.list()).every((key) => !key.opens && key.id !== id));
    await keys.replace(who);
    const { status, body } = await exchangeCode(own.service, app, code);
    assert.deepEqual([status, typeof body['id_token']], [200, 'string'], 'the same code still works');
    assert.equal((await exchangeCode(own.service, byKey, itsCode, used)).status, 401, 'an assertion is good once');
    const another = await assertionFields(own.service, byKey, key);
    assert.equal((await exchangeCode(own.service, byKey, itsCode, another)).status, 200);
  });
});

describe('OpenID Connect Core §3.1.2.1: an ID token as a hint', { concurrency: true }, () => {
  const answerTo = async (app: App, hint: string): Promise<string> => {
    const asked = { scope: 'openid', prompt: 'none', id_token_hint: hint };
    const { searchParams } = sentTo(await ada.get(standardUrl(service, app, asked)));
    return searchParams.has('code') ? 'code' : String(searchParams.get('error'));
  };
  const remembering = () => addApp({ consent: 'skip' });
  const base64 = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

  test('OpenID Connect Core §3.1.2.1: that of the signed-in user and this app goes on, also when it has expired', async () => {
    const app = await remembering();
    const page = await ada.get(standardUrl(service, app, { scope: 'openid' }));
    const { body } = await exchangeCode(service, app, String(sentTo(page).searchParams.get('code')));
    assert.equal(await answerTo(app, String(body['id_token'])), 'code');
    const other = await remembering();
    assert.equal(await answerTo(other, String(body['id_token'])), 'login_required', 'it is another app’s');
    const [header = '', payload = '', signature = ''] = String(body['id_token']).split('.');
    const changed = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'usr_other' };
    for (const forged of [
      `${header}.${base64(changed)}.${signature}`,
      `${header}.${payload}`,
      `${header}.${payload}.${signature}.x`,
      `${header}.${payload}.`,
      'x',
      '..',
    ])
      assert.equal(await answerTo(app, forged), 'login_required', forged);
  });

  test('RFC 8725 §2.1: none, HS256 under the public key, a foreign key and a foreign kid are no hints', async () => {
    const app = await remembering();
    const claims = { iss: appUrl, sub: account.id, aud: app.clientId };
    const [published = assert.fail()] = (await keySet()).body['keys'] as { kid: string; n: string }[];
    const foreign = await makeSigningKey(keyring, 0);
    const privateKey = openSigningKey(keyring, foreign);
    assert.ok(privateKey);
    const bySecret = (secret: string) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: published.kid }).sign(Buffer.from(secret));
    const byForeign = (kid: string) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
    for (const [what, hint] of [
      ['none', `${base64({ alg: 'none', kid: published.kid })}.${base64(claims)}.`],
      ['HS256', await bySecret(JSON.stringify(published))],
      ['HS256 with the modulus', await bySecret(published.n)],
      ['a foreign key under our kid', await byForeign(published.kid)],
      ['a foreign kid', await byForeign(foreign.id)],
      ['a kid of an object', await byForeign('__proto__')],
    ] as const)
      assert.equal(await answerTo(app, hint), 'login_required', what);
  });

  test('an ID token of a key that was replaced is no hint', async () => {
    const own = await startOwn();
    const app = await addApp({ consent: 'remember' }, own.service);
    const { body } = await exchangeCode(own.service, app, await own.code(app));
    const { openIdConnect, signingKeys: keys, operator: who } = own.service.installation;
    const hinting = { client: { id: app.clientId }, openid: { nonce: null, idTokenHint: String(body['id_token']) } };
    const isExpected = () => openIdConnect.expects(hinting as never, own.accountId);
    assert.equal(await isExpected(), true);
    await keys.replace(who);
    assert.equal(await isExpected(), false);
  });
});
