/** What an app gets of a person, as the operator chose it: on consent, in the check, at introspection, and when it changes. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { PersonField } from '../../../src/oauth/grants/person-fields.ts';
import type { Browser } from '../../support/browser.ts';
import {
  authorizeUrl,
  exchange,
  me,
  obtainPair,
  pairOf,
  refresh,
  signedInBrowser,
  type TestClient,
} from '../../support/flow.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';
import { addResourceServer, DEVICE_GRANT, introspect, postAs } from '../../support/standard.ts';

const service = await startTestService({ after });
const account = await addUser(service);
const { accounts, clients, operator } = service.installation;
await accounts.update(account.id, { username: 'ada' }, operator);
const ada = await signedInBrowser(service);
const api = await addResourceServer(service);

const seen = async (accessToken: string) => {
  const { data } = (await me(service, accessToken)).body as { data: Record<string, unknown> };
  return Object.fromEntries(Object.entries(data).filter(([name]) => name !== 'id'));
};
const ALL = { name: 'Ada Example', username: 'ada', email: 'ada@example.com', avatar_url: null };

test('/v2/me shows an app what the operator chose for it, and null in place of the rest; all by default', async () => {
  const cases: [PersonField[] | undefined, Partial<typeof ALL>, string][] = [
    [undefined, ALL, 'Your name, username and email'],
    [['email'], { email: 'ada@example.com' }, 'Your email'],
    [['name', 'avatar_url'], { name: 'Ada Example' }, 'Your name'],
    [['username'], { username: 'ada' }, 'Your username'],
    [[], {}, 'Only an ID'],
  ];
  const nothing = { name: null, username: null, email: null, avatar_url: null };
  for (const [personFields, expected, said] of cases) {
    const app = await addClient(service, personFields ? { personFields } : {});
    const page = await ada.get(authorizeUrl(service, app));
    assert.ok(page.body.includes(said), 'consent says it, as far as the account has it');
    const { accessToken } = await obtainPair(service, ada, app);
    assert.deepEqual(await seen(accessToken), { ...nothing, ...expected });
    assert.deepEqual(await seen(accessToken), { ...nothing, ...expected }, 'also of a known token');
    const { body } = await introspect(service, api, accessToken);
    assert.equal(body['username'], expected.username);
    assert.equal(body['sub'], account.id, 'who it is, in any case');
  }
});

test('what an app gets stands on the grant: more is asked for, less holds from the next Allow on', async () => {
  const app = await addClient(service, { consent: 'remember', personFields: ['name'] });
  const { accessToken, refreshToken } = await obtainPair(service, ada, app);
  const isAsked = async () => (await ada.get(authorizeUrl(service, app))).status === 200;
  assert.equal(await isAsked(), false);
  await clients.update(app.clientId, { personFields: ['name', 'email'] }, operator);
  assert.deepEqual((await seen(accessToken))['email'], null, 'nobody allowed that');
  const { body } = await refresh(service, app, refreshToken);
  assert.deepEqual((await seen(String(body['access_token'])))['email'], null, 'nor by a refresh');
  const page = await ada.get(authorizeUrl(service, app));
  assert.match(page.body, /to do more with.*can also.*Your name and email/s);
  const wider = await obtainPair(service, ada, app);
  assert.equal((await seen(wider.accessToken))['email'], 'ada@example.com');
  assert.equal(await isAsked(), false);
  await clients.update(app.clientId, { personFields: [] }, operator);
  assert.equal(await isAsked(), false);
  assert.equal((await seen(wider.accessToken))['email'], 'ada@example.com', 'as it was allowed');
});

test('a page from before the operator chose more is not taken', async () => {
  const app = await addClient(service, { personFields: [] });
  const page = await ada.get(authorizeUrl(service, app));
  await clients.update(app.clientId, { personFields: ['email'] }, operator);
  const pressed = await ada.submit(page, '/auth/oauth2/authorize', { decision: 'allow' });
  assert.equal(pressed.status, 403);
  assert.match(pressed.body, /Your email.*the page has changed/s);
});

/** Somebody with a name and an address, and no user name yet. */
async function newPerson(email: string) {
  const { id } = await addUser(service, email, 'Lin Example');
  const browser = await signedInBrowser(service, email);
  return { browser, setUsername: () => accounts.update(id, { username: `u${id.slice(4, 12)}` }, operator) };
}

/** The pair of an app that is allowed without a question. */
async function unasked(browser: Browser, app: TestClient) {
  const { searchParams } = new URL(String((await browser.get(authorizeUrl(service, app))).headers.get('location')));
  return pairOf(await exchange(service, app, String(searchParams.get('code'))));
}

test('Promise 1: what an account gets later is told to no app whose consent did not name it, and asked for then', async () => {
  const { browser, setUsername } = await newPerson('lin@example.com');
  const app = await addClient(service, { consent: 'remember' });
  const isAsked = async () => (await browser.get(authorizeUrl(service, app))).status === 200;
  const { accessToken, refreshToken } = await obtainPair(service, browser, app);
  const remembered = await unasked(browser, app);
  await setUsername();
  assert.equal((await seen(remembered.accessToken))['username'], null);
  assert.equal((await seen(accessToken))['username'], null);
  const { body } = await refresh(service, app, refreshToken);
  assert.equal((await seen(String(body['access_token'])))['username'], null);
  assert.equal((await introspect(service, api, accessToken)).body['username'], undefined);
  const page = await browser.get(authorizeUrl(service, app));
  assert.match(page.body, /to do more with.*can also.*Your name, username and email/s);
  const wider = await obtainPair(service, browser, app);
  assert.match(String((await seen(wider.accessToken))['username']), /^u/);
  assert.equal((await seen(accessToken))['username'], null, 'each grant tells what was shown for it');
  assert.equal(await isAsked(), false);
});

test('a page from before the account got more is not taken', async () => {
  const { browser, setUsername } = await newPerson('max@example.com');
  const app = await addClient(service);
  const page = await browser.get(authorizeUrl(service, app));
  await setUsername();
  const pressed = await browser.submit(page, '/auth/oauth2/authorize', { decision: 'allow' });
  assert.equal(pressed.status, 403);
  assert.match(pressed.body, /Your name, username and email.*the page has changed/s);
});

test('an app whose consent is skipped gets what the operator chose, also what an account gets later', async () => {
  const { browser, setUsername } = await newPerson('kim@example.com');
  const app = await addClient(service, { consent: 'skip' });
  const { accessToken } = await unasked(browser, app);
  await setUsername();
  assert.match(String((await seen(accessToken))['username']), /^u/);
});

test('RFC 8628 §3.3: a device gets what the page named of the person, and nothing that the account gets later', async () => {
  const { browser, setUsername } = await newPerson('eve@example.com');
  const app = await addClient(service, { deviceFlow: true }, 'public');
  const { body: asked } = await postAs(service, app, 'device_authorization');
  const page = await browser.get(String(asked['verification_uri_complete']));
  assert.equal((await browser.submit(page, '/device', { decision: 'allow' })).status, 200);
  const fields = { grant_type: DEVICE_GRANT, device_code: String(asked['device_code']) };
  const { body } = await postAs(service, app, 'token', fields);
  await setUsername();
  const told = await seen(String(body['access_token']));
  assert.deepEqual([told['name'], told['username']], ['Lin Example', null]);
});
