/** Commits whose wait for the synchronous standby was cut short: none is answered before the standby has it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { grantIdText } from '../../src/oauth/grants/grant.ts';
import { StoreUnavailable } from '../../src/oauth/store.ts';
import { startCluster } from '../support/cluster.ts';
import { PATIENT } from '../support/postgres.ts';
import { addAdaAndOne, event, sampleGeneration, sampleGrant } from '../support/storage.ts';
import { instance, openInstance } from './instance.ts';

const cluster = await startCluster();
const { one, two, url } = cluster;
after(() => cluster.remove());
const first = await openInstance(url);
await addAdaAndOne(first);
await first.close();

const IS_REVOKED = 'SELECT 1 FROM oauth_grant WHERE id = $1 AND revoked_at IS NOT NULL';
const ask = <Row extends object>(sql: string, ...values: unknown[]) => one.query<Row>(one.url('postgres'), sql, values);

/** Has commits wait for a standby of this name. One that is not there is like one whose machine is gone. */
async function awaitStandby(name: 'standby' | 'nobody'): Promise<void> {
  await ask(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await ask('SELECT pg_reload_conf()');
  const state = name === 'standby' ? 'sync' : 'async';
  while ((await ask('SELECT 1 FROM pg_stat_replication WHERE sync_state = $1', state)).length === 0) await pause(20);
  // The standby says how far it is when something comes.
  await ask("SELECT pg_logical_emit_message(false, 'test', 'something')");
}

/** The server processes whose commit waits for the standby. */
async function waiting(): Promise<number[]> {
  const found = await ask<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  return found.map(({ pid }) => pid);
}

/** The server process that begins to wait for the standby; fails if the answer is there before. */
async function nextWaiting(before: readonly number[], answer: Promise<unknown>): Promise<number> {
  const answered: unknown[] = [];
  answer.then(
    (value) => answered.push(value),
    (error: unknown) => answered.push(error),
  );
  for (;;) {
    assert.deepEqual(answered, [], 'answered before the standby had it');
    const found = (await waiting()).find((pid) => !before.includes(pid));
    if (found !== undefined) return found;
    await pause(10);
  }
}

for (const [how, end] of [
  ['canceled', 'SELECT pg_cancel_backend($1)'],
  ['ended with its session', 'SELECT pg_terminate_backend($1)'],
] as const)
  test(`a commit whose wait for the synchronous standby was ${how} is answered when the standby has it`, async (t) => {
    const { store } = await instance(t, url, PATIENT);
    t.after(() => awaitStandby('standby'));
    const grant = sampleGrant();
    await store.issueGrant(grant, event('consent_allowed'));
    await awaitStandby('nobody');
    const revoked = store.revokeGrant(grant.id, 'user', event('grant_revoked'));
    const pid = await nextWaiting([], revoked);
    await ask(end, pid);
    await nextWaiting([pid], revoked);
    await awaitStandby('standby');
    assert.equal(await revoked, true);
    // What is on the standby's disk is seen there a little later.
    const there = () => two.query(cluster.urlAt(two), IS_REVOKED, [grantIdText(grant.id)]);
    while ((await there()).length === 0) await pause(10);
  });

test('while the synchronous standby is away nothing that was written is answered, and no timeout of the server ends the wait', async (t) => {
  const { store } = await instance(t, url, PATIENT);
  t.after(() => awaitStandby('standby'));
  const [canceled, left] = [sampleGrant(), sampleGrant()];
  for (const grant of [canceled, left]) await store.issueGrant(grant, event('consent_allowed'));
  await awaitStandby('nobody');
  const redeemed = store.redeemAuthorizationCode(sampleGeneration(left, 1));
  const ofRedeemed = await nextWaiting([], redeemed);
  const revoked = store.revokeGrant(canceled.id, 'user', event('grant_revoked'));
  await ask('SELECT pg_cancel_backend($1)', await nextWaiting([ofRedeemed], revoked));
  await Promise.all([redeemed, revoked].map((answer) => assert.rejects(answer, StoreUnavailable)));
  assert.ok((await waiting()).includes(ofRedeemed), 'its statement timeout is over, and it waits still');
});
