/** What people, apps and APIs hold of an installation, as data that can be kept; and whether they go on with it. */
import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { Browser } from './browser.ts';
import {
  exchange,
  me,
  obtainCode,
  obtainPair,
  pairOf,
  refresh,
  signedInBrowser,
  signIn,
  type TestClient,
} from './flow.ts';
import { askUsers, registerProvider } from './provider.ts';
import { addClient, addUser, type TestService } from './service.ts';
import {
  addResourceServer,
  assertionFields,
  DEVICE_GRANT,
  exchangeCode,
  introspect,
  type Key,
  postAs,
  refreshWith,
  scopes,
  standardCode,
  standardPair,
} from './standard.ts';

/** A pair of tokens. */
type Pair = ReturnType<typeof pairOf>;

/** Everything that is held. `now` is the time of the installation (ms): all of it is good at that moment. */
export type Held = Awaited<ReturnType<typeof inhabit>>;

/** Fills an installation through its own pages and endpoints, and answers what is held of it then. */
export async function inhabit(service: TestService) {
  const { clients, scopes: definitions, links, operator } = service.installation;
  await addUser(service, 'ada@example.com', 'Ada 😀 مثال');
  for (const name of ['Grace', 'Mary']) await addUser(service, `${name.toLowerCase()}@example.com`, name);
  const [browser, graces] = [await signedInBrowser(service), await signedInBrowser(service, 'grace@example.com')];
  await definitions.define('mail', { en: 'Read your mail', ar: 'قراءة بريدك' }, operator);
  const app = kept(await addClient(service, { scopes: scopes('mail', 'photos?') }));
  const { secret: secondSecret } = await clients.rotateSecret(app.clientId, operator);
  const phone = kept(await addClient(service, { name: 'Phone' }, 'public'));
  const product = await registerProvider(service);
  await links.link({ account: 'mary@example.com', provider: product.id, subject: 'm-1' }, operator);
  const rotated = await obtainPair(service, browser, app);
  const used = await obtainCode(service, browser, app);
  return {
    now: service.clock.now(),
    cookies: [...browser.cookies],
    endedCookies: [...graces.cookies],
    app,
    secondSecret,
    api: await addResourceServer(service, { resource: 'https://mail.example', acceptsUnbound: true }),
    product,
    live: await obtainPair(service, browser, app),
    rotated,
    newest: pairOf(await refresh(service, app, rotated.refreshToken)),
    phone,
    ofPhone: await standardPair(service, browser, phone),
    code: await obtainCode(service, browser, app),
    used: { code: used, pair: pairOf(await exchange(service, app, used)) },
    signing: await signingClient(service, browser),
    device: await allowedDevice(service, browser),
    dead: await deadPairs(service, browser, graces, app),
    events: (await service.installation.audit.listAuditEvents({ limit: 1000 })).length,
  };
}

const kept = ({ clientId, clientSecret }: TestClient): TestClient => ({ clientId, clientSecret });

/** Pairs that were ended in every way. */
async function deadPairs(service: TestService, browser: Browser, graces: Browser, app: TestClient) {
  const { clients, accounts, operator } = service.installation;
  const [ended, paused] = [await addClient(service), await addClient(service)];
  const pairs = [
    await obtainPair(service, browser, app),
    await obtainPair(service, browser, ended),
    await obtainPair(service, browser, paused),
    await obtainPair(service, graces, app),
  ];
  assert.equal((await postAs(service, app, 'revoke', { token: pairs[0]?.refreshToken })).status, 200);
  await clients.revokeGrants(ended.clientId, operator);
  await clients.pause(paused.clientId, operator);
  await accounts.disable('grace@example.com', operator);
  return pairs;
}

/** A client with a key of its own, and an assertion that it has used. */
async function signingClient(service: TestService, browser: Browser) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const privateJwk = privateKey.export({ format: 'jwk' });
  const client = kept({
    ...(await addClient(service, { keys: [publicKey.export({ format: 'jwk' })] })),
    clientSecret: '',
  });
  const assertion = await assertionFields(service, client, keyOf(privateJwk));
  const code = await standardCode(service, browser, client);
  assert.equal((await exchangeCode(service, client, code, assertion)).status, 200);
  return { privateJwk, client, assertion };
}

function keyOf(privateJwk: JsonWebKey): Key {
  const key = createPrivateKey({ key: privateJwk, format: 'jwk' });
  const sign: Key['sign'] = (claims, header = {}) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', ...header }).sign(key);
  return { jwk: privateJwk, sign };
}

/** A device that was allowed and has not asked since. */
async function allowedDevice(service: TestService, browser: Browser) {
  const client = kept(await addClient(service, { deviceFlow: true }, 'public'));
  const { body } = await postAs(service, client, 'device_authorization');
  const page = await browser.get(String(body['verification_uri_complete']));
  assert.equal((await browser.submit(page, '/device', { decision: 'allow' })).status, 200);
  return { client, fields: { grant_type: DEVICE_GRANT, device_code: String(body['device_code']) } };
}

/** A browser with cookies that were held. */
export function browserWith(cookies: Held['cookies']): Browser {
  const browser = new Browser();
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  return browser;
}

/**
 * Asserts that who held something goes on with it, that what was ended stays so, and that no event of the trail is gone.
 * Returns a pair that is live then.
 */
export async function assertGoesOn(service: TestService, held: Held): Promise<Pair> {
  const { app, live, used, signing, phone } = held;
  const trail = await service.installation.audit.listAuditEvents({ limit: 1000 });
  assert.ok(trail.length >= held.events, 'the trail is whole');
  const asked = await me(service, live.accessToken);
  assert.equal((asked.body['data'] as { name: string }).name, 'Ada 😀 مثال');
  const next = pairOf(await refresh(service, app, live.refreshToken));
  assert.deepEqual(pairOf(await refresh(service, app, live.refreshToken)), next, 'a retry gets the same pair');
  assert.deepEqual(pairOf(await refresh(service, app, held.rotated.refreshToken)), held.newest, 'also one from before');
  assert.equal((await introspect(service, held.api, next.accessToken)).body['active'], true);
  assert.equal((await refreshWith(service, phone, held.ofPhone.refreshToken)).status, 200);
  pairOf(await exchange(service, { ...app, clientSecret: held.secondSecret }, held.code));
  const polled = pairOf(await postAs(service, held.device.client, 'token', held.device.fields));
  assert.equal((await me(service, polled.accessToken)).status, 200);
  const assertion = await assertionFields(service, signing.client, keyOf(signing.privateJwk));
  assert.equal((await postAs(service, signing.client, 'revoke', { token: 'x', ...assertion })).status, 200);
  const apps = await browserWith(held.cookies).get(`${service.appUrl}/account/apps`);
  assert.match(apps.body, /ada@example\.com.*Read your mail/s);
  assert.equal((await signIn(service, new Browser())).status, 303);
  assert.equal((await askUsers(service, held.product, 'GET ?subject=m-1')).status, 200);
  assert.equal((await me(service, used.pair.accessToken)).status, 200);
  await assertStaysDead(service, held);
  return next;
}

/** Asserts that what was ended stays so, and what was used stays used. */
export async function assertStaysDead(
  service: TestService,
  { app, dead, signing, used, endedCookies }: Held,
): Promise<void> {
  for (const { accessToken } of dead) assert.ok((await me(service, accessToken)).status >= 400);
  assert.equal((await refresh(service, app, String(dead[0]?.refreshToken))).status, 400);
  const again = { token: 'x', ...signing.assertion };
  assert.equal((await postAs(service, signing.client, 'revoke', again)).status, 401, 'an assertion is good once');
  assert.equal((await exchange(service, app, used.code)).status, 400);
  assert.equal((await me(service, used.pair.accessToken)).status, 401, 'the replay of a code ends its grant');
  const graces = await browserWith(endedCookies).get(`${service.appUrl}/account/apps`);
  assert.doesNotMatch(graces.body, /grace@example\.com/);
}
