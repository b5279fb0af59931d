/** An installation moves from SQLite to PostgreSQL and back: whoever held something goes on with it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { Browser } from '../support/browser.ts';
import { runCommand } from '../support/command.ts';
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
} from '../support/flow.ts';
import { PATIENT, startPostgres } from '../support/postgres.ts';
import {
  addClient,
  addUser,
  freePort,
  type Lifetime,
  PASSWORD,
  startTestService,
  type TestService,
} from '../support/service.ts';
import {
  addResourceServer,
  assertionFields,
  DEVICE_GRANT,
  exchangeCode,
  introspect,
  makeKey,
  postAs,
  scopes,
  standardCode,
} from '../support/standard.ts';

const server = await startPostgres();
after(() => server.remove());

/** An installation that serves on one pair of addresses, on whatever database. */
async function movable(t: Lifetime) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const variables = {
    VALETKEY_APP_URL: `http://127.0.0.1:${await freePort()}`,
    VALETKEY_API_URL: `http://127.0.0.1:${await freePort()}`,
    VALETKEY_KEYS: makeRootKey(),
  };
  return {
    file: (name: string) => `sqlite:${join(folder, name)}`,
    serve: (database: string) =>
      startTestService(t, { ...variables, VALETKEY_DATABASE_URL: database }, undefined, PATIENT),
    async copy(from: string, to: string) {
      const { code, stderr } = await runCommand(['database', 'copy', from, to, '--json'], variables);
      assert.deepEqual([code, stderr], [0, ''], 'with --json there is no progress to read');
    },
  };
}

/** Everything that somebody can hold of an installation, live and dead. */
async function inhabit(service: TestService) {
  const { clients, scopes: definitions } = service.installation;
  const ada = await addUser(service, 'ada@example.com', 'Ada 😀 مثال');
  await addUser(service, 'grace@example.com', 'Grace');
  const browser = await signedInBrowser(service);
  const graces = await signedInBrowser(service, 'grace@example.com');
  await definitions.define('mail', { en: 'Read your mail', ar: 'قراءة بريدك' });
  const app = await addClient(service, { scopes: scopes('mail', 'photos?') });
  const { clientSecret: secondSecret } = await clients.rotateSecret(app.clientId);
  const api = await addResourceServer(service);
  return {
    ada,
    browser,
    graces,
    app,
    secondSecret,
    api,
    live: await obtainPair(service, browser, app),
    code: await obtainCode(service, browser, app),
    used: await usedCode(service, browser, app),
    dead: await deadPairs(service, browser, graces, app),
    signing: await signingClient(service, browser),
    device: await allowedDevice(service, browser),
  };
}

type Inhabited = Awaited<ReturnType<typeof inhabit>>;

/** A code that was redeemed, and its pair. */
async function usedCode(service: TestService, browser: Browser, app: TestClient) {
  const code = await obtainCode(service, browser, app);
  return { code, pair: pairOf(await exchange(service, app, code)) };
}

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
  await clients.revokeGrants(ended.clientId);
  await clients.pause(paused.clientId);
  await accounts.disable('grace@example.com', operator);
  return pairs;
}

/** A client with a key of its own, and an assertion that it has used. */
async function signingClient(service: TestService, browser: Browser) {
  const key = makeKey();
  const client = { ...(await addClient(service, { keys: [key.jwk] })), clientSecret: '' };
  const assertion = await assertionFields(service, client, key);
  const code = await standardCode(service, browser, client);
  assert.equal((await exchangeCode(service, client, code, assertion)).status, 200);
  return { key, client, assertion };
}

/** A device that was allowed and has not asked since; answers how it asks. */
async function allowedDevice(service: TestService, browser: Browser) {
  const tv = await addClient(service, { deviceFlow: true }, 'public');
  const { body } = await postAs(service, tv, 'device_authorization');
  const page = await browser.get(String(body['verification_uri_complete']));
  assert.equal((await browser.submit(page, '/device', { decision: 'allow' })).status, 200);
  const fields = { grant_type: DEVICE_GRANT, device_code: String(body['device_code']) };
  return { poll: (at: TestService) => postAs(at, tv, 'token', fields) };
}

/** Asserts that whoever held something goes on with it; answers a pair that is live now. */
async function assertGoesOn(service: TestService, held: Inhabited) {
  const { app, browser, live, used, signing } = held;
  const asked = await me(service, live.accessToken);
  assert.equal((asked.body['data'] as { name: string }).name, 'Ada 😀 مثال');
  const next = pairOf(await refresh(service, app, live.refreshToken));
  assert.deepEqual(pairOf(await refresh(service, app, live.refreshToken)), next, 'a retry gets the same pair');
  assert.equal((await introspect(service, held.api, next.accessToken)).body['active'], true);
  pairOf(await exchange(service, { ...app, clientSecret: held.secondSecret }, held.code));
  assert.equal((await me(service, pairOf(await held.device.poll(service)).accessToken)).status, 200);
  const assertion = await assertionFields(service, signing.client, signing.key);
  assert.equal((await postAs(service, signing.client, 'revoke', { token: 'x', ...assertion })).status, 200);
  assert.equal((await me(service, used.pair.accessToken)).status, 200);
  assert.match((await browser.get(`${service.appUrl}/account/apps`)).body, /ada@example\.com.*Read your mail/s);
  assert.equal((await signIn(service, new Browser(), 'ada@example.com', PASSWORD)).status, 303);
  return next;
}

/** Asserts that what was ended stays so, and what was used stays used. */
async function assertStaysDead(service: TestService, { app, dead, signing, used, graces }: Inhabited): Promise<void> {
  for (const { accessToken } of dead) assert.ok((await me(service, accessToken)).status >= 400);
  assert.equal((await refresh(service, app, String(dead[0]?.refreshToken))).status, 400);
  const again = { token: 'x', ...signing.assertion };
  assert.equal((await postAs(service, signing.client, 'revoke', again)).status, 401, 'an assertion is good once');
  assert.equal((await exchange(service, app, used.code)).status, 400);
  assert.equal((await me(service, used.pair.accessToken)).status, 401, 'the replay of a code ends its grant');
  assert.doesNotMatch((await graces.get(`${service.appUrl}/account/apps`)).body, /grace@example\.com/);
}

const trailOf = ({ installation }: TestService) => installation.audit.listAuditEvents({ limit: 1000 });

test('operating: after a copy to PostgreSQL, and back, every live credential works and every dead one stays dead', async (t) => {
  const { file, serve, copy } = await movable(t);
  const [before, there, back] = [file('before.db'), await server.createDatabase(), file('back.db')];
  const service = await serve(before);
  const held = await inhabit(service);
  const trail = await trailOf(service);
  await service.stop();

  await copy(before, there);
  const moved = await serve(there);
  const next = await assertGoesOn(moved, held);
  await assertStaysDead(moved, held);
  const longer = await trailOf(moved);
  assert.deepEqual(longer.slice(-trail.length), trail);
  assert.equal(longer.at(-trail.length - 1)?.sequence, (trail[0]?.sequence ?? 0) + 1, 'it goes on after the last');
  await moved.installation.accounts.revokeGrants(held.ada.id, moved.installation.operator);
  const newest = await obtainPair(moved, held.browser, held.app);
  const longest = await trailOf(moved);
  await moved.stop();

  await copy(there, back);
  const returned = await serve(back);
  await assertStaysDead(returned, { ...held, dead: [...held.dead, next] });
  const last = pairOf(await refresh(returned, held.app, newest.refreshToken));
  assert.equal((await me(returned, last.accessToken)).status, 200);
  assert.deepEqual((await trailOf(returned)).slice(-longest.length), longest);
  await returned.stop(); // A database that vanishes under a service ends the process.
});
