/** An installation moves from SQLite to PostgreSQL and back: whoever held something goes on with it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeRootKey } from '../../src/root-keys.ts';
import { Browser } from '../support/browser.ts';
import { runCommand } from '../support/command.ts';
import { exchange, me, obtainCode, obtainPair, pairOf, refresh, signedInBrowser, signIn } from '../support/flow.ts';
import { startPostgres } from '../support/postgres.ts';
import { addClient, addUser, freePort, type Lifetime, PASSWORD, startTestService } from '../support/service.ts';
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
    serve: (database: string) => startTestService(t, { ...variables, VALETKEY_DATABASE_URL: database }),
    async copy(from: string, to: string) {
      const { code, stdout, stderr } = await runCommand(['database', 'copy', from, to, '--json'], variables);
      assert.deepEqual([code, stderr], [0, ''], 'with --json there is no progress to read');
      return JSON.parse(stdout) as { copied: boolean; tables: { table: string; rows: number; sha256: string }[] };
    },
  };
}

test('operating: after a copy to PostgreSQL, and back, every live credential works and every dead one stays dead', async (t) => {
  const { file, serve, copy } = await movable(t);
  const [before, there, back] = [file('before.db'), await server.createDatabase(), file('back.db')];

  const service = await serve(before);
  const { clients, scopes: definitions, accounts, operator } = service.installation;
  const ada = await addUser(service, 'ada@example.com', 'Ada 😀 مثال');
  await addUser(service, 'grace@example.com', 'Grace');
  const browser = await signedInBrowser(service);
  const graces = await signedInBrowser(service, 'grace@example.com');
  await definitions.define('mail', { en: 'Read your mail', ar: 'قراءة بريدك' });
  const app = await addClient(service, { scopes: scopes('mail', 'photos?') });
  const { clientSecret: second } = await clients.rotateSecret(app.clientId);
  const ended = await addClient(service);
  const paused = await addClient(service);
  const api = await addResourceServer(service);
  const key = makeKey();
  const signing = await addClient(service, { keys: [key.jwk] });
  const tv = await addClient(service, { deviceFlow: true }, 'public');

  const live = await obtainPair(service, browser, app);
  const revoked = await obtainPair(service, browser, app);
  assert.equal((await postAs(service, app, 'revoke', { token: revoked.refreshToken })).status, 200);
  const ofEnded = await obtainPair(service, browser, ended);
  await clients.revokeGrants(ended.clientId);
  const ofPaused = await obtainPair(service, browser, paused);
  await clients.pause(paused.clientId);
  const ofGrace = await obtainPair(service, graces, app);
  await accounts.disable('grace@example.com', operator);
  const used = await assertionFields(service, signing, key);
  const signedCode = await standardCode(service, browser, signing);
  assert.equal((await exchangeCode(service, { ...signing, clientSecret: '' }, signedCode, used)).status, 200);
  const device = await postAs(service, tv, 'device_authorization');
  const codeForm = await browser.get(String(device.body['verification_uri_complete']));
  assert.equal((await browser.submit(codeForm, '/device', { decision: 'allow' })).status, 200);
  const fresh = await obtainCode(service, browser, app);
  const replayed = await obtainCode(service, browser, app);
  const ofReplayed = pairOf(await exchange(service, app, replayed));
  const trail = await service.installation.audit.listAuditEvents({ limit: 1000 });
  await service.stop();

  const copied = await copy(before, there);
  assert.equal(copied.copied, true);
  const moved = await serve(there);
  const asked = await me(moved, live.accessToken);
  assert.equal((asked.body['data'] as { name: string }).name, 'Ada 😀 مثال');
  assert.equal((await me(moved, ofReplayed.accessToken)).status, 200);
  for (const { accessToken } of [revoked, ofEnded, ofPaused, ofGrace])
    assert.ok((await me(moved, accessToken)).status >= 400);
  assert.equal((await refresh(moved, app, revoked.refreshToken)).status, 400);
  const next = pairOf(await refresh(moved, app, live.refreshToken));
  assert.deepEqual(pairOf(await refresh(moved, app, live.refreshToken)), next, 'a retry gets the same pair');
  const withSecond = pairOf(await exchange(moved, { ...app, clientSecret: second }, fresh));
  assert.notEqual((await exchange(moved, app, replayed)).status, 200);
  assert.equal((await me(moved, ofReplayed.accessToken)).status, 401, 'the replay of a code ends its grant');
  assert.equal((await introspect(moved, api, next.accessToken)).body['active'], true);
  assert.equal(
    (await postAs(moved, signing, 'revoke', { token: 'x', ...used })).status,
    401,
    'an assertion is good once',
  );
  const unused = await assertionFields(moved, signing, key);
  assert.equal(
    (await postAs(moved, { ...signing, clientSecret: '' }, 'revoke', { token: 'x', ...unused })).status,
    200,
  );
  const polled = await postAs(moved, tv, 'token', {
    grant_type: DEVICE_GRANT,
    device_code: String(device.body['device_code']),
  });
  assert.equal((await me(moved, pairOf(polled).accessToken)).status, 200, 'a device that was allowed gets its tokens');
  assert.match(
    (await browser.get(`${moved.appUrl}/account/apps`)).body,
    /ada@example.com[^]*Read your mail/,
    'the session goes on',
  );
  assert.doesNotMatch(
    (await graces.get(`${moved.appUrl}/account/apps`)).body,
    /grace@example.com/,
    'an ended one does not',
  );
  assert.equal((await signIn(moved, new Browser(), 'ada@example.com', PASSWORD)).status, 303);
  const longer = await moved.installation.audit.listAuditEvents({ limit: 1000 });
  assert.deepEqual(longer.slice(-trail.length), trail);
  assert.equal(longer.at(-trail.length - 1)?.sequence, (trail[0]?.sequence ?? 0) + 1);
  await moved.installation.accounts.revokeGrants(ada.id, operator);
  const newest = await obtainPair(moved, browser, app);
  await moved.stop();

  assert.equal((await copy(there, back)).copied, true);
  const returned = await serve(back);
  assert.equal((await me(returned, withSecond.accessToken)).status, 401, 'ended meanwhile');
  const last = pairOf(await refresh(returned, app, newest.refreshToken));
  assert.equal((await me(returned, last.accessToken)).status, 200);
  assert.match((await browser.get(`${returned.appUrl}/account/apps`)).body, /ada@example.com[^]*Read your mail/);
  const whole = await returned.installation.audit.listAuditEvents({ limit: 1000 });
  assert.deepEqual(whole.slice(-trail.length), trail);
  assert.equal(new Set(whole.map(({ sequence }) => sequence)).size, whole.length);
});
