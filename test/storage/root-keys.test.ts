/** Root keys as both stores record them. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { rotatedKeyring } from '../oauth/samples.ts';
import { instance } from '../postgresql/instance.ts';
import { PATIENT } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { addAdaAndOne, event, NOW, openAsService, sampleGrant } from '../support/storage.ts';
import { storesOfRun } from '../support/stores.ts';

const server = await sharedPostgres();
after(() => server.remove());

const [current = 0, earlier = 0] = rotatedKeyring.keyIds;
const used = (at = NOW) => ({ ...event('root_key_used'), at });

const STORES = {
  SQLite: async (t: TestContext) => {
    const opened = await openAsService(':memory:', { keyring: rotatedKeyring });
    t.after(() => opened.close());
    return opened;
  },
  PostgreSQL: async (t: TestContext) =>
    instance(t, await server.createDatabase(), { keyring: rotatedKeyring, ...PATIENT }),
};

for (const [name, open] of storesOfRun(STORES)) {
  test(`${name}: a prepared key becomes current once, whoever tries, and the one before is superseded then`, async (t) => {
    const { store } = await open(t);
    const before = await store.findRootKeys();
    assert.deepEqual([before.currentKeyId, before.nextKeyId], [current, null]);
    assert.deepEqual(
      before.keys.map(({ supersededAt, retiredAt }) => [supersededAt, retiredAt]),
      [
        [null, null],
        [null, null],
      ],
    );
    assert.equal(await store.useRootKey(earlier, used()), false, 'not prepared');
    await store.prepareRootKey(earlier);
    assert.equal((await store.findRootKeys()).nextKeyId, earlier);
    const outcomes = await Promise.all([1, 2, 3].map(() => store.useRootKey(earlier, used(NOW + 5))));
    assert.deepEqual(outcomes.toSorted(), [false, false, true]);
    const { currentKeyId, nextKeyId, keys } = await store.findRootKeys();
    assert.deepEqual([currentKeyId, nextKeyId], [earlier, null]);
    const supersededAt = Object.fromEntries(keys.map((key) => [key.keyId, key.supersededAt]));
    assert.deepEqual(supersededAt, { [earlier]: null, [current]: NOW + 5 });
    const [last] = await store.listAuditEvents({ limit: 1 });
    assert.equal(last?.action, 'root_key_used');
  });

  test(`${name}: a key that was current before may be so again, and is then not superseded`, async (t) => {
    const { store } = await open(t);
    for (const [keyId, at] of [
      [earlier, NOW + 1],
      [current, NOW + 2],
    ] as const) {
      await store.prepareRootKey(keyId);
      assert.equal(await store.useRootKey(keyId, used(at)), true);
    }
    const { keys } = await store.findRootKeys();
    const supersededAt = Object.fromEntries(keys.map((key) => [key.keyId, key.supersededAt]));
    assert.deepEqual(supersededAt, { [current]: null, [earlier]: NOW + 2 });
  });

  test(`${name}: a key is retired once, and never the current one, the next one, or one that was in use too lately`, async (t) => {
    const { store } = await open(t);
    const retire = (keyId: number, before: number) => store.retireRootKey(keyId, before, event('root_key_retired'));
    assert.equal(await retire(current, NOW + 100), false, 'current');
    assert.equal(await retire(earlier, NOW + 100), false, 'never in use');
    await store.prepareRootKey(earlier);
    await store.useRootKey(earlier, used(NOW + 5));
    assert.equal(await retire(current, NOW + 5), false, 'superseded too lately');
    await store.prepareRootKey(current);
    assert.equal(await retire(current, NOW + 6), false, 'about to be used');
    await store.prepareRootKey(null);
    assert.deepEqual((await Promise.all([1, 2].map(() => retire(current, NOW + 6)))).toSorted(), [false, true]);
    await store.prepareRootKey(current);
    assert.equal(await store.useRootKey(current, used(NOW + 7)), false, 'a retired key is not used again');
  });

  test(`${name}: an instance is noted with its keys, noted anew, and forgotten`, async (t) => {
    const { store } = await open(t);
    const one = { id: 'one', name: 'host (process 1)', keyIds: [current] };
    await store.noteInstance(one);
    await store.noteInstance({ ...one, id: 'two' });
    await store.noteInstance({ ...one, keyIds: [current, earlier] });
    assert.deepEqual(await store.listInstances(), [
      { ...one, keyIds: [current, earlier] },
      { ...one, id: 'two' },
    ]);
    await store.forgetInstance('two');
    assert.deepEqual(
      (await store.listInstances()).map(({ id }) => id),
      ['one'],
    );
  });

  test(`${name}: what rests on a key is counted and found: live grants and passwords`, async (t) => {
    const { store, countKeyUses } = await open(t);
    await addAdaAndOne({ store });
    const [old, dead, other] = [sampleGrant({ keyId: earlier }), sampleGrant({ keyId: earlier }), sampleGrant()];
    for (const grant of [old, dead, { ...other, keyId: current }])
      await store.issueGrant(grant, event('consent_allowed'));
    await store.revokeGrant(dead.id, 'user', event('grant_revoked'));
    const ada = await store.findAccount('usr_ada');
    assert.ok(ada?.password);
    await store.rehashPassword('usr_ada', ada.password, { sealedPhc: 'sealed', keyId: earlier });
    const byKey = async (at: number) =>
      (await countKeyUses(at)).toSorted((one, two) => Number(two.keyId === earlier) - Number(one.keyId === earlier));
    assert.deepEqual(await byKey(NOW), [
      { keyId: earlier, grants: 1, passwords: 1, signingKeys: 0 },
      { keyId: current, grants: 1, passwords: 0, signingKeys: 0 },
    ]);
    assert.deepEqual(await byKey(old.expiresAt), [{ keyId: earlier, grants: 0, passwords: 1, signingKeys: 0 }]);
    const { found } = await store.walkGrants({ keyId: earlier }, NOW, Buffer.alloc(16));
    assert.deepEqual(
      found.map(({ id }) => id),
      [old.id],
    );
    assert.deepEqual(
      (await store.listSealedWith(earlier, '', 10)).map(({ id }) => id),
      ['usr_ada'],
    );
    assert.deepEqual(await store.listSealedWith(earlier, 'usr_ada', 10), []);
    assert.deepEqual(await store.listSealedWith(current, '', 10), []);
  });
}
