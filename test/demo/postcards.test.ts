// Postcards, the third-party app of the demonstration, driven as two browsers would: one for its pages, one for Valetkey's.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { listenFrom } from '../../demo/free-ports.ts';
import { runPostcards } from '../../demo/postcards/server.ts';
import { Browser, type Visit } from '../support/browser.ts';
import { signedInBrowser } from '../support/flow.ts';
import { addClient, addUser, freePort, startTestService, type TestService } from '../support/service.ts';

type World = { service: TestService; url: string; person: Browser; visitor: Browser };

async function setUp(t: TestContext): Promise<World> {
  const service = await startTestService(t);
  await addUser(service);
  const server = await listenFrom(await freePort());
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const client = await addClient(service, { redirectUris: [redirectUri] });
  const postcards = runPostcards(server, { ...service, ...client, redirectUri });
  t.after(() => postcards.stop());
  return { service, url: postcards.url, person: await signedInBrowser(service), visitor: new Browser() };
}

/** Presses Connect and decides at Valetkey; answers where the browser is sent back to. */
async function connect({ url, person, visitor }: World, decision: 'allow' | 'deny'): Promise<string> {
  const start = await visitor.get(url);
  const sent = await visitor.submit(start, '/connect');
  const consent = await person.get(sent.headers.get('location') ?? '');
  const decided = await person.submit(consent, '/auth/oauth2/authorize', { decision });
  return decided.headers.get('location') ?? '';
}

/** Presses a button of the page behind the connection. */
async function press({ url, visitor }: World, page: Visit, action: string): Promise<Visit> {
  const posted = await visitor.submit(page, action);
  assert.equal(posted.headers.get('location'), '/connected');
  return visitor.get(`${url}/connected`);
}

const pairsIn = (page: Visit) => new Set(page.body.match(/vk_[ar]t_…[\w-]{6}/g));

test('connecting shows whose account it is, and every secret only by its ends', async (t) => {
  const world = await setUp(t);
  const back = await connect(world, 'allow');
  const answered = await world.visitor.get(back);
  assert.equal(answered.headers.get('location'), '/connected');
  const page = await world.visitor.get(`${world.url}/connected`);
  assert.match(page.body, /<h1>Ada, you’re connected<\/h1>/);
  assert.equal(pairsIn(page).size, 2);
  assert.match(page.body, /client_secret=vk_cs_…/);
  assert.doesNotMatch(page.body, /vk_(at|rt|ac|cs)_[\w-]{8}/);
  for (const secret of new URL(back).searchParams.values()) assert.ok(!page.body.includes(secret), secret);
});

test('refreshing brings new tokens; once the access is taken back, both tokens are refused', async (t) => {
  const world = await setUp(t);
  await world.visitor.get(await connect(world, 'allow'));
  let page = await world.visitor.get(`${world.url}/connected`);
  page = await press(world, page, '/refresh');
  assert.match(page.body, /Two new tokens came/);
  assert.equal(pairsIn(page).size, 4);
  page = await press(world, page, '/check');
  assert.match(page.body, /The token works/);

  const apps = await world.person.get(`${world.service.appUrl}/account/apps`);
  await world.person.submit(apps, '/account/apps/revoke');
  page = await press(world, page, '/check');
  assert.match(page.body, /The token is refused<\/strong> <code>invalid_token/);
  page = await press(world, page, '/refresh');
  assert.match(page.body, /There are no new tokens<\/strong> <code>invalid_grant/);
});

test('Deny is taken kindly, and nothing is known', async (t) => {
  const world = await setUp(t);
  const page = await world.visitor.get(await connect(world, 'deny'));
  assert.match(page.body, /nothing was shared.*error=access_denied/s);
  assert.equal((await world.visitor.get(`${world.url}/connected`)).headers.get('location'), '/');
});

test('an answer counts only in the browser that asked, with its state, and once', async (t) => {
  const world = await setUp(t);
  const back = await connect(world, 'allow');
  const forged = new URL(back);
  forged.searchParams.set('state', 'x'.repeat(43));
  assert.equal((await new Browser().get(back)).status, 400);
  assert.equal((await world.visitor.get(forged.href)).status, 400);
  assert.equal((await world.visitor.get(back)).status, 303);
  assert.equal((await world.visitor.get(back)).status, 400);
});

test('a form counts only from its own pages', async (t) => {
  const world = await setUp(t);
  for (const Origin of ['https://evil.example', 'null', undefined]) {
    const posted = await world.visitor.post(`${world.url}/connect`, {}, { Origin });
    assert.equal(posted.status, 403, Origin);
  }
});

test('under another name of this machine, Postcards leads to its own', async (t) => {
  const { url, visitor } = await setUp(t);
  const visit = await visitor.get(url.replace('127.0.0.1', 'localhost'));
  assert.equal(visit.headers.get('location'), url);
});

test('when Valetkey is gone, the page says so', async (t) => {
  const world = await setUp(t);
  await world.visitor.get(await connect(world, 'allow'));
  const page = await world.visitor.get(`${world.url}/connected`);
  await world.service.stop();
  const answer = await press(world, page, '/check');
  assert.match(answer.body, /Valetkey didn’t answer/);
});
