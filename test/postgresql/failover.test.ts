/** A primary and a standby that follows it synchronously: who is asked, before and after a failover. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, test } from 'node:test';
import { Servers } from '../../src/storage/postgresql/connection/servers.ts';
import { startCluster } from '../support/cluster.ts';
import { addAdaAndOne, event, sampleGrant } from '../support/storage.ts';
import { instance, openInstance } from './instance.ts';

const SESSION = { statementTimeout: 5000, lockTimeout: 1000, byKey: false };
const PORT = 'SELECT inet_server_port() AS port';

const cluster = await startCluster();
const { one, two, url } = cluster;
after(() => cluster.remove());

/** The same URL with the standby first. */
const standbyFirst = url.replace(/@([^/]+),([^/]+)\//, '@$2,$1/');

test('of several hosts the one that can be written to is used, wherever it stands in the list', async () => {
  for (const list of [url, standbyFirst]) {
    const connection = await new Servers(list).connect(SESSION);
    assert.equal((await connection.one<{ port: number }>(PORT))?.port, one.port);
    await connection.close();
  }
});

test('if none of several hosts can serve, the refusal names each with its reason, and no password', async () => {
  const list = cluster.urlAt(two).replace('postgres@', 'postgres:secret@127.0.0.1:1,');
  await assert.rejects(openInstance(list), (error: Error) => {
    assert.equal(error.name, 'InstallationError');
    assert.match(error.message, /127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:\d+: the server is a replica/);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
  const unknown = url.replace('postgres@', 'nobody:secret@');
  await assert.rejects(openInstance(unknown), /lets nobody in \(.*role "nobody".*\): check user and password/);
});

test('a host that takes connections and says nothing costs its share of the time, and only once', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as { port: number };
  const servers = new Servers(cluster.urlAt(one).replace('@', `@127.0.0.1:${port},`));
  for (const most of [2400, 1000]) {
    const asked = performance.now();
    const connection = await servers.connect(SESSION);
    const took = performance.now() - asked;
    await connection.close();
    assert.ok(took < most, `${took} ms`);
  }
});

test('after a failover the store goes on at the new primary, and the old one is refused when it comes back', async (t) => {
  const told: string[] = [];
  const opened = await instance(t, url, { warn: (sentence) => told.push(sentence), checkoutTimeout: 60_000 });
  await addAdaAndOne(opened);
  const [kept, ended] = [sampleGrant(), sampleGrant()];
  for (const grant of [kept, ended]) await opened.store.issueGrant(grant, event('consent_allowed'));
  await opened.store.revokeGrant(ended.id, 'user', event('grant_revoked'));

  const left = await new Servers(url).connect(SESSION);
  await one.kill();
  await cluster.promote();
  assert.equal((await opened.store.findGrant(kept.id))?.grant.revokedAt, null);
  assert.notEqual((await opened.store.findGrant(ended.id))?.grant.revokedAt, null);
  await opened.store.revokeGrant(kept.id, 'user', event('grant_revoked'));
  assert.deepEqual(told, [`the database failed over to 127.0.0.1:${two.port}, from timeline 1 to 2`]);
  assert.equal(left.isLost, true);

  // It knows nothing of its successor, and would serve.
  await one.start();
  await one.query(cluster.urlAt(one), "ALTER SYSTEM SET synchronous_standby_names = ''");
  await one.query(cluster.urlAt(one), 'SELECT pg_reload_conf()');
  const unaware = await new Servers(url).connect(SESSION);
  t.after(() => unaware.close());
  assert.equal((await unaware.one<{ port: number }>(PORT))?.port, one.port);

  await two.kill();
  await assert.rejects(opened.check(), (error: Error) => {
    assert.match(error.message, new RegExp(`127.0.0.1:${one.port} is refused, since it is on timeline 1 and this`));
    assert.match(error.message, /Stop it and let it join the cluster again.*database restore/);
    return true;
  });
  await assert.rejects(opened.check(), /is refused/);
  assert.equal(told.length, 2);
  assert.match(told[1] ?? '', /is refused, since it is on timeline 1 and this process has seen 2/);

  await two.start();
  assert.notEqual((await opened.store.findGrant(kept.id))?.grant.revokedAt, null);
});

test('sessions on a server end when a later timeline is seen', async () => {
  const [ofOne, ofTwo] = [cluster.urlAt(one), cluster.urlAt(two)];
  const hosts = ofOne.replace(/@([^/]+)\//, `@$1,${new URL(ofTwo).host}/`);
  const both = new Servers(hosts);
  const early = await both.connect(SESSION);
  assert.equal(early.timeline, 1);
  await one.query(ofOne, 'ALTER SYSTEM SET default_transaction_read_only = on');
  await one.query(ofOne, 'SELECT pg_reload_conf()');
  const late = await both.connect(SESSION);
  assert.equal(late.timeline, 2);
  assert.equal(early.isLost, true);
  await late.close();
});
