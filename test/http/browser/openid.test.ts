/** Signing in with OpenID Connect: the request, consent, the grant, and where it is good. The ID token has tests of its own. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ClientSettings, ClientType } from '../../../src/oauth/clients/client.ts';
import type { Grant } from '../../../src/oauth/grants/grant.ts';
import { Browser, type Visit } from '../../support/browser.ts';
import { exchange, forgetDecisions, me, obtainCode, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  allowOn,
  authorizationRequest,
  DEVICE_GRANT,
  exchangeCode,
  type Fields,
  introspect,
  postAs,
  refreshWith,
  scopes,
  sentTo,
  standardUrl,
} from '../../support/standard.ts';

const service = await startTestService({ after });
const account = await addUser(service);
const { accounts, clients, grants, audit, operator } = service.installation;
await accounts.update(account.id, { username: 'ada' }, operator);
await addUser(service, 'grace@example.com', 'Grace Example');
const [ada, grace] = [await signedInBrowser(service), await signedInBrowser(service, 'grace@example.com')];

type App = Awaited<ReturnType<typeof addClient>>;
const addApp = (settings: Partial<ClientSettings> = {}, type?: ClientType) =>
  addClient(service, { signIn: true, scopes: scopes('photos', 'send?'), ...settings }, type);
const visit = (app: App, parameters: Fields = {}, browser = ada) =>
  browser.get(standardUrl(service, app, { scope: 'openid', ...parameters }));
const isAsked = ({ status, body }: Visit) => status === 200 && body.includes('value="allow"');
const errorOf = (page: Visit) => sentTo(page).searchParams.get('error');
const grantsOf = async ({ clientId }: App): Promise<Grant[]> =>
  (await grants.list({ clientId, limit: 100 })).map(({ grant }) => grant);
const newest = async (app: App): Promise<Grant> => (await grantsOf(app))[0] ?? assert.fail('no grant');
const codeIn = (location: URL) => String(location.searchParams.get('code'));

/** Presses Allow, and exchanges the code; answers the token answer's fields. */
async function signedIn(app: App, parameters: Fields = {}, chosen: string[] = [], browser = ada) {
  await forgetDecisions(service);
  const page = await visit(app, parameters, browser);
  const location = isAsked(page) ? await allowOn(browser, page, { scope: chosen }) : sentTo(page);
  const { status, body } = await exchangeCode(service, app, codeIn(location));
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const statusOfUserInfo = async (token: unknown) =>
  (await fetch(`${service.appUrl}/oauth2/userinfo`, { headers: { Authorization: `Bearer ${token}` } })).status;

const profileOf = async (token: unknown) => {
  const { id: _, ...profile } = (await me(service, String(token))).body['data'] as Record<string, unknown>;
  return Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== null));
};

describe('OpenID Connect Core §3.1.2.1: the scopes of a request', { concurrency: true }, () => {
  test('OpenID Connect Core §3.1.2.1, §5.4: openid, profile and email are granted only if the request names them', async () => {
    const app = await addApp();
    const cases: [asked: string | undefined, granted: string][] = [
      ['openid', 'openid'],
      ['email openid', 'openid email'],
      ['photos profile openid', 'openid profile photos'],
      [undefined, 'photos'],
      ['profile photos', 'photos'],
    ];
    for (const [scope, granted] of cases) assert.equal((await signedIn(app, { scope }))['scope'], granted, scope);
  });

  test('OpenID Connect Core §3.1.2.1, §5.4, §11: offline_access, address and phone are dropped beside openid', async () => {
    const app = await addApp();
    const { scope } = await signedIn(app, { scope: 'openid offline_access address phone photos' });
    assert.equal(scope, 'openid photos');
    assert.equal(errorOf(await visit(app, { scope: 'address photos' })), 'invalid_scope', 'not without it');
    assert.equal(errorOf(await visit(app, { scope: 'openid letters' })), 'invalid_scope');
  });

  test('OpenID Connect Core §3.1.2.1: openid alone is no Deny where each other scope is left out', async () => {
    const body = await signedIn(await addApp(), { scope: 'openid send' });
    assert.deepEqual([body['scope'], 'refresh_token' in body], ['openid', false]);
  });

  test('an app without sign-in is served as ever, whatever it sends', async () => {
    const app = await addApp({ signIn: false });
    const sent = {
      scope: 'openid profile email offline_access',
      nonce: '',
      registration: '{}',
      response_mode: 'form_post',
    };
    const body = await signedIn(app, { ...sent, id_token_hint: 'x', nonce: 'ü'.repeat(300) });
    assert.deepEqual([body['scope'], typeof body['refresh_token'], 'id_token' in body], ['photos', 'string', false]);
    assert.equal((await newest(app)).openid, null);
    const pushed = await postAs(service, app, 'par', authorizationRequest(app, { ...sent, id_token_hint: 'x' }));
    const query = new URLSearchParams({ client_id: app.clientId, request_uri: String(pushed.body['request_uri']) });
    const location = await allowOn(ada, await ada.get(`${service.appUrl}/oauth2/authorize?${query}`));
    const exchanged = (await exchangeCode(service, app, codeIn(location))).body;
    assert.deepEqual([exchanged['scope'], 'id_token' in exchanged], ['photos', false]);
    const silent = { prompt: 'none', id_token_hint: 'x' };
    assert.ok(codeIn(sentTo(await visit(await addApp({ signIn: false, consent: 'skip' }), silent))) !== 'null');
    const page = (await visit(app, { nonce: 'n' })).body;
    assert.doesNotMatch(page, /Sign in to|Signs you in/);
    assert.equal(errorOf(await visit(app, { scope: 'openid address' })), 'invalid_scope');
  });

  test('switched off, the next request is one without sign-in, and a form from before is not taken', async () => {
    const app = await addApp();
    await signedIn(app, { scope: 'openid photos' });
    const page = await visit(app, { scope: 'openid email' });
    assert.match(page.body, /Gets your email/);
    await clients.update(app.clientId, { signIn: false }, operator);
    assert.equal((await ada.submit(page, '/oauth2/authorize', { decision: 'allow' })).status, 403);
    const { scope } = await signedIn(app, { nonce: '' });
    assert.equal(scope, 'photos');
    assert.equal((await grantsOf(app)).filter(({ openid }) => openid !== null).length, 1);
  });

  test('the published face knows no sign-in', async () => {
    const app = await addApp();
    const url = new URL(standardUrl(service, app, { scope: 'openid' }));
    const published = await ada.get(`${service.appUrl}/auth/oauth2/authorize${url.search}`);
    assert.equal(errorOf(published), 'invalid_scope');
    const code = codeIn(await allowOn(ada, await visit(app)));
    const { status, body } = await exchange(service, app, code, { code_verifier: undefined });
    assert.deepEqual([status, body['error']], [400, 'invalid_grant'], 'the verifier is missing');
    const plain = await obtainCode(service, ada, app, { scope: 'photos' });
    assert.deepEqual(Object.keys((await exchange(service, app, plain)).body), ['access_token', 'refresh_token']);
  });

  test('a code of a sign-in that is exchanged at the published face gives its two fields', async () => {
    const app = await addApp();
    const unproven = { code_challenge: undefined, code_challenge_method: undefined };
    const code = codeIn(await allowOn(ada, await visit(app, unproven)));
    assert.deepEqual(Object.keys((await exchange(service, app, code)).body), ['access_token', 'refresh_token']);
  });

  test('a device signs nobody in', async () => {
    const app = await addApp({ deviceFlow: true });
    const { status } = await postAs(service, app, 'device_authorization', { scope: 'openid photos' });
    assert.equal(status, 200);
    const { body } = await postAs(service, app, 'device_authorization', { scope: 'openid', nonce: '' });
    assert.equal(typeof body['device_code'], 'string');
    const code = String(body['user_code']);
    const { body: page } = await ada.get(`${service.appUrl}/device?user_code=${code}`);
    assert.match(page, /<h1>Allow /);
    assert.doesNotMatch(page, /Signs you in/);
    await forgetDecisions(service);
    const visited = await ada.get(`${service.appUrl}/device?user_code=${code}`);
    assert.equal((await ada.submit(visited, '/device', { decision: 'allow' })).status, 200);
    const asked = { grant_type: DEVICE_GRANT, device_code: String(body['device_code']) };
    const polled = (await postAs(service, app, 'token', asked)).body;
    assert.deepEqual(['id_token' in polled, await statusOfUserInfo(polled['access_token'])], [false, 403]);
  });
});

describe('OpenID Connect Core §3.1.2.1: the parameters of a request', { concurrency: true }, () => {
  test('OpenID Connect Core §3.1.2.1: a nonce has 1 to 255 printable ASCII characters', async () => {
    const app = await addApp({ consent: 'skip' });
    for (const nonce of ['n', ' ~', 'x'.repeat(255)]) {
      await forgetDecisions(service);
      sentTo(await visit(app, { nonce }));
      const kept = (await grantsOf(app)).map(({ openid }) => openid?.nonce);
      assert.ok(kept.includes(nonce), JSON.stringify(nonce));
    }
    const before = (await grantsOf(app)).length;
    for (const nonce of ['', 'x'.repeat(256), 'a\tb', 'a\nb', 'a\u0000b', '\u007f', 'ü', '\u{1f511}', 'a\u2028'])
      assert.equal(errorOf(await visit(app, { nonce })), 'invalid_request', JSON.stringify(nonce));
    for (const [query, description] of [
      ['nonce=a&nonce=b', 'nonce is repeated'],
      ['nonce=%ff', 'nonce is not a string in UTF-8'],
      ['id_token_hint=%ff', 'id_token_hint is not a string in UTF-8'],
    ]) {
      const { searchParams } = sentTo(await ada.get(`${standardUrl(service, app, { scope: 'openid' })}&${query}`));
      assert.deepEqual(
        [searchParams.get('error'), searchParams.get('error_description')],
        ['invalid_request', description],
      );
    }
    assert.equal((await grantsOf(app)).length, before);
  });

  test('OpenID Connect Core §6, §7, §7.2.1: request, request_uri, registration and response_mode are refused', async () => {
    const app = await addApp();
    const cases: [Fields, string][] = [
      [{ request: 'eyJ' }, 'request_not_supported'],
      [{ request_uri: 'https://client.example/request' }, 'request_uri_not_supported'],
      [{ registration: '{}' }, 'registration_not_supported'],
      [{ response_mode: 'form_post' }, 'invalid_request'],
      [{ response_mode: 'fragment' }, 'invalid_request'],
      [{ response_type: 'id_token' }, 'unsupported_response_type'],
      [{ response_type: 'code id_token' }, 'unsupported_response_type'],
      [{ response_type: 'code token', response_mode: 'fragment' }, 'unsupported_response_type'],
    ];
    for (const [parameters, error] of cases)
      assert.equal(errorOf(await visit(app, parameters)), error, JSON.stringify(parameters));
  });

  test('OpenID Connect Core §3.1.2.1, §5.5: display, acr_values, claims and a query as response_mode change nothing', async () => {
    const ignored = {
      display: 'popup',
      acr_values: '1',
      claims: '{"userinfo":{"email":null}}',
      response_mode: 'query',
    };
    const { scope } = await signedIn(await addApp(), ignored);
    assert.equal(scope, 'openid');
  });

  test('OpenID Connect Core §3.1.2.1: a hint that is not proven ends prompt=none, and is ignored otherwise', async () => {
    const app = await addApp({ consent: 'skip' });
    const hint = { id_token_hint: 'eyJhbGciOiJub25lIn0.e30.' };
    assert.equal(errorOf(await visit(app, { ...hint, prompt: 'none' })), 'login_required');
    assert.equal(errorOf(await visit(app, { ...hint, prompt: 'none' }, new Browser())), 'login_required');
    for (const parameters of [hint, { prompt: 'none' }, { prompt: 'none', id_token_hint: '' }])
      assert.ok(sentTo(await visit(app, parameters)).searchParams.has('code'), JSON.stringify(parameters));
  });

  test('RFC 9126 §2: a pushed request carries them', async () => {
    const app = await addApp({ consent: 'skip' });
    const push = (fields: Fields) =>
      postAs(service, app, 'par', authorizationRequest(app, { scope: 'openid', ...fields }));
    for (const [fields, error] of [
      [{ nonce: '' }, 'invalid_request'],
      [{ registration: '{}' }, 'registration_not_supported'],
    ] as const)
      assert.equal((await push(fields)).body['error'], error);
    const { status, body } = await push({ nonce: 'pushed' });
    assert.equal(status, 201);
    const query = new URLSearchParams({ client_id: app.clientId, request_uri: String(body['request_uri']) });
    sentTo(await ada.get(`${service.appUrl}/oauth2/authorize?${query}`));
    assert.equal((await newest(app)).openid?.nonce, 'pushed');
  });
});

describe('OpenID Connect Core §2: the context of a sign-in', { concurrency: true }, () => {
  test('OpenID Connect Core §2: nonce and time of the sign-in stand on the grant; the exchange does not change them', async () => {
    const own = await startTestService({ after });
    await addUser(own);
    const at = own.clock.now();
    const browser = await signedInBrowser(own);
    own.clock.advance(90);
    const app = await addClient(own, { signIn: true, consent: 'skip' });
    const location = sentTo(await browser.get(standardUrl(own, app, { scope: 'openid photos', nonce: 'n-0S6' })));
    assert.equal(location.searchParams.get('error'), 'invalid_scope');
    const { searchParams } = sentTo(await browser.get(standardUrl(own, app, { scope: 'openid', nonce: 'n-0S6' })));
    const context = async () => (await own.installation.grants.list({ limit: 1 }))[0]?.grant.openid;
    const expected = { nonce: 'n-0S6', auth_time: Math.floor(at / 1000), renews: true };
    assert.deepEqual(await context(), expected);
    await exchangeCode(own, app, String(searchParams.get('code')));
    assert.deepEqual(await context(), expected);
  });

  test('a consent form is bound to its nonce', async () => {
    const app = await addApp();
    const page = await visit(app, { nonce: 'mine' });
    const forged = { ...page, body: page.body.replaceAll('nonce=mine', 'nonce=other') };
    const answer = await ada.submit(forged, '/oauth2/authorize', { decision: 'allow' });
    assert.equal(answer.status, 403);
    assert.match(answer.body, /Please answer once more/);
    assert.deepEqual(await grantsOf(app), []);
  });

  test('a nonce of another browser or app reaches no grant but its own', async () => {
    const [app, other] = [await addApp(), await addApp()];
    const page = await visit(app, { nonce: 'of-ada' });
    const stolen = await grace.submit(page, '/oauth2/authorize', { decision: 'allow' });
    assert.equal(stolen.status, 403, 'the form of another browser');
    const code = codeIn(await allowOn(ada, page));
    const foreign = await exchangeCode(service, other, code);
    assert.deepEqual([foreign.status, foreign.body['error']], [400, 'invalid_grant']);
    assert.equal((await exchangeCode(service, app, code)).status, 200, 'and the code of its app still works');
    assert.deepEqual(await grantsOf(other), []);
  });
});

describe('OpenID Connect Core §5.4: what the app gets of the person', { concurrency: true }, () => {
  const cases: [scope: string, profile: object][] = [
    ['openid', {}],
    ['openid email', { email: 'ada@example.com' }],
    ['openid profile', { name: 'Ada Example', username: 'ada' }],
    ['openid profile email photos', { name: 'Ada Example', username: 'ada', email: 'ada@example.com' }],
  ];

  test('OpenID Connect Core §3.1.2.4, §5.4: what profile and email ask for, asked, remembered and skipped alike', async () => {
    for (const consent of ['ask', 'remember', 'skip'] as const) {
      for (const [scope, profile] of cases) {
        const app = await addApp({ consent });
        assert.deepEqual(await profileOf((await signedIn(app, { scope }))['access_token']), profile, scope);
        assert.equal(isAsked(await visit(app, { scope })), consent === 'ask');
        assert.deepEqual(await profileOf((await signedIn(app, { scope }))['access_token']), profile, scope);
      }
    }
  });

  test('a field that the operator did not choose for the app stays out of it, whatever the app asks for', async () => {
    const app = await addApp({ personFields: ['username'] });
    const scope = 'openid profile email';
    const page = (await visit(app, { scope })).body;
    assert.match(page, /Gets your username/);
    assert.doesNotMatch(page, /Gets your (?:name|email|picture)/);
    assert.deepEqual(await profileOf((await signedIn(app, { scope }))['access_token']), { username: 'ada' });
  });

  test('a remembered sign-in is asked about again for more of the person, and for access', async () => {
    const app = await addApp();
    await signedIn(app, { scope: 'openid profile' });
    for (const scope of ['openid', 'openid profile']) assert.equal(isAsked(await visit(app, { scope })), false, scope);
    for (const scope of ['openid email', 'openid profile photos'])
      assert.equal(isAsked(await visit(app, { scope })), true, scope);
    assert.equal(errorOf(await visit(app, { scope: 'openid email', prompt: 'none' })), 'consent_required');
  });

  test('consent to a sign-in alone is none to access: an app without scopes of its own must ask for that', async () => {
    const app = await addApp({ scopes: [] });
    await signedIn(app, { scope: 'openid profile email' });
    const page = await visit(app, { scope: undefined });
    assert.equal(isAsked(page), true);
    assert.doesNotMatch(page.body, /already has access/);
    assert.equal(errorOf(await visit(app, { scope: undefined, prompt: 'none' })), 'consent_required');
    assert.equal(isAsked(await visit(app, { scope: 'openid profile email' })), false, 'a sign-in rests on it');
    await signedIn(app, { scope: undefined });
    assert.equal(isAsked(await visit(app, { scope: undefined })), false, 'access rests on consent to access');
  });

  test('the scopes openid and email of an app without sign-in are no consent to a sign-in, nor the other way round', async () => {
    const [plain, signIn] = [
      { signIn: false, scopes: scopes('openid', 'email', 'photos') },
      { signIn: true, scopes: scopes('photos') },
    ];
    const scope = 'openid email photos';
    for (const [before, after] of [
      [plain, signIn],
      [signIn, plain],
    ] as const) {
      const app = await addApp({ ...before, consent: 'remember', personFields: ['email'] });
      await signedIn(app, { scope });
      assert.equal(isAsked(await visit(app, { scope })), false);
      await clients.update(app.clientId, after, operator);
      assert.equal(isAsked(await visit(app, { scope })), true);
      assert.equal(isAsked(await visit(app, { scope: 'photos' })), false);
    }
  });

  test('a grant from before the switch allows no sign-in', async () => {
    const app = await addApp({ signIn: false, consent: 'remember' });
    await signedIn(app, { scope: 'photos' });
    await clients.update(app.clientId, { signIn: true }, operator);
    assert.equal(isAsked(await visit(app)), true);
  });
});

describe('what the person sees', { concurrency: true }, () => {
  const headingOf = ({ body }: Visit) => /<h1>(.*?)<\/h1>/s.exec(body)?.[1]?.replace(/<[^>]*>/g, '');
  const linesOf = ({ body }: Visit) =>
    [...body.matchAll(/<li(?: class="sensitive")?><svg.*?<span>(.*?)<\/span><\/li>/gs)]
      .map(([, line = '']) => line.replace(/<[^>]*>/g, ''))
      .filter((line) => /you|photos|ID|See/.test(line) && !line.includes('take it back') && !line.includes('away'));

  test('signing in alone has a heading of its own, and says nothing of access while they are away', async () => {
    const app = await addApp({ name: 'Postcards' });
    const page = await visit(app, { scope: 'openid profile email' });
    assert.equal(headingOf(page), 'Sign in to Postcards with your Valetkey account');
    assert.match(page.body, /<title>Sign in with your account/);
    assert.deepEqual(linesOf(page), ['Signs you in', 'Gets your name', 'Gets your username', 'Gets your email']);
    assert.doesNotMatch(page.body, /even while you’re away/);
    assert.deepEqual(linesOf(await visit(app)), ['Signs you inOnly an ID: neither your name nor your address']);
  });

  test('beside other access, the heading is as ever, and the sign-in is the first line', async () => {
    const page = await visit(await addApp({ name: 'Postcards' }), { scope: 'photos openid email' });
    assert.equal(headingOf(page), 'Allow Postcards to use your Valetkey account?');
    assert.deepEqual(linesOf(page), ['Signs you in', 'Gets your email', 'Use the permission photos']);
    assert.match(page.body, /even while you’re away/);
  });

  test('asked for more, the page says what is new: the sign-in, or the access', async () => {
    const app = await addApp();
    await signedIn(app, { scope: 'photos' });
    const added = await visit(app, { scope: 'openid photos' });
    assert.match(added.body, /<h2>If you allow it, this app<\/h2>.*Signs you in.*It can already.*photos/s);
    await signedIn(app, { scope: 'openid' });
    const more = await visit(app, { scope: 'openid send' });
    assert.match(more.body, /value="send".*<h3>It already<\/h3>.*Signs you in/s);
  });

  test('Connected apps says that it signs them in, and name no scope for that', async () => {
    const own = await startTestService({ after });
    const user = await addUser(own);
    const browser = await signedInBrowser(own);
    const app = await addClient(own, { name: 'Postcards', signIn: true, scopes: scopes('photos') });
    const sign = async (scope: string) => {
      const location = await allowOn(browser, await browser.get(standardUrl(own, app, { scope })));
      await exchangeCode(own, app, codeIn(location));
    };
    await sign('openid email');
    const page = async () => (await browser.get(`${own.appUrl}/account/apps`)).body.replace(/<svg.*?<\/svg>/gs, '');
    assert.match(await page(), /<span>Signs you in<\/span><span>Last used/);
    assert.match(await page(), /<span>Signs you in<\/span><\/li>\s*<li><span>Gets your email<\/span>/);
    await sign('openid email photos');
    assert.match(await page(), /<span>Signs you in<\/span><span>1 permission<\/span>/);
    assert.doesNotMatch(await page(), /permission <[^>]*>(openid|email)/);
    const [listed] = await own.installation.grants.connectedApps(user.id);
    assert.deepEqual([listed?.signsIn, listed?.scope, listed?.lastUsedAt], [true, ['photos'], own.clock.now()]);
  });
});

describe('openid alone', { concurrency: true }, () => {
  test('gives no refresh token, is checked by /v2/me, and is active at no API', async () => {
    const apis = [await addResourceServer(service), await addResourceServer(service, { scopes: ['openid', 'email'] })];
    const app = await addApp();
    for (const scope of ['openid', 'openid profile email']) {
      const { access_token: token, ...body } = await signedIn(app, { scope });
      assert.equal('refresh_token' in body, false);
      assert.equal((await me(service, String(token))).status, 200);
      for (const api of apis)
        assert.deepEqual((await introspect(service, api, String(token))).body, { active: false }, scope);
    }
  });

  test('RFC 6749 §6: a refresh token that the published face gave is refreshed with its successor, on either face', async () => {
    const app = await addApp();
    const code = codeIn(
      await allowOn(ada, await visit(app, { code_challenge: undefined, code_challenge_method: undefined })),
    );
    const { refresh_token: first } = (await exchange(service, app, code)).body;
    const { status, body } = await refreshWith(service, app, String(first));
    assert.deepEqual([status, typeof body['refresh_token']], [200, 'string'], 'the first one is spent');
    assert.equal((await refreshWith(service, app, String(body['refresh_token']))).status, 200);
  });

  test('beside other scopes, APIs see those alone, and the app can refresh', async () => {
    const [any, narrow] = [await addResourceServer(service), await addResourceServer(service, { scopes: ['openid'] })];
    const app = await addApp();
    const body = await signedIn(app, { scope: 'openid profile photos' });
    assert.equal((await introspect(service, any, String(body['access_token']))).body['scope'], 'photos');
    assert.equal((await introspect(service, narrow, String(body['access_token']))).body['active'], false);
    const again = (await refreshWith(service, app, String(body['refresh_token']))).body;
    assert.equal(again['scope'], 'openid profile photos');
  });

  test('a scope that an app without sign-in has registered as openid is a scope as any other', async () => {
    const api = await addResourceServer(service, { scopes: ['openid'] });
    const app = await addApp({ signIn: false, scopes: scopes('openid') });
    const { access_token: token, refresh_token: refreshToken, ...body } = await signedIn(app);
    assert.deepEqual([typeof refreshToken, 'id_token' in body], ['string', false]);
    assert.equal(await statusOfUserInfo(token), 403);
    assert.equal((await introspect(service, api, String(token))).body['scope'], 'openid');
  });

  test('once redeemed, a remembered sign-in replaces the one that it rested on, without an event', async () => {
    const app = await addApp();
    const first = await signedIn(app);
    assert.equal((await newest(app)).openid?.renews, undefined, 'the press of Allow rested on none');
    const kept = await signedIn(app, { scope: 'openid photos' });
    const code = codeIn(sentTo(await visit(app)));
    assert.equal((await me(service, String(first['access_token']))).status, 200, 'until the redemption');
    const before = (await audit.listAuditEvents({ clientId: app.clientId, limit: 100 })).length;
    assert.equal((await exchangeCode(service, app, code)).status, 200);
    assert.equal((await audit.listAuditEvents({ clientId: app.clientId, limit: 100 })).length, before);
    assert.equal((await me(service, String(first['access_token']))).status, 401);
    assert.equal((await me(service, String(kept['access_token']))).status, 200, 'access beside it stays');
    const reasons = (await grantsOf(app)).map(({ revocationReason }) => String(revocationReason)).sort();
    assert.deepEqual(reasons, ['null', 'null', 'replaced']);
  });

  test('a hundred sign-ins leave one grant', async () => {
    for (const consent of ['remember', 'skip'] as const) {
      const app = await addApp({ consent });
      for (let count = 0; count < 100; count += 1) await signedIn(app);
      const live = (await grantsOf(app)).filter(({ revokedAt }) => revokedAt === null);
      assert.equal(live.length, 1, consent);
      assert.equal((await audit.listAuditEvents({ action: 'too_many_grants', limit: 1 })).length, 0);
    }
  });

  test('it replaces no grant of another person, and none that gives more', async () => {
    const app = await addApp();
    const [more, other] = [await signedIn(app, { scope: 'openid email' }), await signedIn(app, {}, [], grace)];
    await signedIn(app);
    for (const { access_token: token } of [more, other]) assert.equal((await me(service, String(token))).status, 200);
  });

  test('a sign-in beside other access replaces nothing', async () => {
    const app = await addApp();
    const tokens: string[] = [];
    for (let count = 0; count < 3; count += 1)
      tokens.push(String((await signedIn(app, { scope: 'openid photos' }))['access_token']));
    for (const token of tokens) assert.equal((await me(service, token)).status, 200);
  });

  test('a sign-in whose code is never exchanged, or refused, replaces nothing', async () => {
    const app = await addApp();
    const { access_token: token } = await signedIn(app);
    const code = codeIn(sentTo(await visit(app)));
    assert.equal((await exchangeCode(service, app, code, { redirect_uri: 'https://client.example/' })).status, 400);
    assert.equal((await me(service, String(token))).status, 200);
  });
});

describe('OpenID Connect Core §3.1.2.1: a request that another site posts', { concurrency: true }, () => {
  const foreign = { Origin: 'https://client.example', 'Sec-Fetch-Site': 'cross-site' };
  const post = (app: App, fields: Fields = {}, browser = new Browser()) => {
    const sent = Object.entries(authorizationRequest(app, { scope: 'openid', ...fields }));
    const defined = sent.filter((pair): pair is [string, string] => pair[1] !== undefined);
    return browser.post(`${service.appUrl}/oauth2/authorize`, Object.fromEntries(defined), foreign);
  };

  test('OpenID Connect Core §3.1.2.1: goes on as the same request by GET, and reads no cookie', async () => {
    const app = await addApp({ consent: 'skip' });
    const { status, headers } = await post(app, { nonce: 'a b&c', state: 'é' }, ada);
    const location = new URL(String(headers.get('location')), service.appUrl);
    assert.deepEqual([status, location.pathname], [303, '/oauth2/authorize']);
    const expected = authorizationRequest(app, { scope: 'openid', nonce: 'a b&c', state: 'é' });
    assert.deepEqual(Object.fromEntries(location.searchParams), expected);
    assert.deepEqual(headers.getSetCookie(), []);
    assert.deepEqual(await grantsOf(app), [], 'although its browser is signed in, and nobody is asked');
    assert.ok(sentTo(await ada.get(location.href)).searchParams.has('code'));
  });

  test('OpenID Connect Core §3.1.2.1: its faults are refused as those of a GET', async () => {
    const app = await addApp();
    const { headers } = await post(app, { nonce: '' });
    assert.equal(
      errorOf(await ada.get(new URL(String(headers.get('location')), service.appUrl).href)),
      'invalid_request',
    );
  });

  test('is refused as ever without sign-in, without openid, with a decision, and where no address holds it', async () => {
    const [app, without] = [await addApp(), await addApp({ signIn: false })];
    for (const page of [
      await post(without),
      await post(app, { scope: 'photos' }),
      await post(app, { decision: 'allow' }, ada),
      await post(app, { client_id: 'app_none' }),
      await post(app, { client_id: 'ü' }),
      await post(app, { login_hint: 'x'.repeat(9000) }),
    ])
      assert.deepEqual([page.status, page.headers.get('location')], [403, null]);
    assert.deepEqual(await grantsOf(app), []);
  });
});

test('the developers’ page tells of sign-in to the developer of an app that has it, and to nobody else', async () => {
  const [app, without] = [await addApp(), await addApp({ signIn: false })];
  for (const path of ['developers', 'developers.md'])
    for (const [clientId, isSaid] of [
      [app.clientId, true],
      [without.clientId, false],
      ['app_none', false],
      ['', false],
    ] as const) {
      const page = await (await fetch(`${service.appUrl}/${path}?client_id=${clientId}`)).text();
      assert.equal(page.includes('Your app can sign users in'), isSaid, `${path} ${clientId}`);
    }
});
