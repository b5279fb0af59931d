/** Clean-up deletes what is dead for a day and nothing else, in small steps. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Grant } from '../../src/oauth/grant.ts';
import { CleanUp } from '../../src/storage/sqlite/clean-up.ts';
import { migrate } from '../../src/storage/sqlite/migrate.ts';
import type { SqliteStorage } from '../../src/storage/sqlite/open.ts';
import { Tables } from '../../src/storage/sqlite/tables.ts';
import { WriteQueue } from '../../src/storage/sqlite/write-queue.ts';
import {
  addAdaAndOne,
  event,
  HOUR,
  NOW,
  openAsService,
  sampleAccount,
  sampleClient,
  sampleGrant,
  sampleSession,
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
    sampleSession({ createdAt: NOW - 32 * DAY }),
  ];
  for (const session of sessions)
    await opened.store.addSession(session, sampleAccount().password, null, event('sign_in'));
  assert.equal(await walkAll(opened), 2);
  const found = await Promise.all(sessions.map(({ digest }) => opened.store.findSession(digest)));
  assert.deepEqual(found.map(Boolean), [true, true, false, false]);
});

test('RFC 7523 §3: marks of client assertions go a day after their assertions expired, and not before', async () => {
  const opened = await openInMemory();
  const { store } = opened;
  const expiries = [NOW + 600_000, NOW - 1, NOW - DAY, NOW - DAY - 1, NOW - 40 * DAY];
  const marks = expiries.map((expiresAt, n) => ({ digest: Buffer.alloc(32, n + 1), expiresAt }));
  for (const mark of marks) assert.equal(await store.useClientAssertion(mark), true);
  assert.equal(await walkAll(opened), 2);
  const again = [];
  for (const mark of marks) again.push(await store.useClientAssertion(mark));
  assert.deepEqual(again, [false, false, false, true, true]);
});

test('RFC 7523 §3: a walk through many marks misses none, in steps that are as small as others', async () => {
  const opened = await openInMemory();
  const digests = Array.from({ length: 1300 }, () => randomBytes(32));
  await Promise.all(
    digests.map((digest, n) =>
      opened.store.useClientAssertion({ digest, expiresAt: n % 3 === 0 ? NOW - 2 * DAY : NOW + DAY }),
    ),
  );
  assert.equal(await walkAll(opened), Math.ceil(1300 / 3));
  assert.equal(await walkAll(opened), 0);
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
    assert.ok(step.seen <= 64 && step.deleted <= 8);
    deleted += step.deleted;
    isEnd = step.isEndOfRound;
  }
  assert.equal(deleted, Math.ceil(1300 / 3));
  assert.equal(await walkAll(opened), 0);
});

test('after the clock jumped by more than an hour nothing is deleted for a day, and somebody is told', () => {
  const database = new DatabaseSync(':memory:');
  migrate(database, NOW);
  const writes = new WriteQueue({ database, sync: null, commitSyncs: false, onFailure: () => {} });
  let [wall, monotonic] = [NOW, 0];
  const cleanUp = new CleanUp(
    new Tables(database, writes),
    () => wall,
    () => monotonic,
  );
  const said: string[] = [];
  const isSteady = () => cleanUp.isClockSteady((sentence) => said.push(sentence));
  const pass = (ms: number) => {
    wall += ms;
    monotonic += ms;
  };
  pass(DAY);
  wall += HOUR;
  assert.equal(isSteady(), true);
  for (const jump of [-2 * HOUR - 1, 400 * DAY]) {
    said.length = 0;
    wall += jump;
    assert.equal(isSteady(), false);
    pass(DAY - 1);
    assert.equal(isSteady(), false);
    pass(1);
    assert.equal(isSteady(), true);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /clock jumped by -?\d+ s.*pauses/);
  }
});

test('started, it walks on its own until it is stopped', async (t) => {
  const opened = await openInMemory();
  t.after(() => opened.close());
  const { id } = await issue(opened, { expiresAt: NOW - 2 * DAY });
  opened.cleanUp.start((sentence) => assert.fail(sentence));
  while (await opened.store.findGrant(id)) await new Promise((resolve) => setTimeout(resolve, 10));
  opened.cleanUp.stop();
});
