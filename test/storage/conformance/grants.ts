/** Grants: transitions, races, ends and marks. */
import assert from 'node:assert/strict';
import type { Grant } from '../../../src/oauth/grants/grant.ts';
import {
  basisOf,
  event,
  NOW,
  sampleAccount,
  sampleClient,
  sampleGeneration,
  sampleGrant,
  sampleSession,
  sampleUse,
} from '../../support/storage.ts';
import { type AnyStore, find, HUNDRED, isAlive, issue, type WithStore, winners } from './any-store.ts';

/** One grant at a time. */
export function grants(withStore: WithStore): void {
  withStore('of each grant it is known when and from where its last credential was presented', async (store) => {
    const one = await issue(store);
    const other = await issue(store);
    assert.equal(await store.findPresentation(one.id), null);
    const source = '2001:db8::/64';
    await Promise.all([
      store.redeemAuthorizationCode(sampleGeneration(one, 1), source),
      store.redeemAuthorizationCode(sampleGeneration(other, 1)),
    ]);
    assert.deepEqual(await store.findPresentation(one.id), { generation: 1, at: NOW + 1, source });
    assert.deepEqual(await store.findPresentation(other.id), { generation: 1, at: NOW + 1, source: null });
    await store.rotateRefreshToken(sampleGeneration(one, 2), 'odd {"source", \\}');
    assert.deepEqual(await store.findPresentation(one.id), {
      generation: 2,
      at: NOW + 2,
      source: 'odd {"source", \\}',
    });
    assert.equal(await store.findPresentation(Buffer.alloc(16)), null);
  });

  withStore(
    'a grant comes back as it was issued, byte for byte, with its standing and its resource owner',
    async (store) => {
      const seed = Buffer.from([...Array(16).keys()].map((index) => index * 17));
      const some = {
        seed,
        codeChallenge: 'challenge',
        scope: '',
        leftOut: 'send delete',
        personFields: 'name email',
        keyId: 2 ** 32 - 1,
        resource: 'https://letters.test',
        resourceIsDefault: true,
        openid: { nonce: 'n " \\', auth_time: 1_800_000_000, amr: ['pwd'], renews: true as const },
      };
      const grant = await issue(store, some);
      assert.deepEqual(await store.findGrant(grant.id), {
        grant,
        standing: {
          epochs: { installation: 0, client: 0, resourceOwner: 0 },
          clientPaused: false,
          resourceOwnerDisabled: false,
        },
        resourceOwner: {
          id: 'usr_ada',
          username: 'ada',
          email: 'Ada@example.com',
          name: 'Ada Lovelace',
          avatarUrl: null,
        },
        client: await store.findClient(grant.clientId),
      });
    },
  );

  withStore('a second try to issue a grant changes nothing and is no error', async (store) => {
    const grant = await issue(store);
    const again = { ...grant, scope: 'other' };
    assert.equal(await store.issueGrant(again, event('consent_allowed', { clientId: grant.clientId })), false);
    assert.equal((await find(store, grant)).grant.scope, grant.scope);
  });

  withStore('a grant is found with its client as that is now', async (store) => {
    const grant = await issue(store);
    const found = async () => (await find(store, grant)).client;
    await store.updateClient(sampleClient({ name: 'Two' }), sampleClient(), event('client_updated'));
    assert.equal((await found()).name, 'Two');
    const { secrets: others } = sampleClient();
    assert.ok(await store.replaceClientSecrets(await found(), others, event('client_secret_rotated')));
    assert.deepEqual((await found()).secrets, others);
    await store.setClientStatus(grant.clientId, 'paused', event('client_paused'));
    assert.equal((await found()).status, 'paused');
    await store.revokeClientGrants(grant.clientId, event('client_grants_revoked'));
    assert.equal((await found()).epoch, 1);
  });

  withStore('a grant is not found when it, its client or its resource owner is not there', async (store) => {
    const orphans = [await issue(store, { clientId: 'app_none' }), await issue(store, { resourceOwnerId: 'usr_none' })];
    for (const { id } of [sampleGrant(), ...orphans]) assert.equal(await store.findGrant(id), null);
  });

  withStore('a grant is issued in a session that is there, and in no other', async (store) => {
    const session = sampleSession();
    const signIn = { providerId: 'product', externalId: 'u-1', signedInAt: NOW - 1 };
    const [before, after] = [sampleGrant(signIn), sampleGrant(signIn)];
    await store.addSession(session, sampleAccount().password, null, event('sign_in'));
    assert.equal(await store.issueGrant(before, event('consent_allowed'), basisOf(session.digest)), true);
    assert.deepEqual((await find(store, before)).grant, before);
    await store.endSession(session.digest, event('sign_out'));
    assert.equal(await store.issueGrant(after, event('consent_allowed'), basisOf(session.digest)), false);
    assert.equal(await store.findGrant(after.id), null);
    const events = await store.listAuditEvents({ action: 'consent_allowed', limit: 10 });
    assert.equal(events.length, 1, 'what did not happen is not recorded');
  });

  withStore(
    'of 100 grants whose sessions end meanwhile, each is there before that is answered, or never',
    async (store) => {
      const all = HUNDRED.map(() => ({ grant: sampleGrant(), session: sampleSession() }));
      for (const { session } of all) await store.addSession(session, sampleAccount().password, null, event('sign_in'));
      const raced = all.map(async ({ grant, session: { digest } }, n) => {
        const ending = async () => {
          for (let turn = 0; turn < n % 10; turn += 1) await store.findSession(digest);
          await store.endSession(digest, event('sign_out'));
          return store.findGrant(grant.id);
        };
        const [isIssued, foundThen] = await Promise.all([
          store.issueGrant(grant, event('consent_allowed'), basisOf(digest)),
          ending(),
        ]);
        assert.equal(foundThen !== null, isIssued);
        assert.equal((await store.findGrant(grant.id)) !== null, isIssued);
      });
      await Promise.all(raced);
    },
  );

  withStore('of 100 who redeem a code at once, one wins', async (store) => {
    const grant = await issue(store);
    assert.equal(await winners(HUNDRED.map(() => store.redeemAuthorizationCode(sampleGeneration(grant, 1)))), 1);
    const next = sampleGeneration(grant, 1);
    const { grantId, ...written } = next;
    assert.deepEqual((await find(store, grant)).grant, { ...grant, ...written, id: grantId });
  });

  const openid = { renews: true } as const;
  const signIn = { scope: 'openid email', personFields: 'email', openid };
  const reasonOf = async (store: AnyStore, grant: Grant) => (await find(store, grant)).grant.revocationReason;

  withStore('a sign-in that nobody was asked about replaces its equals, and nothing else', async (store) => {
    const others: Partial<Grant>[] = [
      { scope: 'openid' },
      { personFields: '' },
      { leftOut: 'photos' },
      { redirectUri: 'https://one.test/other' },
      { resource: 'https://letters.test' },
      { resourceIsDefault: true },
      { openid: null },
    ];
    const redeemed = await Promise.all([{}, ...others].map((more) => issue(store, { ...signIn, ...more })));
    for (const grant of redeemed)
      await store.redeemAuthorizationCode({ ...sampleGeneration(grant, 1), rotatedAt: NOW });
    const waiting = await issue(store, signIn);
    const later = await issue(store, { ...signIn, grantedAt: NOW + 5000 });
    await store.redeemAuthorizationCode({ ...sampleGeneration(later, 1), rotatedAt: NOW + 6000 });
    const before = (await store.listAuditEvents({ limit: 99 })).length;
    const renewed = await issue(store, { ...signIn, grantedAt: NOW + 10 });
    assert.equal(await store.redeemAuthorizationCode(sampleGeneration(renewed, 1), 'here', true), 'redeemed');
    const [equal, ...kept] = redeemed as [Grant, ...Grant[]];
    assert.equal(await reasonOf(store, equal), 'replaced');
    for (const grant of [...kept, waiting, later, renewed]) assert.equal(await reasonOf(store, grant), null);
    assert.equal((await store.listAuditEvents({ limit: 99 })).length, before + 1, 'that of the Allow alone');
    assert.equal((await store.findPresentation(renewed.id))?.source, 'here');
  });

  withStore('a sign-in does not replace what ended before: the first reason stays', async (store) => {
    const ended = await issue(store, signIn);
    await store.redeemAuthorizationCode({ ...sampleGeneration(ended, 1), rotatedAt: NOW });
    await store.revokeAllGrants(event('all_grants_revoked'));
    const epochs = await store.findEpochs(ended.clientId, ended.resourceOwnerId);
    const renewed = await issue(store, { ...signIn, epochs: epochs ?? assert.fail(), grantedAt: NOW + 10 });
    assert.equal(await store.redeemAuthorizationCode(sampleGeneration(renewed, 1), 'here', true), 'redeemed');
    assert.equal((await find(store, ended)).grant.revokedAt, null);
  });

  withStore('a sign-in whose code was redeemed or revoked replaces nothing', async (store) => {
    const equal = await issue(store, signIn);
    await store.redeemAuthorizationCode(sampleGeneration(equal, 1));
    const [twice, revoked] = await Promise.all([1, 2].map(() => issue(store, { ...signIn, grantedAt: NOW + 10 })));
    await store.redeemAuthorizationCode(sampleGeneration(twice as Grant, 1));
    await store.revokeGrant((revoked as Grant).id, 'user', event('grant_revoked'));
    for (const grant of [twice, revoked] as Grant[])
      assert.equal(await store.redeemAuthorizationCode(sampleGeneration(grant, 1), 'here', true), false);
    assert.equal(await reasonOf(store, equal), null);
  });

  withStore('a hundred sign-ins that rest on the same one, beside its end, wait for each other', async (store) => {
    const equal = await issue(store, signIn);
    await store.redeemAuthorizationCode(sampleGeneration(equal, 1));
    const all = await Promise.all(HUNDRED.map(() => issue(store, { ...signIn, grantedAt: NOW + 10 })));
    const { resourceOwnerId, clientId } = equal;
    const redeemed = all.map((grant) => store.redeemAuthorizationCode(sampleGeneration(grant, 1), 'here', true));
    const ended = store.revokeGrantsOfClient(resourceOwnerId, clientId, event('grant_revoked'));
    const twice = all.map((grant) => store.redeemAuthorizationCode(sampleGeneration(grant, 1), 'here', true));
    const [wins, losses] = [await Promise.all(redeemed), await Promise.all(twice)];
    for (const [at, won] of wins.entries()) assert.ok(won === false || losses[at] === false, 'one wins at most');
    await ended;
    assert.ok(['replaced', 'user'].includes(String(await reasonOf(store, equal))));
  });

  withStore('an end records nothing of a sign-in, of which no API has learned', async (store) => {
    const [alone, beside, bound] = await Promise.all([
      issue(store, signIn),
      issue(store, { ...signIn, scope: 'openid photos email' }),
      issue(store, { scope: 'openid', openid: null }),
    ]);
    const all = [alone, beside, bound] as Grant[];
    for (const grant of all) await store.redeemAuthorizationCode(sampleGeneration(grant, 1));
    const scopes = (accesses: readonly { readonly scope: string }[] | null | undefined) =>
      accesses?.map(({ scope }) => scope).sort();
    const { resourceOwnerId, clientId } = alone as Grant;
    assert.deepEqual(scopes(await store.listLiveAccess(resourceOwnerId, NOW)), ['openid', 'photos']);
    await store.revokeGrant((alone as Grant).id, 'user', event('grant_revoked'));
    const ended = async () =>
      scopes((await store.listAuditEvents({ action: 'grant_revoked', limit: 1 }))[0]?.endedAccess);
    assert.deepEqual(await ended(), []);
    assert.equal(await store.revokeGrantsOfClient(resourceOwnerId, clientId, event('grant_revoked')), 2);
    assert.deepEqual((await ended())?.join(' ').split(' ').sort(), ['openid', 'photos']);
  });

  withStore('of 100 who rotate from one generation at once, one wins', async (store) => {
    const grant = await issue(store);
    assert.equal(await store.redeemAuthorizationCode(sampleGeneration(grant, 1)), 'redeemed');
    assert.equal(await winners(HUNDRED.map(() => store.rotateRefreshToken(sampleGeneration(grant, 2)))), 1);
    assert.equal((await find(store, grant)).grant.generation, 2);
  });

  withStore('a generation is neither skipped nor repeated', async (store) => {
    const grant = await issue(store);
    assert.equal(await store.rotateRefreshToken(sampleGeneration(grant, 2)), false);
    assert.equal(await store.redeemAuthorizationCode(sampleGeneration(grant, 1)), 'redeemed');
    assert.equal(await store.redeemAuthorizationCode(sampleGeneration(grant, 1)), false);
  });

  withStore('a revocation that came first wins against redeeming and rotating', async (store) => {
    const [code, pair] = [await issue(store), await issue(store)];
    await store.redeemAuthorizationCode(sampleGeneration(pair, 1));
    for (const { id } of [code, pair]) await store.revokeGrant(id, 'user', event('grant_revoked'));
    assert.equal(await store.redeemAuthorizationCode(sampleGeneration(code, 1)), false);
    assert.equal(await store.rotateRefreshToken(sampleGeneration(pair, 2)), false);
  });

  withStore('a revocation amid 100 rotations is final: no later one succeeds', async (store) => {
    const grant = await issue(store);
    await store.redeemAuthorizationCode(sampleGeneration(grant, 1));
    const attempts = HUNDRED.map((_, index) =>
      index === 50
        ? store.revokeGrant(grant.id, 'user', event('grant_revoked'))
        : store.rotateRefreshToken(sampleGeneration(grant, index + 2)),
    );
    await Promise.all(attempts);
    const { generation } = (await find(store, grant)).grant;
    assert.equal(await store.rotateRefreshToken(sampleGeneration(grant, generation + 1)), false);
    assert.equal(await isAlive(store, grant), false);
  });

  withStore('a grant is revoked once, and the first reason stays', async (store) => {
    const grant = await issue(store);
    const at = NOW + 7;
    assert.equal(await store.revokeGrant(grant.id, 'code_replay', event('code_replay', { at })), true);
    assert.equal(await store.revokeGrant(grant.id, 'user', event('grant_revoked')), false);
    assert.equal(await store.revokeGrant(sampleGrant().id, 'user', event('grant_revoked')), false);
    const { revokedAt, revocationReason } = (await find(store, grant)).grant;
    assert.deepEqual({ revokedAt, revocationReason }, { revokedAt: at, revocationReason: 'code_replay' });
  });

  withStore('whoever revoked a grant is told, each of them', async (store) => {
    for (const reason of [
      'user',
      'operator',
      'client',
      'code_replay',
      'refresh_reuse',
      'refresh_conflict',
      'too_many_grants',
      'restored',
    ] as const) {
      const grant = await issue(store);
      assert.equal(await store.revokeGrant(grant.id, reason, event('grant_revoked')), true);
      assert.equal((await find(store, grant)).grant.revocationReason, reason);
    }
  });

  withStore('of 100 who revoke a grant at once, one wins, and one event tells of it', async (store) => {
    const grant = await issue(store);
    const reasons = ['user', 'client', 'operator'] as const;
    const attempts = HUNDRED.map((_, n) =>
      store.revokeGrant(grant.id, reasons[n % 3] ?? 'user', event('grant_revoked', { detail: `${n}` })),
    );
    assert.equal(await winners(attempts), 1);
    const [recorded, ...more] = await store.listAuditEvents({ action: 'grant_revoked', limit: 10 });
    assert.deepEqual(more, []);
    const winner = (await Promise.all(attempts)).indexOf(true);
    assert.equal(recorded?.detail, `${winner}`);
    assert.equal((await find(store, grant)).grant.revocationReason, reasons[winner % 3]);
  });

  withStore('disconnecting an app ends all its grants of one user, and answers how many', async (store) => {
    await store.registerClient(sampleClient({ id: 'app_two' }), event('client_registered'));
    const ended = [await issue(store), await issue(store)];
    const other = await issue(store, { clientId: 'app_two' });
    const actor = { ...event('grant_revoked').actor, kind: 'user', id: 'usr_ada' } as const;
    const disconnect = () => store.revokeGrantsOfClient('usr_ada', 'app_one', event('grant_revoked', { actor }));
    assert.equal(await disconnect(), 2);
    assert.equal(await disconnect(), 0);
    for (const grant of ended) assert.equal((await find(store, grant)).grant.revocationReason, 'user');
    assert.equal(await isAlive(store, other), true);
  });

  withStore(
    'the event of grants that end records the access that ended with them, for each resource together',
    async (store) => {
      const mail = 'https://mail.test';
      const alone = await issue(store, { scope: 'a b', resource: mail });
      const before = await store.lastAuditSequence();
      await store.revokeGrant(alone.id, 'client', event('grant_revoked', { detail: '\u0000 "é"' }));
      await store.revokeGrant(alone.id, 'client', event('grant_revoked'));
      const scopes = ['a', 'b a', '', 'c'];
      for (const scope of scopes) await issue(store, { scope, resource: null });
      await issue(store, { scope: 'd', resource: mail });
      await store.revokeGrantsOfClient('usr_ada', 'app_one', event('grant_revoked'));
      await store.revokeClientGrants('app_one', event('client_grants_revoked'));
      const events = await store.listAuditEventsAfter(before, 10 + scopes.length);
      const told = events.filter(({ action }) => action.endsWith('revoked')).map(({ endedAccess }) => endedAccess);
      const sorted = told[1]?.map(({ resource, scope }) => [resource, scope.split(' ').sort().join(' ')]);
      assert.deepEqual(told[0], [{ resource: mail, scope: 'a b' }]);
      assert.deepEqual(
        new Map(sorted as [string | null, string][]),
        new Map([
          [null, 'a b c'],
          [mail, 'd'],
        ]),
      );
      assert.equal(told[2], null, 'all of a client is told to everybody');
      assert.ok(
        events.filter(({ action }) => action === 'consent_allowed').every(({ endedAccess }) => endedAccess === null),
      );
    },
  );

  withStore('grants are listed newest first, by client and resource owner, up to a limit', async (store) => {
    await store.registerClient(sampleClient({ id: 'app_two', name: 'Two' }), event('client_registered'));
    await store.addAccount(sampleAccount({ id: 'usr_bob', username: null }), 'bob@example.com', event('user_added'));
    const at = (index: number) => Buffer.from(index.toString(16).padStart(32, '0'), 'hex');
    await issue(store, { id: at(1) });
    await issue(store, { id: at(2), clientId: 'app_two' });
    await issue(store, { id: at(3), resourceOwnerId: 'usr_bob' });
    const listed = async (filter: object) =>
      (await store.listGrants({ limit: 10, ...filter })).map(({ grant, clientName }) => [grant.id.at(-1), clientName]);
    assert.deepEqual(await listed({}), [
      [3, 'One'],
      [2, 'Two'],
      [1, 'One'],
    ]);
    assert.deepEqual(await listed({ limit: 1 }), [[3, 'One']]);
    assert.deepEqual(await listed({ clientId: 'app_two' }), [[2, 'Two']]);
    assert.deepEqual(await listed({ resourceOwnerId: 'usr_bob' }), [[3, 'One']]);
    assert.deepEqual(await listed({ clientId: 'app_one', resourceOwnerId: 'usr_ada' }), [[1, 'One']]);
  });
}

/** Many at once. */
export function epochs(withStore: WithStore): void {
  const now = async (store: AnyStore): Promise<Grant['epochs']> => {
    const epochs = await store.findEpochs('app_one', 'usr_ada');
    assert.ok(epochs);
    return epochs;
  };
  const raises: Record<string, (store: AnyStore) => Promise<unknown>> = {
    'the installation': (store) => store.revokeAllGrants(event('all_grants_revoked')),
    'a client': (store) => store.revokeClientGrants('app_one', event('client_grants_revoked')),
    'a resource owner': (store) => store.revokeAccountGrants('usr_ada', event('user_grants_revoked')),
  };
  for (const [whose, raise] of Object.entries(raises)) {
    withStore(`ending every grant of ${whose} ends those before it and none after it`, async (store) => {
      const before = await issue(store, { epochs: await now(store) });
      const epochsOfRacer = await now(store);
      assert.notEqual(await raise(store), false);
      const racer = await issue(store, { epochs: epochsOfRacer });
      const after = await issue(store, { epochs: await now(store) });
      assert.deepEqual(
        [await isAlive(store, before), await isAlive(store, racer), await isAlive(store, after)],
        [false, false, true],
      );
      assert.equal(await store.redeemAuthorizationCode(sampleGeneration(before, 1)), false);
      assert.equal(await store.revokeGrant(before.id, 'user', event('grant_revoked')), false);
      assert.equal(await store.redeemAuthorizationCode(sampleGeneration(after, 1)), 'redeemed');
    });
  }

  withStore('there are no epochs for a client or a resource owner that is not there', async (store) => {
    assert.equal(await store.findEpochs('app_none', 'usr_ada'), null);
    assert.equal(await store.findEpochs('app_one', 'usr_none'), null);
  });

  withStore('a client and an account that are deleted take their grants with them', async (store) => {
    const grant = await issue(store);
    assert.equal(await store.deleteClient('app_one', event('client_deleted')), true);
    assert.equal(await store.deleteClient('app_one', event('client_deleted')), false);
    assert.equal(await store.findGrant(grant.id), null);
    assert.equal(await store.redeemAuthorizationCode(sampleGeneration(grant, 1)), false);
    assert.deepEqual(await store.listGrants({ limit: 10 }), []);
    assert.equal(await store.deleteAccount('usr_ada', event('user_deleted')), true);
    assert.equal(await store.deleteAccount('usr_ada', event('user_deleted')), false);
  });
}

/** Notes that checks write. */
export function marks(withStore: WithStore): void {
  const used = async (store: AnyStore, grant: Grant) => {
    const { usedGeneration, lastUsedAt } = (await find(store, grant)).grant;
    return [usedGeneration, lastUsedAt];
  };

  withStore('a use is answered with its grant at once', async (store) => {
    const grant = await issue(store);
    store.noteUse(grant, sampleUse(1, NOW + 5));
    assert.deepEqual(await used(store, grant), [1, NOW + 5]);
    const [listed] = await store.listGrants({ limit: 1 });
    assert.equal(listed?.grant.lastUsedAt, NOW + 5);
  });

  withStore('a use is found at once as it will be written, in each field of its grant', async (store) => {
    const grant = await issue(store);
    await find(store, grant); // As it was before, it may be kept.
    store.noteUse(grant, sampleUse(1, NOW + 5));
    const { grant: atOnce } = await find(store, grant);
    await store.summarizeGrants(grant.resourceOwnerId, NOW); // Marks are written before.
    const [written] = await store.listGrants({ limit: 1 });
    assert.deepEqual(written?.grant, atOnce);
  });

  withStore('marks only grow', async (store) => {
    const grant = await issue(store);
    store.noteUse(grant, sampleUse(3, NOW + 5));
    store.noteUse(grant, sampleUse(2, NOW + 9));
    store.noteUse(grant, sampleUse(1, NOW + 7));
    assert.deepEqual(await used(store, grant), [3, NOW + 9]);
  });
}
