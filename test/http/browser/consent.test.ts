import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser, formOf } from '../../support/browser.ts';
import {
  assertRefused,
  authorizeUrl,
  exchange,
  me,
  obtainCode,
  pairOf,
  signedInBrowser,
  signIn,
} from '../../support/flow.ts';
import { addClient, addUser, PASSWORD, REDIRECT_URI, startTestService } from '../../support/service.ts';
import { postAs } from '../../support/standard.ts';

const AUTHORIZE = '/auth/oauth2/authorize';
const ALLOW = { decision: 'allow' };

const service = await startTestService({ after });
await addUser(service);
await addUser(service, 'grace@example.com', 'Grace Example');
const client = await addClient(service);
const ada = await signedInBrowser(service);
const page = await ada.get(authorizeUrl(service, client));

async function grantsOf(clientId: string): Promise<number> {
  return (await service.installation.grants.list({ clientId, limit: 1000 })).length;
}

describe('RFC 6749 §10.12: a consent form counts only for the session, account and request it was shown for', () => {
  const tokens: Record<string, () => Promise<string> | string> = {
    'no token': () => '',
    'an invented token': () => 'm0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    'the token of another session of the same person': async () => tokenIn(await signedInBrowser(service)),
    'the token of another person': async () => tokenIn(await signedInBrowser(service, 'grace@example.com')),
    'the token of another request': async () => tokenIn(ada, { state: 'other' }),
    'the token of another client': async () => tokenFor(ada, authorizeUrl(service, await addClient(service))),
    'the token of the sign-out form': () => String(formOf(page.body, '/sign-out').fields['form_token']),
    'the token of the sign-in form': () => tokenFor(new Browser(), `${service.appUrl}/sign-in`, '/sign-in'),
  };
  for (const [name, token] of Object.entries(tokens))
    test(`RFC 6749 §10.12: ${name} is refused`, async () => {
      const visit = await ada.submit(page, AUTHORIZE, { ...ALLOW, form_token: await token() });
      assert.equal(visit.status, 403);
      assert.equal(visit.headers.get('location'), null);
      assert.equal(await grantsOf(client.clientId), 0);
    });

  const tokenIn = (browser: Browser, parameters = {}) => tokenFor(browser, authorizeUrl(service, client, parameters));
  const tokenFor = async (browser: Browser, url: string, action = AUTHORIZE) =>
    String(formOf((await browser.get(url)).body, action).fields['form_token']);
});

describe('RFC 9700 §4.7: a form that another site posts is refused', () => {
  const absent = { 'Sec-Fetch-Site': undefined };
  const headers: [string, Record<string, string | undefined>][] = [
    ['cross-site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['same-site', { 'Sec-Fetch-Site': 'same-site' }],
    ['no site', { 'Sec-Fetch-Site': 'none' }],
    ['a foreign origin', { ...absent, Origin: 'https://evil.test' }],
    ['the null origin', { ...absent, Origin: 'null' }],
    ['the origin of the API', { ...absent, Origin: service.apiUrl }],
    ['an origin that begins like ours', { ...absent, Origin: `${service.appUrl}.evil.test` }],
    ['a foreign referrer and no origin', { ...absent, Origin: undefined, Referer: 'https://evil.test/form' }],
    ['a referrer that is no address', { ...absent, Origin: undefined, Referer: 'evil' }],
    ['a referrer that begins like ours', { ...absent, Origin: undefined, Referer: `${service.appUrl}.evil.test/` }],
  ];
  const forms: [string, string, Record<string, string>][] = [
    [authorizeUrl(service, client), AUTHORIZE, ALLOW],
    [authorizeUrl(service, client), '/sign-out', {}],
  ];
  for (const [name, sent] of headers)
    test(`RFC 9700 §4.7: ${name} is refused on every form`, async () => {
      for (const [url, action, fields] of forms)
        assert.equal((await ada.submit(await ada.get(url), action, fields, sent)).status, 403, action);
      const stranger = new Browser();
      const credentials = { email: 'ada@example.com', password: PASSWORD };
      const form = await stranger.get(`${service.appUrl}/sign-in`);
      const signIn = await stranger.submit(form, '/sign-in', credentials, sent);
      const revoke = await ada.post(`${service.appUrl}/account/apps/revoke`, { client_id: client.clientId }, sent);
      assert.deepEqual([signIn.status, revoke.status], [403, 403]);
      assert.equal(
        (await ada.get(`${service.appUrl}/account/apps`)).body.includes('ada@example.com'),
        true,
        'signed in',
      );
    });

  test('RFC 9700 §4.7: our own origin is enough for a browser without Sec-Fetch-Site', async () => {
    const app = await addClient(service);
    const visit = await ada.submit(await ada.get(authorizeUrl(service, app)), AUTHORIZE, ALLOW, absent);
    assert.equal(visit.status, 303);
  });
});

test('RFC 9700 §4.7: a page of ours as the referrer is enough for a browser that sends nothing else', async () => {
  const app = await addClient(service);
  const sent = { 'Sec-Fetch-Site': undefined, Origin: undefined, Referer: `${service.appUrl}/auth/oauth2/authorize?x` };
  assert.equal((await ada.submit(await ada.get(authorizeUrl(service, app)), AUTHORIZE, ALLOW, sent)).status, 303);
});

test('promise 5: an account allows and denies 60 times in ten minutes; then it waits, and its choice is kept', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  await addUser(own, 'grace@example.com', 'Grace Example');
  const scopes = ['read', 'write'].map((name) => ({ name, sentence: null, optional: true }));
  const app = await addClient(own, { scopes });
  const tv = await addClient(own, { deviceFlow: true }, 'public');
  const [busy, other] = [await signedInBrowser(own), await signedInBrowser(own, 'grace@example.com')];
  const url = authorizeUrl(own, app);
  const decide = async (browser: Browser, fields: Record<string, string>) =>
    browser.submit(await browser.get(url), AUTHORIZE, fields);
  for (let n = 0; n < 60; n += 1) {
    const { status } = await decide(busy, { decision: n % 2 ? 'allow' : 'deny', scope: 'read' });
    assert.equal(status, 303, `decision ${n}`);
  }
  const written = (await own.installation.audit.listAuditEvents({ limit: 1000 })).length;
  for (const decision of ['allow', 'deny']) {
    const { status, headers, body } = await decide(busy, { decision, scope: 'write' });
    assert.equal(status, 429);
    assert.equal(headers.get('retry-after'), '10');
    assert.match(body, /Too many answers/);
    const checked = [...body.matchAll(/name="scope" value="(\w+)" checked/g)].map(([, name]) => name);
    assert.deepEqual(checked, ['write'], 'what was chosen is kept');
  }
  const { body } = await postAs(own, tv, 'device_authorization');
  const device = await busy.get(String(body['verification_uri_complete']));
  assert.equal((await busy.submit(device, '/device', { decision: 'allow' })).status, 429, 'a device counts as well');
  assert.equal((await own.installation.audit.listAuditEvents({ limit: 1000 })).length, written);
  assert.equal((await decide(other, { decision: 'allow', scope: 'read' })).status, 303, 'nobody else waits');
  own.clock.advance(10);
  assert.equal((await decide(busy, { decision: 'allow', scope: 'read' })).status, 303);
});

test('promise 5: what is allowed without a question counts as well', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const trusted = await addClient(own, { consent: 'skip' });
  const browser = await signedInBrowser(own);
  for (let n = 0; n < 60; n += 1) assert.equal((await browser.get(authorizeUrl(own, trusted))).status, 303);
  const { status, headers } = await browser.get(authorizeUrl(own, trusted));
  assert.deepEqual([status, headers.get('retry-after')], [429, '10']);
  assert.equal((await own.installation.grants.list({ limit: 100 })).length, 60);
});

test('RFC 6749 §4.1.3: a code is refused once its redirect URI was removed, and good again when it is back', async () => {
  const app = await addClient(service, { redirectUris: [REDIRECT_URI, 'https://client.example/other'] });
  const code = await obtainCode(service, ada, app);
  const { clients, operator } = service.installation;
  await clients.update(app.clientId, { redirectUris: ['https://client.example/other'] }, operator);
  assertRefused(await exchange(service, app, code), 400, 'invalid_grant');
  await clients.update(app.clientId, { redirectUris: [REDIRECT_URI] }, operator);
  pairOf(await exchange(service, app, code));
});

test('RFC 6749 §4.1.1: tampering with a consent form never changes what was shown', async () => {
  const [app, other] = [
    await addClient(service, { scopes: [{ name: 'a', sentence: null, optional: false }] }),
    await addClient(service),
  ];
  const challenge = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };
  const url = authorizeUrl(service, app, challenge);
  const shown = await ada.get(url);
  const { fields } = formOf(shown.body, AUTHORIZE);
  for (const [from, to] of [
    [app.clientId, other.clientId],
    ['state=xyz', 'state=abc'],
    [/&code_challenge=.*$/, ''],
    [/$/, '&scope=b'],
    [/$/, '&x=1&x=1'],
  ] as const) {
    const tampered = url.replace(from, to);
    const visit = await ada.post(tampered, { ...fields, ...ALLOW }, { 'Sec-Fetch-Site': 'same-origin' });
    assert.doesNotMatch(visit.headers.get('location') ?? '', /code=/, tampered);
  }
  for (const empty of [{}, { decision: 'allow' }, { form_token: String(fields['form_token']) }])
    assert.match(String((await ada.post(url, empty)).status), /^40[03]$/);
  assert.equal(await grantsOf(app.clientId), 0);
  const visit = await ada.post(url, {
    ...fields,
    ...ALLOW,
    client_id: other.clientId,
    redirect_uri: 'https://evil.test',
  });
  assert.ok(visit.headers.get('location')?.startsWith(REDIRECT_URI), 'what is in the body does not matter');
  assert.equal(await grantsOf(app.clientId), 1);
});

describe('RFC 6749 §4.1.1: what the operator did after the page was shown counts', () => {
  const acts: Record<string, (id: string, email: string) => Promise<unknown>> = {
    'the redirect URI is gone': (id) =>
      service.installation.clients.update(
        id,
        { redirectUris: ['https://client.example/new'] },
        service.installation.operator,
      ),
    'the client is paused': (id) => service.installation.clients.pause(id, service.installation.operator),
    'the client is deleted': (id) => service.installation.clients.delete(id, service.installation.operator),
    'the account is disabled': (_, email) =>
      service.installation.accounts.disable(email, service.installation.operator),
    'the account is deleted': (_, email) => service.installation.accounts.delete(email, service.installation.operator),
  };
  for (const [index, [name, act]] of Object.entries(acts).entries())
    test(`RFC 6749 §4.1.1: no code when ${name} before Allow`, async () => {
      const { email } = await addUser(service, `late${index}@example.com`);
      const [app, browser] = [await addClient(service), await signedInBrowser(service, email)];
      const shown = await browser.get(authorizeUrl(service, app));
      await act(app.clientId, email);
      const visit = await browser.submit(shown, AUTHORIZE, ALLOW);
      assert.doesNotMatch(visit.headers.get('location') ?? '', /code=/);
      assert.ok(
        visit.status === 400 || visit.headers.get('location')?.startsWith(AUTHORIZE),
        'an error, or sign-in again',
      );
      assert.equal(await grantsOf(app.clientId), 0);
    });
});

test('RFC 6749 §10.12: a form counts for 10 minutes; after them the page asks again, and nothing happened', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const app = await addClient(own);
  const browser = await signedInBrowser(own);
  const shown = await browser.get(authorizeUrl(own, app));
  own.clock.advance(600);
  assert.match((await browser.submit(shown, AUTHORIZE, ALLOW)).headers.get('location') ?? '', /code=/);
  own.clock.advance(1);
  const late = await browser.submit(shown, AUTHORIZE, ALLOW);
  assert.equal(late.status, 403);
  assert.match(late.body, /role="alert".*This page was open for too long/s);
  assert.equal((await own.installation.grants.list({ limit: 10 })).length, 1);
  assert.match((await browser.submit(late, AUTHORIZE, ALLOW)).headers.get('location') ?? '', /code=/);
});

test('RFC 6749 §10.12: a form of an earlier session is shown anew, and what was ticked stays so', async () => {
  const scopes = [
    { name: 'mail', sentence: null, optional: false },
    { name: 'photos', sentence: null, optional: true },
    { name: 'files', sentence: null, optional: true },
  ];
  const app = await addClient(service, { scopes });
  const browser = await signedInBrowser(service);
  const shown = await browser.get(authorizeUrl(service, app, { scope: 'mail photos files' }));
  await browser.submit(await browser.get(`${service.appUrl}/sign-out`), '/sign-out');
  await signIn(service, browser);
  const checked = ({ body }: { body: string }) =>
    [...body.matchAll(/name="scope" value="(\w+)" checked/g)].map(([, name]) => name);
  assert.deepEqual(checked(shown), []);
  const anew = await browser.submit(shown, AUTHORIZE, { ...ALLOW, scope: 'files' });
  assert.equal(anew.status, 403);
  assert.match(anew.body, /role="alert".*Someone signed in after this page was opened/s);
  assert.deepEqual(checked(anew), ['files']);
  assert.equal(await grantsOf(app.clientId), 0);
});

test('who pressed Allow after signing out in another tab is told why it is asked again, before and after the sign-in', async () => {
  const app = await addClient(service);
  const browser = await signedInBrowser(service);
  const shown = await browser.get(authorizeUrl(service, app));
  await browser.submit(await browser.get(`${service.appUrl}/sign-out`), '/sign-out');
  const pressed = await browser.submit(shown, AUTHORIZE, ALLOW);
  const signInPage = await browser.get(service.appUrl + pressed.headers.get('location'));
  assert.match(signInPage.body, /role="alert".*You were signed out/s);
  const signedIn = await browser.submit(signInPage, '/sign-in', { email: 'ada@example.com', password: PASSWORD });
  const again = await browser.get(service.appUrl + signedIn.headers.get('location'));
  assert.match(again.body, /role="alert".*You were signed out before you answered/s);
  assert.equal(await grantsOf(app.clientId), 0);
  assert.match((await browser.submit(again, AUTHORIZE, ALLOW)).headers.get('location') ?? '', /code=/);
});

test('RFC 6749 §4.1.1: a second press in the same session is a second grant, and ends nothing', async () => {
  const app = await addClient(service);
  const first = await obtainCode(service, ada, app);
  const pair = pairOf(await exchange(service, app, first));
  pairOf(await exchange(service, app, await obtainCode(service, ada, app)));
  assert.equal((await me(service, pair.accessToken)).status, 200);
});

test('RFC 9700 §4.12: every redirect after a form is a 303', async () => {
  const browser = new Browser();
  const visits = [await signIn(service, browser)];
  const shown = await browser.get(authorizeUrl(service, client));
  for (const decision of ['allow', 'deny']) visits.push(await browser.submit(shown, AUTHORIZE, { decision }));
  visits.push(await browser.submit(shown, '/sign-out'));
  assert.deepEqual(
    visits.map(({ status }) => status),
    [303, 303, 303, 303],
  );
});

test('RFC 9700 §4.16: the page names the app escaped and isolated, and where its code goes', async () => {
  const name = '<b>"Operator"</b> & مرحبا';
  const app = await addClient(service, { name, redirectUris: ['https://xn--e1afmkfd.example:8443/cb'] });
  const { body } = await ada.get(authorizeUrl(service, app, { redirect_uri: 'https://xn--e1afmkfd.example:8443/cb' }));
  assert.match(body, /<bdi[^>]*>&lt;b&gt;&quot;Operator&quot;&lt;\/b&gt; &amp; مرحبا<\/bdi>/);
  assert.ok(!body.includes('<b>'));
  assert.match(body, /xn--e1afmkfd\.example:8443/);
  for (const bad of ['a\u202eb', 'a\u200bb', ' a', '', 'x'.repeat(101)])
    await assert.rejects(addClient(service, { name: bad }), { name: 'OperatorError' });
});

test('RFC 6749 §4.1.1: an allowed app is asked about again, for whoever is signed in', async () => {
  const app = await addClient(service);
  await obtainCode(service, ada, app);
  for (const email of ['ada@example.com', 'grace@example.com']) {
    const { status, body } = await (await signedInBrowser(service, email)).get(authorizeUrl(service, app));
    assert.deepEqual([status, body.includes(email)], [200, true]);
  }
});
