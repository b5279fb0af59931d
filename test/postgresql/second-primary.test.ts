/** A synchronous standby takes the place of a primary that goes on as if nothing had happened, as where no cluster ends it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startCluster } from '../support/cluster.ts';
import { addAdaAndOne, event, sampleGrant } from '../support/storage.ts';
import { instance } from './instance.ts';

const cluster = await startCluster();
const { one, two, url } = cluster;
after(() => cluster.remove());

test('a write that waits at the old primary for its standby finds the new one, and then nobody reads from the old one', async (t) => {
  const told: string[] = [];
  const opened = await instance(t, url, { warn: (sentence) => told.push(sentence), checkoutTimeout: 60_000 });
  await addAdaAndOne(opened);
  const grant = sampleGrant();
  await opened.store.issueGrant(grant, event('consent_allowed'));
  assert.equal((await opened.store.findGrant(grant.id))?.grant.revokedAt, null);

  await cluster.promote();
  await opened.store.revokeGrant(grant.id, 'user', event('grant_revoked'));
  assert.deepEqual(told, [`the database failed over to 127.0.0.1:${two.port}, from timeline 1 to 2`]);
  const found = await opened.store.findGrant(grant.id);
  assert.notEqual(found?.grant.revokedAt, null);
  const backends = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'valetkey' AND state = 'idle'";
  while ((await one.query(cluster.urlAt(one), backends)).length > 0);
});
