/** Lists of people's grants, whatever their number, and the limit of one app. */
import assert from 'node:assert/strict';
import { GrantRegistry } from '../../../src/oauth/connected-apps/grant-registry.ts';
import { DEVICE_GRANT_TYPE } from '../../../src/oauth/grants/device-grant.ts';
import {
  type Grant,
  grantIdText,
  MAX_GRANTS_OF_ONE_APP,
  SUMMARIZED,
  type SummarizedBy,
} from '../../../src/oauth/grants/grant.ts';
import { GrantLimit } from '../../../src/oauth/protocol/grant-limit.ts';
import { revocationNotice } from '../../../src/oauth/resource-servers/revocation-notice.ts';
import {
  event,
  HOUR,
  NOW,
  sampleAccount,
  sampleClient,
  sampleGeneration,
  sampleGrant,
  sampleUse,
} from '../../support/storage.ts';
import { type AnyStore, find, issue, type WithStore } from './any-store.ts';

/** A redeemed grant whose last rotation was some time ago (ms). */
function redeemed(ago: number): Partial<Grant> {
  return { generation: 1, grantedAt: NOW - ago, rotatedAt: NOW - ago, expiresAt: NOW + HOUR };
}

const notRedeemed: Partial<Grant> = { expiresAt: NOW + 1 };
const forDevice: Partial<Grant> = { redirectUri: DEVICE_GRANT_TYPE };

/** At the same time, so that stores that look at every grant before each act look less often. */
function issueAll(store: AnyStore, grants: readonly Partial<Grant>[]): Promise<Grant[]> {
  return Promise.all(grants.map((some) => issue(store, some)));
}

async function addOthers(store: AnyStore): Promise<void> {
  await store.registerClient(sampleClient({ id: 'app_two', name: 'Two' }), event('client_registered'));
  await store.addAccount(sampleAccount({ id: 'usr_bob', username: null }), 'bob@example.com', event('user_added'));
}

/** Grants put together for people. */
export function connected(withStore: WithStore): void {
  withStore('Promise 2: of 1,500 grants of an app the oldest, which is the broadest, is not hidden', async (store) => {
    const registry = new GrantRegistry(store, () => NOW);
    const ago = (minutes: number) => redeemed(minutes * 60_000);
    const oldest = await issue(store, { id: Buffer.alloc(16, 1), ...ago(2000), scope: 'read write admin' });
    const others = Array.from({ length: 1499 }, (_, n) => ({
      ...ago(1500 - n),
      scope: n % 2 === 0 ? 'read' : 'write',
    }));
    await issueAll(store, others);
    store.noteUse(oldest, sampleUse(1, NOW - 5));
    const [app, ...more] = await registry.connectedApps('usr_ada');
    assert.deepEqual(more, []);
    assert.deepEqual(app?.scope.toSorted(), ['admin', 'read', 'write']);
    assert.deepEqual([app?.since, app?.lastUsedAt], [oldest.grantedAt, NOW - 5], 'also a use that is not written yet');
    const consent = await registry.earlierConsent('usr_ada', 'app_one', oldest);
    assert.deepEqual(consent?.granted.toSorted(), ['admin', 'read', 'write']);
  });

  withStore(
    'what live grants give is found once each: of redeemed ones that neither ended nor expired',
    async (store) => {
      await addOthers(store);
      const some = { ...redeemed(1), resource: 'https://letters.test', scope: 'read' };
      const [, , ended] = await issueAll(store, [
        some,
        some,
        { ...redeemed(1), scope: 'write', personFields: '' },
        { ...notRedeemed, scope: 'waits' },
        { ...redeemed(1), expiresAt: NOW, scope: 'expired' },
        { ...redeemed(1), resourceOwnerId: 'usr_bob', scope: 'bob' },
      ]);
      const found = async () =>
        (await store.listLiveAccess('usr_ada', NOW)).toSorted((a, b) => (a.scope < b.scope ? -1 : 1));
      const one = { resource: some.resource, scope: 'read', personFields: sampleGrant().personFields };
      assert.deepEqual(await found(), [one, { resource: null, scope: 'write', personFields: '' }]);
      await store.revokeGrant((ended as Grant).id, 'operator', event('grant_revoked'));
      assert.deepEqual(await found(), [one]);
    },
  );

  withStore('live grants are counted: those of one person that neither ended nor expired', async (store) => {
    await addOthers(store);
    const [ended] = await issueAll(store, [redeemed(1), redeemed(2), notRedeemed, { expiresAt: NOW }]);
    await issue(store, { ...redeemed(1), resourceOwnerId: 'usr_bob' });
    await store.revokeGrant((ended as Grant).id, 'operator', event('grant_revoked'));
    assert.equal(await store.countLiveGrants('usr_ada', NOW), 2);
    const count = async (filter: object, limit = 9) => {
      const { grants, resourceOwners, clients } = await store.countGrants({ ...filter, liveAt: NOW, limit });
      return [grants, resourceOwners, clients];
    };
    assert.deepEqual(await count({}), [3, 2, 1]);
    assert.deepEqual(await count({}, 2), [2, (await count({}, 2))[1], 1], 'it stops there');
    assert.deepEqual(await count({ resourceOwnerId: 'usr_ada', clientId: 'app_one' }), [2, 1, 1]);
    assert.deepEqual(await count({ clientId: 'app_none' }), [0, 0, 0]);
    await store.revokeAccountGrants('usr_ada', event('user_grants_revoked'));
    assert.equal(await store.countLiveGrants('usr_ada', NOW), 0);
  });

  withStore('grants that are alike are one, devices and what is not redeemed stand alone', async (store) => {
    await addOthers(store);
    const summaries = async (clientId?: string) =>
      (await store.summarizeGrants('usr_ada', NOW, clientId))
        .map(({ id, scope, isRedeemed, grantedAt, lastGrantedAt, lastUsedAt }) => [
          id.at(-1),
          scope,
          isRedeemed,
          NOW - grantedAt,
          NOW - lastGrantedAt,
          lastUsedAt && NOW - lastUsedAt,
        ])
        .sort(([one], [other]) => Number(one) - Number(other));
    const add = (n: number, some: Partial<Grant>) => issue(store, { id: Buffer.alloc(16, n), scope: 'a', ...some });
    await add(1, redeemed(9));
    await add(2, { ...redeemed(5), lastUsedAt: NOW - 3 });
    await add(3, { ...redeemed(7), generation: 2 });
    await add(4, { ...redeemed(1), scope: 'a b', expiresAt: NOW + 80, absoluteExpiresAt: NOW + 300 });
    await add(15, { ...redeemed(2), scope: 'a b', expiresAt: NOW + 90, absoluteExpiresAt: NOW + 200 });
    await add(5, { ...redeemed(1), resource: 'urn:x' });
    for (const n of [6, 7]) await add(n, { ...redeemed(n), ...forDevice });
    for (const n of [8, 9]) await add(n, { ...notRedeemed, grantedAt: NOW - n });
    await add(10, { ...redeemed(10), clientId: 'app_two' });
    await add(11, { ...redeemed(1), resourceOwnerId: 'usr_bob' });
    await add(12, { ...redeemed(1), expiresAt: NOW });
    await add(13, { ...redeemed(1), revokedAt: NOW, revocationReason: 'user' });
    await add(14, { ...redeemed(1), epochs: { installation: 0, client: 1, resourceOwner: 0 } });
    const ofOne = [
      [3, 'a', true, 9, 5, 3],
      [5, 'a', true, 1, 1, null],
      [6, 'a', true, 6, 6, null],
      [7, 'a', true, 7, 7, null],
      [8, 'a', false, 8, 8, null],
      [9, 'a', false, 9, 9, null],
      [15, 'a b', true, 2, 1, null],
    ];
    assert.deepEqual(await summaries('app_one'), ofOne);
    assert.deepEqual(await summaries(), ofOne.toSpliced(-1, 0, [10, 'a', true, 10, 10, null]));
    const [longest] = (await store.summarizeGrants('usr_ada', NOW, 'app_one')).filter(({ scope }) => scope === 'a b');
    assert.deepEqual(longest && [longest.expiresAt - NOW, longest.absoluteExpiresAt - NOW], [90, 300]);
    const [two, ...more] = await store.summarizeGrants('usr_ada', NOW, 'app_two');
    assert.deepEqual(
      [two?.clientName, two?.resource, two?.redirectUri, more],
      ['Two', null, 'https://one.test/cb', []],
    );
    await store.revokeAccountGrants('usr_ada', event('user_grants_revoked'));
    assert.deepEqual(await summaries(), []);
  });

  withStore('each grant of a client with a metadata document stands alone', async (store) => {
    const id = 'https://agent.example/client.json';
    const document = { type: 'public', secrets: [], documentSha256: 'ab'.repeat(32) } as const;
    await store.registerClient(sampleClient({ id, name: 'Agent', ...document }), event('client_registered'));
    await issueAll(store, [redeemed(1), redeemed(1)]);
    const [one, two] = await issueAll(store, Array(2).fill({ ...redeemed(1), clientId: id }));
    const summaries = await store.summarizeGrants('usr_ada', NOW);
    assert.deepEqual(summaries.map(({ clientId, hasDocument }) => [clientId, hasDocument]).toSorted(), [
      ['app_one', false],
      [id, true],
      [id, true],
    ]);
    const registry = new GrantRegistry(store, () => NOW);
    const lines = (await registry.connectedApps('usr_ada')).map(({ clientId, kind }) => [clientId, kind]);
    assert.deepEqual(lines, [
      [id, 'installation'],
      [id, 'installation'],
      ['app_one', 'app'],
    ]);
    const taken = { clientId: id, grantId: grantIdText((one as Grant).id), isWaiting: false };
    const user = { kind: 'user', id: 'usr_ada', source: null, requestId: null } as const;
    assert.equal(await registry.takeBack('usr_ada', taken, user), 'installation');
    const ended = [one, two].map(async (grant) => (await find(store, grant as Grant)).grant.revokedAt !== null);
    assert.deepEqual(await Promise.all(ended), [true, false]);
  });

  withStore(
    'a summary has each column of its grants as is said of it, and grants that differ stand apart',
    async (store) => {
      await addOthers(store);
      const summarized = Object.entries(SUMMARIZED) as [keyof typeof SUMMARIZED, SummarizedBy][];
      for (const [place, [column, by]] of summarized.entries()) {
        const scope = `of-${place}.`;
        const made = sampleGrant({ ...redeemed(1), scope });
        const value = made[column];
        const text = column === 'clientId' ? 'app_two' : `${value ?? ''}/other`;
        const other = typeof value === 'number' ? value + 1 : typeof value === 'boolean' ? !value : text;
        await issueAll(store, [made, { ...made, id: sampleGrant().id, [column]: other }]);
        const found = (await store.summarizeGrants('usr_ada', NOW)).filter((each) => each.scope.startsWith(scope));
        const expected = { alike: [value, other], lowest: [value], highest: [other] }[by];
        assert.equal(found.length, expected.length, column);
        assert.deepEqual(new Set(found.map((each) => each[column])), new Set(expected), column);
      }
    },
  );

  withStore('an app is disconnected but for its devices', async (store) => {
    const [code, pair, device] = [await issue(store), await issue(store, redeemed(1)), await issue(store, forDevice)];
    const disconnect = () => store.revokeGrantsOfClient('usr_ada', 'app_one', event('grant_revoked'), 'butForDevices');
    assert.deepEqual([await disconnect(), await disconnect()], [2, 0]);
    const reasons = [code, pair, device].map(async ({ id }) => (await store.findGrant(id))?.grant.revocationReason);
    assert.deepEqual(await Promise.all(reasons), ['operator', 'operator', null], 'the reason says who ended them');
  });

  withStore('who redeems one grant more than the limit is told that there are many, dead ones too', async (store) => {
    await addOthers(store);
    const dead = { expiresAt: NOW - 1 };
    await issueAll(
      store,
      Array.from({ length: MAX_GRANTS_OF_ONE_APP - 2 }, (_, n) => (n % 2 === 0 ? dead : redeemed(n))),
    );
    for (const other of [{ clientId: 'app_two' }, { resourceOwnerId: 'usr_bob' }]) await issue(store, other);
    const redeem = async () => store.redeemAuthorizationCode(sampleGeneration(await issue(store), 1));
    assert.deepEqual([await redeem(), await redeem(), await redeem()], ['redeemed', 'redeemed', 'overLimit']);
  });

  withStore('active grants are redeemed and live, each with when its client came last', async (store) => {
    await addOthers(store);
    const active = async () =>
      (await store.listActiveGrants('usr_ada', 'app_one', NOW))
        .map(({ id, usedAt }) => [id.at(-1), NOW - usedAt])
        .sort(([one], [other]) => Number(one) - Number(other));
    const add = (n: number, some: Partial<Grant>) => issue(store, { id: Buffer.alloc(16, n), ...some });
    await add(1, redeemed(9));
    await add(2, { ...redeemed(9), lastUsedAt: NOW - 5 });
    const used = await add(3, { ...redeemed(900_000), lastUsedAt: NOW - 800_000, ...forDevice });
    store.noteUse(used, sampleUse(1, NOW - 2));
    await add(4, notRedeemed);
    await add(5, { ...redeemed(1), clientId: 'app_two' });
    await add(6, { ...redeemed(1), resourceOwnerId: 'usr_bob' });
    await add(7, { ...redeemed(1), expiresAt: NOW });
    await add(8, { ...redeemed(1), revokedAt: NOW, revocationReason: 'user' });
    assert.deepEqual(await active(), [
      [1, 9],
      [2, 5],
      [3, 2],
    ]);
  });

  withStore('of an app’s grants those are deleted that ended, or expired before they were redeemed', async (store) => {
    await addOthers(store);
    const ended = { revokedAt: NOW, revocationReason: 'user' } as const;
    const add = (n: number, some: Partial<Grant>) => issue(store, { id: Buffer.alloc(16, n), ...some });
    await add(1, { ...redeemed(1), ...ended });
    await add(2, { ...redeemed(1), epochs: { installation: 0, client: 1, resourceOwner: 0 } });
    await add(3, { expiresAt: NOW });
    await add(4, redeemed(1));
    await add(5, notRedeemed);
    await add(6, { ...redeemed(1), expiresAt: NOW - 1 });
    await add(7, { ...notRedeemed, ...ended });
    await add(8, { ...redeemed(1), ...ended, clientId: 'app_two' });
    await add(9, { ...redeemed(1), ...ended, resourceOwnerId: 'usr_bob' });
    await store.deleteEndedGrants('usr_ada', 'app_one', NOW);
    const left = (await store.listGrants({ limit: 20 })).map(({ grant }) => grant.id.at(-1));
    assert.deepEqual(left, [9, 8, 7, 6, 5, 4]);
  });
}

/** The limit of one person's grants for one app. */
export function limit(withStore: WithStore): void {
  const client = sampleClient();
  const origin = { source: '192.0.2.1', requestId: 'r1' };
  const isActive = async (store: AnyStore, grants: readonly Grant[]) => {
    const active = await store.listActiveGrants('usr_ada', 'app_one', NOW);
    const ids = new Set(active.map(({ id }) => id.toString('hex')));
    return grants.map(({ id }) => ids.has(id.toString('hex')));
  };
  const countActive = async (store: AnyStore) => (await store.listActiveGrants('usr_ada', 'app_one', NOW)).length;
  const redeem = (own: GrantLimit, grant: Grant) => own.redeem(grant, sampleGeneration(grant, 1), client, origin);
  const hundred = (store: AnyStore) =>
    issueAll(
      store,
      Array.from({ length: MAX_GRANTS_OF_ONE_APP }, (_, n) => redeemed(1000 - n)),
    );

  withStore(
    'Promise 2: one grant more than an app may have ends the one that was used least recently',
    async (store) => {
      await addOthers(store);
      const grants = await hundred(store);
      await issueAll(store, [
        { ...redeemed(9999), clientId: 'app_two' },
        { ...redeemed(9999), resourceOwnerId: 'usr_bob' },
      ]);
      const [oldest, next, third] = grants as [Grant, Grant, Grant];
      store.noteUse(oldest, sampleUse(1, NOW)); // A mark that is not written yet counts.
      assert.ok(await store.rotateRefreshToken({ ...sampleGeneration(next, 2), rotatedAt: NOW }));
      const waits = await issue(store, notRedeemed);
      const newest = await issue(store);
      assert.equal(await redeem(new GrantLimit(store, () => NOW), newest), true);
      assert.deepEqual(await isActive(store, [oldest, next, third, newest]), [true, true, false, true]);
      assert.equal(await countActive(store), MAX_GRANTS_OF_ONE_APP);
      assert.equal((await find(store, third)).grant.revocationReason, 'too_many_grants');
      assert.equal((await find(store, waits)).grant.revokedAt, null, 'what is not redeemed does not count');
      const [told, ...more] = await store.listAuditEvents({ action: 'too_many_grants', limit: 9 });
      assert.deepEqual(more, []);
      assert.deepEqual(
        [told?.grantId, told?.clientId, told?.resourceOwnerId, told?.actor],
        [grantIdText(third.id), 'app_one', 'usr_ada', { kind: 'client', id: client.id, ...origin, by: null }],
      );
      assert.deepEqual(told && revocationNotice(told), { grantId: grantIdText(third.id) });
    },
  );

  withStore('the installations of an agent share the limit, and the trail says so', async (store) => {
    const id = 'https://agent.example/client.json';
    const agent = sampleClient({ id, type: 'public', secrets: [], documentSha256: 'ab'.repeat(32) });
    await store.registerClient(agent, event('client_registered'));
    const of = (ago: number) => ({ ...redeemed(ago), clientId: id });
    await issueAll(
      store,
      Array.from({ length: MAX_GRANTS_OF_ONE_APP }, (_, n) => of(1 + n)),
    );
    const newest = await issue(store, { clientId: id });
    await new GrantLimit(store, () => NOW).redeem(newest, sampleGeneration(newest, 1), agent, origin);
    const [told, ...more] = await store.listAuditEvents({ action: 'too_many_grants', limit: 9 });
    assert.deepEqual(more, []);
    assert.equal(told?.detail, '{"limit":100,"all_installations":true}');
  });

  withStore('of many who redeem at once, those redeemed just now stay, and no more than the limit', async (store) => {
    const before = await hundred(store);
    const now = await issueAll(store, Array(30).fill({}));
    const own = [new GrantLimit(store, () => NOW), new GrantLimit(store, () => NOW)] as const;
    const outcomes = await Promise.all(now.map((grant, n) => redeem(own[n % 2 === 0 ? 0 : 1], grant)));
    assert.deepEqual(new Set(outcomes), new Set([true]));
    assert.equal(await countActive(store), MAX_GRANTS_OF_ONE_APP);
    assert.deepEqual(new Set(await isActive(store, now)), new Set([true]));
    assert.deepEqual(
      await isActive(store, before),
      before.map((_, n) => n >= 30),
    );
    assert.equal((await store.listAuditEvents({ action: 'too_many_grants', limit: 99 })).length, 30);
    assert.equal(await redeem(own[0], now[0] as Grant), false, 'who lost is told so');
  });

  withStore(
    'of grants that were all used at the same moment the one that was redeemed just now stays',
    async (store) => {
      const grant = await issue(store, { id: Buffer.alloc(16) });
      const next = sampleGeneration(grant, 1);
      const same = { ...redeemed(0), rotatedAt: next.rotatedAt };
      await issueAll(store, Array(MAX_GRANTS_OF_ONE_APP).fill(same));
      await redeem(new GrantLimit(store, () => NOW), grant);
      assert.deepEqual(await isActive(store, [grant]), [true]);
      assert.equal(await countActive(store), MAX_GRANTS_OF_ONE_APP);
    },
  );

  withStore('grants that ended do not count, nor gather where one app is allowed again and again', async (store) => {
    const ended = { ...redeemed(1), revokedAt: NOW, revocationReason: 'user' } as const;
    const [alive] = await issueAll(store, [
      redeemed(9),
      ...Array(300).fill(ended),
      ...Array(20).fill({ expiresAt: NOW }),
    ]);
    const own = new GrantLimit(store, () => NOW);
    for (let times = 0; times < 3; times += 1) await redeem(own, await issue(store));
    assert.deepEqual(await isActive(store, [alive as Grant]), [true]);
    assert.equal((await store.listAuditEvents({ action: 'too_many_grants', limit: 9 })).length, 0);
    assert.ok((await store.listGrants({ limit: 400 })).length <= MAX_GRANTS_OF_ONE_APP + 1);
  });
}
