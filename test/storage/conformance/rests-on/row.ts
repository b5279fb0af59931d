/** A row of the table, and the samples of each case: its own, so that all cases share a store. */
import assert from 'node:assert/strict';
import type { PasswordAccount } from '../../../../src/accounts/people/account.ts';
import type { IdentityProvider } from '../../../../src/accounts/people/identity-provider.ts';
import type { Session } from '../../../../src/accounts/people/session.ts';
import type { Client } from '../../../../src/oauth/clients/client.ts';
import type { Grant } from '../../../../src/oauth/grants/grant.ts';
import {
  event,
  HOUR,
  NOW,
  sampleAccount,
  sampleClient,
  sampleGrant,
  sampleProvider,
  sampleSession,
} from '../../../support/storage.ts';
import type { AnyStore } from '../any-store.ts';

/** The samples of one case. Account, client and provider are there; the others are not yet. */
export type Its = {
  /** In the names of whatever else a case makes. */
  readonly name: string;
  readonly account: PasswordAccount;
  readonly emailKey: string;
  readonly client: Client;
  readonly provider: IdentityProvider;
  /** A session of the account. */
  readonly session: Session;
  /** A redeemed grant of the account for the client. */
  readonly grant: Grant;
};

type On<Result> = (store: AnyStore, its: Its) => Promise<Result>;

/** The conditions of a write, and its result when one no longer holds. */
export type RestsOn = {
  /** A verb of the store. */
  readonly verb: keyof AnyStore;
  /** Condition of its decision. */
  readonly on: string;
  /** Makes what the decision needs, and returns the write that follows from it. */
  readonly decide: On<() => Promise<unknown>>;
  /** Acts that end the condition in between. */
  readonly gone: Readonly<Record<string, On<unknown>>>;
  /** Result of the verb then; undefined if the verb returns nothing. */
  readonly out?: unknown;
  /** Reads the rows that the write changes: they differ afterwards if every condition holds, and are the same otherwise. */
  readonly changes: On<unknown>;
};

/** Makes what the nth case has. */
export async function itsOwn(store: AnyStore, n: number): Promise<Its> {
  const name = `case-${n}`;
  const emailKey = `${name}@example.com`;
  const account = sampleAccount({ id: `usr_${name}`, email: emailKey, username: null });
  const client = sampleClient({ id: `app_${name}` });
  const provider = sampleProvider({ id: name });
  await store.addAccount(account, emailKey, event('user_added'));
  await store.registerClient(client, event('client_registered'));
  await store.registerIdentityProvider(provider, event('identity_provider_registered'));
  const about = { clientId: client.id, resourceOwnerId: account.id };
  const epochs = (await store.findEpochs(client.id, account.id)) ?? assert.fail();
  const grant = sampleGrant({ ...about, epochs, generation: 1, expiresAt: NOW + HOUR });
  return { name, account, emailKey, client, provider, session: sampleSession({ accountId: account.id }), grant };
}

/** Signs the account of a case in. */
export const signIn: On<boolean> = (store, { session, account }) =>
  store.addSession(session, account.password, null, event('sign_in'));

/** The account of a case, as it is stored. */
export const storedAccount: RestsOn['changes'] = (store, { account }) => store.findAccount(account.id);

/** How an account goes. */
export const accountIsDisabled: RestsOn['gone'] = {
  'the account was disabled': (store, { account }) =>
    store.setAccountStatus(account.id, 'disabled', event('user_disabled')),
};
export const accountIsDeleted: RestsOn['gone'] = {
  'the account was deleted': (store, { account }) => store.deleteAccount(account.id, event('user_deleted')),
};
export const passwordIsAnother: RestsOn['gone'] = {
  'another password was set': (store, { account }) =>
    store.setPassword(account.id, { sealedPhc: '$argon2id$next', keyId: 1 }, false, event('user_password_set')),
};
