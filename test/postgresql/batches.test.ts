/** Requests that arrive together travel as one statement, do not share a fate, and write no index. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Grant } from '../../src/oauth/grants/grant.ts';
import { Connection } from '../../src/storage/postgresql/connection/connection.ts';
import { Connections } from '../../src/storage/postgresql/connection/connections.ts';
import { Batches } from '../../src/storage/postgresql/statements/batches.ts';
import { lots } from '../instances/effort.ts';
import { PATIENT, startPostgres } from '../support/postgres.ts';
import { addAdaAndOne, event, NOW, sampleGeneration, sampleGrant, sampleUse } from '../support/storage.ts';
import { instance, readyDatabases } from './instance.ts';

const server = await startPostgres({
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'top',
});
after(() => server.remove());
const createDatabase = await readyDatabases(server);

async function openWithGrants(t: TestContext, number: number) {
  const url = await createDatabase();
  await server.query(url, 'CREATE EXTENSION pg_stat_statements');
  const opened = await instance(t, url, PATIENT);
  await addAdaAndOne(opened);
  const grants = Array.from({ length: number }, () => sampleGrant());
  const issue = (grant: Grant) => opened.store.issueGrant(grant, event('consent_allowed'));
  await Promise.all(grants.map(issue));
  /** How many statements on grants, clients or resource servers something took. */
  const statements = async (run: () => Promise<unknown>) => {
    await server.query(url, 'SELECT pg_stat_statements_reset()');
    await run();
    const [counted] = await server.query<{ calls: number }>(
      url,
      `SELECT coalesce(sum(calls), 0)::int AS calls FROM pg_stat_statements
       WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND query ~ 'oauth_grant|FROM unnest|INTO audit_event'`,
    );
    return counted?.calls;
  };
  return { ...opened, url, grants, issue, statements };
}

test('64 requests of one kind in one turn of the event loop are one statement, whatever they ask for', async (t) => {
  const { store, grants, statements } = await openWithGrants(t, 64);
  const every = (run: (grant: Grant) => Promise<unknown>) => statements(() => Promise.all(grants.map(run)));
  const rotateTo = (generation: number) => (grant: Grant) =>
    store.rotateRefreshToken(sampleGeneration(grant, generation));
  await store.findGrant(grants[0]?.id as Buffer); // From here on there are connections, and the client is known.
  assert.equal(await every(({ id }) => store.findGrant(id)), 1);
  assert.equal(await every(() => store.findClient('app_one')), 1);
  assert.equal(await every(() => store.findResourceServer('rs_none')), 1);
  assert.equal(await every((grant) => store.redeemAuthorizationCode(sampleGeneration(grant, 1))), 1);
  assert.equal(await every(rotateTo(2)), 1);
});

test('a redemption planned while the table was empty does not read the grants that other people give the app later', async (t) => {
  const { store, url, issue } = await openWithGrants(t, 0);
  await server.query(url, 'ALTER TABLE oauth_grant SET (autovacuum_enabled = off)');
  const redeem = async () => {
    const grant = sampleGrant();
    await issue(grant);
    await server.query(url, 'SELECT pg_stat_statements_reset()');
    assert.equal(await store.redeemAuthorizationCode(sampleGeneration(grant, 1)), 'redeemed');
    const [read] = await server.query<{ blocks: number }>(
      url,
      `SELECT sum(shared_blks_hit + shared_blks_read)::int AS blocks FROM pg_stat_statements WHERE query ~ 'is_over_limit'`,
    );
    return read?.blocks ?? Number.NaN;
  };
  await redeem();
  const copies = `INSERT INTO oauth_grant SELECT copy.* FROM oauth_grant, generate_series(1, 5000) AS number,
    jsonb_populate_record(oauth_grant, jsonb_build_object('id', gen_random_uuid(), 'resource_owner_id', 'usr_' || number)) AS copy`;
  await server.query(url, copies);
  const blocks = await redeem();
  assert.ok(blocks < 60, `it read ${blocks} pages`);
});

test('a search that begins after a change was answered sees it, whatever was asked before', async (t) => {
  const { store, grants, url } = await openWithGrants(t, 32);
  const { id } = grants.at(-1) as Grant;
  const other = await instance(t, url, PATIENT);
  const findAll = () => Promise.all(grants.map((grant) => store.findGrant(grant.id)));
  await findAll();
  await findAll();
  await other.store.revokeGrant(id, 'user', event('grant_revoked'));
  assert.equal((await store.findGrant(id))?.grant.revocationReason, 'user');
  await Promise.all(grants.map((_, index) => store.findClient(index === 31 ? 'app_one' : `app_${index}`)));
  await other.store.setClientStatus('app_one', 'paused', event('client_paused'));
  assert.equal((await store.findClient('app_one'))?.status, 'paused');
});

test('each request of a statement has its own guard and its own answer', async (t) => {
  const { store, grants } = await openWithGrants(t, 3);
  const [one, two, three] = grants as [Grant, Grant, Grant];
  await store.revokeGrant(two.id, 'user', event('grant_revoked'));
  const answers = await Promise.all([
    store.redeemAuthorizationCode(sampleGeneration(one, 1)),
    store.redeemAuthorizationCode(sampleGeneration(two, 1)),
    store.rotateRefreshToken(sampleGeneration(three, 2)),
    store.redeemAuthorizationCode(sampleGeneration(sampleGrant(), 1)),
    store.redeemAuthorizationCode(sampleGeneration(one, 1)),
  ]);
  assert.deepEqual(answers, ['redeemed', false, false, false, false]);
  const found = await Promise.all(grants.map(({ id }) => store.findGrant(id)));
  assert.deepEqual(
    found.map((each) => each?.grant.generation),
    [1, 0, 0],
  );
});

/** Connections that open when the test says so, each for work that is done at once. */
function heldConnections(t: TestContext, url: string) {
  const opening = Promise.withResolvers<void>();
  const session = { statementTimeout: 5000, lockTimeout: 5000, byKey: true };
  const open = () => opening.promise.then(() => Connection.open(url, session));
  const connections = new Connections(1, open, PATIENT);
  t.after(() => {
    opening.resolve();
    return connections.close();
  });
  return { connections, open: opening.resolve };
}

test('rows are sent in the order of their keys, so that statements of two instances cannot deadlock; 256 at most', async (t) => {
  const { connections, open } = heldConnections(t, await createDatabase());
  const sent: string[][] = [];
  const batches = new Batches<string, null>({
    connections,
    keyOf: (key) => key,
    send: async (_, keys) => {
      sent.push([...keys]);
      return keys.map(() => null);
    },
  });
  const keys = Array.from({ length: 300 }, (_, index) => String(999 - index));
  const answers = keys.map((key) => batches.add(key));
  open();
  await Promise.all(answers);
  assert.deepEqual(sent, [keys.slice(0, 256).toReversed(), keys.slice(256).toReversed()]);
});

/** Is refused at once, while nothing is answered. */
async function assertFarBehind(asked: Promise<unknown>): Promise<void> {
  const refused = { name: 'StoreUnavailable', message: 'too many requests wait for the database' };
  await assert.rejects(Promise.race([asked, nextTurn()]), refused);
}

test('20,000 requests of one kind wait for a database that is far behind, and more are refused at once', async (t) => {
  const { connections, open } = heldConnections(t, await createDatabase());
  const batches = new Batches<number, null>({ connections, send: async (_, all) => all.map(() => null) });
  const asked = Array.from({ length: 20_000 }, (_, number) => batches.add(number));
  await assertFarBehind(batches.add(20_001));
  open();
  await Promise.all(asked);
});

test('2000 wait for a connection, and more are refused at once', async (t) => {
  const { connections, open } = heldConnections(t, await createDatabase());
  const work = () => connections.run(async () => null);
  const working = Array.from({ length: 2000 }, work);
  await assertFarBehind(work());
  open();
  await Promise.all(working);
});

test('one request that cannot be written fails alone, and wholly', async (t) => {
  const { store, url } = await openWithGrants(t, 0);
  await server.query(
    url,
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'fault'; END $$;
     CREATE TRIGGER fault BEFORE INSERT ON audit_event FOR EACH ROW WHEN (NEW.detail = 'fault') EXECUTE FUNCTION fail()`,
  );
  const grants = Array.from({ length: 8 }, () => sampleGrant());
  const outcomes = await Promise.allSettled(
    grants.map((grant, index) =>
      store.issueGrant(grant, event('consent_allowed', { detail: index === 3 ? 'fault' : null })),
    ),
  );
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    grants.map((_, index) => (index === 3 ? 'rejected' : 'fulfilled')),
  );
  const found = await Promise.all(grants.map(({ id }) => store.findGrant(id)));
  assert.deepEqual(
    found.map((each) => each !== null),
    grants.map((_, index) => index !== 3),
  );
  assert.equal((await store.listAuditEvents({ action: 'consent_allowed', limit: 100 })).length, 7);
});

test('one request that fails does not fail the others of its statement', async (t) => {
  const { store, url, grants } = await openWithGrants(t, 9);
  await server.query(
    url,
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'fault'; END $$;
     CREATE TRIGGER fault BEFORE UPDATE ON oauth_grant FOR EACH ROW WHEN (NEW.presented_from = 'fault') EXECUTE FUNCTION fail()`,
  );
  const outcomes = await Promise.allSettled(
    grants.map((grant, index) =>
      store.rotateRefreshToken(sampleGeneration(grant, 1), index === 3 ? 'fault' : undefined),
    ),
  );
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === 'fulfilled' && outcome.value),
    grants.map((_, index) => index !== 3),
  );
});

test('a grant is not issued twice, and the first stays', async (t) => {
  const { store, grants, issue } = await openWithGrants(t, 1);
  const [grant] = grants as [Grant];
  assert.equal(await issue({ ...grant, scope: 'other' }), false);
  assert.deepEqual((await store.findGrant(grant.id))?.grant, grant);
});

test('a NUL in what people send finds nothing, and is no error', async (t) => {
  const { store } = await openWithGrants(t, 0);
  assert.equal(await store.findPasswordAccount('ada@example.com\0'), null);
  assert.equal(await store.findClient('app_one\0'), null);
  await store.recordDenial(event('consent_denied', { detail: 'a\0b' }));
  assert.equal((await store.listAuditEvents({ limit: 1 }))[0]?.detail, 'a\ufffdb');
});

test('transitions and marks write no index (heap-only tuples)', async (t) => {
  const { store, grants, url, close } = await openWithGrants(t, 1000);
  const random = lots(1);
  const generations = new Map(grants.map((grant) => [grant, 0]));
  const next = (grant: Grant) => {
    generations.set(grant, (generations.get(grant) ?? 0) + 1);
    return sampleGeneration(grant, generations.get(grant) as number);
  };
  const rounds = 100;
  for (let round = 0; round < rounds; round += 1) {
    const some = new Set(Array.from({ length: 20 }, () => grants[random(grants.length)] as Grant));
    await Promise.all([...some].map((grant) => store.rotateRefreshToken(next(grant))));
  }
  for (const grant of grants.slice(0, 50)) store.noteUse(grant, sampleUse(1, NOW));
  await close();
  const written = [...generations.values()].reduce((sum, generation) => sum + generation, 50);
  const counted = () =>
    server.query<{ all: number; hot: number }>(
      url,
      `SELECT n_tup_upd::int AS all, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname = 'oauth_grant'`,
    );
  let [updates] = await counted();
  // Sessions tell what they counted when they end, which is a moment after they were closed.
  for (let tries = 0; updates?.all !== written && tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    [updates] = await counted();
  }
  assert.equal(updates?.all, written);
  assert.ok((updates?.hot ?? 0) > 0.95 * written, `${updates?.hot} of ${written}`);
});

test('however empty the tables were when it was planned, no statement reads a whole table', async (t) => {
  const { store, grants, issue, url } = await openWithGrants(t, 64);
  const walk = async (grant: Grant) => {
    await store.findGrant(grant.id);
    await store.redeemAuthorizationCode(sampleGeneration(grant, 1));
    await store.revokeGrant(grant.id, 'user', event('grant_revoked'));
  };
  await Promise.all(grants.map(walk));
  const more = Array.from({ length: 5000 }, () => sampleGrant());
  for (let done = 0; done < more.length; done += 500) await Promise.all(more.slice(done, done + 500).map(issue));
  await server.query(url, 'SELECT pg_stat_statements_reset()');
  for (const grant of more.slice(0, 10)) await walk(grant);
  const [touched] = await server.query<{ blocks: number }>(
    url,
    `SELECT max((shared_blks_hit + shared_blks_read) / calls)::int AS blocks FROM pg_stat_statements
     WHERE query ~ 'oauth_grant'`,
  );
  assert.ok(touched && touched.blocks > 0 && touched.blocks < 100, `${touched?.blocks} blocks`);
});
