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
  assert.equal(visit.headers.get('location'), `/account/apps?revoked=${two.clientId}`);
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
  const isSaid = async (clientId: string) =>
    (await ada.get(`${appsUrl}?revoked=${clientId}`)).body.includes('role="status"');
  assert.deepEqual([await isSaid(app.clientId), await isSaid('app_nobody')], [false, false], 'anybody can make a link');
  await ada.submit(await ada.get(appsUrl), '/account/apps/revoke', { client_id: app.clientId });
  assert.equal(await isSaid(app.clientId), true);
});

test('Promise 2: a second press and an app that was never allowed change nothing', async () => {
  const app = await addClient(service);
  await obtainPair(service, ada, app);
  const { accessToken } = await obtainPair(service, grace, app);
  const page = await ada.get(appsUrl);
  for (const location of [`/account/apps?revoked=${app.clientId}`, '/account/apps']) {
    const visit = await ada.submit(page, '/account/apps/revoke', { client_id: app.clientId });
    assert.deepEqual([visit.status, visit.headers.get('location')], [303, location]);
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
