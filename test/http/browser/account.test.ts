/** The home of a signed-in user: what it shows, and the one act that it has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formOf } from '../../support/browser.ts';
import { auditActions, authorizeUrl, me, obtainPair, signedInBrowser, signIn } from '../../support/flow.ts';
import { textOf } from '../../support/html.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';

const EVERYWHERE = '/account/sign-out-everywhere';

test('the home says which apps can use the account, where its user is signed in, and what happened of late', async (t) => {
  const service = await startTestService(t, { VALETKEY_REFRESH_TOKEN_IDLE_TTL: '90d' });
  for (const name of ['ada', 'grace']) await addUser(service, `${name}@example.com`, `${name} example`);
  const [browser, other] = [await signedInBrowser(service), await signedInBrowser(service, 'grace@example.com')];
  const [wanted, old, denied] = [
    await addClient(service, { name: 'Wanted' }),
    await addClient(service, { name: 'Old' }),
    await addClient(service, { name: 'Denied' }),
  ];
  const url = `${service.appUrl}/account`;
  assert.match(textOf((await browser.get(url)).body), /Hello, ada example .*No app can use your account/);
  await obtainPair(service, browser, old);
  service.clock.advance(31 * 86_400);
  await signIn(service, browser);
  await obtainPair(service, browser, wanted);
  await browser.submit(await browser.get(authorizeUrl(service, denied)), '/auth/oauth2/authorize', {
    decision: 'deny',
  });
  const page = await browser.get(url);
  const text = textOf(page.body);
  assert.match(text, /2 apps can use your account\. Used or allowed in the last 30 days: Wanted See/);
  assert.match(text, /Since .*, with your Valetkey account This browser/);
  assert.match(text, /You denied Denied access .*Wanted was allowed .*You signed in .*Old was allowed .*You signed in/);
  assert.doesNotMatch(textOf((await other.get(url)).body), /Wanted|Denied|Old/, 'another person sees nothing of it');
  service.clock.advance(91 * 86_400);
  await signIn(service, browser);
  assert.doesNotMatch(textOf((await browser.get(url)).body), /was allowed to use/, 'activity is that of 90 days');
});

test('ASVS 7.5.2: one press signs its user out everywhere, and nobody else; apps stay', async (t) => {
  const service = await startTestService(t);
  for (const name of ['ada', 'grace']) await addUser(service, `${name}@example.com`);
  const [here, there] = [await signedInBrowser(service), await signedInBrowser(service)];
  const other = await signedInBrowser(service, 'grace@example.com');
  const { accessToken } = await obtainPair(service, here, await addClient(service));
  const url = `${service.appUrl}/account`;
  const isSignedIn = async (by: typeof here) => (await by.get(url)).body.includes('Where you are signed in');
  const page = await here.get(url);
  assert.equal(page.body.match(/with your <bdi>Valetkey/g)?.length, 2);
  const apps = await here.get(`${service.appUrl}/account/apps`);
  const { form_token = '' } = formOf(apps.body, '/account/apps/revoke').fields;
  const refused = [
    await here.submit(page, EVERYWHERE, {}, { 'Sec-Fetch-Site': 'cross-site' }),
    await here.submit(page, EVERYWHERE, { form_token }),
    await other.submit(page, EVERYWHERE),
  ];
  assert.deepEqual(
    refused.map(({ status }) => status),
    [403, 403, 403],
  );
  assert.match(String(refused[1]?.body), /role="alert".*Nobody was signed out/s);
  assert.equal((await here.get(service.appUrl + EVERYWHERE)).status, 405, 'no GET signs anybody out');
  assert.ok((await isSignedIn(here)) && (await isSignedIn(there)));
  const done = await here.submit(page, EVERYWHERE);
  assert.deepEqual([done.status, done.headers.get('location')], [303, '/sign-out']);
  assert.deepEqual([await isSignedIn(here), await isSignedIn(there), await isSignedIn(other)], [false, false, true]);
  assert.equal((await auditActions(service)).at(-1), 'user_sessions_ended');
  assert.equal((await me(service, accessToken)).status, 200);
});
