/** Conditions of the verbs of operators, and of their passkeys, sessions and keys. */
import type { Operator } from '../../../../src/operator/access/operator.ts';
import type { Passkey } from '../../../../src/operator/access/passkey.ts';
import {
  sampleAddress,
  sampleAssertion,
  sampleChallenge,
  sampleOperator,
  sampleOperatorKey,
  sampleOperatorSession,
  samplePasskey,
} from '../../../support/operators.ts';
import { event, NOW } from '../../../support/storage.ts';
import type { AnyStore } from '../any-store.ts';
import type { Its, RestsOn } from './row.ts';

type On = (store: AnyStore, its: Its) => Promise<unknown>;

const operatorOf = ({ name }: Its): Operator => sampleOperator({ id: `opr_${name}`, name });
const add: On = (store, its) => store.addOperator(operatorOf(its), null, event('operator_added'));
const disable: On = (store, its) => store.disableOperator(operatorOf(its).id, 'no bound', event('operator_disabled'));
const remove: On = (store, its) => store.deleteOperator(operatorOf(its).id, 'no bound', event('operator_deleted'));
const isDeleted = { 'the operator was deleted': remove };
const isDisabled = { 'the operator was disabled': disable, ...isDeleted };

/** All that belongs to an operator, as it is read. */
const all: On = async (store, its) => {
  const { id } = operatorOf(its);
  return [
    await store.findOperator(id),
    await store.listPasskeys(id),
    await store.listOperatorSessions(id),
    await store.listOperatorKeys(id),
  ];
};

/** An operator with a passkey and a session, which began at an address. */
async function enrolled(store: AnyStore, its: Its, some: Partial<Passkey> = {}) {
  await add(store, its);
  const { id: operatorId } = operatorOf(its);
  const [passkey, session] = [samplePasskey({ operatorId, ...some }), sampleOperatorSession({ operatorId })];
  const address = sampleAddress({ operatorId });
  await store.addOneTimeAddress(address, event('operator_reset'));
  const added = event('operator_passkey_added');
  await store.enrollByAddress(passkey, session, address.digest, sampleChallenge(), added);
  return { passkey, session };
}

/** A row whose verb rests on an operator alone. */
function row(verb: RestsOn['verb'], on: string, write: On, gone: RestsOn['gone'], out: unknown = false): RestsOn {
  return {
    ...{ verb, on, gone, out, changes: all },
    async decide(store, its) {
      await add(store, its);
      return () => write(store, its);
    },
  };
}

const update = (store: AnyStore, its: Its, name: string) => {
  const operator = operatorOf(its);
  return store.updateOperator({ ...operator, name }, operator, 'no bound', event('operator_updated'));
};
const address = (its: Its) => sampleAddress({ operatorId: operatorOf(its).id });
const signInAddress = (its: Its) =>
  ({ ...address(its), digest: Buffer.alloc(32, its.name), purpose: 'sign-in' }) as const;
const endSessions: On = (store, its) => store.endOperatorSessions(operatorOf(its).id, event('operator_sessions_ended'));

/** The rows. */
export const ofOperators: readonly RestsOn[] = [
  row(
    'updateOperator',
    'the operator as it was read',
    (store, its) => update(store, its, `${its.name} two`),
    { 'somebody changed it': (store, its) => update(store, its, `${its.name} three`), ...isDeleted },
    'gone',
  ),
  row('disableOperator', 'an active operator', disable, isDisabled, 'gone'),
  row('deleteOperator', 'an operator that is there', remove, isDeleted, 'gone'),
  {
    verb: 'enableOperator',
    on: 'a disabled operator',
    async decide(store, its) {
      await add(store, its);
      await disable(store, its);
      return () => store.enableOperator(operatorOf(its).id, event('operator_enabled'));
    },
    gone: {
      'it was enabled': (store, its) => store.enableOperator(operatorOf(its).id, event('operator_enabled')),
      ...isDeleted,
    },
    out: false,
    changes: all,
  },
  row(
    'resetOperator',
    'an active operator',
    (store, its) => store.resetOperator(address(its), event('operator_reset')),
    isDisabled,
  ),
  {
    ...row(
      'addOneTimeAddress',
      'an active operator',
      (store, its) => store.addOneTimeAddress(signInAddress(its), event('operator_sign_in_address_made')),
      isDisabled,
    ),
    changes: (store, its) => store.findOneTimeAddress(signInAddress(its).digest),
  },
  row(
    'addOperatorKey',
    'an active operator',
    (store, its) => {
      const key = sampleOperatorKey({ id: `opk_${its.name}`, operatorId: operatorOf(its).id });
      return store.addOperatorKey(key, event('operator_key_added'));
    },
    isDisabled,
  ),
  {
    verb: 'endOperatorKey',
    on: 'the key',
    async decide(store, its) {
      await add(store, its);
      const { id: operatorId } = operatorOf(its);
      await store.addOperatorKey(sampleOperatorKey({ id: `opk_${its.name}`, operatorId }), event('operator_key_added'));
      return () => store.endOperatorKey(`opk_${its.name}`, operatorId, event('operator_key_ended'));
    },
    gone: {
      'it was ended': (store, its) =>
        store.endOperatorKey(`opk_${its.name}`, operatorOf(its).id, event('operator_key_ended')),
      ...isDisabled,
    },
    out: false,
    changes: all,
  },
  row('endOperatorSessions', 'an operator that is there', endSessions, isDeleted),
  {
    verb: 'endOperatorSession',
    on: 'the session',
    async decide(store, its) {
      const { session } = await enrolled(store, its);
      return () => store.endOperatorSession(session.digest, session.operatorId, event('operator_signed_out'));
    },
    gone: { 'all sessions were ended': endSessions, ...isDisabled },
    out: false,
    changes: all,
  },
  {
    verb: 'removePasskey',
    on: 'the passkey',
    async decide(store, its) {
      const { passkey, session } = await enrolled(store, its);
      const removed = event('operator_passkey_removed');
      return () => store.removePasskey(passkey.id, passkey.operatorId, session.digest, removed);
    },
    gone: {
      'the operator was reset': (store, its) => store.resetOperator(address(its), event('operator_reset')),
      ...isDeleted,
    },
    out: false,
    changes: all,
  },
  {
    verb: 'suspectPasskey',
    on: 'an active operator and the passkey',
    async decide(store, its) {
      const { passkey } = await enrolled(store, its, { counter: 5 });
      const answer = sampleAssertion(passkey, { counter: 5 });
      return () => store.suspectPasskey(answer, passkey.operatorId, NOW, event('operator_refused'));
    },
    gone: {
      'the operator was reset': (store, its) => store.resetOperator(address(its), event('operator_reset')),
      ...isDisabled,
    },
    out: false,
    changes: all,
  },
  {
    verb: 'beginSessionByPasskey',
    on: 'an active operator, the passkey, and the session that it confirms',
    async decide(store, its) {
      const { passkey, session } = await enrolled(store, its);
      const next = sampleOperatorSession({ operatorId: session.operatorId });
      const answer = sampleAssertion(passkey);
      return () => store.beginSessionByPasskey(next, answer, session.digest, event('operator_confirmed'));
    },
    gone: {
      'the session was ended': endSessions,
      'the operator was reset': (store, its) => store.resetOperator(address(its), event('operator_reset')),
      ...isDisabled,
    },
    out: false,
    changes: all,
  },
  {
    verb: 'beginSessionByAddress',
    on: 'an active operator and the address',
    async decide(store, its) {
      await add(store, its);
      const used = signInAddress(its);
      await store.addOneTimeAddress(used, event('operator_sign_in_address_made'));
      const session = sampleOperatorSession({ operatorId: used.operatorId, how: 'address', presentAt: null });
      return () => store.beginSessionByAddress(session, used.digest, event('operator_signed_in'));
    },
    gone: {
      'the sessions were ended': endSessions,
      'a newer address was made': (store, its) =>
        store.addOneTimeAddress(
          { ...signInAddress(its), digest: sampleAddress().digest },
          event('operator_sign_in_address_made'),
        ),
      ...isDisabled,
    },
    out: false,
    changes: all,
  },
  {
    verb: 'enrollByAddress',
    on: 'an active operator and the address',
    async decide(store, its) {
      await add(store, its);
      const used = address(its);
      await store.addOneTimeAddress(used, event('operator_reset'));
      const { operatorId } = used;
      const [passkey, session] = [samplePasskey({ operatorId }), sampleOperatorSession({ operatorId })];
      const added = event('operator_passkey_added');
      return () => store.enrollByAddress(passkey, session, used.digest, sampleChallenge(), added);
    },
    gone: {
      'the operator was reset': (store, its) => store.resetOperator(address(its), event('operator_reset')),
      ...isDisabled,
    },
    out: false,
    changes: all,
  },
  {
    verb: 'enrollInSession',
    on: 'an active operator without a passkey, and the session at an address',
    async decide(store, its) {
      await add(store, its);
      const { operatorId, digest } = signInAddress(its);
      await store.addOneTimeAddress({ ...signInAddress(its), digest }, event('operator_sign_in_address_made'));
      const [before, after] = [
        sampleOperatorSession({ operatorId, how: 'address' }),
        sampleOperatorSession({ operatorId }),
      ];
      await store.beginSessionByAddress(before, digest, event('operator_signed_in'));
      const added = event('operator_passkey_added');
      return () => store.enrollInSession(samplePasskey({ operatorId }), after, before.digest, sampleChallenge(), added);
    },
    gone: {
      'the session was ended': endSessions,
      'a passkey was enrolled': async (store, its) => {
        const used = address(its);
        const { operatorId } = used;
        await store.addOneTimeAddress(used, event('operator_reset'));
        const [passkey, session] = [samplePasskey({ operatorId }), sampleOperatorSession({ operatorId })];
        const added = event('operator_passkey_added');
        return store.enrollByAddress(passkey, session, used.digest, sampleChallenge(), added);
      },
      ...isDisabled,
    },
    out: false,
    changes: all,
  },
  {
    verb: 'addPasskey',
    on: 'an active operator and the session',
    async decide(store, its) {
      const { session } = await enrolled(store, its);
      const passkey = samplePasskey({ operatorId: session.operatorId });
      return () => store.addPasskey(passkey, session.digest, sampleChallenge(), event('operator_passkey_added'));
    },
    gone: { 'the session was ended': endSessions, ...isDisabled },
    out: false,
    changes: all,
  },
];
