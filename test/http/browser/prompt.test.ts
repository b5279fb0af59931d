import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser, formOf, type Visit } from '../../support/browser.ts';
import { signedInBrowser } from '../../support/flow.ts';
import { requestHead, sendRaw } from '../../support/raw-http.ts';
import { addClient, addUser, PASSWORD, startTestService } from '../../support/service.ts';
import { allowOn, authorizationRequest, postAs, sentTo, standardUrl } from '../../support/standard.ts';
import { secondConnection, temporaryPath } from '../../support/storage.ts';

const service = await startTestService({ after });
await addUser(service);
await addUser(service, 'grace@example.com', 'Grace Example');
const client = await addClient(service, { name: 'Bank' });
const skipping = await addClient(service, { consent: 'skip' });
const login = standardUrl(service, client, { prompt: 'login' });

const asksForPassword = ({ status, body }: Visit) => status === 200 && body.includes('name="password"');
const asksForConsent = ({ status, body }: Visit) => status === 200 && body.includes('value="allow"');
const errorOf = (visit: Visit) => sentTo(visit).searchParams.get('error');

/** Signs in on a page that asks for it, and answers the address that the browser is sent to. */
async function signInOn(browser: Browser, page: Visit, email = 'ada@example.com'): Promise<string> {
  assert.ok(asksForPassword(page));
  const { status, headers } = await browser.submit(page, '/sign-in', { email, password: PASSWORD });
  assert.equal(status, 303);
  return new URL(String(headers.get('location')), page.url).href;
}

describe('OpenID Connect Core §3.1.2.1: prompt=none shows no page', () => {
  const none = { prompt: 'none' };

  test('OpenID Connect Core §3.1.2.6: nobody signed in is login_required', async () => {
    assert.equal(errorOf(await new Browser().get(standardUrl(service, client, none))), 'login_required');
  });

  test('OpenID Connect Core §3.1.2.6: a session that is over is login_required', async () => {
    const browser = await signedInBrowser(service);
    await browser.submit(await browser.get(`${service.appUrl}/sign-out`), '/sign-out');
    assert.equal(errorOf(await browser.get(standardUrl(service, skipping, none))), 'login_required');
  });

  test('OpenID Connect Core §3.1.2.6: somebody who would be asked is consent_required, and nothing is granted', async () => {
    const browser = await signedInBrowser(service);
    assert.equal(errorOf(await browser.get(standardUrl(service, client, none))), 'consent_required');
    assert.deepEqual(await service.installation.grants.list({ clientId: client.clientId, limit: 1 }), []);
  });

  test('OpenID Connect Core §3.1.2.1: where nobody need be asked, the code comes at once', async () => {
    const browser = await signedInBrowser(service);
    const { searchParams } = sentTo(await browser.get(standardUrl(service, skipping, none)));
    assert.deepEqual([...searchParams.keys()], ['code', 'state', 'iss']);
  });
});

/** Asserts that an app hears at its redirect URI that it may try again. */
function assertNotNow(visit: Visit): void {
  const { searchParams } = sentTo(visit);
  assert.deepEqual([...searchParams.keys()], ['error', 'error_description', 'state', 'iss']);
  assert.equal(searchParams.get('error'), 'temporarily_unavailable');
}

test('OpenID Connect Core §3.1.2.6, RFC 6749 §4.1.2.1: prompt=none meets no page over a limit of visits, but an error at a redirect URI that is registered', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const [app, browser] = [await addClient(own, { consent: 'skip' }), await signedInBrowser(own)];
  await sendRaw(
    own.appUrl,
    requestHead(own.appUrl, 'GET /oauth2/authorize', { Connection: 'keep-alive' }).repeat(6000) +
      requestHead(own.appUrl, 'GET /oauth2/authorize', { Connection: 'close' }),
  );
  assertNotNow(await browser.get(standardUrl(own, app, { prompt: 'none' })));
  assert.equal((await browser.get(standardUrl(own, app))).status, 429, 'a person can reload a page');
  const elsewhere = { prompt: 'none', redirect_uri: 'https://other.example/' };
  assert.equal((await browser.get(standardUrl(own, app, elsewhere))).status, 429);
  assert.deepEqual(await own.installation.grants.list({ clientId: app.clientId, limit: 1 }), []);
});

test('OpenID Connect Core §3.1.2.6, RFC 6749 §4.1.2.1: prompt=none meets no page over the limit of decisions', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const [app, browser] = [await addClient(own, { consent: 'skip' }), await signedInBrowser(own)];
  const none = standardUrl(own, app, { prompt: 'none' });
  for (let decisions = 0; decisions < 60; decisions += 1) sentTo(await browser.get(none));
  assertNotNow(await browser.get(none));
  assert.equal((await browser.get(standardUrl(own, app))).status, 429);
});

test('OpenID Connect Core §3.1.2.6, RFC 6749 §4.1.2.1: prompt=none meets no page while the store cannot serve', async (t) => {
  const path = temporaryPath(t);
  const variables = { VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS_FILE: `${path}.keys` };
  const own = await startTestService(t, variables, undefined, { lockTimeout: 50 });
  await addUser(own);
  const [app, browser] = [await addClient(own, { consent: 'skip' }), await signedInBrowser(own)];
  const other = secondConnection(t, path);
  other.exec('BEGIN IMMEDIATE');
  assertNotNow(await browser.get(standardUrl(own, app, { prompt: 'none' })));
  assert.equal((await browser.get(standardUrl(own, app))).status, 503, 'a person can reload a page');
  other.exec('ROLLBACK');
  assert.ok(sentTo(await browser.get(standardUrl(own, app, { prompt: 'none' }))).searchParams.has('code'));
});

describe('OpenID Connect Core §3.1.2.1: prompt=login needs a sign-in for this very request', () => {
  test('OpenID Connect Core §3.1.2.1: who is signed in signs in again, and goes on', async () => {
    const browser = await signedInBrowser(service);
    service.clock.advance(1);
    const page = await browser.get(login);
    assert.match(page.body, /<bdi[^>]*>Bank<\/bdi> asks you to sign in again/);
    assert.match(page.body, /name="email"[^>]* value="ada@example.com"/);
    const back = await signInOn(browser, page);
    const consent = await browser.get(back);
    assert.ok(asksForConsent(consent));
    assert.ok((await allowOn(browser, consent)).searchParams.has('code'));
  });

  test('OpenID Connect Core §3.1.2.1: after a wrong password the page still says why it asks again', async () => {
    const asksAgain = /asks you to sign in again/;
    const email = 'ada@example.com';
    const browser = await signedInBrowser(service);
    service.clock.advance(1);
    const wrong = await browser.submit(await browser.get(login), '/sign-in', { email, password: 'wrong' });
    assert.match(wrong.body, asksAgain);
    service.clock.advance(6 * 3600);
    await browser.get(`${service.appUrl}/account/apps`);
    service.clock.advance(6 * 3600 + 1);
    const late = await browser.submit(wrong, '/sign-in', { email, password: PASSWORD });
    assert.ok(
      late.status === 403 && asksAgain.test(late.body) && late.body.includes('role="alert"'),
      'or a form too old',
    );
    const nobody = new Browser();
    const first = await nobody.submit(await nobody.get(login), '/sign-in', { email, password: 'wrong' });
    assert.doesNotMatch(first.body, asksAgain);
    assert.match(first.body, /to continue to <bdi[^>]*>Bank</);
  });

  test('OpenID Connect Core §3.1.2.1: who was not signed in signs in once', async () => {
    const browser = new Browser();
    const consent = await browser.get(await signInOn(browser, await browser.get(login)));
    assert.ok(asksForConsent(consent));
    assert.ok((await allowOn(browser, consent)).searchParams.has('code'));
  });

  test('OpenID Connect Core §3.1.2.1: another person may sign in, and is the one who is asked', async () => {
    const browser = await signedInBrowser(service);
    service.clock.advance(1);
    const back = await signInOn(browser, await browser.get(login), 'grace@example.com');
    assert.match((await browser.get(back)).body, /grace@example\.com/);
  });

  test('OpenID Connect Core §3.1.2.1: a mark helps no session that was there before it', async () => {
    const browser = await signedInBrowser(service);
    service.clock.advance(1);
    const { continue: marked = '' } = formOf((await browser.get(login)).body, '/sign-in').fields;
    assert.match(marked, /&signed_after=/);
    assert.ok(asksForPassword(await browser.get(service.appUrl + marked)));
    const other = await signedInBrowser(service);
    assert.ok(asksForConsent(await other.get(service.appUrl + marked)), 'but one that came after it');
  });

  test('OpenID Connect Core §3.1.2.1: a mark that is old, forged, or of another request helps nobody', async () => {
    const browser = new Browser();
    const marked = new URL(await signInOn(browser, await browser.get(login)));
    const mark = String(marked.searchParams.get('signed_after'));
    const [time = '', mac = ''] = mark.split('.');
    const earlier = (Number.parseInt(time, 36) - 60_000).toString(36);
    const foreign = formOf((await browser.get(login)).body, '/sign-in').fields['form_token'];
    const forged = ['', 'x', `${earlier}.${mac}`, `${time}.${'A'.repeat(43)}`, `${time}.`, String(foreign), `${mark}x`];
    for (const signed_after of forged)
      assert.ok(
        asksForPassword(await browser.get(standardUrl(service, client, { prompt: 'login', signed_after }))),
        signed_after,
      );
    const others = [{ state: 'other' }, { scope: '', resource: service.apiUrl }, { code_challenge: 'x'.repeat(43) }];
    for (const parameters of others) {
      const url = standardUrl(service, client, { prompt: 'login', signed_after: mark, ...parameters });
      assert.ok(asksForPassword(await browser.get(url)), JSON.stringify(parameters));
    }
    const other = await addClient(service);
    assert.ok(asksForPassword(await browser.get(standardUrl(service, other, { prompt: 'login', signed_after: mark }))));
    assert.ok(asksForConsent(await browser.get(marked.href)), 'and its own is good');
    service.clock.advance(601);
    assert.ok(asksForPassword(await browser.get(marked.href)), 'for ten minutes');
  });

  test('OpenID Connect Core §3.1.2.1: whose sign-in page was open for hours types the password once', async () => {
    const browser = new Browser();
    const page = await browser.get(login);
    service.clock.advance(11 * 3600);
    assert.ok(asksForConsent(await browser.get(await signInOn(browser, page))));
  });

  test('OpenID Connect Core §3.1.2.1: marks do not pile up in the address', async () => {
    const browser = new Browser();
    let url = login;
    for (let turn = 0; turn < 3; turn++) {
      service.clock.advance(601);
      url = await signInOn(browser, await browser.get(url));
      assert.equal(new URL(url).searchParams.getAll('signed_after').length, 1);
    }
    assert.ok(asksForConsent(await browser.get(url)));
  });

  test('OpenID Connect Core §3.1.2.1: wherever a link puts a mark, the newest alone comes back', async () => {
    const browser = new Browser();
    const { search } = new URL(login);
    for (const query of [
      `?signed_after=x&${search.slice(1)}`,
      `?signed%5Fin_after=x&${search.slice(1)}`,
      `${search}&signed_after`,
    ]) {
      const back = await signInOn(browser, await browser.get(`${service.appUrl}/oauth2/authorize${query}`));
      assert.ok(asksForConsent(await browser.get(back)), query);
      service.clock.advance(1);
    }
  });

  test('OpenID Connect Core §3.1.2.1: the consent form honours it too', async () => {
    const browser = await signedInBrowser(service);
    const shown = await browser.get(standardUrl(service, client, { prompt: 'consent' }));
    service.clock.advance(1);
    const { fields } = formOf(shown.body, '/oauth2/authorize');
    const visit = await browser.post(login, { ...fields, decision: 'allow' }, { 'Sec-Fetch-Site': 'same-origin' });
    const location = visit.headers.get('location') ?? '';
    assert.deepEqual([visit.status, service.appUrl + location], [303, login]);
    assert.ok(asksForPassword(await browser.get(login)));
  });

  test('OpenID Connect Core §3.1.2.1: no policy of consent goes around it, and login consent asks for both', async () => {
    const browser = await signedInBrowser(service);
    service.clock.advance(1);
    const page = await browser.get(standardUrl(service, skipping, { prompt: 'login' }));
    assert.ok(sentTo(await browser.get(await signInOn(browser, page))).searchParams.has('code'));
    service.clock.advance(1);
    const both = await browser.get(standardUrl(service, skipping, { prompt: 'login consent' }));
    assert.ok(asksForConsent(await browser.get(await signInOn(browser, both))));
  });

  test('RFC 9126 §4: a pushed request demands it as well', async () => {
    const pushed = authorizationRequest(client, { prompt: 'login', login_hint: 'ada@example.com' });
    const { body } = await postAs(service, client, 'par', pushed);
    const reference = new URLSearchParams({ client_id: client.clientId, request_uri: String(body['request_uri']) });
    const url = `${service.appUrl}/oauth2/authorize?${reference}`;
    const browser = await signedInBrowser(service);
    service.clock.advance(1);
    for (const added of ['', '&prompt=consent', '&signed_after=x']) {
      const page = await browser.get(url + added);
      assert.ok(asksForPassword(page), added);
      assert.match(page.body, /value="ada@example\.com"/);
    }
    const consent = await browser.get(await signInOn(browser, await browser.get(url)));
    assert.ok((await allowOn(browser, consent)).searchParams.has('code'));
  });
});

test('OpenID Connect Core §3.1.2.1: prompt=consent asks where nobody would be asked', async () => {
  const browser = await signedInBrowser(service);
  assert.ok(asksForConsent(await browser.get(standardUrl(service, skipping, { prompt: 'consent' }))));
});

test('interface: the published face knows no prompt and no hint', async () => {
  const browser = await signedInBrowser(service);
  service.clock.advance(1);
  const published = standardUrl(service, client, { prompt: 'login none x', login_hint: 'grace@example.com' });
  assert.ok(asksForConsent(await browser.get(published.replace('/oauth2/', '/auth/oauth2/'))));
});
