/** What the scaling bench fills in is what the store reads: it is inserted by SQL, around the store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onServer, open } from '../../bench/scaling-postgresql.ts';
import { fill } from '../../bench/scaling-postgresql-fill.ts';
import { accountId, clientId, filledGrant, grantId, madeUp, next, redirectUri } from '../../bench/scaling-store.ts';

test('PostgreSQL filled by SQL holds the clients, accounts and grants that were made up', () => {
  const made = madeUp(1000, Date.now() - 10_000);
  return onServer({ fsync: 'off', shared_buffers: '32MB' }, async (url, ask) => {
    await fill(ask, made);
    const { store, now, close } = await open(url);
    const found = await store.findGrant(grantId(123, made));
    const { seed: _, ...grant } = found?.grant ?? {};
    const { seed, ...expected } = filledGrant(123, made);
    assert.deepEqual(grant, expected);
    assert.equal(found?.grant.seed.length, seed.length);
    const client = await store.findClient(clientId(23));
    assert.deepEqual(client?.redirectUris, [redirectUri(23)]);
    assert.equal((await store.findAccount(accountId(7)))?.username, 'user7');
    assert.ok(await store.rotateRefreshToken(next(grantId(123, made), 2, now())));
    await close();
  });
});
