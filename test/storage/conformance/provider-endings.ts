/** Ending what was given through an identity provider: what the walks find, and who wins a race. */
import assert from 'node:assert/strict';
import { MAX_SESSIONS } from '../../../src/accounts/people/session.ts';
import { newGrantId, oldestGrantId } from '../../../src/oauth/grants/grant.ts';
import { endThroughProvider } from '../../../src/operator/products-and-apis/provider-ending.ts';
import {
  basisOf,
  event,
  HOUR,
  NOW,
  operator,
  registerProduct,
  sampleAccount,
  sampleExternalSignIn,
  sampleGeneration,
  sampleGrant,
  sampleProvider,
  sampleSession,
} from '../../support/storage.ts';
import { type AnyStore, HUNDRED, isAlive, issue, type WithStore } from './any-store.ts';

const provider = sampleProvider();
const external = { externalId: 'ada', authTime: NOW, amr: [], isBound: true, requests: [] };

function endAll(store: AnyStore, since: number, now = NOW) {
  return endThroughProvider({ store, now: () => now }, provider, since, operator);
}

/** A grant that was given through the product. */
function given(store: AnyStore, grantedAt: number, signedInAt: number, providerId: string | null = provider.id) {
  return issue(store, { id: newGrantId(grantedAt), grantedAt, signedInAt, providerId, externalId: 'ada' });
}

async function begin(store: AnyStore, some: Parameters<typeof sampleSession>[0]) {
  const session = sampleSession({ providerId: provider.id, external, ...some });
  await store.addSession(session, sampleAccount().password, null, event('sign_in'));
  return session;
}

/** All of the suite. */
export function providerEndings(withStore: WithStore): void {
  withStore('grants end that were given through a provider since a time, or by a sign-in of then', async (store) => {
    const since = NOW - HOUR;
    const ended = [
      await given(store, since, since - 1),
      await given(store, since, since),
      await given(store, since - 1, since),
      await issue(store, { id: newGrantId(since - HOUR / 2), grantedAt: NOW, signedInAt: NOW, providerId: 'product' }),
    ];
    const redeemed = await given(store, NOW, NOW);
    await store.redeemAuthorizationCode(sampleGeneration(redeemed, 1));
    const others = [
      await given(store, since - 1, since - 1),
      await given(store, NOW, NOW, null),
      await given(store, NOW, NOW, 'product2'),
    ];
    assert.deepEqual(await endAll(store, since), { signIns: 0, sessions: 0, grants: 5, isAll: true });
    for (const grant of [...ended, redeemed]) assert.equal(await isAlive(store, grant), false);
    for (const grant of others) assert.equal(await isAlive(store, grant), true);
    assert.deepEqual(
      await endAll(store, since),
      { signIns: 0, sessions: 0, grants: 0, isAll: true },
      'again: nothing is left',
    );
    const events = await store.listAuditEvents({ action: 'grant_revoked', limit: 10 });
    assert.deepEqual([events.length, events[0]?.endedAccess?.length], [5, 1], 'each tells of the access that ended');
  });

  withStore('a walk over more grants than a window finds each of them once', async (store) => {
    const all = await Promise.all(Array.from({ length: 1100 }, (_, n) => given(store, NOW - (n % 3), NOW)));
    const found: Buffer[] = [];
    let [turns, isWalking] = [0, true];
    const turn = () => {
      turns += 1;
      if (isWalking) setImmediate(turn);
    };
    setImmediate(turn);
    for (let place: Buffer | null = oldestGrantId(NOW); place; ) {
      const window = await store.walkGrants({ providerId: provider.id, since: NOW - HOUR }, NOW, place);
      found.push(...window.found.map(({ id }) => id));
      place = window.goesOnAfter;
    }
    isWalking = false;
    assert.ok(turns >= 2, 'others have their turn between two windows');
    assert.deepEqual(new Set(found.map((id) => id.toString('hex'))).size, all.length);
    assert.equal(found.length, all.length);
    const [first] = all.toSorted((one, other) => Buffer.compare(one.id, other.id));
    const { found: rest } = await store.walkGrants(
      { providerId: provider.id, since: NOW - HOUR },
      NOW,
      first?.id ?? Buffer.alloc(16),
    );
    assert.ok(!rest.some(({ id }) => first?.id.equals(id)), 'it goes on after the given one');
  });

  withStore('sessions end that began through a provider since a time, or took a sign-in of then', async (store) => {
    const since = NOW - HOUR;
    const request = { continueTo: '/device', ticket: 'x', at: since };
    const ended = [
      await begin(store, { createdAt: since }),
      await begin(store, { createdAt: since - 1, external: { ...external, requests: [request] } }),
    ];
    const others = [
      await begin(store, {
        createdAt: since - 1,
        external: { ...external, requests: [{ ...request, at: since - 1 }] },
      }),
      await begin(store, { createdAt: NOW, providerId: null, external: null }),
      await begin(store, { createdAt: NOW, providerId: 'product2' }),
    ];
    assert.deepEqual(await endAll(store, since), { signIns: 0, sessions: 2, grants: 0, isAll: true });
    for (const { digest } of ended) assert.equal(await store.findSession(digest), null);
    for (const { digest } of others) assert.ok(await store.findSession(digest));
    assert.equal((await store.listAuditEvents({ action: 'user_sessions_ended', limit: 10 })).length, 2);
  });

  withStore('tickets die that a provider got since a time, and their requests get no further one', async (store) => {
    const [since, now] = [NOW - 30_000, NOW];
    const stated = (at: number, some = {}) => sampleExternalSignIn({ ticketExpiresAt: at + 60_000, ...some });
    const [ended, early, other] = [stated(since), stated(since - 1), stated(now, { providerId: 'product2' })];
    const proof = await registerProduct(store);
    for (const each of [ended, early, other]) await store.stateExternalSignIn(each, proof);
    assert.deepEqual(await endAll(store, since, now), { signIns: 1, sessions: 0, grants: 0, isAll: true });
    const taken = [ended, early, other].map(async ({ nonce }) => (await store.findExternalSignIn(nonce))?.takenAt);
    assert.deepEqual(await Promise.all(taken), [NOW, null, null]);
    const again = await store.stateExternalSignIn(stated(now, { nonce: ended.nonce }), proof);
    assert.deepEqual(again?.ticket, ended.ticket);
  });

  withStore(
    'a grant that is given while its session is being ended is ended with it, or never there',
    async (store) => {
      const all = HUNDRED.slice(0, MAX_SESSIONS);
      const sessions = await Promise.all(all.map(() => begin(store, { createdAt: NOW })));
      const grants = sessions.map(({ digest }) => ({
        digest,
        grant: sampleGrant({ grantedAt: NOW, signedInAt: NOW, providerId: provider.id }),
      }));
      const issuing = grants.map(({ digest, grant }) =>
        store.issueGrant(grant, event('consent_allowed'), basisOf(digest)),
      );
      const [ended, issued] = await Promise.all([endAll(store, NOW), Promise.all(issuing)]);
      assert.deepEqual([ended.sessions, ended.grants], [all.length, issued.filter(Boolean).length]);
      for (const { digest, grant } of grants) {
        assert.equal(await store.issueGrant(sampleGrant(), event('consent_allowed'), basisOf(digest)), false);
        const found = await store.findGrant(grant.id);
        assert.ok(found === null || found.grant.revokedAt !== null);
      }
    },
  );

  withStore('of two who end the same at once, each thing is ended once', async (store) => {
    const grants = await Promise.all(HUNDRED.map(() => given(store, NOW, NOW)));
    const [one, other] = await Promise.all([endAll(store, NOW), endAll(store, NOW)]);
    assert.equal(one.grants + other.grants, grants.length);
    assert.equal((await store.listAuditEvents({ action: 'grant_revoked', limit: 1000 })).length, grants.length);
  });
}
