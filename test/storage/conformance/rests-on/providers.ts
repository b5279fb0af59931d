/** What the verbs of identities and of sign-ins elsewhere rest on. */
import { type Identity, identityId } from '../../../../src/accounts/identity-provider.ts';
import { event, NOW, sampleAccount, sampleExternalSignIn } from '../../../support/storage.ts';
import type { AnyStore } from '../any-store.ts';
import { accountIsDeleted, type Its, type RestsOn, storedAccount } from './row.ts';

/** Who somebody is at the provider of a case. */
function identityOf({ provider }: Its, accountId: string): Identity {
  return { id: identityId(provider.id, 'ada'), providerId: provider.id, accountId, createdAt: NOW };
}

/** A person of the provider, in a new account. */
const addPerson = (store: AnyStore, its: Its, id: string) => {
  const person = { ...sampleAccount({ id, username: null }), password: null, passwordSetAt: null };
  return store.addIdentityAndAccount(identityOf(its, id), person, null, event('user_added'));
};

const newId = ({ name }: Its) => `usr_new-${name}`;
const newAccount: RestsOn['changes'] = (store, its) => store.findAccount(newId(its));
const identityIsTaken: RestsOn['gone'] = {
  'somebody has it': (store, its) => addPerson(store, its, `usr_other-${its.name}`),
};

/** What the provider said of a sign-in: the same each time. */
const stated = ({ name, provider }: Its) =>
  sampleExternalSignIn({
    nonce: Buffer.from(name.padEnd(16)),
    providerId: provider.id,
    identityId: identityId(provider.id, 'ada'),
    browser: Buffer.alloc(32, 1),
    ticket: Buffer.alloc(32, 2),
  });
const take = (store: AnyStore, its: Its) =>
  store.takeTicket(stated(its).nonce, Buffer.alloc(32, 2), null, event('sign_in'));
const signInElsewhere: RestsOn['changes'] = (store, its) => store.findExternalSignIn(stated(its).nonce);

/** The rows. */
export const ofProviders: readonly RestsOn[] = [
  {
    verb: 'addIdentityAndAccount',
    on: 'an identity that nobody has',
    decide: async (store, its) => () => addPerson(store, its, newId(its)),
    gone: identityIsTaken,
    out: false,
    changes: newAccount,
  },
  {
    verb: 'addAccountWithIdentity',
    on: 'a name that nobody has',
    async decide(store, its) {
      const account = sampleAccount({ id: newId(its), username: null });
      const identity = identityOf(its, account.id);
      return () => store.addAccountWithIdentity(identity, account, `new-${its.name}`, event('user_added'));
    },
    gone: {
      'somebody got it': (store, { name }) =>
        store.addAccount(
          sampleAccount({ id: `usr_other-${name}`, username: null }),
          `new-${name}`,
          event('user_added'),
        ),
    },
    out: false,
    changes: newAccount,
  },
  {
    verb: 'writePeople',
    on: 'a person as they were read',
    async decide(store, { account: before, emailKey }) {
      const account = { ...before, name: 'Ada King' };
      return () => store.writePeople([{ identity: null, before, account, emailKey, event: event('user_updated') }]);
    },
    gone: {
      'somebody changed them': (store, { account, emailKey }) =>
        store.updateAccount({ ...account, name: 'Countess' }, emailKey, event('user_updated')),
      ...accountIsDeleted,
    },
    out: false,
    changes: storedAccount,
  },
  {
    verb: 'linkIdentity',
    on: 'an account that is there, and an identity that nobody has',
    decide: async (store, its) => () => store.linkIdentity(identityOf(its, its.account.id), event('user_linked')),
    gone: { ...identityIsTaken, ...accountIsDeleted },
    out: false,
    changes: (store, { account }) => store.listIdentities(account.id),
  },
  {
    verb: 'stateExternalSignIn',
    on: 'a request that nobody else came back for',
    async decide(store, its) {
      const mine = stated(its);
      return async () => (await store.stateExternalSignIn(mine)).identityId === mine.identityId;
    },
    gone: {
      'somebody else did': (store, its) => store.stateExternalSignIn({ ...stated(its), identityId: 'product:bob' }),
    },
    out: false,
    changes: signInElsewhere,
  },
  {
    verb: 'takeTicket',
    on: 'a ticket that is there',
    async decide(store, its) {
      await store.stateExternalSignIn(stated(its));
      return () => take(store, its);
    },
    gone: {
      'it was taken': take,
      'it was replaced': (store, its) => store.stateExternalSignIn({ ...stated(its), ticket: Buffer.alloc(32, 3) }),
    },
    out: false,
    changes: signInElsewhere,
  },
];
