import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ClientSettings, ClientType } from '../../../src/oauth/clients/client.ts';
import type { ListedGrant } from '../../../src/oauth/protocol/grant-store.ts';
import type { Visit } from '../../support/browser.ts';
import { authorizeUrl, me, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, REDIRECT_URI, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  allowOn,
  exchangeCode,
  type Fields,
  postAs,
  refreshWith,
  scopes,
  sentTo,
  standardUrl,
} from '../../support/standard.ts';

const service = await startTestService({ after });
const account = await addUser(service);
await addUser(service, 'grace@example.com', 'Grace Example');
await addUser(service, 'lin@example.com', 'Lin Example');
const [ada, grace] = [await signedInBrowser(service), await signedInBrowser(service, 'grace@example.com')];
const lin = await signedInBrowser(service, 'lin@example.com');
const { clients, grants, audit, operator } = service.installation;
const RESOURCE = 'https://mail.example';
const OTHER_URI = 'https://client.example/other';
await addResourceServer(service, { resource: RESOURCE });
await addResourceServer(service, { resource: 'https://files.example' });

type App = Awaited<ReturnType<typeof addClient>>;
const addApp = (settings: Partial<ClientSettings>, type?: ClientType) =>
  addClient(service, { scopes: scopes('mail', 'files', 'photos'), ...settings }, type);
const visit = (app: App, parameters: Fields = {}, browser = ada) => browser.get(standardUrl(service, app, parameters));
const isAsked = ({ status, body }: Visit) => status === 200 && body.includes('value="allow"');
const grantsOf = async ({ clientId }: App) => (await grants.list({ clientId, limit: 100 })).length;
const lastAct = async ({ clientId }: App) => (await audit.listAuditEvents({ clientId, limit: 1 }))[0]?.action;

/** Presses Allow on a page, and exchanges the code; answers the token answer's fields. */
async function allowed(app: App, page: Visit, scope: string[] = [], redirect_uri = REDIRECT_URI, browser = ada) {
  const location = await allowOn(browser, page, { scope });
  const { body } = await exchangeCode(service, app, String(location.searchParams.get('code')), { redirect_uri });
  return body;
}

describe('OpenID Connect Core §3.1.2.4: an app whose consent is remembered', { concurrency: true }, () => {
  /** An app that Ada allowed to read her mail and her files. */
  async function remembered(parameters: Fields = {}): Promise<App> {
    const app = await addApp({ consent: 'remember', redirectUris: [REDIRECT_URI, OTHER_URI] });
    const page = await visit(app, { scope: 'mail files', ...parameters });
    assert.ok(isAsked(page), 'it is asked about once');
    await allowed(app, page);
    return app;
  }

  test('OpenID Connect Core §3.1.2.4: gets the same or less without a question, as a grant of its own', async () => {
    const app = await remembered();
    for (const scope of ['mail files', 'mail']) {
      const { searchParams } = sentTo(await visit(app, { scope }));
      assert.deepEqual([...searchParams.keys()], ['code', 'state', 'iss']);
      assert.equal(await lastAct(app), 'consent_remembered');
      const { body } = await exchangeCode(service, app, String(searchParams.get('code')));
      assert.equal(body['scope'], scope);
    }
    assert.equal(await grantsOf(app), 3);
  });

  test('OpenID Connect Core §3.1.2.4: is asked about for more, and the page says what is new', async () => {
    const app = await remembered();
    const page = await visit(app, { scope: 'mail photos' });
    assert.ok(isAsked(page));
    assert.match(page.body, /<h1>Allow .* to do more with/);
    const [added = '', held = ''] = page.body.split('<div class="already">');
    assert.deepEqual(
      [/<h2>.*photos/s, /<h2>.*mail/s].map((listed) => listed.test(added)),
      [true, false],
    );
    assert.match(held, /mail/);
    await allowed(app, page);
    assert.ok(sentTo(await visit(app)), 'what several grants cover together is covered');
  });

  const again: [name: string, visit: (app: App) => Promise<Visit>][] = [
    ['with prompt=consent', (app) => visit(app, { scope: 'mail', prompt: 'consent' })],
    ['for another person', (app) => visit(app, { scope: 'mail' }, grace)],
    ['for a resource', (app) => visit(app, { scope: 'mail', resource: RESOURCE })],
    [
      'once she took it back',
      async (app) => {
        const page = await ada.get(`${service.appUrl}/account/apps`);
        await ada.submit(page, '/account/apps/revoke', { client_id: app.clientId });
        return visit(app, { scope: 'mail' });
      },
    ],
    ['at another redirect URI of the app', (app) => visit(app, { scope: 'mail', redirect_uri: OTHER_URI })],
    [
      'once the operator paused and resumed it',
      async (app) => {
        service.clock.advance(1);
        await service.installation.clients.pause(app.clientId, service.installation.operator);
        await service.installation.clients.resume(app.clientId, service.installation.operator);
        return visit(app, { scope: 'mail' });
      },
    ],
    [
      'once the operator ended its grants',
      async (app) => {
        await service.installation.clients.revokeGrants(app.clientId, service.installation.operator);
        return visit(app, { scope: 'mail' });
      },
    ],
  ];
  for (const [name, act] of again)
    test(`OpenID Connect Core §3.1.2.4: is asked about again ${name}`, async () => {
      assert.ok(isAsked(await act(await remembered())));
    });

  test('OpenID Connect Core §3.1.2.4: what is allowed after a pause, or at the other redirect URI, is remembered in its turn', async () => {
    const app = await remembered();
    await service.installation.clients.pause(app.clientId, service.installation.operator);
    await service.installation.clients.resume(app.clientId, service.installation.operator);
    service.clock.advance(1);
    await allowed(app, await visit(app, { redirect_uri: OTHER_URI }), [], OTHER_URI);
    assert.ok(sentTo(await visit(app, { redirect_uri: OTHER_URI })));
    assert.ok(isAsked(await visit(app)));
  });

  test('RFC 8252 §7.3: consent for a loopback address is remembered whatever the port', async () => {
    const [registered, one, other] = [
      'http://127.0.0.1/cb',
      'http://127.0.0.1:51001/cb',
      'http://127.0.0.1:51002/cb',
    ] as const;
    const app = await addApp({ consent: 'remember', redirectUris: [registered, 'http://127.0.0.1/other'] });
    await allowed(app, await visit(app, { redirect_uri: one }), [], one);
    assert.ok(sentTo(await visit(app, { redirect_uri: other })));
    assert.ok(isAsked(await visit(app, { redirect_uri: 'http://127.0.0.1:51001/other' })));
  });

  test('OpenID Connect Core §3.1.2.4: is asked about again once it revoked its own token', async () => {
    const app = await addApp({ consent: 'remember' });
    const { access_token: token } = await allowed(app, await visit(app));
    await postAs(service, app, 'revoke', { token: String(token) });
    assert.ok(isAsked(await visit(app)));
  });

  test('OpenID Connect Core §3.1.2.4: a code that was never exchanged is no consent to remember', async () => {
    const app = await addApp({ consent: 'remember' });
    await allowOn(ada, await visit(app));
    assert.ok(isAsked(await visit(app)));
  });

  test('RFC 8707 §2: consent for one resource is remembered for that one', async () => {
    const app = await remembered({ resource: RESOURCE });
    assert.ok(sentTo(await visit(app, { scope: 'mail', resource: RESOURCE })));
    assert.ok(isAsked(await visit(app, { scope: 'mail' })), 'a grant for any resource is more');
    assert.ok(isAsked(await visit(app, { scope: 'mail', resource: service.apiUrl })));
  });

  test('RFC 8707 §2: consent for the default resource is remembered for that one, and not for the same one by name', async () => {
    const app = await remembered();
    await clients.update(app.clientId, { defaultResource: RESOURCE }, operator);
    const page = await visit(app, { scope: 'mail' });
    assert.ok(isAsked(page), 'what was allowed before was for no certain resource');
    await allowed(app, page);
    assert.ok(sentTo(await visit(app, { scope: 'mail' })));
    assert.ok(sentTo(await ada.get(authorizeUrl(service, app, { scope: 'mail' }))), 'on either face');
    const named = await visit(app, { scope: 'mail', resource: RESOURCE });
    assert.ok(isAsked(named), 'the default is good at /v2/me as well');
    await clients.update(app.clientId, { defaultResource: 'https://files.example' }, operator);
    assert.ok(isAsked(await visit(app, { scope: 'mail' })), 'another default was not allowed');
    await allowed(app, named);
    await clients.update(app.clientId, { defaultResource: RESOURCE }, operator);
    const byName = await remembered({ resource: RESOURCE });
    await clients.update(byName.clientId, { defaultResource: RESOURCE }, operator);
    assert.ok(isAsked(await visit(byName, { scope: 'mail' })), 'what was allowed by name is not good at /v2/me');
  });

  test('OpenID Connect Core §3.1.2.4: what has expired is forgotten', async (t) => {
    const own = await startTestService(t);
    await addUser(own);
    const app = await addClient(own, { consent: 'remember' });
    const browser = await signedInBrowser(own);
    const location = await allowOn(browser, await browser.get(standardUrl(own, app)));
    await exchangeCode(own, app, String(location.searchParams.get('code')));
    own.clock.advance(30 * 86_400);
    assert.ok(isAsked(await (await signedInBrowser(own)).get(standardUrl(own, app))));
  });
});

test('interface: consent is remembered and skipped on the published face too', async () => {
  for (const consent of ['remember', 'skip'] as const) {
    const app = await addApp({ consent });
    if (consent === 'remember') await allowed(app, await visit(app));
    const { searchParams } = sentTo(await ada.get(authorizeUrl(service, app)));
    assert.deepEqual([...searchParams.keys()], ['code', 'state']);
  }
});

test("interface: an operator's own app is never asked about, and the trail says why", async () => {
  const app = await addApp({ consent: 'skip', scopes: scopes('mail', 'files?') });
  const { searchParams } = sentTo(await visit(app));
  assert.equal(await lastAct(app), 'consent_skipped');
  const { body } = await exchangeCode(service, app, String(searchParams.get('code')));
  assert.equal(body['scope'], 'mail files');
});

describe('RFC 8252 §8.6: another app on the device may pass for a public one', { concurrency: true }, () => {
  for (const consent of ['remember', 'skip'] as const)
    for (const [redirectUri, isAlwaysAsked] of [
      ['http://127.0.0.1:4711/callback', true],
      ['http://localhost:4711/callback', true],
      ['com.example.app:/callback', true],
      [REDIRECT_URI, false],
    ] as const)
      test(`RFC 8252 §8.6, RFC 6749 §10.2, OAuth 2.1 §7.3.1: ${consent} at ${redirectUri} ${isAlwaysAsked ? 'is asked about each time' : 'holds'}`, async () => {
        const app = await addApp({ consent, redirectUris: [redirectUri, 'https://other.example/'] }, 'public');
        const parameters = { redirect_uri: redirectUri };
        await allowed(app, await visit(app, { ...parameters, prompt: 'consent' }), [], redirectUri);
        const again = await visit(app, parameters);
        assert.equal(isAsked(again), isAlwaysAsked);
        assert.equal(
          sentTo(await visit(app, { ...parameters, prompt: 'none' })).searchParams.has('code'),
          !isAlwaysAsked,
        );
      });

  test('RFC 8252 §8.6: a confidential client at a loopback address is asked about as its operator says', async () => {
    const redirect_uri = 'http://127.0.0.1:4711/callback';
    const app = await addApp({ consent: 'skip', redirectUris: [redirect_uri] });
    assert.ok(sentTo(await visit(app, { redirect_uri })).searchParams.has('code'));
  });
});

test('RFC 9110 §9.2.1: what a browser loads ahead, or a HEAD, grants nothing', async () => {
  const app = await addApp({ consent: 'skip' });
  const Cookie = `valetkey_session=${ada.cookies.get('valetkey_session')}`;
  const look = (method: string, headers: Record<string, string> = {}) =>
    fetch(standardUrl(service, app), { method, headers: { Cookie, ...headers }, redirect: 'manual' });
  assert.equal((await look('HEAD')).status, 503);
  for (const headers of [
    { 'Sec-Purpose': 'prefetch' },
    { 'Sec-Purpose': 'prefetch;prerender' },
    { Purpose: 'prefetch' },
    { 'Service-Worker-Navigation-Preload': 'true' },
  ])
    assert.equal((await look('GET', headers)).status, 503);
  const logged = service.log.map((line) => JSON.parse(line)).filter(({ status }) => status === 503);
  assert.deepEqual(new Set(logged.map(({ error }) => error)), new Set(['loaded_ahead']), 'no alert is about these');
  assert.equal(await grantsOf(app), 0);
  assert.equal((await look('GET')).status, 303);
});

describe('RFC 6749 §3.3: scopes that may be left out', { concurrency: true }, () => {
  const addOptional = (...names: string[]) => addClient(service, { scopes: scopes(...names) });
  const offered = ({ body }: Visit) =>
    [...body.matchAll(/<input type="checkbox" name="scope" value="([^"]*)"/g)].map(([, name]) => name);
  const ticked = ({ body }: Visit) =>
    [...body.matchAll(/<input type="checkbox" name="scope" value="([^"]*)" checked>/g)].map(([, name]) => name);

  test('RFC 6749 §3.3, §5.1, OAuth 2.1 §1.4.1: the page offers them unticked, and what is left out is not granted', async () => {
    const app = await addOptional('mail', 'files?', 'photos?');
    const page = await visit(app);
    assert.deepEqual([offered(page), ticked(page)], [['files', 'photos'], []]);
    assert.equal((await allowed(app, page, ['files', 'photos']))['scope'], 'mail files photos');
    const narrowed = await allowed(app, page, ['photos']);
    assert.equal(narrowed['scope'], 'mail photos');
    const { body } = await refreshWith(service, app, String(narrowed['refresh_token']));
    assert.equal(body['scope'], 'mail photos');
    const checked = await me(service, String(body['access_token']));
    assert.equal((checked.body['authorization'] as { scope: string }).scope, 'mail photos');
  });

  test('RFC 6749 §3.3: only those that were asked for are offered', async () => {
    const app = await addOptional('mail', 'files?', 'photos?');
    assert.deepEqual(offered(await visit(app, { scope: 'mail photos' })), ['photos']);
  });

  test('RFC 6749 §3.3: whatever a form posts, it grants no more than was asked for and no less than is required', async () => {
    const app = await addOptional('mail', 'files?', 'photos?');
    const page = await visit(app, { scope: 'mail files' });
    for (const [posted, granted] of [
      [['photos'], 'mail'],
      [['files', 'photos', 'admin', '*', ''], 'mail files'],
      [['files photos'], 'mail'],
      [['files', 'files'], 'mail files'],
      [['__proto__', 'mail'], 'mail'],
      [[], 'mail'],
    ] as const)
      assert.equal((await allowed(app, page, [...posted]))['scope'], granted, `${posted}`);
  });

  test('RFC 6749 §3.3, §4.1.2.1: who leaves out everything has denied', async () => {
    const app = await addOptional('mail?', 'files?');
    const page = await visit(app);
    for (const scope of [[], ['photos']]) {
      const { searchParams } = await allowOn(ada, page, { scope });
      assert.deepEqual([searchParams.get('error'), searchParams.has('code')], ['access_denied', false]);
    }
    assert.deepEqual([await grantsOf(app), await lastAct(app)], [0, 'consent_denied']);
  });

  /** Another person, since one decides 60 times at most. */
  const asked = (app: App, parameters: Fields = {}) => visit(app, parameters, lin);
  const left = (app: App, page: Visit, scope: string[] = []) => allowed(app, page, scope, REDIRECT_URI, lin);

  test('RFC 6749 §3.3: what was left out is remembered: consent holds without it, on either face and again', async () => {
    const app = await addClient(service, { consent: 'remember', scopes: scopes('mail', 'files?', 'photos?') });
    await left(app, await asked(app), ['files']);
    for (const again of [await asked(app), await lin.get(authorizeUrl(service, app)), await asked(app)]) {
      assert.ok(sentTo(again).searchParams.has('code'));
      const [{ grant }] = (await grants.list({ clientId: app.clientId, limit: 1 })) as [ListedGrant];
      assert.deepEqual(
        [grant.scope, grant.leftOut, await lastAct(app)],
        ['mail files', 'photos', 'consent_remembered'],
      );
    }
  });

  test('RFC 6749 §3.3: what was left out is not ticked again, nor called more; what was chosen is ticked', async () => {
    const app = await addOptional('mail', 'files?', 'photos?');
    await left(app, await asked(app), ['files']);
    const page = await asked(app);
    assert.deepEqual([offered(page), ticked(page)], [['files', 'photos'], ['files']]);
    assert.match(page.body, /<h1>Allow .* to use your/);
    assert.equal((await left(app, page, ['photos']))['scope'], 'mail photos', 'and may be chosen now');
    assert.deepEqual(ticked(await asked(app)), ['photos'], 'the later decision holds');
  });

  test('RFC 6749 §3.3: who asks for nothing but what was left out is asked about', async () => {
    const app = await addClient(service, { consent: 'remember', scopes: scopes('mail', 'files?', 'photos?') });
    await left(app, await asked(app, { scope: 'mail files' }), []);
    assert.ok(isAsked(await asked(app, { scope: 'files' })), 'nothing of it could be granted unasked');
    assert.ok(isAsked(await asked(app, { scope: 'mail files', prompt: 'consent' })));
    const more = await asked(app);
    assert.ok(isAsked(more), 'photos were never decided on');
    assert.deepEqual([offered(more), ticked(more)], [['files', 'photos'], []]);
    assert.match(more.body, /<h1>Allow .* to do more with/);
  });

  test('RFC 6749 §3.3: what was left out while it was optional is asked for again once it is required', async () => {
    const app = await addClient(service, { consent: 'remember', scopes: scopes('mail', 'files?') });
    await left(app, await asked(app));
    await service.installation.clients.update(
      app.clientId,
      { scopes: scopes('mail', 'files') },
      service.installation.operator,
    );
    assert.match((await asked(app)).body, /<h1>Allow .* to do more with/);
  });

  test('RFC 6749 §3.3: on the published face too', async () => {
    const app = await addOptional('mail', 'files?');
    const page = await ada.get(authorizeUrl(service, app));
    await ada.submit(page, '/auth/oauth2/authorize', { decision: 'allow', scope: [] });
    const [listed] = await grants.list({ clientId: app.clientId, resourceOwnerId: account.id, limit: 1 });
    assert.equal(listed?.grant.scope, 'mail');
  });

  test('RFC 6749 §3.3: an app without scopes is asked about all the same, and granted none', async () => {
    const app = await addOptional();
    assert.ok(!('scope' in (await allowed(app, await visit(app)))));
  });
});

test('ASVS 10.4.9: remembered consent ends with the grants of everybody', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const app = await addClient(own, { consent: 'remember' });
  const browser = await signedInBrowser(own);
  const location = await allowOn(browser, await browser.get(standardUrl(own, app)));
  await exchangeCode(own, app, String(location.searchParams.get('code')));
  await own.installation.grants.revokeAll(operator);
  assert.ok(isAsked(await browser.get(standardUrl(own, app))));
});

test('the operator’s mark of a scope stands on the consent page, whichever app asks', async () => {
  const { scopes: registry, operator } = service.installation;
  await registry.define('mail.erase', { en: 'Erase your mail' }, operator, 'sensitive');
  const app = await addApp({ scopes: [{ name: 'mail.erase', sentence: 'Tidy up', optional: false }] });
  assert.match((await visit(app)).body, /Tidy up<\/bdi> <em class="effect sensitive">Sensitive</);
  await registry.define('mail.erase', {}, operator, null);
  assert.doesNotMatch((await visit(app)).body, /class="effect/);
});
