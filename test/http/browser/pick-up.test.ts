/** Hand-overs on the wire: one-time addresses at which a developer makes a secret that no operator knows. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Client, ClientSettings } from '../../../src/oauth/clients/client.ts';
import { Browser, type PostedFields, type Visit } from '../../support/browser.ts';
import { exchange, obtainCode, pairOf, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, REDIRECT_URI, startTestService, type TestService } from '../../support/service.ts';

const service = await startTestService({ after });
await addUser(service);

const PATH = '/developers/pick-up';
const HOUR = 3600;

/** Registers an app that has no secret yet, and hands it over. */
async function handedOver(
  settings: Partial<ClientSettings> = {},
  own: TestService = service,
  type: 'confidential' | 'public' = 'confidential',
): Promise<{ client: Client; address: string }> {
  const { clients, handOvers, operator } = own.installation;
  const said = { name: 'Acme Mail', redirectUris: [REDIRECT_URI], ...settings };
  const { row: client, secret: clientSecret, handOver } = await clients.register(type, said, operator, null, true);
  assert.equal(clientSecret, null);
  const { address } = handOvers.addressOf(handOver ?? assert.fail(), { kind: 'client', row: client });
  return { client, address };
}

async function newAddress({ id }: Pick<Client, 'id'>, { installation }: TestService = service): Promise<string> {
  return (await installation.handOvers.make({ kind: 'client', id }, installation.operator)).address;
}

const press = (browser: Browser, page: Visit, fields: PostedFields = {}, headers = {}) =>
  browser.submit(page, PATH, fields, headers);

/** Opens an address and presses the button. */
async function pickUp(address: string, browser = new Browser()): Promise<Visit> {
  return press(browser, await browser.get(address));
}

const EARLIER = /The earlier secret keeps working/;
const secretIn = ({ body }: Visit) => /vk_[crp]s_[A-Za-z0-9_-]+/.exec(body)?.[0] ?? null;
const secretsOf = async ({ id }: Pick<Client, 'id'>, own = service) =>
  (await own.installation.clients.show(id)).secrets;

function assertDead(visit: Visit): void {
  assert.equal(visit.status, 400);
  assert.match(visit.body, /This link doesn’t work any more.*Ask the person who sent you this link for a new one/s);
  assert.equal(secretIn(visit), null);
}

function assertUsed(visit: Visit): void {
  assert.equal(visit.status, 400);
  assert.match(visit.body, /It was used on \d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC.*If it wasn’t you.*tell the person/s);
  assert.equal(secretIn(visit), null);
}

test('a developer makes the secret at the address, sees it with the five things, and it works', async () => {
  const { client, address } = await handedOver();
  assert.ok(address.startsWith(`${service.appUrl}${PATH}?token=`));
  assert.deepEqual(await secretsOf(client), [], 'before the button nothing is made');
  const browser = new Browser();
  const page = await browser.get(address);
  assert.equal(page.status, 200);
  assert.match(page.body, /The secret of <bdi>Acme Mail<\/bdi>.*works once, until .*Make the secret and show it/s);
  assert.doesNotMatch(page.body, new RegExp(client.id), 'nobody is told what the app is before the button');
  const done = await press(browser, page);
  assert.equal(done.status, 200);
  const secret = secretIn(done) ?? assert.fail('no secret is shown');
  assert.doesNotMatch(done.body, EARLIER, 'the first secret has none before it');
  const { appUrl, apiUrl } = service;
  const things = [client.id, `${appUrl}/auth/oauth2/authorize`, `${appUrl}/api/auth/oauth/token`, REDIRECT_URI];
  for (const thing of [...things, `${appUrl}/api/auth/oauth/refreshToken`, `${apiUrl}/v2/me`])
    assert.ok(done.body.includes(thing), thing);
  for (const visit of [page, done]) {
    assert.equal(visit.headers.get('cache-control'), 'no-store');
    assert.equal(visit.headers.get('referrer-policy'), 'strict-origin');
  }
  const app = { clientId: client.id, clientSecret: secret };
  const code = await obtainCode(service, await signedInBrowser(service), app);
  assert.ok(pairOf(await exchange(service, app, code)).accessToken);
});

test('only the page of a second secret says that the earlier one keeps working, also to a second press', async () => {
  const { client } = await handedOver();
  await service.installation.clients.rotateSecret(client.id, service.installation.operator);
  const browser = new Browser();
  const page = await browser.get(await newAddress(client));
  for (const answer of [await press(browser, page), await press(browser, page)]) assert.match(answer.body, EARLIER);
});

test('an older browser without Sec-Fetch-Site makes the secret: its form comes with the Origin of the page', async () => {
  const { address } = await handedOver();
  const browser = new Browser();
  const page = await browser.get(address);
  const older = (origin: string) => press(browser, page, {}, { 'Sec-Fetch-Site': undefined, Origin: origin });
  assert.equal((await older('null')).status, 403, 'as of a foreign form');
  // Fetch, "append a request Origin header": no-referrer posts null.
  const policy = page.headers.get('referrer-policy');
  const done = await older(policy === 'no-referrer' ? 'null' : service.appUrl);
  assert.equal(done.status, 200);
  assert.ok(secretIn(done));
});

test('looking at the address uses nothing: previews, prefetches, HEAD, and many visits', async () => {
  const { client, address } = await handedOver();
  for (const headers of [{ Purpose: 'prefetch' }, { 'User-Agent': 'Slackbot-LinkExpanding 1.0' }, {}])
    assert.equal((await new Browser(headers as Record<string, string>).get(address)).status, 200);
  assert.equal((await fetch(address, { method: 'HEAD' })).status, 200);
  assert.deepEqual(await secretsOf(client), []);
  assert.equal((await pickUp(address)).status, 200);
});

test('ASVS 6.4.1: a used address says when, and whom to tell; nobody else gets the secret', async () => {
  const { client, address } = await handedOver();
  const [browser, other] = [new Browser(), new Browser()];
  const [page, theirs] = [await browser.get(address), await other.get(address)];
  assert.ok(secretIn(await press(browser, page)));
  assertUsed(await press(other, theirs));
  for (const each of [browser, other, new Browser()]) assertUsed(await each.get(address));
  assert.equal((await secretsOf(client)).length, 1);
});

test('pressed several times at once, the button makes one secret, which each answer shows', async () => {
  const { client, address } = await handedOver();
  const browser = new Browser();
  const page = await browser.get(address);
  const visits = await Promise.all([1, 2, 3].map(() => press(browser, page)));
  const secrets = new Set(visits.map(secretIn));
  assert.equal(secrets.size, 1);
  assert.ok(!secrets.has(null));
  assert.equal((await secretsOf(client)).length, 1);
});

test('two browsers at once: one gets the secret, the other hears that the address was used', async () => {
  const { client, address } = await handedOver();
  const browsers = [new Browser(), new Browser()];
  const pages = await Promise.all(browsers.map((browser) => browser.get(address)));
  const visits = await Promise.all(browsers.map((browser, n) => press(browser, pages[n] as Visit)));
  assert.deepEqual(visits.map(({ status }) => status).sort(), [200, 400]);
  assertUsed(visits.find(({ status }) => status === 400) as Visit);
  assert.equal((await secretsOf(client)).length, 1);
});

test('an answer that was lost comes again for a minute, to the same browser alone', async (t) => {
  const own = await startTestService(t);
  const { client, address } = await handedOver({}, own);
  const browser = new Browser();
  const page = await browser.get(address);
  const secret = secretIn(await press(browser, page));
  own.clock.advance(59);
  assert.equal(secretIn(await press(browser, page)), secret);
  own.clock.advance(1);
  assertUsed(await press(browser, page));
  assert.equal((await secretsOf(client, own)).length, 1);
  const later = await handedOver({}, own);
  const their = await browser.get(later.address);
  await press(browser, their);
  await own.installation.clients.rotateSecret(later.client.id, own.installation.operator);
  assertUsed(await press(browser, their));
});

test('ASVS 6.4.1: an address is good for 72 hours, and for a page that was open then', async (t) => {
  const own = await startTestService(t);
  const { client, address } = await handedOver({}, own);
  own.clock.advance(72 * HOUR - 1);
  const browser = new Browser();
  const page = await browser.get(address);
  assert.equal(page.status, 200);
  own.clock.advance(1);
  assertDead(await browser.get(address));
  assertDead(await press(browser, page));
  assert.deepEqual(await secretsOf(client, own), []);
});

test('a newer address, a rotation, a pause and a deletion end an address, also where its page is open', async () => {
  const { clients, operator } = service.installation;
  const ends: ((id: string) => Promise<unknown>)[] = [
    (id) => newAddress({ id }),
    (id) => clients.rotateSecret(id, operator),
    (id) => clients.pause(id, operator).then(() => clients.resume(id, operator)),
    (id) => clients.pause(id, operator),
    (id) => clients.delete(id, operator),
  ];
  for (const end of ends) {
    const { client, address } = await handedOver();
    const browser = new Browser();
    const page = await browser.get(address);
    await end(client.id);
    assertDead(await browser.get(address));
    assertDead(await press(browser, page));
  }
});

test('two live secrets, a paused app and an unknown one are refused when an address is made', async () => {
  const { clients, operator } = service.installation;
  const { clientId: id } = await addClient(service);
  assert.equal((await pickUp(await newAddress({ id }))).status, 200, 'one secret leaves room for another');
  assert.equal((await secretsOf({ id })).length, 2);
  await assert.rejects(newAddress({ id }), { atCommandLine: /two secrets are live already.*client retire-secret/ });
  await clients.retireSecret(id, operator);
  await clients.pause(id, operator);
  await assert.rejects(newAddress({ id }), { atCommandLine: /is paused: "client resume/ });
  await assert.rejects(newAddress({ id: 'app_none' }), /there is no app "app_none"/);
});

test('an app without a secret of ours gets its ID and addresses: public, and with keys', async () => {
  const kinds = [
    await handedOver({ redirectUris: ['com.acme:/cb'] }, service, 'public'),
    await handedOver({ keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }] }),
  ];
  for (const { client, address } of kinds) {
    const browser = new Browser();
    const page = await browser.get(address);
    assert.match(page.body, /It has no secret.*Show the addresses/s);
    const done = await press(browser, page);
    assert.equal(secretIn(done), null);
    assert.ok(done.body.includes(client.id) && done.body.includes(`${service.appUrl}/oauth2/token`));
    assert.deepEqual(await secretsOf(client), []);
    assertUsed(await new Browser().get(address));
  }
});

test('an API and a product pick up their secrets in the same way', async () => {
  const { resourceServers, identityProviders, handOvers, operator } = service.installation;
  const settings = { name: 'Mail API', resource: null, scopes: null };
  const { row: resourceServer } = await resourceServers.register(settings, operator, true);
  const api = await handOvers.make({ kind: 'resource_server', id: resourceServer.id }, operator);
  const done = await pickUp(api.address);
  const secret = secretIn(done) ?? assert.fail();
  assert.match(secret, /^vk_rs_/);
  assert.match(done.body, /\/oauth2\/introspect/);
  const asked = await fetch(`${service.appUrl}/oauth2/introspect`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(`${resourceServer.id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ token: 'none' }),
  });
  assert.deepEqual(await asked.json(), { active: false });

  const product = {
    ...{ id: 'photos', name: 'Photos', signInUrl: 'https://photos.example/sign-in', keys: [], ownIds: false },
    ...{ rights: ['sign-in'] as const, homePage: null, sessionLifetime: null },
  };
  await identityProviders.register(product, operator, true);
  const made = await handOvers.make({ kind: 'identity_provider', id: 'photos' }, operator);
  const shown = await pickUp(made.address);
  assert.match(secretIn(shown) ?? '', /^vk_ps_/);
  assert.match(shown.body, /\/api\/auth\/oauth\/sign-in/);
  assert.equal((await identityProviders.show('photos')).secrets.length, 1);
});

test('a post from elsewhere, from another browser or for another address makes nothing', async () => {
  const [one, two] = [await handedOver(), await handedOver()];
  const browser = new Browser();
  const page = await browser.get(one.address);
  const cross = await press(browser, page, {}, { 'Sec-Fetch-Site': 'cross-site' });
  assert.equal(cross.status, 403);
  const stranger = await press(new Browser(), page);
  assert.equal(stranger.status, 403);
  assert.match(stranger.body, /blocks our cookies/);
  const other = /name="form_token" value="([^"]+)"/.exec((await browser.get(two.address)).body)?.[1] ?? '';
  const wrong = await press(browser, page, { form_token: other });
  assert.equal(wrong.status, 403);
  assert.deepEqual([await secretsOf(one.client), await secretsOf(two.client)], [[], []]);
  assert.ok(secretIn(await press(browser, wrong)), 'the page that refused has the button again');
});

test('an address that is cut off or made up is one page that says whom to ask', async (t) => {
  const own = await startTestService(t);
  const { address } = await handedOver({}, own);
  const browser = new Browser();
  for (const token of ['', 'x', '\0', 'A'.repeat(43), address.slice(-42), `${address.slice(-43)}A`])
    assertDead(await browser.get(`${own.appUrl}${PATH}?${new URLSearchParams({ token })}`));
  assertDead(await browser.get(own.appUrl + PATH));
});

test('the operator sees when and from which network it was picked up; neither address nor secret is kept anywhere', async (t) => {
  const own = await startTestService(t);
  const { client, address } = await handedOver({}, own);
  const done = await pickUp(address);
  const secret = secretIn(done) ?? assert.fail();
  const token = new URL(address).searchParams.get('token') ?? assert.fail();
  const { audit, handOvers } = own.installation;
  const last = await handOvers.newest({ kind: 'client', id: client.id });
  assert.equal(last?.fetchedAt, own.clock.now());
  assert.equal(last?.fetchedFrom, '127.0.0.0/24');
  const events = await audit.listAuditEvents({ limit: 1000 });
  const actions = events.map(({ action }) => action);
  assert.deepEqual(actions, ['hand_over_fetched', 'hand_over_made', 'client_registered']);
  assert.ok(events.every(({ clientId }) => clientId === client.id));
  const pages = await Promise.all(
    ['/', '/developers', '/sign-in', '/account/apps'].map((path) => new Browser().get(own.appUrl + path)),
  );
  const kept = JSON.stringify([events, own.log, last, await own.installation.clients.show(client.id), pages]);
  for (const canary of [secret, token, secret.slice(6, 40)]) assert.ok(!kept.includes(canary), canary);
  assert.ok(own.log.length > 0);
});
