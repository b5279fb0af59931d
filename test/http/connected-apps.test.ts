import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formOf, type Visit } from '../support/browser.ts';
import {
  assertRefused,
  auditActions,
  authorizeUrl,
  me,
  obtainPair,
  refresh,
  signedInBrowser,
  signIn,
} from '../support/flow.ts';
import { addClient, addUser, startTestService } from '../support/service.ts';

const service = await startTestService({ after });
for (const name of ['ada', 'grace']) await addUser(service, `${name}@example.com`, `${name} example`);
const [ada, grace] = [await signedInBrowser(service), await signedInBrowser(service, 'grace@example.com')];
const appsUrl = `${service.appUrl}/account/apps`;

function namesIn({ body }: Visit): string[] {
  return [...body.matchAll(/<h2><bdi[^>]*>([^<]*)/g)].map(([, name = '']) => name);
}

test('Promise 2: taking an app back ends all of it at once, and nothing of anybody else', async () => {
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
  await browser.submit(await browser.get(`${own.appUrl}/sign-out`), '/sign-out');
  const signedOut = await press(late);
  assert.equal(signedOut.status, 403);
  assert.match(signedOut.body, /role="alert".*You were signed out.*name="password"/s);
  assert.equal((await me(own, accessToken)).status, 200);
  await signIn(own, browser);
  assert.equal((await press(await browser.get(`${own.appUrl}/account/apps`))).status, 303);
  assert.equal((await me(own, accessToken)).status, 401);
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
  for (const clientId of ['', 'app_nobody', '__proto__'])
    assert.equal((await ada.submit(page, '/account/apps/revoke', { client_id: clientId })).status, 303);
  assert.equal((await me(service, accessToken)).status, 200);
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
