/** A row that another session has locked delays its own request, and no other of the same statement. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Grant, grantIdText } from '../../src/oauth/grants/grant.ts';
import type { PostgresqlOptions, PostgresqlStorage } from '../../src/storage/postgresql/open.ts';
import { PATIENT, PATIENT_FOR_ROWS } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { addAdaAndOne, event, NOW, sampleGeneration, sampleGrant, sampleMark, sampleUse } from '../support/storage.ts';
import { instance, readyDatabases } from './instance.ts';

const server = await sharedPostgres();
after(() => server.remove());
const createDatabase = await readyDatabases(server);

/** Nine grants, and another session that locks what it is told to. */
async function setUp(t: TestContext, patience: Partial<PostgresqlOptions> = PATIENT_FOR_ROWS, settings = '') {
  const url = await createDatabase();
  if (settings) await server.query(url, `ALTER DATABASE "${new URL(url).pathname.slice(1)}" ${settings}`);
  const opened = await instance(t, url, patience);
  await addAdaAndOne(opened);
  const grants = Array.from({ length: 9 }, () => sampleGrant());
  await Promise.all(grants.map((grant) => opened.store.issueGrant(grant, event('consent_allowed'))));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  await client.query('BEGIN');
  return {
    ...opened,
    url,
    grants,
    /** Locks a grant's row, until `release`. */
    lock: ({ id }: Grant) => client.query('SELECT FROM oauth_grant WHERE id = $1 FOR UPDATE', [grantIdText(id)]),
    query: (sql: string, values: unknown[] = []) => client.query(sql, values),
    release: () => client.query('COMMIT'),
  };
}

/** Waits until so many sessions of a database wait for a lock, whose statements match. */
async function untilWaiting(url: string, statement: string, number = 1): Promise<void> {
  const waiting = `SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`;
  while ((await server.query(url, waiting, [statement])).length < number) await pause(5);
}

/** Waits until so many requests of an instance wait for a locked row. */
async function untilWaits(figures: PostgresqlStorage['figures'], number: number): Promise<void> {
  const pool = () => figures().pools.find(({ purpose }) => purpose === 'waits') ?? assert.fail();
  while (pool().busy + pool().waiting < number) await pause(5);
}

/** The answers that have come so far. */
function noted<T>(asked: readonly Promise<T>[]): (T | 'pending' | Error)[] {
  const answers: (T | 'pending' | Error)[] = asked.map(() => 'pending');
  for (const [index, answer] of asked.entries())
    answer.then(
      (result) => {
        answers[index] = result;
      },
      (error: Error) => {
        answers[index] = error;
      },
    );
  return answers;
}

const others = <T>(all: readonly T[], ...but: readonly number[]) => all.filter((_, index) => !but.includes(index));

test('nine refreshes in one statement: eight are answered while a row of the ninth is locked, and the ninth is not lost', async (t) => {
  const { store, grants, lock, release } = await setUp(t);
  await lock(grants[4] as Grant);
  const asked = grants.map((grant) => store.rotateRefreshToken(sampleGeneration(grant, 1)));
  const answers = noted(asked);
  await Promise.all(others(asked, 4));
  assert.equal(answers[4], 'pending');
  assert.deepEqual(others(answers, 4), Array(8).fill(true));
  await release();
  assert.equal(await asked[4], true);
  const found = await Promise.all(grants.map(({ id }) => store.findGrant(id)));
  assert.deepEqual(
    found.map((each) => each?.grant.generation),
    Array(9).fill(1),
  );
});

test('nine exchanges in one statement: eight are answered while a row is locked; what it was changed to decides the ninth', async (t) => {
  const { store, grants, lock, query, release } = await setUp(t);
  const late = grants[0] as Grant;
  await lock(late);
  const asked = grants.map((grant) => store.redeemAuthorizationCode(sampleGeneration(grant, 1)));
  const answers = noted(asked);
  await Promise.all(others(asked, 0));
  assert.deepEqual(answers, ['pending', ...Array(8).fill('redeemed')]);
  await query('UPDATE oauth_grant SET revoked_at = $2, revocation_reason = $3 WHERE id = $1', [
    grantIdText(late.id),
    NOW,
    'user',
  ]);
  await release();
  assert.equal(await asked[0], false);
});

test('who waits for a locked row takes no connection from other requests, however many rows are locked', async (t) => {
  const { store, figures, grants, lock, release } = await setUp(t);
  const locked = grants.slice(0, 4);
  for (const grant of locked) await lock(grant);
  const late: Promise<boolean>[] = [];
  for (const grant of locked) {
    late.push(store.rotateRefreshToken(sampleGeneration(grant, 1)));
    await nextTurn(); // Each in a statement of its own.
  }
  const lateAnswers = noted(late);
  await untilWaits(figures, 4);
  const rest = grants.slice(4);
  for (const generation of [1, 2, 3])
    for (const grant of rest) assert.equal(await store.rotateRefreshToken(sampleGeneration(grant, generation)), true);
  assert.deepEqual(lateAnswers, Array(4).fill('pending'));
  await release();
  assert.deepEqual(await Promise.all(late), Array(4).fill(true));
});

test('requests for several locked rows queue as long as each may wait for its row', async (t) => {
  const { store, figures, grants, lock, release } = await setUp(t, { lockTimeout: PATIENT_FOR_ROWS.lockTimeout });
  const locked = grants.slice(0, 3);
  for (const grant of locked) await lock(grant);
  const asked = locked.map((grant) => store.rotateRefreshToken(sampleGeneration(grant, 1)));
  const answers = noted(asked);
  await untilWaits(figures, 3);
  await pause(1100); // Longer than any other request waits for a connection.
  assert.deepEqual(answers, Array(3).fill('pending'));
  await release();
  assert.deepEqual(await Promise.all(asked), Array(3).fill(true));
});

test('a locked row is waited for once, and then its request is refused as unavailable, with nothing written', async (t) => {
  const { store, figures, url, grants, lock, release, query } = await setUp(t, PATIENT);
  const other = await instance(t, url, PATIENT);
  const [late, alone] = grants as [Grant, Grant];
  for (const grant of [late, alone]) await lock(grant);
  const shared = others(grants, 1);
  const asked = shared.map((grant) => store.rotateRefreshToken(sampleGeneration(grant, 1)));
  await untilWaits(figures, 1);
  // A request with a statement of its own, which began later.
  const second = other.store.rotateRefreshToken(sampleGeneration(alone, 1));
  second.catch(() => {});
  const unavailable = { name: 'StoreUnavailable', message: /lock timeout/ };
  await assert.rejects(Promise.race([asked[0], second.catch(() => 'the second was refused first')]), unavailable);
  await assert.rejects(second, unavailable);
  assert.deepEqual(await Promise.all(asked.slice(1)), Array(7).fill(true));
  await release();
  const { rows } = await query('SELECT generation FROM oauth_grant WHERE id = $1', [grantIdText(late.id)]);
  assert.deepEqual(rows, [{ generation: 0 }]);
  assert.equal(await store.rotateRefreshToken(sampleGeneration(late, 1)), true);
});

test('a later request for a row that its statement passed over comes after the one that waits', async (t) => {
  const { store, grants, lock, release } = await setUp(t);
  const [late, free] = grants as [Grant, Grant];
  await lock(late);
  const first = [late, free].map((grant) => store.rotateRefreshToken(sampleGeneration(grant, 1)));
  await first[1];
  // The free row's next transition need not wait until the locked one is done.
  const second = [late, free].map((grant) => store.rotateRefreshToken(sampleGeneration(grant, 2)));
  const answers = noted([first[0], second[0]] as Promise<boolean>[]);
  assert.equal(await second[1], true);
  assert.deepEqual(answers, ['pending', 'pending']);
  await release();
  assert.deepEqual(await Promise.all([...first, ...second]), [true, true, true, true]);
});

test('while the whole table is locked all requests of a statement wait, and are answered afterwards', async (t) => {
  const { store, url, grants, query, release } = await setUp(t);
  await query('LOCK TABLE oauth_grant IN ACCESS EXCLUSIVE MODE');
  const asked = grants.map((grant) => store.rotateRefreshToken(sampleGeneration(grant, 1)));
  await untilWaiting(url, '%UPDATE oauth_grant%');
  await release();
  assert.deepEqual(await Promise.all(asked), Array(9).fill(true));
});

test('counters in one statement: eight are moved while the row of the ninth is locked', async (t) => {
  // The server tells the keys of locked rows, in a form that its operator may have chosen.
  const { counters, query, release } = await setUp(t, PATIENT_FOR_ROWS, "SET bytea_output = 'escape'");
  const keys = Array.from({ length: 9 }, (_, index) => `key ${index}`);
  const move = (key: string) => counters?.move(key, 1000, 60_000, NOW) ?? assert.fail();
  await move('key 4');
  await query('SELECT FROM throttle FOR UPDATE');
  const asked = keys.map(move);
  const answers = noted(asked);
  await Promise.all(others(asked, 4));
  assert.equal(answers[4], 'pending');
  await release();
  assert.equal(await asked[4], NOW + 2000);
});

test("client assertions in one statement: those of other clients are used while one client's total is locked", async (t) => {
  const { store, query, release } = await setUp(t);
  let uses = 0;
  const use = (clientId: string) => {
    uses += 1;
    return store.useClientAssertion({ ...sampleMark(uses), clientId }, 10);
  };
  await use('app_late');
  await query('SELECT FROM client_assertion_total FOR UPDATE');
  const late = [use('app_late'), use('app_late')];
  const free = [use('app_a'), use('app_b'), use('app_z')];
  const answers = noted(late);
  assert.deepEqual(await Promise.all(free), ['first', 'first', 'first']);
  assert.deepEqual(answers, ['pending', 'pending']);
  await release();
  assert.deepEqual(await Promise.all(late), ['first', 'first']);
});

test('marks in one statement: the others are written while one row is locked, and that one later', async (t) => {
  const { store, close, grants, lock, query, release } = await setUp(t);
  const used = async () => {
    const { rows } = await query('SELECT id FROM oauth_grant WHERE used_generation = 1');
    return rows.length;
  };
  await lock(grants[4] as Grant);
  for (const grant of grants) store.noteUse(grant, sampleUse(1, NOW));
  while ((await used()) < 8) await pause(5);
  await release();
  await close();
  assert.equal(await used(), 9);
});
