/** Clean-up deletes what is dead for a day and nothing else, in small steps, on one instance at a time. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, type TestContext, test } from 'node:test';
import type { Grant } from '../../src/oauth/grants/grant.ts';
import { networksOf } from '../../src/oauth/guessing/networks.ts';
import type { PostgresqlStorage } from '../../src/storage/postgresql/open.ts';
import { PATIENT } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import {
  addAdaAndOne,
  event,
  HOUR,
  NOW,
  registerProduct,
  sampleAccount,
  sampleClient,
  sampleExternalSignIn,
  sampleGrant,
  sampleProvider,
  sampleSession,
} from '../support/storage.ts';
import { until } from '../support/until.ts';
import { instance, readyDatabases } from './instance.ts';

const DAY = 24 * HOUR;
const server = await sharedPostgres();
after(() => server.remove());
const createDatabase = await readyDatabases(server);

async function open(t: TestContext): Promise<PostgresqlStorage & { url: string }> {
  const url = await createDatabase();
  const opened = await instance(t, url, PATIENT);
  await addAdaAndOne(opened);
  return { ...opened, url };
}

async function issue({ store }: PostgresqlStorage, some: Partial<Grant>): Promise<Grant> {
  const grant = sampleGrant(some);
  await store.issueGrant(grant, event('consent_allowed'));
  return grant;
}

/** Walks once through everything; answers how many rows were deleted. */
async function walkAll({ cleanUp }: PostgresqlStorage): Promise<number> {
  let deleted = 0;
  for (let isEnd = false; !isEnd; ) {
    const step = await cleanUp.step();
    assert.ok(step && step.seen <= 512 && step.deleted <= 64);
    deleted += step.deleted;
    isEnd = step.isEndOfRound;
  }
  return deleted;
}

test('grants revoked or expired for a day go; younger and living ones stay', async (t) => {
  const opened = await open(t);
  const living = [
    { expiresAt: NOW + 1 },
    { expiresAt: NOW - DAY },
    { expiresAt: NOW + DAY, revokedAt: NOW - DAY },
    { generation: 7, expiresAt: NOW + 30 * DAY },
  ];
  const dead = [
    { expiresAt: NOW - DAY - 1 },
    { generation: 7, expiresAt: NOW - DAY - 1 },
    { expiresAt: NOW + DAY, revokedAt: NOW - DAY - 1 },
  ];
  const stay = await Promise.all(living.map((some) => issue(opened, some)));
  for (const some of dead) await issue(opened, some);
  assert.equal(await walkAll(opened), dead.length);
  const listed = await opened.store.listGrants({ limit: 100 });
  assert.deepEqual(
    new Set(listed.map(({ grant }) => grant.id.toString('hex'))),
    new Set(stay.map(({ id }) => id.toString('hex'))),
  );
});

test('grants go with their client, their account and their epochs', async (t) => {
  const opened = await open(t);
  const { store } = opened;
  await store.registerClient(sampleClient({ id: 'app_two' }), event('client_registered'));
  await store.addAccount(sampleAccount({ id: 'usr_bob', username: null }), 'bob@example.com', event('user_added'));
  await issue(opened, { clientId: 'app_two' });
  await issue(opened, { resourceOwnerId: 'usr_bob' });
  await issue(opened, {});
  assert.equal(await walkAll(opened), 0);
  await store.deleteClient('app_two', event('client_deleted'));
  await store.deleteAccount('usr_bob', event('user_deleted'));
  assert.equal(await walkAll(opened), 2);
  await store.revokeAllGrants(event('all_grants_revoked'));
  assert.equal(await walkAll(opened), 1);
});

test('sessions, waiting devices and empty counters go when their time is over', async (t) => {
  const opened = await open(t);
  const { store, counters, url } = opened;
  const sessions = [
    sampleSession(),
    sampleSession({ createdAt: NOW - 29 * DAY }),
    sampleSession({ createdAt: NOW - 3 * DAY, lastSeenAt: NOW - DAY - 13 * HOUR }),
    sampleSession({ createdAt: NOW - 32 * DAY, expiresAt: NOW - 2 * DAY }),
  ];
  for (const session of sessions) await store.addSession(session, sampleAccount().password, null, event('sign_in'));
  const wait = (userCode: string, expiresAt: number) => {
    const request = {
      ...sampleGrant(),
      grantId: sampleGrant().id,
      codeChallenge: 'c',
      scope: ['read'],
      userCode,
      expiresAt,
    };
    const waiting = { request, decision: null, pace: { polledAt: 0, interval: 5 } };
    return store.addDeviceRequest(waiting, networksOf('192.0.2.1'), NOW - 3 * DAY);
  };
  assert.deepEqual([await wait('BBBBBBBB', NOW + 1), await wait('CCCCCCCC', NOW - HOUR - 1)], [true, true]);
  await counters?.move('full', 1000, 5000, NOW);
  await counters?.move('empty', 1000, 5000, NOW - DAY);
  assert.equal(await walkAll(opened), 4);
  const found = await Promise.all(sessions.map(({ digest }) => store.findSession(digest)));
  assert.deepEqual(found.map(Boolean), [true, true, false, false]);
  assert.ok(await store.findDeviceRequest('BBBBBBBB', NOW));
  assert.equal((await server.query(url, 'SELECT 1 FROM device_request')).length, 1);
  assert.equal((await server.query(url, 'SELECT 1 FROM throttle')).length, 1);
});

test('who a deleted account was at a provider goes after a day', async (t) => {
  const opened = await open(t);
  const { store } = opened;
  await store.registerIdentityProvider(sampleProvider(), event('identity_provider_registered'));
  for (const [n, at] of [NOW - DAY - 1, NOW - DAY].entries()) {
    const identity = { id: `product:${n}`, providerId: 'product', accountId: `usr_${n}`, createdAt: NOW - 2 * DAY };
    const account = { ...sampleAccount({ id: `usr_${n}` }), password: null };
    await store.addIdentityAndAccount(identity, account, null, event('user_added'));
    await store.deleteAccount(`usr_${n}`, { ...event('user_deleted'), at });
  }
  assert.equal(await walkAll(opened), 1);
  assert.deepEqual(
    (await store.listIdentitiesOf(['usr_0', 'usr_1'])).map(({ accountId }) => accountId),
    ['usr_1'],
  );
});

test('sign-ins elsewhere whose request ended an hour ago go, and no others', async (t) => {
  const opened = await open(t);
  const all = [NOW + 1, NOW - HOUR + 1, NOW - HOUR - 1].map((expiresAt) => sampleExternalSignIn({ expiresAt }));
  const proof = await registerProduct(opened.store);
  for (const each of all) await opened.store.stateExternalSignIn(each, proof);
  assert.equal(await walkAll(opened), 1);
  const found = await Promise.all(all.map(({ nonce }) => opened.store.findExternalSignIn(nonce)));
  assert.deepEqual(found.map(Boolean), [true, true, false]);
});

const use = ({ store }: PostgresqlStorage, name: string, expiresAt: number, most = 1000, clientId = 'app_one') =>
  store.useClientAssertion({ clientId, digest: hash('sha256', name, 'buffer'), expiresAt }, most);

test('RFC 7523 §3: marks of client assertions go as soon as their assertions expired, and not before', async (t) => {
  const opened = await open(t);
  for (const [n, expiresAt] of [NOW + 600_000, NOW, NOW - 1, NOW - DAY].entries())
    assert.equal(await use(opened, `${n}`, expiresAt, 4), 'first');
  assert.equal(await use(opened, 'one more', NOW + 60_000, 4), 'full');
  assert.equal(await opened.cleanUp.clearMarks(), 2);
  assert.equal(await opened.cleanUp.clearMarks(), 0);
  assert.equal(await use(opened, '0', NOW + 600_000, 4), 'again');
  assert.equal(await use(opened, '1', NOW, 4), 'again');
  for (const name of ['one more', 'another']) assert.equal(await use(opened, name, NOW + 60_000, 4), 'first');
  assert.equal(await use(opened, 'too many', NOW + 60_000, 4), 'full');
});

test('RFC 7523 §3: of many marks those that expired all go, in bounded steps', async (t) => {
  const opened = await open(t);
  const all = Array.from({ length: 1300 }, (_, n) =>
    use(opened, `${n}`, n % 3 === 0 ? NOW - 2 * DAY : NOW + 60_000, 2000, `app_${n % 7}`),
  );
  await Promise.all(all);
  let cleared = 0;
  for (let step = Number.NaN; step !== 0; cleared += step) {
    step = Number(await opened.cleanUp.clearMarks());
    assert.ok(step <= 1000, `${step}`);
  }
  assert.equal(cleared, Math.ceil(1300 / 3));
});

test('RFC 7523 §3: a clock that steps back makes no used assertion good again whose mark is gone', async (t) => {
  const opened = await open(t);
  assert.equal(await use(opened, 'used', NOW - 1), 'first');
  assert.equal(await opened.cleanUp.clearMarks(), 1);
  for (const earlier of [NOW - 1, NOW - HOUR, NOW - 1 - DAY])
    assert.equal(await use(opened, 'used', earlier), 'cleared');
  assert.equal(await use(opened, 'used by another', NOW - 1, 1000, 'app_two'), 'first');
  assert.equal(await use(opened, 'later', NOW), 'first');
  assert.equal(await use(opened, 'when the clock was more than a day ahead', NOW - 2 - DAY), 'first');
});

test('a step sees 512 rows and deletes 64 at most, and a walk misses none', async (t) => {
  const opened = await open(t);
  const issues: Promise<Grant>[] = [];
  for (let index = 0; index < 1300; index += 1)
    issues.push(issue(opened, { expiresAt: index % 3 === 0 ? NOW - 2 * DAY : NOW + DAY }));
  await Promise.all(issues);
  assert.equal(await walkAll(opened), Math.ceil(1300 / 3));
  assert.equal(await walkAll(opened), 0);
});

test('one instance at a time cleans up; when it stops, or its connection is lost, another goes on', async (t) => {
  const first = await open(t);
  const { url } = first;
  const second = await instance(t, url, PATIENT);
  assert.ok(await first.cleanUp.step());
  assert.equal(await second.cleanUp.step(), null);
  await server.query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  await until(async () => (await second.cleanUp.step()) !== null);
  assert.equal(await first.cleanUp.step(), null);
  second.cleanUp.stop();
  await until(async () => (await first.cleanUp.step()) !== null);
});

test('decision 0043: a start under a clock that is far ahead deletes nothing that is alive, and says so', async (t) => {
  const before = await open(t);
  const { id } = await issue(before, { generation: 7, expiresAt: NOW + 30 * DAY });
  const dead = await issue(before, { expiresAt: NOW - DAY - 1 });
  const ahead = await instance(t, before.url, { ...PATIENT, now: () => NOW + 400 * DAY });
  const said: string[] = [];
  ahead.cleanUp.start((sentence) => said.push(sentence));
  await until(async () => (await ahead.store.findGrant(dead.id)) === null);
  await walkAll(ahead);
  assert.ok(await ahead.store.findGrant(id));
  assert.ok((await ahead.cleanUp.time()) < NOW + HOUR, 'neither are old events of the trail');
  assert.match(said.join(), /^the clock is 34560000 s ahead of the clean-up.*deletes nothing early; check the clock$/);
});

test('started, it walks on its own until it is stopped', async (t) => {
  const opened = await open(t);
  const { id } = await issue(opened, { expiresAt: NOW - 2 * DAY });
  opened.cleanUp.start((sentence) => assert.fail(sentence));
  await until(async () => (await opened.store.findGrant(id)) === null);
  opened.cleanUp.stop();
});
