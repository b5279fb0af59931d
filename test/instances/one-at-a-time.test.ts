/** What only one instance does at a time, however many there are: migrating, founding the installation, cleaning up. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import pg from 'pg';
import type { Lifetime } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { until } from '../support/until.ts';
import { rounds, TIMEOUT } from './effort.ts';
import { furnish, newShared, type Shared, startInstance } from './instances.ts';
import { judge } from './judge.ts';
import { ProcessInstance } from './process-instance.ts';
import { newPair, outcomes, useEverywhere } from './uses.ts';

/** The others look once a minute whether the one that cleans up is still there. */
const HAND_OVER_MS = 65_000;
const DEAD_ROWS = 2000;
/** A template without our schema. */
const EMPTY = 'template0';

const server = await sharedPostgres();
after(() => server.remove());

describe('three instances that start at once', { timeout: TIMEOUT }, () => {
  test('on an empty database come up all, and are one installation', async (t) => {
    for (let round = rounds(1, 0.05); round > 0; round -= 1) {
      const shared = await newShared(server, EMPTY);
      const instances = await makeThree(t, shared);
      await Promise.all(instances.map((instance) => instance.serve()));
      await requireOne(t, shared, instances);
      for (const instance of instances) await instance.stop();
    }
  });

  test('come up all, when the one that migrates is killed midway and starts again', async (t) => {
    for (let round = rounds(1, 0.05); round > 0; round -= 1) {
      const shared = await newShared(server, EMPTY);
      const instances = await makeThree(t, shared);
      const [first, ...others] = instances as [ProcessInstance, ...ProcessInstance[]];
      const obstacle = await makeObstacle(shared);
      const killed = assert.rejects(first.serve(), /ended before it served/);
      await until(async () => (await waiting(shared)) === 1);
      const serving = others.map((instance) => instance.serve());
      await until(async () => (await waiting(shared)) === 3);
      await first.kill();
      await killed;
      await obstacle.remove();
      await Promise.all([...serving, first.serve()]);
      await requireOne(t, shared, instances);
      for (const instance of instances) await instance.stop();
    }
  });
});

test('one instance at a time cleans up; when its session is lost another does, and what lives stays', {
  timeout: TIMEOUT,
}, async (t) => {
  const shared = await newShared(server);
  const { VALETKEY_DATABASE_URL: database } = shared;
  const early = await startInstance(t, 'early', shared);
  const installation = await furnish([early], early, shared, 1);
  const pair = await newPair(installation);
  await early.stop();
  await server.query(database, BURY, [DEAD_ROWS]);
  const instances = await Promise.all(['a', 'b', 'c'].map((name) => startInstance(t, name, shared)));
  const leaders = new Set<number>();
  const dead: number[] = [];
  const look = async () => {
    const holders = await server.query<{ pid: number }>(database, CLEANERS);
    assert.ok(holders.length <= 1, 'one at most');
    for (const { pid } of holders) leaders.add(pid);
    const [row] = await server.query<{ count: string }>(
      database,
      'SELECT count(*) FROM oauth_grant WHERE expires_at = 0',
    );
    dead.push(Number(row?.count));
  };
  const lookUntil = (found: () => boolean, patience?: number) => until(async () => look().then(found), patience);
  await lookUntil(() => leaders.size === 1);
  await server.query(database, 'SELECT pg_terminate_backend($1)', [[...leaders][0]]);
  if (rounds(0) > 0) await lookUntil(() => leaders.size === 2, HAND_OVER_MS);
  else await startInstance(t, 'late', shared);
  await lookUntil(() => dead.at(-1) === 0);
  assert.equal(leaders.size, 2);
  assert.deepEqual(
    dead,
    dead.toSorted((one, other) => other - one),
    'it only becomes less',
  );
  const now = { ...installation, instances };
  assert.deepEqual(await useEverywhere(now, [pair]), ['done']);
  await judge(now, server);
});

/** Grants that expired long ago, made after one that lives. */
const BURY = `
  INSERT INTO oauth_grant SELECT (jsonb_populate_record(oauth_grant,
    jsonb_build_object('id', gen_random_uuid(), 'attempt', gen_random_uuid(), 'expires_at', 0))).*
  FROM oauth_grant, generate_series(1, $1)`;

/** The sessions that have the lock of the clean-up ("Vkey", 2). */
const CLEANERS = `
  SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database
  WHERE locktype = 'advisory' AND classid = 1449878905 AND objid = 2 AND granted AND datname = current_database()`;

const WAITING = `
  SELECT count(*) FROM pg_stat_activity
  WHERE application_name LIKE 'valetkey%' AND datname = current_database() AND wait_event_type = 'Lock'`;

async function waiting({ VALETKEY_DATABASE_URL }: Shared): Promise<number> {
  const [row] = await server.query<{ count: string }>(VALETKEY_DATABASE_URL, WAITING);
  return Number(row?.count);
}

function makeThree(t: Lifetime, shared: Shared): Promise<ProcessInstance[]> {
  return Promise.all(['a', 'b', 'c'].map((name) => ProcessInstance.make(t, name, shared)));
}

/** Holds the name of a table that a migration makes: it gets so far, and waits. */
async function makeObstacle({ VALETKEY_DATABASE_URL }: Shared): Promise<{ remove(): Promise<void> }> {
  const client = new pg.Client({ connectionString: VALETKEY_DATABASE_URL });
  await client.connect();
  await client.query('BEGIN; CREATE TABLE oauth_grant ()');
  return {
    async remove() {
      await client.query('ROLLBACK');
      await client.end();
    },
  };
}

/** Asserts that instances are one installation: migrated and founded once, and each knows what the others issue. */
async function requireOne(t: Lifetime, shared: Shared, instances: readonly ProcessInstance[]): Promise<void> {
  const { VALETKEY_DATABASE_URL: database } = shared;
  const count = `SELECT (SELECT count(*) FROM installation) AS installations, (SELECT count(*) FROM root_key) AS keys,
    (SELECT count(*) - count(DISTINCT number) FROM migration) AS repeated`;
  assert.deepEqual(await server.query(database, count), [{ installations: '1', keys: '1', repeated: '0' }]);
  const admin = await startInstance(t, 'admin', shared);
  const installation = await furnish(instances, admin, shared, 1);
  await admin.stop();
  for (const at of instances) {
    const { accessToken } = await newPair(installation, at);
    const checks = await Promise.all(instances.map((one) => installation.recorder.check(one, accessToken)));
    assert.deepEqual(outcomes(checks), ['done']);
  }
}
