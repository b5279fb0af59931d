/** Lost lines and crashed servers: nothing that was acknowledged is lost, nothing happens twice, and service comes back. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { emptyTally } from '../../src/oauth/activity/app-tally.ts';
import type { Generation, Grant } from '../../src/oauth/grants/grant.ts';
import { OutcomeUnknown, StoreUnavailable } from '../../src/oauth/store.ts';
import type { PostgresqlStorage } from '../../src/storage/postgresql/open.ts';
import { startPostgres } from '../support/postgres.ts';
import {
  addAdaAndOne,
  event,
  NOW,
  sampleAccount,
  sampleClient,
  sampleGeneration,
  sampleGrant,
  sampleSession,
} from '../support/storage.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { instance, readyDatabases } from './instance.ts';

const server = await startPostgres({ deadlock_timeout: '100ms' });
after(() => server.remove());
const createDatabase = await readyDatabases(server);

/** What workers were told of a grant: whether it was issued, revoked, and which generations began. */
type Told = { readonly grant: Grant; isIssued: boolean; isRevoked: boolean; readonly begun: number[] };

/** Two instances that issue, redeem, rotate and revoke, until told to stop. */
async function startLoad(t: TestContext) {
  const url = await createDatabase();
  const instances = [await instance(t, url), await instance(t, url)] as const;
  await addAdaAndOne(instances[0]);
  const told: Told[] = [];
  let [isOver, operations, refusals] = [false, 0, 0];
  /** The answer, or null when the store was unavailable; any other error fails the test. */
  const ask = async <T>(asked: Promise<T>): Promise<T | null> => {
    operations += 1;
    try {
      return await asked;
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, error as Error);
      refusals += 1;
      await pause(5);
      return null;
    }
  };
  const work = async () => {
    const one: Told = { grant: sampleGrant(), isIssued: false, isRevoked: false, begun: [] };
    told.push(one);
    const { grant } = one;
    one.isIssued = (await ask(instances[0].store.issueGrant(grant, event('consent_allowed')))) === undefined;
    const begin = async (transition: (store: PostgresqlStorage['store'], next: Generation) => Promise<boolean>) => {
      const generation = (one.begun.at(-1) ?? 0) + 1;
      const tries = [...instances, ...instances].map(({ store }) =>
        ask(transition(store, sampleGeneration(grant, generation))),
      );
      const winners = (await Promise.all(tries)).filter((won) => won === true).length;
      assert.ok(winners <= 1, `generation ${generation} began ${winners} times`);
      if (winners === 1) one.begun.push(generation);
    };
    await begin(async (store, next) => (await store.redeemAuthorizationCode(next)) !== false);
    for (let times = 0; times < 3; times += 1) await begin((store, next) => store.rotateRefreshToken(next));
    await ask(instances[1].store.findGrant(grant.id));
    one.isRevoked = (await ask(instances[1].store.revokeGrant(grant.id, 'user', event('grant_revoked')))) === true;
  };
  const workers = Array.from({ length: 20 }, async () => {
    while (!isOver) await work();
  });
  const workersEnd = Promise.all(workers);
  workersEnd.catch(() => {});
  t.after(() => {
    isOver = true;
  });
  const stop = async () => {
    isOver = true;
    await workersEnd;
    t.diagnostic(`${operations} operations, ${refusals} of them unavailable`);
    return { url, told, operations, refusals, store: instances[0].store };
  };
  return { url, stop, done: () => operations };
}

/** Everything that was told is so, and every act that is there has its one event. */
async function assertKept({ told, store, url }: Awaited<ReturnType<Awaited<ReturnType<typeof startLoad>>['stop']>>) {
  for (const { grant, isIssued, isRevoked, begun } of told) {
    const found = await store.findGrant(grant.id);
    if (isIssued) assert.ok(found, 'a grant is lost');
    if (!found) continue;
    assert.ok(found.grant.generation >= (begun.at(-1) ?? 0), 'a transition is lost');
    if (isRevoked) assert.notEqual(found.grant.revokedAt, null, 'a revocation is lost');
  }
  const [counted] = await server.query<Record<string, number>>(
    url,
    `SELECT (SELECT count(*) FROM oauth_grant)::int AS issued,
       (SELECT count(*) FROM oauth_grant WHERE revoked_at IS NOT NULL)::int AS revoked,
       (SELECT count(*) FROM audit_event WHERE action = 'consent_allowed')::int AS allowed_events,
       (SELECT count(*) FROM audit_event WHERE action = 'grant_revoked')::int AS revoked_events`,
  );
  assert.equal(counted?.['allowed_events'], counted?.['issued']);
  assert.equal(counted?.['revoked_events'], counted?.['revoked']);
  assert.ok((counted?.['revoked'] ?? 0) > 0);
}

test('with all connections terminated every 50 ms, every answer given is true, and no code is redeemed twice', async (t) => {
  const { url, stop, done } = await startLoad(t);
  const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  let terminated = 0;
  for (let times = 0; times < 30 || done() < 3000 || terminated < 100; times += 1) {
    terminated += (await server.query(url, terminate)).length;
    await pause(50);
  }
  await assertKept(await stop());
});

test('across crashes of the server every answer given is true, and service comes back by itself', async (t) => {
  const { stop, done } = await startLoad(t);
  for (let crashes = 0; crashes < 4; crashes += 1) {
    const before = done();
    while (done() < before + 500) await pause(20);
    await server.crash();
  }
  await assertKept(await stop());
});

// How soon, connections.test.ts says with a clock that it moves.
test('RL-03: while the database is gone it is told so, and it is served again after its return', async (t) => {
  const opened = await instance(t, await createDatabase());
  await addAdaAndOne(opened);
  const { store } = opened;
  await store.findClient('app_one');
  t.after(() => server.start());
  await server.stop();
  const verbs = [
    () => store.findClient('app_one'),
    () => store.rotateRefreshToken(sampleGeneration(sampleGrant(), 1)),
    () => store.recordDenial(event('consent_denied')),
  ];
  await Promise.all(verbs.map((ask) => assert.rejects(ask(), StoreUnavailable)));
  for (const ask of verbs) await assert.rejects(ask(), StoreUnavailable);
  await server.start();
  for (const ask of verbs) await retry(ask);
});

/** Tries until the store is available. */
async function retry(ask: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, error as Error);
      await pause(20);
    }
  }
}

/** A store behind a proxy, and how the same things look without it. */
async function openBehindProxy(t: TestContext, commitTakes = 0) {
  const url = await createDatabase();
  const proxy = await startCuttingProxy(t, server.port);
  const opened = await instance(t, proxy.through(url));
  await addAdaAndOne(opened);
  if (commitTakes > 0) {
    // Deferred to the commit, so that it is under way for so long (s).
    await server.query(
      url,
      `CREATE FUNCTION doze() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${commitTakes}); RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER doze AFTER INSERT OR UPDATE ON oauth_grant DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION doze();
       CREATE CONSTRAINT TRIGGER doze AFTER INSERT ON audit_event DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION doze()`,
    );
  }
  const events = async (action: string) => (await opened.store.listAuditEvents({ action, limit: 100 })).length;
  return { ...opened, url, proxy, events };
}

test('tallies whose line was cut are added once, or not, and never twice', async (t) => {
  const { store, proxy } = await openBehindProxy(t, 0);
  const [{ id: clientId } = assert.fail()] = await store.listClients(null, 1);
  const counted = { clientId, at: NOW, tally: { ...emptyTally(), checks: 1 }, failures: [] };
  const checks = async () => (await store.listTallies(clientId, 'hour', 0)).map((tally) => tally.checks);
  proxy.cutAfter('INSERT INTO tally');
  await store.addActivity(counted, NOW);
  assert.deepEqual(await checks(), [1], 'nothing was committed, so that it was repeated');
  proxy.cutAfter('COMMIT');
  await assert.rejects(store.addActivity(counted, NOW), OutcomeUnknown);
  assert.equal(proxy.cuts, 2);
  const [sum = 0] = await checks();
  assert.ok(sum <= 2, `counted ${sum}`);
});

for (const commitTakes of [0, 0.1]) {
  test(`an act whose line was cut after its commit was sent happens once, and is answered so (a commit takes ${commitTakes} s)`, async (t) => {
    const { store, proxy, events } = await openBehindProxy(t, commitTakes);
    const cut = async <T>(text: string, act: () => Promise<T>): Promise<T> => {
      proxy.cutAfter(text);
      const before = proxy.cuts;
      const answer = await act();
      assert.equal(proxy.cuts, before + 1, 'nothing was cut');
      return answer;
    };
    const grant = sampleGrant();
    const id = grant.id.toString('hex').slice(0, 8);
    const digest = randomBytes(32);

    await cut('COMMIT', () => store.issueGrant(grant, event('consent_allowed')));
    assert.equal(await events('consent_allowed'), 1);
    assert.notEqual(await cut(id, () => store.redeemAuthorizationCode(sampleGeneration(grant, 1))), false);
    assert.equal(await store.redeemAuthorizationCode(sampleGeneration(grant, 1)), false);
    assert.equal(await cut(id, () => store.rotateRefreshToken(sampleGeneration(grant, 2))), true);
    assert.equal((await cut(id, () => store.findGrant(grant.id)))?.grant.generation, 2);
    assert.equal(await cut('COMMIT', () => store.revokeGrant(grant.id, 'user', event('grant_revoked'))), true);
    assert.equal(await events('grant_revoked'), 1);
    assert.equal(await cut('COMMIT', () => store.revokeGrant(grant.id, 'user', event('grant_revoked'))), false);
    const assertion = { clientId: 'app_one', digest, expiresAt: NOW };
    assert.equal(await cut(digest.toString('hex'), () => store.useClientAssertion(assertion, 1)), 'first');
    assert.equal(await store.useClientAssertion(assertion, 1), 'again');

    const more = [sampleGrant(), sampleGrant()];
    for (const each of more) await store.issueGrant(each, event('consent_allowed'));
    const disconnect = () => store.revokeGrantsOfClient('usr_ada', 'app_one', event('grant_revoked'));
    assert.equal(await cut('COMMIT', disconnect), 2);
    assert.equal(await events('grant_revoked'), 2);
    assert.equal(await cut('COMMIT', () => store.revokeClientGrants('app_one', event('client_grants_revoked'))), true);
    assert.equal((await store.findClient('app_one'))?.epoch, 1);
    assert.equal(await events('client_grants_revoked'), 1);
    const bob = sampleAccount({ id: 'usr_bob', username: 'bob' });
    assert.equal(await cut('COMMIT', () => store.addAccount(bob, 'bob@example.com', event('user_added'))), null);
    await cut('COMMIT', () => store.registerClient(sampleClient({ id: 'app_two' }), event('client_registered')));
    const session = sampleSession();
    const begin = () => store.addSession(session, sampleAccount().password, null, event('sign_in'));
    assert.equal(await cut('COMMIT', begin), true);
    assert.equal(await cut('COMMIT', () => store.endSession(session.digest, event('sign_out'))), true);
    assert.equal(await cut('COMMIT', () => store.deleteClient('app_two', event('client_deleted'))), true);
    for (const action of ['sign_in', 'sign_out', 'client_deleted']) assert.equal(await events(action), 1, action);
  });
}

test('of two who redeem a code at once, one whose line was cut, one wins', async (t) => {
  const { store, proxy, url } = await openBehindProxy(t);
  const other = await instance(t, url);
  for (let round = 0; round < 30; round += 1) {
    const grant = sampleGrant();
    await store.issueGrant(grant, event('consent_allowed'));
    proxy.cutAfter(grant.id.toString('hex').slice(0, 8));
    const next = sampleGeneration(grant, 1);
    const answers = await Promise.all([store.redeemAuthorizationCode(next), other.store.redeemAuthorizationCode(next)]);
    assert.equal(answers.filter(Boolean).length, 1);
    assert.equal((await store.findGrant(grant.id))?.grant.generation, 1);
  }
});

test('what was cut before its commit was sent is done again, once', async (t) => {
  const { store, proxy, events } = await openBehindProxy(t);
  proxy.cutAfter('audit_event');
  assert.equal(await store.revokeClientGrants('app_one', event('client_grants_revoked')), true);
  assert.equal((await store.findClient('app_one'))?.epoch, 1);
  assert.equal(await events('client_grants_revoked'), 1);
});

test('a transaction that stood in a circle of waiting ones is tried again', async (t) => {
  const url = await createDatabase();
  const { store } = await instance(t, url);
  await addAdaAndOne({ store });
  const grants = [sampleGrant(), sampleGrant()].sort((one, other) => one.id.compare(other.id));
  for (const grant of grants) await store.issueGrant(grant, event('consent_allowed'));
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  t.after(() => other.end());
  const lock = (grant: Grant | undefined) =>
    other.query('SELECT 1 FROM oauth_grant WHERE id = $1 FOR UPDATE', [grant?.id.toString('hex')]);
  await other.query('BEGIN');
  await lock(grants[1]);
  const revoked = store.revokeGrantsOfClient('usr_ada', 'app_one', event('grant_revoked'));
  await pause(50);
  await lock(grants[0]);
  await other.query('COMMIT');
  assert.equal(await revoked, 2);
});

test('a lock that somebody keeps too long is StoreUnavailable for its grant alone', async (t) => {
  const url = await createDatabase();
  const { store } = await instance(t, url);
  await addAdaAndOne({ store });
  const grants = [sampleGrant(), sampleGrant(), sampleGrant()];
  for (const grant of grants) await store.issueGrant(grant, event('consent_allowed'));
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  t.after(() => other.end());
  await other.query('BEGIN');
  await other.query('SELECT 1 FROM oauth_grant WHERE id = $1 FOR UPDATE', [grants[1]?.id.toString('hex')]);
  const outcomes = await Promise.allSettled(
    grants.map((grant) => store.redeemAuthorizationCode(sampleGeneration(grant, 1))),
  );
  const [one, locked, two] = outcomes;
  assert.deepEqual([one, two], Array(2).fill({ status: 'fulfilled', value: 'redeemed' }));
  assert.ok(locked?.status === 'rejected' && locked.reason instanceof StoreUnavailable);
});
