/** Conditions of the verbs of identities and external sign-ins. */

import { type Identity, identityId } from '../../../../src/accounts/people/identity-provider.ts';
import type { TakenSignIn } from '../../../../src/accounts/people/store.ts';
import type { ProviderProof } from '../../../../src/oauth/clients/provider-proof.ts';
import { event, NOW, proofOf, sampleAccount, sampleExternalSignIn, sampleSecret } from '../../../support/storage.ts';
import type { AnyStore } from '../any-store.ts';
import {
  accountIsDeleted,
  accountIsDisabled,
  type Its,
  passwordIsAnother,
  type RestsOn,
  signIn,
  storedAccount,
} from './row.ts';

/** A person's identity at the provider of a case. */
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

/** The provider's answer to a sign-in: the same each time. */
const stated = ({ name, provider }: Its) =>
  sampleExternalSignIn({
    nonce: Buffer.from(name.padEnd(16)),
    providerId: provider.id,
    identityId: identityId(provider.id, 'ada'),
    browser: Buffer.alloc(32, 1),
    ticket: Buffer.alloc(32, 2),
  });
const state = (store: AnyStore, its: Its) => store.stateExternalSignIn(stated(its), proofOf(its.provider));
const take = (store: AnyStore, its: Its, taken: TakenSignIn | null = null) =>
  store.takeTicket(stated(its).nonce, stated(its).ticket, taken, event('sign_in'));
const signInElsewhere: RestsOn['changes'] = (store, its) => store.findExternalSignIn(stated(its).nonce);

/** How what proved a provider goes. */
const proofIsGone: RestsOn['gone'] = {
  'the provider was paused': (store, { provider }) =>
    store.setIdentityProviderStatus(provider.id, 'paused', event('identity_provider_paused')),
  'its right ended': (store, { provider }) =>
    store.updateIdentityProvider({ ...provider, rights: [] }, provider, event('identity_provider_updated')),
  'its secret ended': (store, { provider }) =>
    store.replaceIdentityProviderSecrets(provider, [sampleSecret()], event('identity_provider_secret_retired')),
};

/** A verb of a provider's call, of an account that is there. */
function ofProvenCall(
  verb: RestsOn['verb'],
  write: (store: AnyStore, its: Its, proof: ProviderProof) => Promise<unknown>,
  changes: RestsOn['changes'] = storedAccount,
): RestsOn {
  return {
    verb,
    on: 'a provider that is active, with the right and the secret that it was proven by',
    async decide(store, its) {
      await signIn(store, its);
      return () => write(store, its, proofOf(its.provider));
    },
    gone: proofIsGone,
    out: false,
    changes,
  };
}

/** Ada, who comes in through the provider of a case with a session of that. */
async function comingIn(store: AnyStore, its: Its): Promise<TakenSignIn> {
  await store.linkIdentity(identityOf(its, its.account.id), event('user_linked'));
  const external = { externalId: 'ada', authTime: null, amr: [], isBound: true, requests: [] };
  const session = { ...its.session, providerId: its.provider.id, external };
  const person = { provider: its.provider, identity: identityOf(its, its.account.id), account: its.account };
  return { ...person, change: null, session: { kind: 'begin', session, replaces: null } };
}

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
    async decide(store, { account: before, emailKey, provider }) {
      const account = { ...before, name: 'Ada King' };
      const change = { identity: null, before, account, emailKey, event: event('user_updated') };
      return () => store.writePeople([change], proofOf(provider));
    },
    gone: {
      'somebody changed them': (store, { account, emailKey }) =>
        store.updateAccount({ ...account, name: 'Countess' }, account, emailKey, event('user_updated')),
      ...proofIsGone,
      ...accountIsDeleted,
    },
    out: false,
    changes: storedAccount,
  },
  {
    verb: 'writePeople',
    on: 'a person without a password, whose address is the product’s to change',
    async decide(store, its) {
      const { name, provider } = its;
      const about = { id: newId(its), email: `first-${name}`, username: null };
      const before = { ...sampleAccount(about), password: null, passwordSetAt: null };
      await store.addIdentityAndAccount(identityOf(its, before.id), before, before.email, event('user_added'));
      const account = { ...before, email: `second-${name}` };
      const change = { identity: null, before, account, emailKey: account.email, event: event('user_updated') };
      return () => store.writePeople([change], proofOf(provider));
    },
    gone: {
      'a password was set': (store, its) =>
        store.setPassword(newId(its), { sealedPhc: '$argon2id$next', keyId: 1 }, false, event('user_password_set')),
    },
    out: false,
    changes: newAccount,
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
      return async () => (await state(store, its))?.identityId === stated(its).identityId;
    },
    gone: {
      'somebody else did': (store, its) =>
        store.stateExternalSignIn({ ...stated(its), identityId: 'product:bob' }, proofOf(its.provider)),
      ...proofIsGone,
    },
    out: false,
    changes: signInElsewhere,
  },
  {
    verb: 'takeTicket',
    on: 'a ticket that is there',
    async decide(store, its) {
      await state(store, its);
      return () => take(store, its);
    },
    gone: {
      'somebody took it': (store, its) => take(store, its),
      'another one was given': (store, its) =>
        store.stateExternalSignIn({ ...stated(its), ticket: Buffer.alloc(32, 3) }, proofOf(its.provider)),
    },
    out: false,
    changes: signInElsewhere,
  },
  {
    verb: 'takeTicket',
    on: 'the provider and the person that come in',
    async decide(store, its) {
      await state(store, its);
      const taken = await comingIn(store, its);
      return () => take(store, its, taken);
    },
    gone: {
      'the provider was paused': proofIsGone['the provider was paused'] as RestsOn['decide'],
      'its right ended': proofIsGone['its right ended'] as RestsOn['decide'],
      'all sessions were ended': (store, { account }) =>
        store.endAccountSessions(account.id, event('user_sessions_ended')),
      ...passwordIsAnother,
      ...accountIsDisabled,
      ...accountIsDeleted,
    },
    out: false,
    changes: (store, { session }) => store.findSession(session.digest),
  },
  {
    verb: 'endTickets',
    on: 'a provider that is active, with the right and the secret that it was proven by',
    async decide(store, its) {
      await state(store, its);
      const { identityId: ended, providerId } = stated(its);
      return () => store.endTickets(ended ?? providerId, NOW, proofOf(its.provider));
    },
    gone: proofIsGone,
    changes: signInElsewhere,
  },
  ofProvenCall('setAccountStatus', (store, { account }, proof) =>
    store.setAccountStatus(account.id, 'disabled', event('user_disabled'), proof),
  ),
  {
    verb: 'revokeGrantsOfClient',
    on: 'a provider that is active, with the right and the secret that it was proven by',
    async decide(store, { account, client, grant, provider }) {
      await store.issueGrant(grant, event('consent_allowed'));
      const revoked = event('grant_revoked');
      return () => store.revokeGrantsOfClient(account.id, client.id, revoked, 'all', proofOf(provider));
    },
    gone: proofIsGone,
    out: 0,
    changes: (store, { client }) => store.listGrants({ clientId: client.id, limit: 9 }),
  },
  ofProvenCall('deleteAccount', (store, { account }, proof) =>
    store.deleteAccount(account.id, event('user_deleted'), false, proof),
  ),
  ofProvenCall(
    'endAccountSessions',
    (store, { account }, proof) => store.endAccountSessions(account.id, event('user_sessions_ended'), proof),
    (store, { session }) => store.findSession(session.digest),
  ),
];
