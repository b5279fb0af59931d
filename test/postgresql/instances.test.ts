/** Any number of instances on one database see each other's acts at once, and none skips an event. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Grant, grantIdText, isEnded } from '../../src/oauth/grants/grant.ts';
import { StoreUnavailable } from '../../src/oauth/store.ts';
import { auditEvent } from '../../src/oauth/trail/audit.ts';
import { TrailHeldUp } from '../../src/oauth/trail/audit-store.ts';
import { sampleOperator } from '../support/operators.ts';
import { PATIENT } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import {
  addAdaAndOne,
  basisOf,
  event,
  NO_CHAIN,
  NOW,
  sampleAccount,
  sampleClient,
  sampleGeneration,
  sampleGrant,
  sampleMark,
  sampleSession,
  sampleUse,
} from '../support/storage.ts';
import { instance, readyDatabases } from './instance.ts';

const server = await sharedPostgres();
after(() => server.remove());
const createDatabase = await readyDatabases(server);

async function openTwo(t: TestContext) {
  const url = await createDatabase();
  const [one, other] = [await instance(t, url, PATIENT), await instance(t, url, PATIENT)];
  await addAdaAndOne(one);
  const grant = sampleGrant();
  await one.store.issueGrant(grant, event('consent_allowed'));
  return { one: one.store, other: other.store, url, grant };
}

/** A session of the database administrator's, in a transaction that is rolled back when the test ends. */
async function openTransaction(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  await client.query('BEGIN');
  return client;
}

test('the next find on any instance sees every revocation that was answered', async (t) => {
  const { one, other, grant } = await openTwo(t);
  const isAliveThere = async (id: Buffer) => {
    const found = await other.findGrant(id);
    return found !== null && !isEnded(found.grant, found.standing);
  };
  const ends = [
    () => one.revokeGrant(grant.id, 'user', event('grant_revoked')),
    () => one.revokeGrantsOfClient('usr_ada', 'app_one', event('grant_revoked')),
    () => one.revokeClientGrants('app_one', event('client_grants_revoked')),
    () => one.revokeAccountGrants('usr_ada', event('user_grants_revoked')),
    () => one.revokeAllGrants(event('all_grants_revoked')),
    () => one.deleteClient('app_one', event('client_deleted')),
  ];
  for (const end of ends) {
    const epochs = await other.findEpochs('app_one', 'usr_ada');
    assert.ok(epochs);
    const { id } = sampleGrant();
    await other.issueGrant({ ...sampleGrant({ epochs }), id }, event('consent_allowed'));
    assert.equal(await isAliveThere(id), true);
    await end();
    if (end !== ends[0]) assert.equal(await isAliveThere(id), false);
    assert.equal(await isAliveThere(grant.id), false);
  }
});

test('the next find on any instance sees a client as it is now, whoever changed it', async (t) => {
  const { one, other, url, grant } = await openTwo(t);
  const clientThere = async () => (await other.findGrant(grant.id))?.client;
  const client = await clientThere();
  assert.equal(client?.secrets.length, 1);
  assert.equal(await one.replaceClientSecrets(client, [], event('client_secret_retired')), true);
  assert.deepEqual((await clientThere())?.secrets, []);
  await one.setClientStatus('app_one', 'paused', event('client_paused'));
  assert.equal((await clientThere())?.status, 'paused');
  await one.updateClient(sampleClient({ name: 'Two' }), sampleClient(), event('client_updated'));
  assert.equal((await clientThere())?.name, 'Two');
  await server.query(url, "SET session_replication_role = replica; UPDATE client SET name = 'By hand'");
  assert.equal((await clientThere())?.name, 'By hand');
});

test('an epoch that is raised while transitions run ends what they hand out, and nothing begins after its answer', async (t) => {
  const { one, other } = await openTwo(t);
  const grants = Array.from({ length: 400 }, () => sampleGrant());
  await Promise.all(grants.map((grant) => one.issueGrant(grant, event('consent_allowed'))));
  let isAnswered = false;
  const raise = pause(3).then(async () => {
    await other.revokeClientGrants('app_one', event('client_grants_revoked'));
    isAnswered = true;
  });
  const late = await Promise.all(
    grants.map(async (grant, index) => {
      await pause(index / 40);
      const beganAfter = isAnswered;
      return (await one.redeemAuthorizationCode(sampleGeneration(grant, 1))) && beganAfter;
    }),
  );
  await raise;
  assert.equal(late.filter(Boolean).length, 0);
  const found = await Promise.all(grants.map(({ id }) => one.findGrant(id)));
  for (const each of found) assert.ok(each && isEnded(each.grant, each.standing));
});

test('of those who redeem and rotate on two instances at once, one wins', async (t) => {
  const { one, other, grant } = await openTwo(t);
  for (let generation = 1; generation < 20; generation += 1) {
    const tries = [one, other, one, other].map((store) =>
      store.rotateRefreshToken(sampleGeneration(grant, generation)),
    );
    assert.equal((await Promise.all(tries)).filter(Boolean).length, 1);
  }
});

test('a use that was noted on one instance is seen on the others when it is written, which nobody asks for', async (t) => {
  const { one, other, grant } = await openTwo(t);
  one.noteUse(grant, sampleUse(1, NOW));
  let found = await other.findGrant(grant.id);
  while (found?.grant.usedGeneration !== 1) {
    await pause(10);
    found = await other.findGrant(grant.id);
  }
  assert.deepEqual([found?.grant.usedGeneration, found?.grant.lastUsedAt], [1, NOW]);
});

test('RFC 9700 §2.2.2: a late mark of an older use, as another instance writes it, lowers none', async (t) => {
  const { one, other, url, grant } = await openTwo(t);
  const note = async (store: typeof one, generation: number, at: number) => {
    store.noteUse(grant, sampleUse(generation, at));
    await store.summarizeGrants('usr_ada', NOW); // Whoever asks about all of somebody's grants has the marks written before.
    return server.query(url, `SELECT used_generation, last_used_at - ${NOW} AS used_at FROM oauth_grant`);
  };
  assert.deepEqual(await note(one, 2, NOW + 1), [{ used_generation: 2, used_at: '1' }]);
  assert.deepEqual(await note(other, 1, NOW + 2), [{ used_generation: 2, used_at: '2' }]);
  assert.deepEqual(await note(one, 3, NOW), [{ used_generation: 3, used_at: '2' }]);
});

test('a password that is set while sessions begin leaves none that was begun with the old one', async (t) => {
  const { one, other } = await openTwo(t);
  for (let round = 0; round < 20; round += 1) {
    const before = sampleAccount().password;
    const session = sampleSession();
    const [began] = await Promise.all([
      one.addSession(session, before, null, event('sign_in')),
      other.setPassword('usr_ada', { sealedPhc: '$argon2id$other', keyId: 1 }, false, event('user_password_set')),
    ]);
    assert.equal(await one.findSession(session.digest), null, began ? 'it began before' : 'it did not begin');
    await other.setPassword('usr_ada', before, false, event('user_password_set'));
  }
});

test('all sessions that are ended are those as well whose sign-in is not committed yet', async (t) => {
  const { one, other, url } = await openTwo(t);
  const signIn = await openTransaction(t, url);
  const { digest } = sampleSession();
  await signIn.query(
    `INSERT INTO session (digest, account_id, created_at, last_seen_at, expires_at)
     SELECT $1, id, 0, 0, 0 FROM account WHERE id = 'usr_ada' FOR SHARE`,
    [digest],
  );
  const ended = other.endAccountSessions('usr_ada', event('user_sessions_ended'));
  assert.equal(await Promise.race([ended, pause(200).then(() => 'waits')]), 'waits');
  await signIn.query('COMMIT');
  assert.equal(await ended, true);
  assert.equal(await one.findSession(digest), null);
});

test('a reader of the trail is refused while a place is still being filled, is told who fills it, and skips none', async (t) => {
  const { one, url } = await openTwo(t);
  const last = await one.lastAuditSequence();
  const writer = await openTransaction(t, url);
  const { rows } = await writer.query('SELECT pg_backend_pid() AS pid');
  const heldUp = (error: unknown) =>
    error instanceof TrailHeldUp && error.message.includes(`server process ${rows[0].pid})`);
  await writer.query(
    `INSERT INTO audit_event (at, action, actor_kind, actor_id, ${NO_CHAIN.columns})
     VALUES (0, 'client_paused', 'operator', 'slow', ${NO_CHAIN.postgresql})`,
  );
  await one.recordDenial(event('consent_denied'));
  await assert.rejects(one.listAuditEventsAfter(last, 10), heldUp);
  await assert.rejects(one.lastAuditSequence(), heldUp);
  await one.recordDenial(event('consent_denied'));
  await writer.query('COMMIT');
  const read = await one.listAuditEventsAfter(last, 10);
  assert.deepEqual(
    read.map(({ action, sequence }) => [action, sequence - last]),
    [
      ['client_paused', 1],
      ['consent_denied', 2],
      ['consent_denied', 3],
    ],
  );
});

test('who begins to read the trail waits a while for those who write it or begin as well', async (t) => {
  const { one, other, url } = await openTwo(t);
  const writer = await openTransaction(t, url);
  await writer.query('SELECT next_audit_sequence()');
  const beginning = Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).lastAuditSequence());
  await pause(400);
  await writer.query('COMMIT');
  assert.equal(new Set(await Promise.all(beginning)).size, 1);
});

test('a place that stays empty holds no reader up, nor does a transaction that writes no event', async (t) => {
  const { one, url } = await openTwo(t);
  const last = await one.lastAuditSequence();
  const [undone, other] = [await openTransaction(t, url), await openTransaction(t, url)];
  await other.query('CREATE TABLE somebody_elses (x int)');
  await undone.query('SELECT next_audit_sequence()');
  await undone.query('ROLLBACK');
  await one.recordDenial(event('consent_denied'));
  assert.deepEqual(
    (await one.listAuditEventsAfter(last, 10)).map(({ sequence }) => sequence - last),
    [2],
  );
});

test('a reader of the trail is refused after a failover to a server that lacks its place, which may be given once more', async (t) => {
  const { one, url } = await openTwo(t);
  await one.recordDenial(event('consent_denied'));
  const last = await one.lastAuditSequence();
  await server.query(url, `DELETE FROM audit_event WHERE sequence >= ${last - 1}`);
  await server.query(url, `SELECT setval('audit_event_sequence', ${last - 1}, false)`);
  await one.recordDenial(event('consent_denied'));
  await assert.rejects(one.listAuditEventsAfter(last, 10), StoreUnavailable);
  assert.equal(await one.lastAuditSequence(), last - 1);
});

/** Resolves when somebody waits for the row of another. */
async function untilSomebodyWaits(url: string): Promise<void> {
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  while ((await server.query(url, waiting)).length === 0) await pause(5);
}

test('who waits for a grant while another is revoked with it holds no place in the trail', async (t) => {
  const { one, other, url } = await openTwo(t);
  const grants = [sampleGrant(), sampleGrant()].sort((a, b) => a.id.compare(b.id));
  for (const grant of grants) await one.issueGrant(grant, event('consent_allowed'));
  const [, second] = grants as [Grant, Grant];
  const holder = await openTransaction(t, url);
  await holder.query('SELECT FROM oauth_grant WHERE id = $1 FOR UPDATE', [grantIdText(second.id)]);
  const sequence = await other.lastAuditSequence();
  const revoked = Promise.all(grants.map(({ id }) => one.revokeGrant(id, 'user', event('grant_revoked'))));
  await untilSomebodyWaits(url);
  await other.recordDenial(event('consent_denied'));
  const events = await other.listAuditEventsAfter(sequence, 10);
  // The first grant may be revoked already, each being an act of its own; the one that waits is not told of.
  const actions = events.map(({ action }) => action);
  assert.deepEqual(
    actions.filter((action) => action !== 'grant_revoked'),
    ['consent_denied'],
  );
  assert.ok(actions.length <= 2, String(actions));
  await holder.query('ROLLBACK');
  assert.deepEqual(await revoked, [true, true]);
});

/** The clients of marks whose totals a session can lock at once. */
async function freeTotals(session: pg.Client): Promise<string[]> {
  const free = 'SELECT client_id FROM client_assertion_total ORDER BY client_id FOR UPDATE SKIP LOCKED';
  return (await session.query<{ client_id: string }>(free)).rows.map(({ client_id }) => client_id);
}

test('RFC 7523 §3: marks of several clients are made, and cleared, in the order of the clients: nobody waits in a circle', async (t) => {
  const { one: store, url } = await openTwo(t);
  const names = Array.from({ length: 10 }, (_, index) => `app_${index}`);
  const use = (expiresAt: number) =>
    Promise.all(
      names
        .toReversed()
        .map((clientId, index) =>
          store.useClientAssertion({ ...sampleMark(expiresAt - NOW + index), clientId, expiresAt }, 50),
        ),
    );
  await use(NOW - 10_000);
  // As they lie in the table, they come in another order; and an index need not be used.
  await server.query(url, "UPDATE client_assertion_total SET marks = marks WHERE client_id IN ('app_0', 'app_3')");
  for (const scan of ['indexscan', 'bitmapscan'])
    await server.query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET enable_${scan} = off`);
  const cleaning = await instance(t, url, PATIENT);
  for (const act of [() => use(NOW + 60_000), () => cleaning.cleanUp.clearMarks()]) {
    const [holder, other] = [await openTransaction(t, url), await openTransaction(t, url)];
    await holder.query("SELECT FROM client_assertion_total WHERE client_id = 'app_4' FOR UPDATE");
    const acted = act();
    await untilSomebodyWaits(url);
    assert.deepEqual(await freeTotals(other), names.slice(5));
    await other.query('ROLLBACK');
    await holder.query('ROLLBACK');
    await acted;
  }
});

test('who reads the trail while two instances write it reads every event once, in order', async (t) => {
  const { one, other } = await openTwo(t);
  const first = await one.lastAuditSequence();
  const read: number[] = [];
  let isWriting = true;
  const reader = (async () => {
    for (let place = first; ; place = read.at(-1) ?? first) {
      const wasWriting = isWriting;
      const events = await other.listAuditEventsAfter(place, 7);
      read.push(...events.map(({ sequence }) => sequence));
      if (!wasWriting && events.length === 0) return;
    }
  })();
  // Few enough at once for a database on a slow machine, which would have some of them wait for too long.
  const writers = Array.from({ length: 20 }, async (_, index) => {
    const store = index % 2 === 0 ? one : other;
    await pause(index);
    for (let turn = 0; turn < 15; turn += 1) {
      const grant = sampleGrant();
      await store.issueGrant(grant, event('consent_allowed'));
      await store.recordDenial(event('consent_denied'));
      await store.revokeGrant(grant.id, 'user', event('grant_revoked'));
    }
  });
  await Promise.all(writers);
  isWriting = false;
  await reader;
  const all = (await one.listAuditEvents({ limit: 10_000 })).map(({ sequence }) => sequence);
  assert.deepEqual(read, all.filter((sequence) => sequence > first).toReversed());
  assert.equal(read.length, 900);
});

test('RFC 7523 §3: two instances give a client no more marks than it may have, while marks are cleared beside them', async (t) => {
  const url = await createDatabase();
  const [one, other] = [await instance(t, url, PATIENT), await instance(t, url, PATIENT)];
  const mark = (n: number, expiresAt = NOW + 60_000) => ({
    ...sampleMark(n),
    clientId: n % 2 === 0 ? 'app_one' : 'app_two',
    expiresAt,
  });
  const expired = Array.from({ length: 100 }, (_, n) => one.store.useClientAssertion(mark(n, NOW - 1), 50));
  assert.deepEqual(new Set(await Promise.all(expired)), new Set(['first']));
  const all: Promise<string>[] = [];
  for (let n = 100; n < 500; n += 1) {
    // The same assertion at both: one of the two is first.
    for (const { store } of [one, other]) all.push(store.useClientAssertion(mark(n), 50));
    if (n % 100 === 0) await Promise.all([one.cleanUp.clearMarks(), pause(1)]);
  }
  const became = await Promise.all(all);
  assert.equal(became.filter((use) => use === 'first').length, 100);
  for (let round = 0; round < 5; round += 1) {
    const ofThird = (n: number) => ({ ...sampleMark(n), clientId: `app_third_${round}` });
    const more = [one, other].flatMap(({ store }, instance) =>
      Array.from({ length: 100 }, (_, n) =>
        store.useClientAssertion(ofThird(1000 * (round + 1) + 2 * n + instance), 60),
      ),
    );
    assert.equal((await Promise.all(more)).filter((use) => use === 'first').length, 60);
  }
  const totals = "SELECT client_id, marks FROM client_assertion_total WHERE client_id !~ 'third' ORDER BY client_id";
  assert.deepEqual(await server.query(url, totals), [
    { client_id: 'app_one', marks: 50 },
    { client_id: 'app_two', marks: 50 },
  ]);
  const rows = 'SELECT client_id, count(*)::int AS marks FROM client_assertion GROUP BY client_id ORDER BY client_id';
  assert.deepEqual(
    await server.query(url, rows),
    await server.query(url, 'SELECT client_id, marks FROM client_assertion_total ORDER BY client_id'),
  );
});

/** Waits until a statement waits for what a transaction has locked, or is done. */
async function untilItWaits(url: string, statement: Promise<unknown>, transaction: pg.Client): Promise<void> {
  const { rows } = await transaction.query('SELECT pg_backend_pid() AS pid');
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE ${rows[0].pid} = ANY (pg_blocking_pids(pid))`;
  const isWaiting = async () => (await server.query(url, waiting)).length === 1;
  while ((await Promise.race([statement, pause(20, 'not yet')])) === 'not yet' && !(await isWaiting()));
}

test('a grant waits for the end of its session that is being written, and is not there then', async (t) => {
  const { one, other, url } = await openTwo(t);
  const [session, grant] = [sampleSession(), sampleGrant()];
  await one.addSession(session, sampleAccount().password, null, event('sign_in'));
  const transaction = await openTransaction(t, url);
  await transaction.query('DELETE FROM session WHERE digest = $1', [session.digest]);
  const issuing = other.issueGrant(grant, event('consent_allowed'), basisOf(session.digest));
  await untilItWaits(url, issuing, transaction);
  await transaction.query('COMMIT');
  assert.equal(await issuing, false);
  assert.equal(await one.findGrant(grant.id), null);
});

/** Inserts a grant as an Allow does by consent that another one shows: that one stays locked until the transaction ends. */
async function issueResting(transaction: pg.Client, on: Grant, { id }: Grant): Promise<void> {
  const basis = [grantIdText(on.id)];
  await transaction.query('SELECT id FROM oauth_grant WHERE id = $1 FOR SHARE', basis);
  await transaction.query(
    `INSERT INTO oauth_grant SELECT made.* FROM oauth_grant,
     jsonb_populate_record(oauth_grant, jsonb_build_object('id', $2::text)) AS made WHERE oauth_grant.id = $1`,
    [...basis, grantIdText(id)],
  );
}

test('disconnecting an app waits for grants that rest on its own, and ends them, and those that rest on them', async (t) => {
  const { one, other, url, grant } = await openTwo(t);
  const [made, later] = [sampleGrant(), sampleGrant()];
  const [first, second] = [await openTransaction(t, url), await openTransaction(t, url)];
  await issueResting(first, grant, sampleGrant());
  const disconnecting = one.revokeGrantsOfClient('usr_ada', 'app_one', event('grant_revoked'));
  await untilItWaits(url, disconnecting, first);
  // What waits does not see this one, on which the next one rests.
  await other.issueGrant(made, event('consent_allowed'));
  await issueResting(second, made, later);
  await first.query('COMMIT');
  await untilItWaits(url, disconnecting, second);
  await second.query('COMMIT');
  assert.equal(await disconnecting, 4);
  assert.equal(await one.countLiveGrants('usr_ada', NOW), 0);
});

test('an operator who ends one’s own session holds no lock while the act waits, so that two at once do not deadlock', async (t) => {
  const { one, url } = await openTwo(t);
  const operator = sampleOperator();
  await one.addOperator(operator, null, event('operator_added'));
  const administrator = await openTransaction(t, url);
  await administrator.query('SELECT 1 FROM operator FOR SHARE');
  const actor = { kind: 'operator', id: operator.id, source: null, requestId: null } as const;
  const standing = { operatorId: operator.id, epoch: operator.epoch };
  const about = { clientId: operator.id };
  const ended = auditEvent('operator_sessions_ended', { ...actor, standing }, NOW, about);
  const ending = one.endOperatorSessions(operator.id, ended);
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  while ((await server.query(url, waiting)).length === 0) await pause(5);
  await administrator.query('SELECT 1 FROM operator FOR NO KEY UPDATE NOWAIT');
  await administrator.query('ROLLBACK');
  assert.equal(await ending, true);
});
