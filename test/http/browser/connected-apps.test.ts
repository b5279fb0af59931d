import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { grantIdText } from '../../../src/oauth/grants/grant.ts';
import { auditEvent } from '../../../src/oauth/trail/audit.ts';
import { formOf, formsOf, type Visit } from '../../support/browser.ts';
import {
  assertRefused,
  auditActions,
  authorizeUrl,
  exchange,
  me,
  obtainCode,
  obtainPair,
  pairOf,
  refresh,
  signedInBrowser,
  signIn,
} from '../../support/flow.ts';
import { RevocationStream } from '../../support/revocation-stream.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  allowOn,
  DEVICE_GRANT,
  exchangeCode,
  postAs,
  refreshWith,
  sentTo,
  standardUrl,
} from '../../support/standard.ts';
import { sampleGrant } from '../../support/storage.ts';

const service = await startTestService({ after });
for (const name of ['ada', 'grace']) await addUser(service, `${name}@example.com`, `${name} example`);
const [ada, grace] = [await signedInBrowser(service), await signedInBrowser(service, 'grace@example.com')];
const appsUrl = `${service.appUrl}/account/apps`;

function namesIn({ body }: Visit): string[] {
  return [...body.matchAll(/class="app-name"><bdi[^>]*>([^<]*)/g)].map(([, name = '']) => name);
}

test('OAuth 2.1 §7.9, ASVS 10.4.9, Promise 2: taking an app back ends all of it at once, and nothing of anybody else', async () => {
  const one = await addClient(service, { name: 'Wanted' });
  const two = await addClient(service, { name: 'Unwanted' });
  const kept = [await obtainPair(service, ada, one), await obtainPair(service, grace, two)];
  const ended = [await obtainPair(service, ada, two), await obtainPair(service, ada, two)];
  const page = await ada.get(appsUrl);
  assert.deepEqual(namesIn(page), ['Unwanted', 'Wanted']);
  assert.deepEqual(namesIn(await grace.get(appsUrl)), ['Unwanted']);
  for (const secret of [one.clientSecret, two.clientSecret, ...[...kept, ...ended].flatMap(Object.values)])
    assert.ok(!page.body.includes(String(secret)), 'the page holds no credential');
  const visit = await ada.submit(page, '/account/apps/revoke', { client_id: two.clientId });
  assert.match(String(visit.headers.get('location')), new RegExp(`^/account/apps\\?removed=${two.clientId}&mark=`));
  for (const { accessToken, refreshToken } of ended) {
    assert.equal((await me(service, accessToken)).status, 401);
    assertRefused(await refresh(service, two, refreshToken), 400, 'invalid_grant');
  }
  for (const { accessToken } of kept) assert.equal((await me(service, accessToken)).status, 200);
  assert.deepEqual(namesIn(await ada.get(appsUrl)), ['Wanted']);
  assert.equal((await auditActions(service)).at(-1), 'grant_revoked');
  assert.match((await ada.get(authorizeUrl(service, two))).body, /value="allow"/, 'the next time, consent is asked');
  await obtainPair(service, ada, two);
  assert.deepEqual(namesIn(await ada.get(appsUrl)), ['Unwanted', 'Wanted'], 'and can be given again');
});

test('Promise 2: all apps are taken back by one form, where there are several, each told and on the record, and nobody else’s', async (t) => {
  const own = await startTestService(t);
  for (const name of ['ada', 'grace']) await addUser(own, `${name}@example.com`);
  const [browser, other] = [await signedInBrowser(own), await signedInBrowser(own, 'grace@example.com')];
  const [one, two] = [await addClient(own), await addClient(own)];
  const url = `${own.appUrl}/account/apps`;
  const kept = await obtainPair(own, other, one);
  const ended = [await obtainPair(own, browser, one)];
  assert.ok(!(await browser.get(url)).body.includes('/account/apps/remove-all'), 'one app has its own button');
  ended.push(await obtainPair(own, browser, two), await obtainPair(own, browser, two));
  const waiting = await obtainCode(own, browser, one);
  const page = await browser.get(url);
  const removeAll = (fields: Record<string, string> = {}, headers = {}) =>
    browser.submit(page, '/account/apps/remove-all', fields, headers);
  const { fields } = formOf(page.body, '/account/apps/revoke');
  const refused = [
    await removeAll({}, { 'Sec-Fetch-Site': 'cross-site' }),
    await removeAll({ form_token: '' }),
    await removeAll({ form_token: String(fields['form_token']) }),
    await other.submit(page, '/account/apps/remove-all'),
  ];
  for (const { status } of refused) assert.equal(status, 403);
  for (const { accessToken } of ended) assert.equal((await me(own, accessToken)).status, 200);
  const { status, headers } = await removeAll();
  assert.equal(status, 303);
  for (const { accessToken } of ended) assert.equal((await me(own, accessToken)).status, 401);
  assertRefused(await exchange(own, one, waiting), 400, 'invalid_grant');
  assert.equal((await me(own, kept.accessToken)).status, 200);
  assert.deepEqual((await auditActions(own)).slice(-2), ['grant_revoked', 'grant_revoked']);
  const said = new URL(String(headers.get('location')), url).href;
  assert.match((await browser.get(said)).body, /role="status".*All apps were removed.*No connected apps/s);
  assert.ok(!(await other.get(said)).body.includes('role="status"'), 'the link tells others nothing');
  await obtainPair(own, browser, one);
  assert.ok(!(await browser.get(said)).body.includes('role="status"'), 'it is true no longer');
});

test('Promise 2: however many apps there are, each stands on one page of bounded size, and the pages are plain links', async (t) => {
  const own = await startTestService(t);
  const { id } = await addUser(own);
  const browser = await signedInBrowser(own);
  const { clientId: template } = await addClient(own, { name: 'App 000' });
  const client = await own.installation.clients.show(template);
  const { audit: store, operator } = own.installation;
  const at = own.clock.now();
  const many = Array.from({ length: 1000 }, (_, n) => ({
    ...client,
    id: `app_many${n}`,
    name: `App ${String(n).padStart(3, '0')}`,
  }));
  for (const each of many)
    await store.registerClient(each, auditEvent('client_registered', operator, at, {}, { name: each.name }));
  const given = {
    redirectUri: client.redirectUris[0] ?? '',
    expiresAt: at + 1e9,
    absoluteExpiresAt: at + 1e9,
    generation: 1,
  };
  const grants = many.map(({ id: clientId }) =>
    sampleGrant({ ...given, clientId, resourceOwnerId: id, grantedAt: at }),
  );
  for (const grant of grants)
    await store.issueGrant(grant, auditEvent('consent_allowed', operator, at, {}, { scopes: [] }));
  const nextOf = ({ body }: Visit) => /href="([^"]+)" rel="next"/.exec(body)?.[1];
  const url = `${own.appUrl}/account/apps`;
  const seen: string[] = [];
  for (let page = await browser.get(url); ; page = await browser.get(own.appUrl + nextOf(page))) {
    assert.ok(Buffer.byteLength(page.body) < 50_000, `${Buffer.byteLength(page.body)} bytes`);
    const shown = `${seen.length + 1}–${seen.length + namesIn(page).length} of 1000<`;
    assert.ok(page.body.replaceAll(',', '').includes(shown), shown);
    seen.push(...namesIn(page));
    if (nextOf(page) === undefined) break;
  }
  assert.deepEqual(
    seen,
    many.map(({ name }) => name),
  );
  const second = await browser.get(own.appUrl + nextOf(await browser.get(url)));
  const last = namesIn(second).at(-1);
  const forms = formsOf(second.body, '/account/apps/revoke');
  const removing = forms.at(-1)?.fields ?? assert.fail();
  const removed = await browser.submit(second, '/account/apps/revoke', removing);
  const back = await browser.get(own.appUrl + removed.headers.get('location'));
  assert.match(back.body, /role="status"/);
  assert.deepEqual(namesIn(back).slice(0, 11), namesIn(second).slice(0, 11), 'it is the page where the app was');
  const behind = await browser.get(own.appUrl + nextOf(second));
  assert.ok(!namesIn(behind).includes(last ?? ''));
  assert.equal(namesIn(behind)[0], 'App 024', 'the next page begins where it began, though the line before is gone');
  for (const wrong of ['x', '', 'eyJ9', Buffer.from('[1,2,3,4]').toString('base64url')])
    assert.equal(namesIn(await browser.get(`${url}?after=${wrong}`))[0], 'App 000', wrong);
  const beyond = Buffer.from(JSON.stringify([1, 9e15, 'z', 'z'])).toString('base64url');
  assert.equal(
    namesIn(await browser.get(`${url}?after=${beyond}`)).at(-1),
    'App 999',
    'behind the last one is the last page',
  );
});

test('Promise 2: an app is one card however often it was allowed, and all its lines are reached and removed', async (t) => {
  const own = await startTestService(t);
  const { id } = await addUser(own);
  const browser = await signedInBrowser(own);
  const { installation, clock } = own;
  const clientId = 'https://often.example/client.json';
  const document = { address: clientId, sha256: 'ab'.repeat(32), jwksUri: null, fetchedAt: clock.now() };
  const settings = { name: 'Often', redirectUris: ['https://often.example/callback'] };
  await installation.clients.register('public', settings, installation.operator, document);
  const at = clock.now();
  const given = { clientId, resourceOwnerId: id, redirectUri: settings.redirectUris[0] ?? '', generation: 1 };
  for (let n = 0; n < 70; n += 1) {
    const times = { grantedAt: at + n, expiresAt: at + 1e9, absoluteExpiresAt: at + 1e9 };
    const event = auditEvent('consent_allowed', installation.operator, at, {}, { scopes: [] });
    await installation.audit.issueGrant(sampleGrant({ ...given, ...times }), event);
  }
  const url = `${own.appUrl}/account/apps`;
  const page = await browser.get(url);
  assert.deepEqual(namesIn(page), ['Often']);
  assert.match(page.body, /<span>70 connections<\/span>/);
  assert.match(page.body, /Remove all 70 /);
  assert.ok(Buffer.byteLength(page.body) < 50_000);
  const alone = /<a href="([^"]*\?app=[^"]*)">Show all about/.exec(page.body)?.[1] ?? assert.fail('a way to the rest');
  const lines = new Set<string>();
  for (let next: string | undefined = alone; next; ) {
    const part: Visit = await browser.get(own.appUrl + next);
    assert.ok(Buffer.byteLength(part.body) < 50_000);
    for (const { fields } of formsOf(part.body, '/account/apps/revoke'))
      if (fields['grant_id']) lines.add(fields['grant_id']);
    next = /href="([^"]+)" rel="next"/.exec(part.body)?.[1]?.replaceAll('&amp;', '&');
  }
  assert.equal(lines.size, 70);
  const shown = await browser.get(own.appUrl + alone);
  const [line] = formsOf(shown.body, '/account/apps/revoke');
  const removed = await browser.submit(shown, '/account/apps/revoke', line?.fields ?? assert.fail());
  const back = await browser.get(own.appUrl + removed.headers.get('location'));
  assert.match(back.body, /role="status".*Remove all 69 /s, 'it is the app’s page again');
  const whole = formsOf(back.body, '/account/apps/revoke').at(-1)?.fields ?? assert.fail();
  assert.deepEqual(Object.keys(whole).sort(), ['app', 'client_id', 'form_token']);
  const ended = await browser.post(`${url}/revoke`, whole, { 'Sec-Fetch-Site': 'same-origin' });
  const said = await browser.get(own.appUrl + ended.headers.get('location'));
  assert.match(said.body, /Often<\/bdi> was removed.*allow it again in the app.*No connected apps/s);
});

test('Promise 2: sensitive apps come first, then what was used last, and apps are found by name', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const browser = await signedInBrowser(own);
  const { scopes, operator } = own.installation;
  await scopes.define('pay', { en: 'Pay in your name' }, operator, 'sensitive');
  const allow = async (name: string, scope: string) => {
    own.clock.advance(11);
    const app = await addClient(own, { name, scopes: [{ name: scope, sentence: 'Do it', optional: false }] });
    return { app, pair: await obtainPair(own, browser, app) };
  };
  const old = await allow('Payments', 'pay');
  const first = await allow('Notes', 'read');
  for (let n = 0; n < 10; n += 1) await allow(`App ${n}`, 'read');
  own.clock.advance(60);
  assert.equal((await me(own, first.pair.accessToken)).status, 200);
  const url = `${own.appUrl}/account/apps`;
  const page = await browser.get(url);
  assert.deepEqual(namesIn(page).slice(0, 3), ['Payments', 'Notes', 'App 9']);
  assert.match(page.body, /1 sensitive<\/strong><span>2 permissions<\/span><span>Not used yet/);
  assert.match(page.body, /Last used <time[^>]*>today</);
  assert.match(page.body, /<form method="get" action="\/account\/apps"[^>]*role="search">/);
  assert.deepEqual(namesIn(await browser.get(`${url}?q=PAY`)), ['Payments']);
  const found = await browser.get(`${url}?q=notes`);
  assert.match((await browser.get(`${url}?q=%3Cb%3E`)).body, /No connected app has “<bdi>&lt;b&gt;<\/bdi>”/);
  assert.deepEqual(namesIn(await browser.get(`${url}?app=${old.app.clientId}`)), ['Payments']);
  assert.equal(
    namesIn(await browser.get(`${url}?app=nobody`)).length,
    12,
    'an app that is not connected shows the list',
  );
  assert.equal((await me(own, old.pair.accessToken)).status, 200, 'no GET changes access');
  const removed = await browser.submit(found, '/account/apps/revoke');
  assert.match(String(removed.headers.get('location')), /&q=notes$/, 'it is the page where the app was');
  assert.equal((await me(own, first.pair.accessToken)).status, 401);
});

test('how long access lasts stands on consent, and on the page with the dates of what was allowed', async (t) => {
  const own = await startTestService(t, {
    VALETKEY_REFRESH_TOKEN_MAX_TTL: '90d',
    VALETKEY_REFRESH_TOKEN_IDLE_TTL: '10d',
  });
  await addUser(own);
  const [app, browser] = [await addClient(own), await signedInBrowser(own)];
  const shown = async (by = browser) => {
    const { body } = await by.get(`${own.appUrl}/account/apps`);
    return body.replace(/<[^>]*>/g, '');
  };
  const consent = await browser.get(authorizeUrl(own, app));
  assert.match(consent.body, /for up to 90 days; ends after 10 days without use/);
  assert.ok(consent.body.indexOf('90 days') < consent.body.indexOf('value="allow"'), 'before the decision');
  const { refreshToken } = await obtainPair(own, browser, app);
  assert.match(await shown(), /Ends on 15 Apr 2026, or on 25 Jan 2026 if it isn’t used until then/);
  own.clock.advance(5 * 86_400);
  pairOf(await refresh(own, app, refreshToken));
  assert.match(await shown(await signedInBrowser(own)), /Ends on 15 Apr 2026, or on 30 Jan 2026 if/);
});

test('Promise 2: the page says that an app was removed only when it was', async () => {
  const app = await addClient(service, { name: 'Still there' });
  await obtainPair(service, ada, app);
  const other = await addClient(service, { name: 'Never there' });
  const isSaid = async (query: string, browser = ada) =>
    (await browser.get(`${appsUrl}?${query}`)).body.includes('role="status"');
  const { headers } = await ada.submit(await ada.get(appsUrl), '/account/apps/revoke', { client_id: app.clientId });
  const [, removed = ''] = String(headers.get('location')).split('?');
  assert.ok(await isSaid(removed));
  const mark = removed.split('&mark=')[1];
  const links = [`removed=${app.clientId}`, `removed=${app.clientId}&mark=x`, `removed=${other.clientId}&mark=${mark}`];
  for (const link of links) assert.ok(!(await isSaid(link)), 'anybody can make a link');
  assert.ok(!(await isSaid(removed, grace)), 'or pass one on');
  await obtainPair(service, ada, app);
  assert.ok(!(await isSaid(removed)));
});

test('Promise 2: what a page out of date asks for is not done, and the next page says so', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const browser = await signedInBrowser(own);
  const app = await addClient(own);
  const { accessToken } = await obtainPair(own, browser, app);
  const page = await browser.get(`${own.appUrl}/account/apps`);
  const press = (on: Visit) => browser.submit(on, '/account/apps/revoke', { client_id: app.clientId });
  own.clock.advance(601);
  const late = await press(page);
  assert.equal(late.status, 403);
  assert.match(late.body, /role="alert".*Nothing was removed yet/s);
  // As after a sign-in elsewhere, which leaves no mark of a known browser.
  browser.cookies.delete('valetkey_known');
  await browser.submit(await browser.get(`${own.appUrl}/sign-out`), '/sign-out');
  const signedOut = await press(late);
  assert.equal(signedOut.status, 403);
  assert.match(signedOut.body, /role="alert".*You were signed out.*name="password"/s);
  browser.cookies.clear();
  const blocked = await press(late);
  assert.equal(blocked.status, 403);
  assert.match(blocked.body, /role="alert".*Your browser blocks our cookies.*name="password"/s);
  assert.equal((await me(own, accessToken)).status, 200);
  await signIn(own, browser);
  assert.equal((await press(await browser.get(`${own.appUrl}/account/apps`))).status, 303);
  assert.equal((await me(own, accessToken)).status, 401);
});

test('who made an app, whether that was checked, and where it leads stand on consent and on the page', async () => {
  const vouched = {
    publisher: 'Maker & Co',
    homepage: 'https://maker.example/',
    contact: 'hi@maker.example',
    isChecked: true,
  };
  const app = await addClient(service, { name: 'Made', ...vouched });
  const consent = await ada.get(authorizeUrl(service, app));
  await obtainPair(service, ada, app);
  for (const { body } of [consent, await ada.get(appsUrl)]) {
    assert.match(body, /by <bdi>Maker &amp; Co<\/bdi>.*Checked by <bdi>Valetkey<\/bdi>/s);
    assert.match(body, /href="https:\/\/maker\.example\/".*href="mailto:hi@maker\.example"/s);
    assert.ok(body.includes('client.example'), 'the host');
  }
  await service.installation.clients.update(
    app.clientId,
    {
      redirectUris: ['https://client.example/callback', 'https://other.example/'],
    },
    service.installation.operator,
  );
  assert.doesNotMatch((await ada.get(authorizeUrl(service, app))).body, /Checked by/);
});

test('Promise 2: a second press and an app that was never allowed change nothing', async () => {
  const app = await addClient(service);
  await obtainPair(service, ada, app);
  const { accessToken } = await obtainPair(service, grace, app);
  const page = await ada.get(appsUrl);
  for (const time of ['first', 'second']) {
    const visit = await ada.submit(page, '/account/apps/revoke', { client_id: app.clientId });
    assert.equal(visit.status, 303);
    const said = await ada.get(new URL(String(visit.headers.get('location')), service.appUrl).href);
    assert.match(said.body, /role="status"/, `a ${time} press hears that it is so`);
  }
  const { fields } = formOf(page.body, '/account/apps/revoke');
  for (const clientId of ['', 'app_nobody', '__proto__'])
    for (const more of [{}, { grant_id: fields['grant_id'] ?? '' }]) {
      const press = { form_token: fields['form_token'] ?? '', client_id: clientId, ...more };
      assert.equal((await ada.post(`${appsUrl}/revoke`, press, { 'Sec-Fetch-Site': 'same-origin' })).status, 303);
    }
  assert.equal((await me(service, accessToken)).status, 200);
});

test('Promise 2: each installation of an agent is a line of its own, and is taken back alone', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const browser = await signedInBrowser(own);
  const id = 'https://agent.example/client.json';
  const document = { address: id, sha256: 'ab'.repeat(32), jwksUri: null, fetchedAt: own.clock.now() };
  const redirectUris = ['http://localhost/callback', 'https://agent.example/callback'];
  const { row: client } = await own.installation.clients.register(
    'public',
    { name: 'Agent', redirectUris },
    own.installation.operator,
    document,
  );
  const agent = { client, clientId: id, clientSecret: '' };
  const allow = async (redirect_uri: string) => {
    const { searchParams } = await allowOn(browser, await browser.get(standardUrl(own, agent, { redirect_uri })));
    own.clock.advance(1);
    return pairOf(await exchangeCode(own, agent, String(searchParams.get('code')), { redirect_uri }));
  };
  const [uri, other] = ['http://localhost:51001/callback', 'https://agent.example/callback'];
  const pairs = [await allow(uri), await allow(uri), await allow(other)];
  const isAlive = () => Promise.all(pairs.map(async ({ accessToken }) => (await me(own, accessToken)).status === 200));
  const page = await browser.get(`${own.appUrl}/account/apps`);
  assert.deepEqual(namesIn(page), ['Agent']);
  assert.match(page.body, /Remove all 3 /);
  assert.match(page.body, /Describes itself at <bdi[^>]*>agent\.example<\/bdi>/);
  const labels = [...page.body.matchAll(/Remove (<span class="unseen">.*?)<\/span>/g)].map(([, label]) => label);
  assert.equal(new Set(labels).size, 3, 'each button says which one it is');
  const [, second] = formsOf(page.body, '/account/apps/revoke');
  const removed = await browser.submit(page, '/account/apps/revoke', second?.fields ?? assert.fail());
  assert.deepEqual(await isAlive(), [true, false, true]);
  const back = await browser.get(own.appUrl + removed.headers.get('location'));
  assert.match(back.body, /role="status".*<bdi>Agent<\/bdi> was removed in one place/s);
  assert.match(back.body, /Remove all 2 /);
  const [event] = await own.installation.audit.listAuditEvents({ action: 'grant_revoked', limit: 1 });
  assert.ok(event?.grantId, 'the trail names the grant');
  for (const left of formsOf(back.body, '/account/apps/revoke'))
    await browser.submit(back, '/account/apps/revoke', left.fields);
  assert.deepEqual(await isAlive(), [false, false, false]);
});

test('RFC 6749 §10.12: nobody else can press the button', async () => {
  const app = await addClient(service);
  const { accessToken } = await obtainPair(service, ada, app);
  const page = await ada.get(appsUrl);
  const { fields } = formOf(page.body, '/account/apps/revoke');
  const press = { client_id: app.clientId };
  const site = { 'Sec-Fetch-Site': 'same-origin' };
  const visits = [
    await ada.submit(page, '/account/apps/revoke', press, { 'Sec-Fetch-Site': 'cross-site' }),
    await ada.submit(page, '/account/apps/revoke', { ...press, form_token: '' }),
    await grace.post(`${appsUrl}/revoke`, { ...fields, ...press }, site),
    await ada.post(`${appsUrl}/revoke`, { ...formOf(page.body, '/sign-out').fields, ...press }, site),
  ];
  assert.deepEqual(
    visits.map(({ status }) => status),
    [403, 403, 403, 403],
  );
  const get = await ada.get(`${appsUrl}/revoke?client_id=${app.clientId}`);
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST']);
  assert.equal((await me(service, accessToken)).status, 200);
});

describe('Promise 2: what an app has on a device, and what waits, is taken back alone', () => {
  /** A person of their own, an app for devices, and ways to allow it. */
  let people = 0;
  async function makeWorld() {
    const email = `person${people++}@example.com`;
    await addUser(service, email);
    const browser = await signedInBrowser(service, email);
    const app = await addClient(service, { name: 'Telly', deviceFlow: true });
    const beginDevice = async () => {
      const { body } = await postAs(service, app, 'device_authorization');
      const shown = await browser.get(String(body['verification_uri_complete']));
      const done = await browser.submit(shown, '/device', { decision: 'allow' });
      assert.match(done.body, /href="\/account\/apps"/, 'the page after Allow leads to the list');
      return () =>
        postAs(service, app, 'token', { grant_type: DEVICE_GRANT, device_code: String(body['device_code']) });
    };
    const connectDevice = async () => pairOf(await (await beginDevice())());
    const lines = async () => {
      const page = await browser.get(appsUrl);
      return formsOf(page.body, '/account/apps/revoke')
        .filter(({ fields }) => 'grant_id' in fields || 'waiting_id' in fields)
        .map(({ fields }) => ({ page, fields }));
    };
    const press = (fields: Record<string, string>, by = browser) =>
      by.post(`${appsUrl}/revoke`, fields, { 'Sec-Fetch-Site': 'same-origin' });
    /** What the page says after a press. */
    const said = async (visit: Visit) => {
      assert.equal(visit.status, 303);
      const page = await browser.get(new URL(String(visit.headers.get('location')), appsUrl).href);
      return /role="status".*?<\/svg><div>(.*?)<\/div>/s.exec(page.body)?.[1]?.replace(/<[^>]*>/g, '');
    };
    return { browser, app, beginDevice, connectDevice, lines, press, said };
  }
  const isGood = async ({ accessToken }: { accessToken: string }) => (await me(service, accessToken)).status === 200;

  test('OAuth 2.1 §7.9, Promise 2: two devices of an app are two lines, and the app elsewhere is a third', async () => {
    const { browser, app, connectDevice, lines, press, said } = await makeWorld();
    const pairs = [await obtainPair(service, browser, app)];
    for (let device = 0; device < 2; device += 1) {
      service.clock.advance(60);
      pairs.push(await connectDevice());
    }
    const shown = await lines();
    assert.equal(shown.length, 3);
    assert.equal(shown[0]?.page.body.match(/On a device/g)?.length, 2);
    assert.deepEqual(new Set(shown.map(({ fields }) => fields['client_id'])), new Set([app.clientId]));
    assert.equal(new Set(shown.map(({ fields }) => fields['grant_id'])).size, 3);
    const second = await press(shown[1]?.fields ?? {});
    assert.equal(
      await said(second),
      'Telly was removed from that device. The next request from there will be refused.',
    );
    assert.deepEqual(await Promise.all(pairs.map(isGood)), [true, false, true]);
    assert.match(
      String(await said(await press(shown[0]?.fields ?? {}))),
      /^Telly was removed, except on the devices that/,
    );
    assert.deepEqual(await Promise.all(pairs.map(isGood)), [false, false, true]);
    assert.equal((await lines()).length, 1);
    const all = { client_id: app.clientId, form_token: shown[2]?.fields['form_token'] ?? '' };
    pairs.push(await obtainPair(service, browser, app));
    assert.equal(
      await said(await press(all)),
      'Telly was removed. Its next request will be refused. To use it again, allow it again in the app.',
    );
    assert.deepEqual(await Promise.all(pairs.map(isGood)), [false, false, false, false], 'the client alone ends all');
    assert.deepEqual(await lines(), []);
  });

  test('OAuth 2.1 §7.9, Promise 2: a code and a device that were allowed wait there, and are taken back', async () => {
    const { browser, app, beginDevice, lines, press, said } = await makeWorld();
    const kept = await obtainPair(service, browser, app);
    const code = await obtainCode(service, browser, app);
    const poll = await beginDevice();
    const waiting = (await lines()).filter(({ fields }) => 'waiting_id' in fields);
    assert.equal(waiting.length, 2);
    assert.equal(waiting[0]?.page.body.match(/Waiting for the app/g)?.length, 2);
    for (const { fields } of waiting)
      assert.match(String(await said(await press(fields))), /^The access that was waiting for Telly/);
    assertRefused(await exchange(service, app, code), 400, 'invalid_grant');
    assertRefused(await poll(), 400, 'invalid_grant');
    assert.ok(await isGood(kept));
    assert.equal((await lines()).length, 1);
  });

  test('Promise 2: what was fetched after it was shown as waiting is taken back all the same, and nothing else', async () => {
    const { browser, app, beginDevice, lines, press } = await makeWorld();
    const kept = await obtainPair(service, browser, app);
    const code = await obtainCode(service, browser, app);
    const poll = await beginDevice();
    const waiting = (await lines()).filter(({ fields }) => 'waiting_id' in fields);
    const fetched = [pairOf(await exchange(service, app, code)), pairOf(await poll())];
    for (const { fields } of waiting) await press(fields);
    assert.deepEqual(await Promise.all([...fetched, kept].map(isGood)), [false, false, true]);
  });

  test('Promise 2: another person’s line, and one that is none, is not ended', async () => {
    const [one, other] = [await makeWorld(), await makeWorld()];
    const pair = await one.connectDevice();
    const code = await obtainCode(service, one.browser, one.app);
    const device = (await one.lines()).find(({ fields }) => 'grant_id' in fields);
    await other.connectDevice();
    const [own] = await other.lines();
    const form_token = own?.fields['form_token'] ?? '';
    for (const { fields } of await one.lines()) {
      const visit = await other.press({ ...fields, form_token });
      assert.deepEqual([visit.status, visit.headers.get('location')], [303, '/account/apps']);
    }
    for (const grant_id of ['x', '00000000-0000-0000-0000-000000000000'])
      await one.press({ ...device?.fields, grant_id });
    assert.ok(await isGood(pair));
    pairOf(await exchange(service, one.app, code));
    assert.equal((await other.lines()).length, 1);
  });
});

test('Promise 2: of 101 grants of one app the one that was used least recently ends', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const browser = await signedInBrowser(own);
  const app = await addClient(own, { consent: 'skip', deviceFlow: true });
  const stream = await RevocationStream.open(t, own, await addResourceServer(own));
  const fetch = async () => {
    own.clock.advance(11); // As often as one person may be asked about apps.
    const location = sentTo(await browser.get(standardUrl(own, app)));
    return pairOf(await exchangeCode(own, app, String(location.searchParams.get('code'))));
  };
  const pairs = [];
  for (let n = 0; n < 100; n += 1) pairs.push(await fetch());
  const [oldest, next] = pairs;
  own.clock.advance(1);
  assert.equal((await me(own, String(oldest?.accessToken))).status, 200);
  const [listed] = (await own.installation.grants.list({ limit: 100 })).slice(-2);
  const { body } = await postAs(own, app, 'device_authorization');
  const shown = await browser.get(String(body['verification_uri_complete']));
  await browser.submit(shown, '/device', { decision: 'allow' });
  const poll = { grant_type: DEVICE_GRANT, device_code: String(body['device_code']) };
  const device = pairOf(await postAs(own, app, 'token', poll));
  const statuses = [oldest, next, pairs[2], device].map(
    async (pair) => (await me(own, String(pair?.accessToken))).status,
  );
  assert.deepEqual(await Promise.all(statuses), [200, 401, 200, 200]);
  assertRefused(await refreshWith(own, app, String(next?.refreshToken)), 400, 'invalid_grant');
  await stream.next('revoked', { grant_id: grantIdText(listed?.grant.id as Buffer) });
  assert.equal((await auditActions(own)).filter((action) => action === 'too_many_grants').length, 1);
});
