/** Operators, and what belongs to one. */
import assert from 'node:assert/strict';
import { MAX_KEYS_OF_OPERATOR } from '../../../src/operator/access/operator-key.ts';
import { MAX_SESSIONS_OF_OPERATOR, type OperatorSession } from '../../../src/operator/access/operator-session.ts';
import { MAX_PASSKEYS, type Passkey } from '../../../src/operator/access/passkey.ts';
import {
  sampleAddress,
  sampleAssertion,
  sampleChallenge,
  sampleOperator,
  sampleOperatorKey,
  sampleOperatorSession,
  samplePasskey,
} from '../../support/operators.ts';
import { event, HOUR, NOW } from '../../support/storage.ts';
import { type AnyStore, HUNDRED, type WithStore, winners } from './any-store.ts';

const ann = sampleOperator();
const bob = sampleOperator({ id: 'opr_bob', name: 'Bob', createdAt: NOW + 1 });

/** Operators, keys, passkeys, sessions and one-time addresses. */
export function operators(withStore: WithStore): void {
  const withAnn = (promise: string, run: (store: AnyStore) => Promise<void>) =>
    withStore(promise, async (store) => {
      await store.addOperator(ann, null, event('operator_added'));
      await run(store);
    });
  const signIn = async (store: AnyStore, some = {}) => {
    const session = sampleOperatorSession(some);
    const address = sampleAddress({ purpose: 'sign-in', operatorId: session.operatorId });
    await store.addOneTimeAddress(address, event('operator_sign_in_address_made'));
    assert.equal(await store.beginSessionByAddress(session, address.digest, event('operator_signed_in')), true);
    return session;
  };
  withAnn(
    'events have the names of acting operators, and not for a command whose user is called like one',
    async (store) => {
      const acts = [
        { kind: 'operator', id: ann.id },
        { kind: 'operator', id: ann.name },
        { kind: 'user', id: ann.id },
        { kind: 'operator', id: 'opr_gone' },
      ] as const;
      for (const act of acts)
        await store.recordDenial(event('client_paused', { actor: { ...act, source: null, requestId: null } }));
      const events = await store.listNamedAuditEvents({ action: 'client_paused', limit: 9 });
      assert.deepEqual(
        events.reverse().map(({ actorName }) => actorName),
        [ann.name, null, null, null],
      );
    },
  );

  const enroll = async (store: AnyStore) => {
    const [passkey, session, address] = [samplePasskey(), sampleOperatorSession(), sampleAddress()];
    await store.addOneTimeAddress(address, event('operator_reset'));
    const enrolled = event('operator_passkey_added');
    assert.equal(await store.enrollByAddress(passkey, session, address.digest, sampleChallenge(), enrolled), true);
    return { passkey, session, address };
  };

  withAnn('operators come back as they were added, by id and name; a name is one operator’s alone', async (store) => {
    assert.equal(await store.addOperator(bob, null, event('operator_added')), true);
    const again = { ...bob, id: 'opr_other', createdAt: NOW + 2 };
    assert.equal(await store.addOperator(again, sampleAddress(), event('operator_added')), false);
    assert.deepEqual(await store.listOperators(), [ann, bob]);
    assert.deepEqual(await store.findOperator('opr_bob'), bob);
    assert.deepEqual(await store.findOperatorByName('Ann'), ann);
    assert.equal(await store.findOperatorByName('ann'), null);
  });

  withAnn('an update changes name and role of the operator as it was read', async (store) => {
    await store.addOperator(bob, null, event('operator_added'));
    const changed = { ...bob, name: 'Rob', role: 'read', epoch: 1 } as const;
    const update = (to: typeof bob, from: typeof bob) =>
      store.updateOperator(to, from, 'an admin stays', event('operator_updated'));
    assert.equal(await update(changed, bob), null);
    assert.deepEqual(await store.findOperator(bob.id), changed);
    assert.equal(await update({ ...bob, role: 'support' }, bob), 'gone', 'it is not as expected any more');
    assert.equal(await update({ ...changed, name: 'Ann' }, changed), 'name');
  });

  withAnn('the last active admin is not demoted, disabled or deleted but by a command', async (store) => {
    await store.addOperator({ ...bob, role: 'support' }, null, event('operator_added'));
    const demoted = { ...ann, role: 'read', epoch: 1 } as const;
    const updated = event('operator_updated');
    assert.equal(await store.updateOperator(demoted, ann, 'an admin stays', updated), 'last admin');
    assert.equal(await store.disableOperator(ann.id, 'an admin stays', event('operator_disabled')), 'last admin');
    assert.equal(await store.deleteOperator(ann.id, 'an admin stays', event('operator_deleted')), 'last admin');
    assert.equal(await store.disableOperator(bob.id, 'an admin stays', event('operator_disabled')), null);
    assert.deepEqual(await store.findOperator(ann.id), ann);
    assert.equal(await store.updateOperator(demoted, ann, 'no bound', updated), null);
    assert.equal(await store.deleteOperator(ann.id, 'no bound', event('operator_deleted')), null);
    assert.equal(await store.deleteOperator(ann.id, 'an admin stays', event('operator_deleted')), 'gone');
  });

  withAnn('of two admins who are disabled at once one stays', async (store) => {
    await store.addOperator(bob, null, event('operator_added'));
    const disabled = [ann, bob].map(({ id }) =>
      store.disableOperator(id, 'an admin stays', event('operator_disabled')).then(
        (problem) => problem === null,
        () => false,
      ),
    );
    assert.ok((await winners(disabled)) <= 1);
    const active = (await store.listOperators()).filter(({ status }) => status === 'active');
    assert.ok(active.length >= 1);
  });

  withAnn('disabling ends sessions, keys and addresses, which enabling does not bring back', async (store) => {
    const { passkey, session } = await enroll(store);
    const [key, address] = [sampleOperatorKey(), sampleAddress()];
    await store.addOperatorKey(key, event('operator_key_added'));
    await store.addOneTimeAddress(address, event('operator_reset'));
    assert.equal(await store.disableOperator(ann.id, 'no bound', event('operator_disabled')), null);
    assert.equal(await store.disableOperator(ann.id, 'no bound', event('operator_disabled')), 'gone');
    assert.equal((await store.findOperator(ann.id))?.epoch, 1);
    const late = sampleOperatorKey({ id: 'opk_late' });
    assert.equal(await store.addOperatorKey(late, event('operator_key_added')), false, 'nothing begins meanwhile');
    assert.equal(await store.addOneTimeAddress(sampleAddress(), event('operator_reset')), false);
    const answer = sampleAssertion(passkey);
    const begun = sampleOperatorSession();
    assert.equal(await store.beginSessionByPasskey(begun, answer, null, event('operator_signed_in')), false);
    assert.equal(await store.enableOperator(ann.id, event('operator_enabled')), true);
    assert.equal(await store.enableOperator(ann.id, event('operator_enabled')), false);
    assert.equal(await store.findOperatorSession(session.digest), null);
    assert.equal(await store.findOperatorKey(key.digest), null);
    assert.equal(await store.findOneTimeAddress(address.digest), null);
    assert.deepEqual((await store.listPasskeys(ann.id)).length, 1, 'passkeys stay');
  });

  withAnn('deleting takes all that belongs to the operator', async (store) => {
    const { passkey, session } = await enroll(store);
    const key = sampleOperatorKey();
    await store.addOperatorKey(key, event('operator_key_added'));
    assert.equal(await store.deleteOperator(ann.id, 'no bound', event('operator_deleted')), null);
    assert.equal(await store.findOperator(ann.id), null);
    assert.equal(await store.findPasskey(passkey.id), null);
    assert.equal(await store.findOperatorSession(session.digest), null);
    assert.equal(await store.findOperatorKey(key.digest), null);
  });

  withAnn('a reset ends passkeys, sessions and addresses, and leaves one address to enroll at', async (store) => {
    const { passkey, session } = await enroll(store);
    const [earlier, address] = [sampleAddress({ purpose: 'sign-in' }), sampleAddress()];
    await store.addOneTimeAddress(earlier, event('operator_sign_in_address_made'));
    assert.equal(await store.resetOperator(address, event('operator_reset')), true);
    assert.equal(await store.findPasskey(passkey.id), null);
    assert.equal(await store.findOperatorSession(session.digest), null);
    assert.equal(await store.findOneTimeAddress(earlier.digest), null);
    const operator = { ...ann, epoch: 1 };
    assert.deepEqual(await store.findOneTimeAddress(address.digest), { address, operator });
  });

  withAnn('a newer one-time address ends the older of its purpose, and one of a hundred uses it', async (store) => {
    const [first, second] = [sampleAddress(), sampleAddress()];
    const other = sampleAddress({ purpose: 'sign-in' });
    for (const each of [first, other, second]) await store.addOneTimeAddress(each, event('operator_reset'));
    assert.equal(await store.findOneTimeAddress(first.digest), null);
    const enrollments = HUNDRED.map(() =>
      store.enrollByAddress(
        samplePasskey(),
        sampleOperatorSession(),
        second.digest,
        sampleChallenge(),
        event('operator_passkey_added'),
      ),
    );
    assert.equal(await winners(enrollments), 1);
    assert.equal((await store.listPasskeys(ann.id)).length, 1);
    const begin = () => store.beginSessionByAddress(sampleOperatorSession(), other.digest, event('operator_signed_in'));
    assert.equal(await winners(HUNDRED.map(begin)), 1, 'the address of the other purpose was still good');
  });

  withAnn('a one-time address is good for its purpose, its operator and its time', async (store) => {
    await store.addOperator(bob, null, event('operator_added'));
    const address = sampleAddress({ purpose: 'sign-in', expiresAt: NOW + 300_000 });
    await store.addOneTimeAddress(address, event('operator_sign_in_address_made'));
    const begin = (some: object) =>
      store.beginSessionByAddress(sampleOperatorSession(some), address.digest, event('operator_signed_in'));
    assert.equal(await begin({ lastSeenAt: NOW + 300_000 }), false, 'it has expired');
    assert.equal(await begin({ operatorId: bob.id }), false, 'it is of another operator');
    const enrolled = event('operator_passkey_added');
    const enrolling = [samplePasskey(), sampleOperatorSession(), address.digest, sampleChallenge()] as const;
    assert.equal(await store.enrollByAddress(...enrolling, enrolled), false, 'it enrolls nobody');
    assert.equal(await begin({ lastSeenAt: NOW + 299_999 }), true);
  });

  withAnn('a challenge, and a counter, are good for one of a hundred', async (store) => {
    const { passkey, session } = await enroll(store);
    const answer = sampleAssertion(passkey);
    const confirm = () =>
      store.beginSessionByPasskey(sampleOperatorSession(), answer, null, event('operator_signed_in'));
    assert.equal(await winners(HUNDRED.map(confirm)), 1);
    const replayed = { ...answer, before: 1, counter: 2 };
    const begun = () =>
      store.beginSessionByPasskey(sampleOperatorSession(), replayed, null, event('operator_signed_in'));
    assert.equal(await begun(), false, 'the challenge was used');
    const late = sampleAssertion(passkey);
    const behind = store.beginSessionByPasskey(sampleOperatorSession(), late, null, event('operator_signed_in'));
    assert.equal(await behind, false, 'the counter moved since it was compared');
    const found = await store.findPasskey(passkey.id);
    assert.deepEqual(found?.passkey, { ...passkey, counter: 1, isBackedUp: true, lastUsedAt: NOW });
    assert.deepEqual(found?.operator, ann);
    const next = samplePasskey();
    const added = event('operator_passkey_added');
    assert.equal(await store.addPasskey(next, session.digest, answer.challenge, added), false, 'the same');
    assert.equal(await store.addPasskey(next, session.digest, sampleChallenge(), added), true);
    assert.equal(await store.addPasskey(next, session.digest, sampleChallenge(), added), false, 'enrolled already');
  });

  withAnn(
    'a first passkey is made in a session at an address, by one of a hundred, and takes its place',
    async (store) => {
      await store.addOperator(bob, null, event('operator_added'));
      const [session, keyed] = [await signIn(store, { how: 'address' }), await signIn(store, { how: 'passkey' })];
      const added = event('operator_passkey_added');
      const [next, challenge] = [sampleOperatorSession(), sampleChallenge()];
      const first = (replaces: Buffer, some: Partial<Passkey> = {}, used = sampleChallenge(), begun = next) =>
        store.enrollInSession(samplePasskey(some), begun, replaces, used, added);
      assert.equal(await first(keyed.digest), false, 'a session that a passkey began');
      const ofBob = { operatorId: bob.id };
      assert.equal(await first(session.digest, ofBob), false, 'a session of another operator');
      const tries = HUNDRED.map(() => first(session.digest, {}, challenge));
      assert.equal(await winners(tries), 1);
      const [passkey] = await store.listPasskeys(ann.id);
      assert.equal((await store.listPasskeys(ann.id)).length, 1);
      assert.equal(await store.findOperatorSession(session.digest), null);
      assert.deepEqual((await store.findOperatorSession(next.digest))?.session, next);
      const other = await signIn(store, { how: 'address' });
      assert.equal(
        await first(other.digest, {}, sampleChallenge(), sampleOperatorSession()),
        false,
        'there is one by now',
      );
      const bobs = await signIn(store, { ...ofBob, how: 'address' });
      const begun = sampleOperatorSession(ofBob);
      assert.equal(await first(bobs.digest, ofBob, challenge, begun), false, 'the challenge was used');
      const known = { ...ofBob, id: passkey?.id ?? '' };
      assert.equal(await first(bobs.digest, known, sampleChallenge(), begun), false, 'the passkey is another’s');
      assert.equal(await first(bobs.digest, ofBob, sampleChallenge(), begun), true);
    },
  );

  withAnn('counters of 0 stay 0, as most passkeys have none', async (store) => {
    const { passkey } = await enroll(store);
    for (const _ of [1, 2]) {
      const answer = sampleAssertion(passkey, { counter: 0 });
      assert.equal(
        await store.beginSessionByPasskey(sampleOperatorSession(), answer, null, event('operator_signed_in')),
        true,
      );
    }
  });

  withAnn('a confirmation replaces a session that is still there', async (store) => {
    const { passkey, session } = await enroll(store);
    const next = sampleOperatorSession();
    const confirmed = event('operator_confirmed');
    const replace = (by: typeof next, counter: number, replaced: Buffer) =>
      store.beginSessionByPasskey(by, sampleAssertion({ ...passkey, counter }), replaced, confirmed);
    assert.equal(await replace(next, 0, session.digest), true);
    assert.equal(await store.findOperatorSession(session.digest), null);
    assert.deepEqual(await store.findOperatorSession(next.digest), { session: next, operator: ann });
    assert.equal(await replace(sampleOperatorSession(), 1, session.digest), false, 'it was ended meanwhile');
  });

  withAnn('sessions are listed, seen and ended; too many end the one that was seen longest ago', async (store) => {
    const sessions = [];
    for (let n = 0; n <= MAX_SESSIONS_OF_OPERATOR; n += 1)
      sessions.push(await signIn(store, { lastSeenAt: NOW + n, how: 'address', presentAt: null }));
    const [oldest, second] = sessions as [(typeof sessions)[0], (typeof sessions)[0]];
    assert.equal(await store.findOperatorSession(oldest.digest), null);
    await store.touchOperatorSession(second.digest, NOW + HOUR);
    await store.touchOperatorSession(second.digest, NOW);
    const listed = await store.listOperatorSessions(ann.id);
    assert.deepEqual(listed[0], { ...second, lastSeenAt: NOW + HOUR });
    assert.equal(listed.length, MAX_SESSIONS_OF_OPERATOR);
    assert.equal(await store.endOperatorSession(second.digest, 'opr_bob', event('operator_signed_out')), false);
    assert.equal(await store.endOperatorSession(second.digest, ann.id, event('operator_signed_out')), true);
    assert.equal((await store.findOperator(ann.id))?.epoch, 1);
    assert.equal(await store.endOperatorSessions(ann.id, event('operator_sessions_ended')), true);
    assert.deepEqual(await store.listOperatorSessions(ann.id), []);
    assert.equal((await store.findOperator(ann.id))?.epoch, 2);
    assert.equal(await store.endOperatorSessions('opr_none', event('operator_sessions_ended')), false);
  });

  withAnn('the end of all sessions ends every one-time address of the operator', async (store) => {
    await store.addOperator(bob, null, event('operator_added'));
    const addresses = [sampleAddress(), sampleAddress({ purpose: 'sign-in' }), sampleAddress({ operatorId: bob.id })];
    for (const each of addresses) await store.addOneTimeAddress(each, event('operator_reset'));
    assert.equal(await store.endOperatorSessions(ann.id, event('operator_sessions_ended')), true);
    const found = await Promise.all(addresses.map(({ digest }) => store.findOneTimeAddress(digest)));
    assert.deepEqual(
      found.map((each) => each?.operator.id),
      [undefined, undefined, bob.id],
    );
  });

  withAnn('keys are found by their digest, listed and ended, and have a maximum', async (store) => {
    const key = sampleOperatorKey();
    assert.equal(await store.addOperatorKey(key, event('operator_key_added')), true);
    assert.deepEqual(await store.findOperatorKey(key.digest), { key, operator: ann });
    assert.equal(await store.endOperatorKey(key.id, 'opr_bob', event('operator_key_ended')), false);
    const more = HUNDRED.map((_, n) =>
      store.addOperatorKey(sampleOperatorKey({ id: `opk_${n}` }), event('operator_key_added')),
    );
    assert.equal(await winners(more), MAX_KEYS_OF_OPERATOR - 1);
    assert.equal(await store.endOperatorKey(key.id, ann.id, event('operator_key_ended')), true);
    assert.equal(await store.findOperatorKey(key.digest), null);
    assert.equal((await store.listOperatorKeys(ann.id)).length, MAX_KEYS_OF_OPERATOR - 1);
    assert.equal((await store.findOperator(ann.id))?.epoch, 1);
  });

  withAnn('passkeys are removed, and have a maximum', async (store) => {
    const { passkey, session } = await enroll(store);
    const more = HUNDRED.map(() =>
      store.addPasskey(samplePasskey(), session.digest, sampleChallenge(), event('operator_passkey_added')),
    );
    assert.equal(await winners(more), MAX_PASSKEYS - 1);
    const removed = event('operator_passkey_removed');
    assert.equal(await store.removePasskey(passkey.id, 'opr_bob', session.digest, removed), false);
    assert.equal(await store.removePasskey(passkey.id, ann.id, session.digest, removed), true);
    assert.equal((await store.findOperator(ann.id))?.epoch, 1);
    await store.endOperatorSession(session.digest, ann.id, event('operator_signed_out'));
    const late = store.addPasskey(samplePasskey(), session.digest, sampleChallenge(), event('operator_passkey_added'));
    assert.equal(await late, false, 'the session has ended');
  });

  withAnn('a removed passkey takes its sessions and everybody’s presence with it', async (store) => {
    await store.addOperator(bob, null, event('operator_added'));
    const { passkey } = await enroll(store);
    const [kept, of, by] = [passkey.id, { begunBy: passkey.id }, { confirmedBy: passkey.id }];
    const at = { how: 'address', presentAt: null } as const;
    const sessions: OperatorSession[] = [];
    for (const some of [of, by, { begunBy: 'other', confirmedBy: 'other' }, at, { ...of, operatorId: bob.id }, by])
      sessions.push(await signIn(store, some));
    const states = async () =>
      Promise.all(
        sessions.map(async ({ digest }) => {
          const found = await store.findOperatorSession(digest);
          return found && found.session.presentAt !== null;
        }),
      );
    const removing = sessions.at(-1)?.digest ?? assert.fail();
    assert.equal(await store.removePasskey(kept, ann.id, removing, event('operator_passkey_removed')), true);
    assert.deepEqual(await states(), [null, null, false, null, true, false]);
  });

  withAnn('a counter that went back marks its passkey, once for a challenge of a hundred answers', async (store) => {
    const { passkey } = await enroll(store);
    const signedIn = event('operator_signed_in');
    await store.beginSessionByPasskey(
      sampleOperatorSession(),
      sampleAssertion(passkey, { counter: 5 }),
      null,
      signedIn,
    );
    const sessions = [
      await signIn(store, { begunBy: passkey.id }),
      await signIn(store, { confirmedBy: passkey.id }),
      await signIn(store, { begunBy: 'other', confirmedBy: 'other' }),
      await signIn(store, { how: 'address', presentAt: null }),
    ];
    const suspect = (some: object, at = NOW) =>
      store.suspectPasskey(sampleAssertion(passkey, some), ann.id, at, event('operator_refused'));
    assert.equal(await suspect({ counter: 6 }), false, 'it went on');
    const { challenge } = sampleAssertion(passkey);
    assert.equal(await winners(HUNDRED.map(() => suspect({ counter: 5, challenge }))), 1);
    const states = sessions.map(async ({ digest }) => {
      const found = await store.findOperatorSession(digest);
      return found && found.session.presentAt !== null;
    });
    assert.deepEqual(await Promise.all(states), [null, null, false, false]);
    assert.equal(await suspect({ counter: 0 }, NOW + 1), true);
    assert.equal((await store.findPasskey(passkey.id))?.passkey.suspectedAt, NOW, 'since the first time');
    const marked = (await store.listSuspectedPasskeys()).map((each) => [each.passkey.id, each.operator.name]);
    assert.deepEqual(marked, [[passkey.id, 'Ann']]);
    const another = samplePasskey();
    const session = await signIn(store);
    await store.addPasskey(another, session.digest, sampleChallenge(), event('operator_passkey_added'));
    const answer = sampleAssertion(another, { counter: 0 });
    assert.equal(await store.suspectPasskey(answer, ann.id, NOW, event('operator_refused')), false, 'both are 0');
  });

  withAnn('a refused act is recorded once of a hundred times', async (store) => {
    const refused = sampleChallenge();
    const records = HUNDRED.map(() => store.recordOperatorRefused(refused, event('operator_refused')));
    assert.equal(await winners(records), 1);
    assert.equal((await store.listAuditEvents({ action: 'operator_refused', limit: 9 })).length, 1);
  });

  withAnn('a restore ends sessions and one-time addresses of operators, and keeps passkeys', async (store) => {
    const { session } = await enroll(store);
    const address = sampleAddress();
    await store.addOneTimeAddress(address, event('operator_reset'));
    const nothingElse = { endAll: null, ended: null, revived: [], events: [] };
    await store.beginHistory(Buffer.alloc(16, 7), event('database_restored'), nothingElse);
    assert.equal(await store.findOperatorSession(session.digest), null);
    assert.equal(await store.findOneTimeAddress(address.digest), null);
    assert.equal((await store.listPasskeys(ann.id)).length, 1);
  });
}
