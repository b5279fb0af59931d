/** Operators who lose access while their requests are under way: nothing of those is written. */
import assert from 'node:assert/strict';
import { AccessEnded, type Actor } from '../../../src/oauth/trail/audit.ts';
import {
  sampleAddress,
  sampleAssertion,
  sampleChallenge,
  sampleOperator,
  sampleOperatorKey,
  sampleOperatorSession,
  samplePasskey,
} from '../../support/operators.ts';
import { event, NOW, sampleClient } from '../../support/storage.ts';
import { type AnyStore, HUNDRED, isAlive, issue, type WithStore } from './any-store.ts';

const ann = sampleOperator();
const app = sampleClient().id;
const bob = sampleOperator({ id: 'opr_bob', name: 'Bob' });
const byAnn = (epoch: number): { readonly actor: Actor } => ({
  actor: {
    kind: 'operator',
    id: ann.id,
    source: '192.0.2.1',
    requestId: 'r',
    standing: { operatorId: ann.id, epoch },
  },
});

async function enrolled(store: AnyStore) {
  const [passkey, session, address] = [samplePasskey({ counter: 5 }), sampleOperatorSession(), sampleAddress()];
  await store.addOneTimeAddress(address, event('operator_reset'));
  await store.enrollByAddress(passkey, session, address.digest, sampleChallenge(), event('operator_passkey_added'));
  return { passkey, session };
}

/** All that takes access away. */
const TAKEN: Readonly<Record<string, (store: AnyStore) => Promise<unknown>>> = {
  disabling: (store) => store.disableOperator(ann.id, 'no bound', event('operator_disabled')),
  'a lower role': (store) =>
    store.updateOperator({ ...ann, role: 'read', epoch: 1 }, ann, 'no bound', event('operator_updated')),
  'the end of all sessions': (store) => store.endOperatorSessions(ann.id, event('operator_sessions_ended')),
  'the end of a session': async (store) => {
    const [session, digest] = [sampleOperatorSession(), Buffer.alloc(32, 9)];
    const address = { digest, operatorId: ann.id, purpose: 'sign-in', createdAt: 0, expiresAt: 9e15 } as const;
    await store.addOneTimeAddress(address, event('operator_sign_in_address_made'));
    await store.beginSessionByAddress(session, digest, event('operator_signed_in'));
    await store.endOperatorSession(session.digest, ann.id, event('operator_signed_out'));
  },
  'the removal of a passkey': async (store) => {
    const { passkey, session } = await enrolled(store);
    await store.removePasskey(passkey.id, ann.id, session.digest, event('operator_passkey_removed'));
  },
  'a counter that went back': async (store) => {
    const { passkey } = await enrolled(store);
    await store.suspectPasskey(sampleAssertion(passkey, { counter: 5 }), ann.id, NOW, event('operator_refused'));
  },
  'the end of a key': async (store) => {
    await store.addOperatorKey(sampleOperatorKey(), event('operator_key_added'));
    await store.endOperatorKey('opk_portal', ann.id, event('operator_key_ended'));
  },
  'a reset': (store) =>
    store.resetOperator(
      { digest: Buffer.alloc(32), operatorId: ann.id, purpose: 'enroll', createdAt: 0, expiresAt: 9e15 },
      event('operator_reset'),
    ),
  deletion: (store) => store.deleteOperator(ann.id, 'no bound', event('operator_deleted')),
};

/** Every way in which a store records an event. */
const WAYS: Readonly<Record<string, (store: AnyStore, by: { readonly actor: Actor }) => Promise<unknown>>> = {
  'one act': (store, by) => store.setClientStatus(app, 'paused', event('client_paused', by)),
  'the end of a grant': async (store, by) => {
    const grant = await issue(store);
    const revoked = store.revokeGrant(grant.id, 'operator', event('grant_revoked', by));
    const isRefused = await revoked.then(
      () => false,
      () => true,
    );
    assert.equal(await isAlive(store, grant), isRefused);
    return revoked;
  },
  'the end of all grants of a person for an app': async (store, by) => {
    const grant = await issue(store);
    await store.revokeGrantsOfClient(grant.resourceOwnerId, grant.clientId, event('grant_revoked', by));
  },
  'several acts': (store, by) =>
    store.beginHistory(Buffer.alloc(16, 1), event('database_restored', by), {
      endAll: event('all_grants_revoked', by),
      ended: null,
      revived: [],
      events: [],
    }),
  'an event alone': (store, by) => store.recordOfTrail(event('audit_checkpoint', by)),
};

/** Access that ends midway. */
export function operatorsMidway(withStore: WithStore): void {
  const withAnn = (promise: string, run: (store: AnyStore) => Promise<void>) =>
    withStore(promise, async (store) => {
      for (const each of [ann, bob]) await store.addOperator(each, null, event('operator_added'));
      await run(store);
    });

  for (const [what, take] of Object.entries(TAKEN))
    withAnn(`after ${what} the operator's request writes nothing`, async (store) => {
      assert.equal(await store.setClientStatus(app, 'paused', event('client_paused', byAnn(0))), true);
      await take(store);
      const resume = store.setClientStatus(app, 'active', event('client_resumed', byAnn(0)));
      await assert.rejects(resume, AccessEnded);
      assert.equal((await store.findClient(app))?.status, 'paused');
      assert.deepEqual(await store.listAuditEvents({ action: 'client_resumed', limit: 9 }), []);
    });

  for (const [way, write] of Object.entries(WAYS))
    withAnn(`what is written as ${way} demands the operator's access`, async (store) => {
      await store.endOperatorSessions(ann.id, event('operator_sessions_ended'));
      const before = await store.lastAuditSequence();
      await assert.rejects(write(store, byAnn(7)), AccessEnded);
      const events = await store.listAuditEventsAfter(before, 99);
      assert.deepEqual(
        events.filter(({ actor }) => actor.id === ann.id),
        [],
      );
      await assert.doesNotReject(write(store, byAnn(1)));
    });

  withAnn('an operator may end the own access: the act itself still counts', async (store) => {
    const own = event('operator_disabled', byAnn(0));
    assert.equal(await store.disableOperator(ann.id, 'an admin stays', own), null);
    assert.equal((await store.findOperator(ann.id))?.status, 'disabled');
  });

  withAnn('of a hundred writes under way while the operator is disabled none comes after it', async (store) => {
    const ids = HUNDRED.map((_, n) => `app_${n}`);
    for (const id of ids) await store.registerClient(sampleClient({ id, name: id }), event('client_registered'));
    const pauses = ids.map((id, n) => {
      const pause = () => store.setClientStatus(id, 'paused', event('client_paused', { ...byAnn(0), clientId: id }));
      // Half of them begin before, half after the disabling is asked for.
      return n < 50 ? pause() : new Promise<void>((go) => setImmediate(go)).then(pause);
    });
    const disabling = store.disableOperator(ann.id, 'an admin stays', event('operator_disabled'));
    const outcomes = await Promise.allSettled(pauses);
    assert.equal(await disabling, null);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') assert.ok(outcome.reason instanceof AccessEnded, String(outcome.reason));
    const done = ids.filter((_, n) => outcomes[n]?.status === 'fulfilled');
    const events = await store.listAuditEvents({ action: 'client_paused', limit: 999 });
    assert.deepEqual(events.map(({ clientId }) => clientId).toSorted(), done.toSorted(), 'an event for each effect');
    for (const id of ids)
      assert.equal((await store.findClient(id))?.status, done.includes(id) ? 'paused' : 'active', id);
    const [disabled] = await store.listAuditEvents({ action: 'operator_disabled', limit: 1 });
    for (const { sequence } of events) assert.ok(sequence < (disabled?.sequence ?? 0), 'an event came after it');
  });
}
