/** The port to the store of accounts and sessions. Rules are as for the protocol's port (`oauth/store.ts`). */

import type { ProviderProof } from '../../oauth/clients/provider-proof.ts';
import type { StoredSecret } from '../../oauth/keys/secret.ts';
import type { Walked } from '../../oauth/store.ts';
import type { AuditEvent } from '../../oauth/trail/audit.ts';
import type { Account, Invitation, SealedPassword, StoredPassword } from './account.ts';
import type { ExternalSignIn } from './external-sign-in.ts';
import type { ForeignFunction } from './foreign-function.ts';
import type { Identity, IdentityProvider } from './identity-provider.ts';
import type { Session } from './session.ts';

/** A name that another account with a password has already. */
export type Taken = 'email' | 'username';

/** When somebody last signed in, and when an app last came for them (ms); null where no event and no grant tells. */
export type AccountUse = { readonly lastSignInAt: number | null; readonly appsLastUsedAt: number | null };

/** When somebody last signed in (ms): `not lately` if at least their last 1,000 events are of something else. */
export type LastSignIn = number | 'never' | 'not lately';

/** Lists of accounts. */
export type AccountListStore = {
  /** The next accounts with an email (its key) or a user name, by their ids after one, at most `limit`. */
  listAccountsCalled(
    name: { readonly emailKey: string } | { readonly username: string },
    after: string,
    limit: number,
  ): Promise<Account[]>;
  /** The next accounts whose email key or user name begins so, in its order after one (null: from the first), at most `limit`. */
  listAccountsBeginning(
    start: { readonly emailKey: string } | { readonly username: string },
    after: { readonly key: string; readonly id: string } | null,
    limit: number,
  ): Promise<Account[]>;
  /** The next accounts after one (null: from the newest), newest first, at most `limit`. */
  listAccounts(after: Pick<Account, 'id' | 'createdAt'> | null, limit: number): Promise<Account[]>;
  /** When these accounts were last used, by their ids; of one that is gone there is nothing. */
  findAccountUses(ids: readonly string[]): Promise<ReadonlyMap<string, AccountUse>>;
  /** When these accounts last signed in, from a bounded number of each one's events; of one that is gone there is nothing. */
  findLastSignIns(ids: readonly string[]): Promise<ReadonlyMap<string, LastSignIn>>;
};

/**
 * Accounts and sessions. When a verb returns, its effect is on disk. A verb with the `proof` of a provider writes nothing and
 * returns false if the proof no longer holds, for example if the provider was paused while its call waited.
 */
export type AccountStore = SessionStore &
  IdentityStore &
  ExternalSignInStore &
  ForeignPasswordStore &
  IdentityProviderStore &
  AccountListStore & {
    findAccount(id: string): Promise<Account | null>;
    /** The account with a password of an address, by the key that `emailKey` makes. */
    findPasswordAccount(emailKey: string): Promise<Account | null>;
    /** Accounts of an address, at most `limit`: first those where this installation owns it (`ownsEmail`), then by age, oldest first. */
    listAccountsByEmail(emailKey: string, limit: number): Promise<Account[]>;
    /** Returns true if any account exists; needs no list of possibly millions. */
    hasAccounts(): Promise<boolean>;
    /** Records an event of sign-in that changes nothing else. */
    recordSignInEvent(event: AuditEvent): Promise<void>;
    /** Which of these names an account with a password or an invitation has; the address where it is both. */
    findTaken(username: string | null, emailKey: string | null): Promise<Taken | null>;
    /** Adds an account with a password or an invitation. Returns null, or the names that another such account already has. */
    addAccount(account: Account, emailKey: string | null, event: AuditEvent): Promise<Taken | null>;
    /**
     * Changes the names of an account if they are still as `expected`. Returns null, or the obstacle: `gone` also after a lost
     * race. A new email address ends the invitation.
     */
    updateAccount(
      account: Account,
      expected: Account,
      emailKey: string | null,
      event: AuditEvent,
    ): Promise<Taken | 'gone' | null>;
    /**
     * Sets the password of an account with an email address, at the time of the event, and ends all its sessions and its
     * invitation. Returns null, or the obstacle.
     */
    setPassword(
      id: string,
      password: StoredPassword,
      mustChange: boolean,
      event: AuditEvent,
    ): Promise<Taken | 'gone' | null>;
    /**
     * Gives an active account that still has an email address (by its key) an invitation, which replaces the previous one.
     * Returns null, or the obstacle. Of concurrent invitations, the last one is valid.
     */
    invite(id: string, emailKey: string, invitation: Invitation, event: AuditEvent): Promise<Taken | 'gone' | null>;
    /**
     * Sets the password of an account at the time of the event if this is still its invitation, and ends the invitation and
     * all sessions; false otherwise. Of concurrent uses, one sets the password; any earlier end of the invitation wins.
     */
    useInvitation(id: string, invitation: Invitation, password: StoredPassword, event: AuditEvent): Promise<boolean>;
    /** Replaces the hash of an unchanged password, or wraps it, unless that was done or the password was changed meanwhile. */
    rehashPassword(id: string, from: StoredPassword, to: StoredPassword): Promise<void>;
    /** Disables (and ends all sessions and the invitation) or enables; false when the account is gone or was so already. */
    setAccountStatus(id: string, status: Account['status'], event: AuditEvent, proof?: ProviderProof): Promise<boolean>;
    /**
     * Ends all sessions of an account; false if the account is deleted. A concurrently added session is either earlier and
     * ended, or later and kept. Earlier tickets of providers begin no session, as whenever all sessions of an account end.
     */
    endAccountSessions(id: string, event: AuditEvent, proof?: ProviderProof): Promise<boolean>;
    /** Ends every grant of a resource owner by raising the epoch; false when the account is gone. */
    revokeAccountGrants(id: string, event: AuditEvent): Promise<boolean>;
    /**
     * Deletes an account with its identities, sessions and grants; false when it is gone. Who it was at providers is kept for a
     * day, for their streams. Where its id `mayComeAgain`, its epoch is kept, and the next account of this id begins above it.
     */
    deleteAccount(id: string, event: AuditEvent, mayComeAgain?: boolean, proof?: ProviderProof): Promise<boolean>;
  };

/** Sessions of accounts. */
export type SessionStore = {
  /**
   * Adds a session for an account that is active and whose password is still the one that was `verified`, and ends the
   * session it replaces (its digest), if any; false otherwise: a password set or an account disabled meanwhile wins. An account
   * has at most `MAX_SESSIONS` live ones: the oldest ends, by whatever begins another.
   */
  addSession(session: Session, verified: StoredPassword, replaces: Buffer | null, event: AuditEvent): Promise<boolean>;
  /** A session with its account, whatever state either is in; null when it is not there. */
  findSession(digest: Buffer): Promise<{ session: Session; account: Account } | null>;
  /** The sessions of an account, newest first, at most `MAX_SESSIONS`; expired ones too, until clean-up deletes them. */
  listSessions(accountId: string): Promise<Session[]>;
  /** The number of an account's sessions that are live at a time (ms): at most `MAX_SESSIONS`. */
  countSessions(accountId: string, liveAt: number): Promise<number>;
  /** Notes that a session was seen at `at` (ms). */
  touchSession(digest: Buffer, at: number): Promise<void>;
  /** The next window of a walk over all sessions, after a digest (empty: from the first): those that began at a provider. */
  walkSessions(providerId: string, after: Buffer): Promise<Walked<Session>>;
  /** Ends a session; false when it is gone. */
  endSession(digest: Buffer, event: AuditEvent): Promise<boolean>;
  /**
   * Changes the password of an active account from the one that was `verified`, at the time of the event, and ends all of its
   * sessions but the new one, its invitation, and the session that the new one replaces (its digest), if any; false when
   * another password was set or the account disabled meanwhile.
   */
  changePassword(
    verified: StoredPassword,
    password: StoredPassword,
    session: Session,
    replaces: Buffer | null,
    event: AuditEvent,
  ): Promise<boolean>;
};

/** Passwords whose hashes other programs made. */
export type ForeignPasswordStore = {
  /** Of each family that is there, the function that takes longest. */
  listSlowestForeign(): Promise<ForeignFunction[]>;
  /** Those that wait for being wrapped, in the order of ids after `after`, at most `limit`. */
  listUnwrapped(after: string, limit: number): Promise<{ readonly id: string; readonly password: SealedPassword }[]>;
  /** Those that a root key sealed, our own hashes too, in the order of ids after `after`, at most `limit`. */
  listSealedWith(
    keyId: number,
    after: string,
    limit: number,
  ): Promise<{ readonly id: string; readonly password: StoredPassword }[]>;
  countForeign(): Promise<{ readonly foreign: number; readonly unwrapped: number }>;
};

/** A person as a provider says: made with an identity, or changed. */
export type PersonChange = {
  readonly account: Account;
  readonly emailKey: string | null;
  readonly event: AuditEvent;
} & (
  | { readonly identity: Identity; readonly before: null }
  /** An account that is there already, as it was read. */
  | { readonly identity: null; readonly before: Account }
);

/** Identities: who accounts are at providers. */
export type IdentityStore = {
  findIdentity(providerId: string, subject: string): Promise<{ identity: Identity; account: Account } | null>;
  /** The accounts of many subjects of a provider, by subject; those that nobody has are left out. */
  findPeople(providerId: string, subjects: readonly string[]): Promise<Map<string, Account>>;
  /** An identity by its id, with its account. */
  findIdentityById(id: string): Promise<{ identity: Identity; account: Account } | null>;
  /** Some people of a provider, at most `limit`. */
  listSomePeople(providerId: string, limit: number): Promise<Account[]>;
  /** The identities of some accounts, also of those that were deleted within the last day. */
  listIdentitiesOf(accountIds: readonly string[]): Promise<Identity[]>;
  /** The identities of an account, oldest first. */
  listIdentities(accountId: string): Promise<Identity[]>;
  /** Adds an account without a password and its identity; false when there is this identity already. Of all who try, one wins. */
  addIdentityAndAccount(
    identity: Identity,
    account: Account,
    emailKey: string | null,
    event: AuditEvent,
  ): Promise<boolean>;
  /**
   * Adds an account with a password and its identity, which nobody had a moment ago; false when another account with a
   * password has one of its names. Throws when somebody has the identity by now.
   */
  addAccountWithIdentity(
    identity: Identity,
    account: Account,
    emailKey: string | null,
    event: AuditEvent,
  ): Promise<boolean>;
  /**
   * Makes and changes people, each with its event, in this order; false, and nothing happens, when one has an identity by now
   * that was to be made, is gone, is called something else than when it was read, or would have a name that another account
   * with a password has. One that has a password or an invitation keeps its address.
   */
  writePeople(changes: readonly PersonChange[], proof: ProviderProof): Promise<boolean>;
  /** Gives an account one more identity; false when the account is gone or somebody has the identity. */
  linkIdentity(identity: Identity, event: AuditEvent): Promise<boolean>;
};

/** The effect of a taken ticket on sessions: a new one, in place of another (its digest), or one request more. */
export type SessionAfterTicket =
  | { readonly kind: 'begin'; readonly session: Session; readonly replaces: Buffer | null }
  | { readonly kind: 'extend'; readonly from: Session; readonly to: Session };

/** The result of a sign-in at a provider. The provider, the identity and its account are as they were read, or are made by it. */
export type TakenSignIn = {
  readonly provider: IdentityProvider;
  readonly identity: Identity;
  readonly account: Account;
  /** The provider's statement of the person; null if it changes nothing. */
  readonly change: PersonChange | null;
  readonly session: SessionAfterTicket;
};

/** Sign-ins at providers, until the browser is back. */
export type ExternalSignInStore = {
  findExternalSignIn(nonce: Buffer): Promise<ExternalSignIn | null>;
  /**
   * Writes what a provider said, and returns what is there then: this, or what was said before of somebody else or used, or null
   * where the proof does not hold any more. Of all who say it first, one binds it; of those who say the same, the last one's
   * ticket is good.
   */
  stateExternalSignIn(stated: ExternalSignIn, proof: ProviderProof): Promise<ExternalSignIn | null>;
  /** The next window of a walk over all sign-ins elsewhere, after a nonce (empty: from the first): open tickets of a provider. */
  walkTickets(
    providerId: string,
    after: Buffer,
  ): Promise<Walked<Pick<ExternalSignIn, 'nonce' | 'ticket' | 'ticketExpiresAt'>>>;
  /** Ends the open tickets of an identity at a time (ms), whether anybody has it or not, if the proof still holds. */
  endTickets(identityId: string, at: number, proof: ProviderProof): Promise<void>;
  /**
   * Takes a ticket at the time of the event, with what comes of it: the person is made or changed, and a session begins or is
   * extended. False, and nothing happens, when the ticket was taken or replaced before, or anything that this rests on is not as
   * it was read: the provider, the person, or the session.
   */
  takeTicket(nonce: Buffer, ticket: Buffer, taken: TakenSignIn | null, event: AuditEvent): Promise<boolean>;
};

/** Identity providers. Every change is seen by the next request. */
export type IdentityProviderStore = {
  findIdentityProvider(id: string): Promise<IdentityProvider | null>;
  /** Finds the provider of a live secret, by the secret's digest. */
  findIdentityProviderBySecret(digest: Buffer): Promise<IdentityProvider | null>;
  /** Oldest first. */
  listIdentityProviders(): Promise<IdentityProvider[]>;
  /** False when there is one with this id. */
  registerIdentityProvider(provider: IdentityProvider, event: AuditEvent): Promise<boolean>;
  /** Writes what an operator may change, if that is still as `expected`; false when somebody was faster or the provider is gone. */
  updateIdentityProvider(provider: IdentityProvider, expected: IdentityProvider, event: AuditEvent): Promise<boolean>;
  /** Replaces the secrets if the provider still proves itself as `expected`, by secrets or keys; false otherwise. */
  replaceIdentityProviderSecrets(
    expected: IdentityProvider,
    secrets: readonly StoredSecret[],
    event: AuditEvent,
  ): Promise<boolean>;
  /** False when the provider is gone or was so already. */
  setIdentityProviderStatus(id: string, status: IdentityProvider['status'], event: AuditEvent): Promise<boolean>;
  /** False when the provider is gone or has identities. */
  deleteIdentityProvider(id: string, event: AuditEvent): Promise<boolean>;
};
