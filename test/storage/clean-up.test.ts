/** Clean-up deletes what is dead for a day and nothing else, in small steps. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { Grant } from '../../src/oauth/grants/grant.ts';
import { CleanUpTime } from '../../src/storage/clean-up/clean-up-time.ts';
import type { SqliteStorage } from '../../src/storage/sqlite/open.ts';
import {
  addAdaAndOne,
  event,
  HOUR,
  NOW,
  openAsService,
  operator,
  registerProduct,
  sampleAccount,
  sampleClient,
  sampleExternalSignIn,
  sampleGrant,
  sampleProvider,
  sampleSession,
  temporaryPath,
} from '../support/storage.ts';

const DAY = 24 * HOUR;

async function openInMemory(): Promise<SqliteStorage> {
  const opened = await openAsService(':memory:');
  await addAdaAndOne(opened);
  return opened;
}

async function issue({ store }: SqliteStorage, some: Partial<Grant>): Promise<Grant> {
  const grant = sampleGrant(some);
  await store.issueGrant(grant, event('consent_allowed'));
  return grant;
}

/** Walks once through everything; answers how many rows were deleted. */
async function walkAll({ cleanUp }: SqliteStorage): Promise<number> {
  let deleted = 0;
  for (let isEnd = false; !isEnd; ) {
    const step = await cleanUp.step();
    assert.ok(step);
    deleted += step.deleted;
    isEnd = step.isEndOfRound;
  }
  return deleted;
}

test('grants revoked or expired for a day go; younger and living ones stay', async () => {
  const opened = await openInMemory();
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

test('what is cleared away is not found any more, though it was kept as it was read', async () => {
  const opened = await openInMemory();
  const { id } = await issue(opened, { expiresAt: NOW - DAY - 1 });
  assert.ok(await opened.store.findGrant(id));
  assert.equal(await walkAll(opened), 1);
  assert.equal(await opened.store.findGrant(id), null);
});

test('grants go with their client, their account and their epochs', async () => {
  const opened = await openInMemory();
  const { store } = opened;
  await store.registerClient(sampleClient({ id: 'app_two' }), event('client_registered'));
  await store.addAccount(sampleAccount({ id: 'usr_bob', username: null }), 'bob@example.com', event('user_added'));
  await issue(opened, { clientId: 'app_two' });
  await issue(opened, { resourceOwnerId: 'usr_bob' });
  await issue(opened, {});
  assert.equal(await walkAll(opened), 0);
  await store.deleteClient('app_two', event('client_deleted'));
  assert.equal(await walkAll(opened), 1);
  await store.deleteAccount('usr_bob', event('user_deleted'));
  assert.equal(await walkAll(opened), 1);
  await store.revokeClientGrants('app_one', event('client_grants_revoked'));
  assert.equal(await walkAll(opened), 1);
});

test('sessions that ended a day ago go', async () => {
  const opened = await openInMemory();
  const sessions = [
    sampleSession(),
    sampleSession({ createdAt: NOW - 29 * DAY }),
    sampleSession({ createdAt: NOW - 3 * DAY, lastSeenAt: NOW - DAY - 13 * HOUR }),
    sampleSession({ createdAt: NOW - 32 * DAY, expiresAt: NOW - 2 * DAY }),
  ];
  for (const session of sessions)
    await opened.store.addSession(session, sampleAccount().password, null, event('sign_in'));
  assert.equal(await walkAll(opened), 2);
  const found = await Promise.all(sessions.map(({ digest }) => opened.store.findSession(digest)));
  assert.deepEqual(found.map(Boolean), [true, true, false, false]);
});

test('sign-ins elsewhere whose request ended an hour ago go, and no others', async () => {
  const opened = await openInMemory();
  const all = [NOW + 1, NOW - HOUR + 1, NOW - HOUR - 1].map((expiresAt) => sampleExternalSignIn({ expiresAt }));
  const proof = await registerProduct(opened.store);
  for (const each of all) await opened.store.stateExternalSignIn(each, proof);
  assert.equal(await walkAll(opened), 1);
  const found = await Promise.all(all.map(({ nonce }) => opened.store.findExternalSignIn(nonce)));
  assert.deepEqual(found.map(Boolean), [true, true, false]);
});

test('keys of requests go after a day, and no sooner', async () => {
  const opened = await openInMemory();
  const ages = [0, DAY, DAY + 1];
  for (const age of ages) {
    const once = { digest: hash('sha256', `${age}`, 'buffer'), request: Buffer.alloc(32), at: NOW - age };
    const id = `app_${age}`;
    const registered = event('client_registered', { clientId: id, actor: { ...operator, conditions: { once } } });
    await opened.store.registerClient(sampleClient({ id }), registered);
  }
  assert.equal(await walkAll(opened), 1);
  const found = await Promise.all(ages.map((age) => opened.store.findMade(hash('sha256', `${age}`, 'buffer'))));
  assert.deepEqual(found.map(Boolean), [true, true, false]);
});

test('who a deleted account was at a provider goes after a day', async () => {
  const opened = await openInMemory();
  const { store } = opened;
  await store.registerIdentityProvider(sampleProvider(), event('identity_provider_registered'));
  const ids = Array.from({ length: 10 }, (_, n) => `usr_${n}`);
  for (const [n, id] of ids.entries()) {
    const identity = { id: `product:${n}`, providerId: 'product', accountId: id, createdAt: NOW - 2 * DAY };
    await store.addIdentityAndAccount(
      identity,
      { ...sampleAccount({ id }), password: null },
      null,
      event('user_added'),
    );
    const at = n < 9 ? NOW - DAY - 1 : NOW - DAY;
    await store.deleteAccount(id, { ...event('user_deleted'), at });
  }
  assert.equal((await store.listIdentitiesOf(ids)).length, 10);
  assert.equal(await walkAll(opened), 9);
  assert.deepEqual(
    (await store.listIdentitiesOf(ids)).map(({ accountId }) => accountId),
    ['usr_9'],
  );
});

const use = ({ store }: SqliteStorage, name: string, expiresAt: number, most = 1000, clientId = 'app_one') =>
  store.useClientAssertion({ clientId, digest: hash('sha256', name, 'buffer'), expiresAt }, most);

test('RFC 7523 §3: marks of client assertions go as soon as their assertions expired, and not before', async () => {
  const opened = await openInMemory();
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

test('RFC 7523 §3: of many marks those that expired all go, in bounded steps', async () => {
  const opened = await openInMemory();
  const all = Array.from({ length: 1300 }, (_, n) =>
    use(opened, `${n}`, n % 3 === 0 ? NOW - 2 * DAY : NOW + 60_000, 2000, `app_${n % 7}`),
  );
  await Promise.all(all);
  let cleared = 0;
  for (let step = Number.NaN; step !== 0; cleared += step) {
    step = Number(await opened.cleanUp.clearMarks());
    assert.ok(step <= 64, `${step}`);
  }
  assert.equal(cleared, Math.ceil(1300 / 3));
});

test('RFC 7523 §3: a clock that steps back makes no used assertion good again whose mark is gone', async () => {
  const opened = await openInMemory();
  assert.equal(await use(opened, 'used', NOW - 1), 'first');
  assert.equal(await opened.cleanUp.clearMarks(), 1);
  for (const earlier of [NOW - 1, NOW - HOUR, NOW - 1 - DAY])
    assert.equal(await use(opened, 'used', earlier), 'cleared');
  assert.equal(await use(opened, 'used by another', NOW - 1, 1000, 'app_two'), 'first');
  assert.equal(await use(opened, 'later', NOW), 'first');
  assert.equal(await use(opened, 'when the clock was more than a day ahead', NOW - 2 - DAY), 'first');
});

test('a step sees 64 rows and deletes 8 at most, and a walk misses none', async () => {
  const opened = await openInMemory();
  const issues: Promise<Grant>[] = [];
  for (let index = 0; index < 1300; index += 1)
    issues.push(issue(opened, { expiresAt: index % 3 === 0 ? NOW - 2 * DAY : NOW + DAY }));
  await Promise.all(issues);
  let deleted = 0;
  for (let isEnd = false; !isEnd; ) {
    const step = await opened.cleanUp.step();
    assert.ok(step && step.seen <= 64 && step.deleted <= 8);
    deleted += step.deleted;
    isEnd = step.isEndOfRound;
  }
  assert.equal(deleted, Math.ceil(1300 / 3));
  assert.equal(await walkAll(opened), 0);
});

test('decision 0043: the time of the clean-up follows a clock that jumps ahead at twice the pace of time, and one that goes back at once; both are told', async () => {
  const clocks = { wall: NOW, steady: 0 };
  const kept: number[] = [NOW - 60_000];
  const store = { read: async () => kept.at(-1) as number, keep: async (time: number) => kept.push(time) };
  const time = new CleanUpTime(store, { now: () => clocks.wall, monotonic: () => clocks.steady });
  const said: string[] = [];
  const pass = (ms: number) => {
    clocks.wall += ms;
    clocks.steady += ms;
    return time.advance((sentence) => said.push(sentence));
  };
  assert.equal(await pass(0), NOW - 60_000);
  assert.equal(await pass(60_000), NOW + 60_000, 'it caught up');
  assert.equal(await pass(DAY), NOW + 60_000 + DAY);
  assert.deepEqual(said, []);
  clocks.wall += 400 * DAY;
  const before = NOW + 60_000 + DAY;
  assert.equal(await pass(HOUR), before + 2 * HOUR);
  assert.equal(time.behind, 400 * DAY - HOUR);
  assert.match(said.join(), /^the clock jumped by 34560000 s: .*deletes nothing early; check the clock$/);
  clocks.wall -= 400 * DAY;
  assert.equal(await pass(0), before + HOUR, 'never later than the clock');
  assert.match(said[1] ?? '', /^the clock jumped by -34560000 s/);
  assert.equal(kept.at(-1), before + HOUR);
});

test('decision 0043: a start under a clock that is far ahead deletes nothing that is alive, and says so', async (t) => {
  const path = temporaryPath(t);
  const before = await openAsService(path);
  await addAdaAndOne(before);
  const { id } = await issue(before, { generation: 7, expiresAt: NOW + 30 * DAY });
  const dead = await issue(before, { expiresAt: NOW - DAY - 1 });
  await before.close();
  const said: string[] = [];
  for (let start = 0; start < 2; start += 1) {
    const ahead = await openAsService(path, { now: () => NOW + 400 * DAY });
    ahead.cleanUp.start((sentence) => said.push(sentence));
    while (said.length <= start || (await ahead.store.findGrant(dead.id))) await new Promise(setImmediate);
    assert.equal(await walkAll(ahead), 0);
    assert.ok((await ahead.cleanUp.time()) < NOW + HOUR, 'neither are old events of the trail');
    await ahead.close();
  }
  assert.match(
    said[1] ?? '',
    /^the clock is 34560000 s ahead of the clean-up.*deletes nothing early; check the clock$/,
  );
  const after = await openAsService(path);
  t.after(() => after.close());
  assert.ok(await after.store.findGrant(id));
});

test('started, it walks on its own until it is stopped', async (t) => {
  const opened = await openInMemory();
  t.after(() => opened.close());
  const { id } = await issue(opened, { expiresAt: NOW - 2 * DAY });
  opened.cleanUp.start((sentence) => assert.fail(sentence));
  while (await opened.store.findGrant(id)) await new Promise((resolve) => setTimeout(resolve, 10));
  opened.cleanUp.stop();
});
