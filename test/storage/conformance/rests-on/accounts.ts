/** Conditions of the verbs of accounts and sessions. */
import { event, HOUR, NOW, sampleAccount } from '../../../support/storage.ts';
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

const next = { sealedPhc: '$argon2id$after', keyId: 2 };
const invitation = { digest: 'sha256-of-a-token', expiresAt: NOW + HOUR };
const session: RestsOn['changes'] = (store, its) => store.findSession(its.session.digest);

const invite = (store: AnyStore, { account, emailKey }: Its, digest = invitation.digest) =>
  store.invite(account.id, emailKey, { ...invitation, digest }, event('user_invited'));

/** A verb that changes an account whatever it is, as long as it is there. */
function ofAccountThere(
  verb: RestsOn['verb'],
  out: unknown,
  write: (store: AnyStore, id: string) => Promise<unknown>,
): RestsOn {
  return {
    verb,
    on: 'an account that is there',
    decide:
      async (store, { account }) =>
      () =>
        write(store, account.id),
    gone: accountIsDeleted,
    out,
    changes: storedAccount,
  };
}

/** Verbs of accounts that are there. */
const ofAccountsThere: readonly RestsOn[] = [
  ofAccountThere('setPassword', 'gone', (store, id) => store.setPassword(id, next, false, event('user_password_set'))),
  ofAccountThere('setAccountStatus', false, (store, id) =>
    store.setAccountStatus(id, 'disabled', event('user_disabled')),
  ),
  ofAccountThere('revokeAccountGrants', false, (store, id) =>
    store.revokeAccountGrants(id, event('user_grants_revoked')),
  ),
  ofAccountThere('deleteAccount', false, (store, id) => store.deleteAccount(id, event('user_deleted'))),
];

/** The rows. */
export const ofAccounts: readonly RestsOn[] = [
  ...ofAccountsThere,
  {
    verb: 'addAccount',
    on: 'an address that nobody has',
    async decide(store, { name }) {
      const account = sampleAccount({ id: `usr_new-${name}`, username: null });
      return () => store.addAccount(account, `new-${name}`, event('user_added'));
    },
    gone: {
      'somebody got it': (store, { name }) =>
        store.addAccount(
          sampleAccount({ id: `usr_other-${name}`, username: null }),
          `new-${name}`,
          event('user_added'),
        ),
    },
    out: 'email',
    changes: (store, { name }) => store.findAccount(`usr_new-${name}`),
  },
  {
    verb: 'updateAccount',
    on: 'an account as it was read',
    async decide(store, { account, emailKey }) {
      return () => store.updateAccount({ ...account, name: 'Ada King' }, account, emailKey, event('user_updated'));
    },
    gone: {
      'somebody changed it': (store, { account, emailKey }) =>
        store.updateAccount({ ...account, name: 'Countess' }, account, emailKey, event('user_updated')),
      ...accountIsDeleted,
    },
    out: 'gone',
    changes: storedAccount,
  },
  {
    verb: 'updateAccount',
    on: 'an account without a password, which needs no address',
    async decide(store, { name }) {
      const account = sampleAccount({ id: `usr_invited-${name}`, email: `in-${name}`, username: null });
      const invited = { ...account, password: null, passwordSetAt: null, invitation };
      await store.addAccount(invited, `in-${name}`, event('user_added'));
      return () => store.updateAccount({ ...invited, email: null }, invited, null, event('user_updated'));
    },
    gone: {
      'a password was set': (store, { name }) =>
        store.useInvitation(`usr_invited-${name}`, invitation, next, event('password_set_by_invitation')),
    },
    out: 'gone',
    changes: (store, { name }) => store.findAccount(`usr_invited-${name}`),
  },
  {
    verb: 'invite',
    on: 'an active account with the address that was read',
    decide: async (store, its) => () => invite(store, its),
    gone: {
      'the address was changed': (store, { account, name }) =>
        store.updateAccount({ ...account, email: `moved-${name}` }, account, `moved-${name}`, event('user_updated')),
      ...accountIsDisabled,
      ...accountIsDeleted,
    },
    out: 'gone',
    changes: storedAccount,
  },
  {
    verb: 'useInvitation',
    on: 'the invitation that was shown',
    async decide(store, its) {
      await invite(store, its);
      return () => store.useInvitation(its.account.id, invitation, next, event('user_password_set'));
    },
    gone: {
      'another one was made': (store, its) => invite(store, its, 'another'),
      ...accountIsDisabled,
      ...passwordIsAnother,
      ...accountIsDeleted,
    },
    out: false,
    changes: storedAccount,
  },
  {
    verb: 'rehashPassword',
    on: 'the password whose hash it is',
    decide:
      async (store, { account }) =>
      () =>
        store.rehashPassword(account.id, account.password, next),
    gone: { ...passwordIsAnother, ...accountIsDeleted },
    changes: storedAccount,
  },
  {
    verb: 'changePassword',
    on: 'an active account with the password that was verified',
    async decide(store, { account, session }) {
      return () => store.changePassword(account.password, next, session, null, event('password_changed'));
    },
    gone: { ...accountIsDisabled, ...passwordIsAnother, ...accountIsDeleted },
    out: false,
    changes: storedAccount,
  },
  {
    verb: 'addSession',
    on: 'an active account with the password that was verified',
    decide: async (store, its) => () => signIn(store, its),
    gone: { ...accountIsDisabled, ...passwordIsAnother, ...accountIsDeleted },
    out: false,
    changes: session,
  },
  {
    verb: 'endSession',
    on: 'a session that is there',
    async decide(store, its) {
      await signIn(store, its);
      return () => store.endSession(its.session.digest, event('sign_out'));
    },
    gone: {
      'it was ended': (store, its) => store.endSession(its.session.digest, event('sign_out')),
      ...accountIsDisabled,
      ...accountIsDeleted,
    },
    out: false,
    changes: session,
  },
  {
    verb: 'endAccountSessions',
    on: 'an account that is there',
    async decide(store, its) {
      await signIn(store, its);
      return () => store.endAccountSessions(its.account.id, event('user_sessions_ended'));
    },
    gone: accountIsDeleted,
    out: false,
    changes: session,
  },
];
