/** The account operations of users and operators: sign-in and sign-out, and the operator’s acts. */

import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import { OperatorError } from '../../oauth/error.ts';
import { jsonName } from '../../oauth/json-name.ts';
import { type Actor, type AuditAction, type AuditEvent, auditEvent } from '../../oauth/trail/audit.ts';
import type { DetailOf } from '../../oauth/trail/event-members.ts';
import type { AccountPace } from '../guessing/account-pace.ts';
import type { GuessBudget } from '../guessing/guess-budget.ts';
import type { Throttle } from '../guessing/throttle.ts';
import {
  type FoundInvitation,
  findInvitation,
  type InvitationOutcome,
  type Invited,
  makeInvitation,
  useInvitation,
} from '../passwords/invitation.ts';
import { PASSWORD_PROBLEMS, type PasswordProblem, passwordProblem } from '../passwords/password.ts';
import type { PasswordHasher } from '../passwords/password-hash.ts';
import { type Account, emailKey, isMadeHere, type PasswordAccount } from '../people/account.ts';
import { type AccountFilter, type ListedAccount, listAccounts } from '../people/account-list.ts';
import { findExactly, findNamed, type Named } from '../people/named-account.ts';
import {
  type AboutAccount,
  checkAbout,
  type NewAccount,
  type NewPerson,
  newAccount,
  noEmail,
  refuseNewPerson,
  refuseOwnIds,
  SET_HERE,
  TAKEN,
} from '../people/new-account.ts';
import { type Session, sessionDigest, sessionExpiresAt, shouldNoteSeen } from '../people/session.ts';
import type { AccountStore, AccountUse } from '../people/store.ts';
import type { KnownBrowsers } from './known-browser.ts';
import {
  type ChangeAttempt,
  type ChangeOutcome,
  changePassword,
  findMustChange,
  type Replacement,
  replacePassword,
  type SetPassword,
} from './password-change.ts';
import type { PasswordTally } from './password-tally.ts';
import { type SignInAttempt, type SignInOutcome, signIn } from './sign-in.ts';
import type { SignInFloor } from './sign-in-floor.ts';
import type { WrongSignIns } from './wrong-sign-ins.ts';

/** The parts of accounts. `now` returns ms since the epoch; `guessable` are words that no password may consist of. */
export type AccountsParts = {
  readonly store: AccountStore;
  readonly hasher: PasswordHasher;
  readonly budget: GuessBudget;
  readonly pace: AccountPace;
  readonly knownBrowsers: KnownBrowsers;
  readonly floor: SignInFloor;
  readonly wrongSignIns: WrongSignIns;
  readonly signIns: { readonly password: PasswordTally };
  /** Counts the sign-ins of each account that worked. */
  readonly signInThrottle: Throttle;
  /** The ways to sign in. */
  readonly methods: readonly string[];
  readonly now: () => number;
  readonly guessable: readonly string[];
};

/** An invited account, and the token of its invitation, which is shown once. */
export type NewInvitation = { readonly account: Invited; readonly token: string };

/** Accounts, sessions, sign-in. The operator's acts throw an `OperatorError` when refused, and then changed nothing. */
export class Accounts {
  readonly #parts: AccountsParts;

  constructor(parts: AccountsParts) {
    this.#parts = parts;
  }

  /** `true` if the password is a way to sign in. If not, nobody may check, set or change one on a page. */
  get takesPasswords(): boolean {
    return this.#parts.methods.includes('password');
  }

  /** Signs a person in; `sign-in.ts` says how. */
  async signIn(
    attempt: SignInAttempt,
    origin: RequestOrigin,
    tell?: (accountId: string | null) => void,
    signal?: AbortSignal,
  ): Promise<SignInOutcome> {
    const outcome = await signIn(this.#parts, attempt, origin, tell, signal);
    this.#parts.signIns.password[outcome.kind] += 1;
    return outcome;
  }

  /** Why the rules refuse a new password of an account, or null. */
  passwordProblem(account: Account, password: string): PasswordProblem | null {
    return passwordProblem(password, account, this.#parts.guessable);
  }

  /** Changes a signed-in person's own password; `password-change.ts` says how. */
  changePassword(
    account: PasswordAccount,
    attempt: ChangeAttempt,
    origin: RequestOrigin,
    signal?: AbortSignal,
  ): Promise<ChangeOutcome> {
    return changePassword(this.#parts, account, attempt, origin, signal);
  }

  /** The account of a sign-in that found that its password must be changed, by its id; null if that is not true any more. */
  findMustChange(id: string): Promise<PasswordAccount | null> {
    return findMustChange(this.#parts.store, id);
  }

  /** Replaces a password that must be changed; `password-change.ts` says how. */
  replacePassword(account: PasswordAccount, replacement: Replacement, origin: RequestOrigin): Promise<SetPassword> {
    return replacePassword(this.#parts, account, replacement, origin);
  }

  /** Returns the account of an invitation's token. */
  findInvitation(token: string, { source }: RequestOrigin): Promise<FoundInvitation> {
    return findInvitation(this.#parts, token, source);
  }

  /** Sets the password of an invited person; `invitation.ts` says how. */
  useInvitation(invited: Invited, password: string, origin: RequestOrigin): Promise<InvitationOutcome> {
    return useInvitation(this.#parts, invited, password, origin);
  }

  /** Refuses all waiting sign-ins, because the service stops. */
  turnStrangersAway(): void {
    this.#parts.pace.stop();
    this.#parts.hasher.stop();
  }

  /** The account that a session token is for, and the session; null when the session is over or the account not active. */
  async accountOfSession(sessionToken: string): Promise<{ account: Account; session: Session } | null> {
    const { store, now } = this.#parts;
    const digest = sessionDigest(sessionToken);
    const found = await store.findSession(digest);
    if (found?.account.status !== 'active' || sessionExpiresAt(found.session) <= now()) return null;
    if (shouldNoteSeen(found.session, now())) await store.touchSession(digest, now());
    return found;
  }

  /** Ends a session, even one that expired. */
  async signOut(sessionToken: string, account: Account, origin: RequestOrigin): Promise<void> {
    const { store, now } = this.#parts;
    const event = auditEvent('sign_out', { kind: 'user', id: account.id, ...origin }, now(), {
      resourceOwnerId: account.id,
    });
    await store.endSession(sessionDigest(sessionToken), event);
  }

  /** Throws an `OperatorError` if this person cannot be added, as far as that is known without a password. */
  refuseNew(person: NewPerson): Promise<void> {
    return refuseNewPerson(this.#parts.store, person);
  }

  /** Adds an account. */
  async add(account: NewAccount, operator: Actor): Promise<PasswordAccount & { readonly name: string }> {
    const { hasher, now } = this.#parts;
    await refuseOwnIds(this.#parts.store);
    checkAbout(account);
    const { password, mustChangePassword = false, ...person } = account;
    this.#checkPassword(password, person);
    const stored = await hasher.hash(password);
    const at = now();
    const about = { ...newAccount(person, at), ...SET_HERE };
    const added = { ...about, password: stored, passwordSetAt: at, mustChangePassword };
    await this.#add(added, operator);
    return added;
  }

  /** Adds an account whose person sets the password, at a one-time address. */
  async addInvited(person: NewPerson, operator: Actor): Promise<NewInvitation> {
    await refuseOwnIds(this.#parts.store);
    checkAbout(person);
    const account = { ...newAccount(person, this.#parts.now()), ...SET_HERE };
    const { invitation, token } = makeInvitation(account.id, account.createdAt);
    const invited = { ...account, invitation };
    await this.#add(invited, operator, { invited: true });
    return { account: invited, token };
  }

  /** Makes a one-time link where a user sets a first or a new password; it replaces the previous link. */
  async invite(named: Named, operator: Actor): Promise<NewInvitation> {
    const { store, now } = this.#parts;
    const account = await this.show(named);
    await refuseOwnIds(this.#parts.store);
    const { id, email } = account;
    if (account.status === 'disabled')
      throw new OperatorError('the account is disabled', null, {
        remedy: 'enable it first',
        command: 'enable it first with "user enable"',
      });
    if (email === null) throw noEmail();
    const { invitation, token } = makeInvitation(id, now());
    const problem = await store.invite(id, emailKey(email), invitation, this.#event('user_invited', operator, id));
    if (problem === 'gone') throw new OperatorError('the account was changed at the same time: try again');
    if (problem) throw new OperatorError(TAKEN[problem]);
    return { account: { ...account, email, invitation }, token };
  }

  /** Changes the email address and the names of an account. Sessions and grants stay. */
  async update(named: Named, changes: Partial<AboutAccount>, operator: Actor): Promise<Account> {
    const { store, now } = this.#parts;
    const before = await this.show(named);
    const changed = { ...before, ...changes, ...(changes.email === undefined ? {} : SET_HERE) };
    // A name from a product or an import may break this rule, and stays as it is.
    checkAbout({ email: null, name: null, username: null, ...changes });
    if (changed.password && changed.email === null)
      throw new OperatorError('email: a password needs an email address to sign in with');
    // The trail outlives the account, so it names the changed fields, without their values.
    const fields = Object.keys(changes).map(jsonName);
    const event = auditEvent('user_updated', operator, now(), { resourceOwnerId: before.id }, { fields });
    const problem = await store.updateAccount(changed, before, changed.email && emailKey(changed.email), event);
    if (problem === 'gone') mustBeThere(false);
    else if (problem) throw new OperatorError(TAKEN[problem]);
    return changed;
  }

  /** Returns true if an account exists. */
  hasAny(): Promise<boolean> {
    return this.#parts.store.hasAccounts();
  }

  /** The accounts that match, newest first, after one that is named (null: from the newest), a page at a time. */
  async *list(filter: AccountFilter, after: string | null): AsyncGenerator<readonly ListedAccount[]> {
    yield* listAccounts(this.#parts.store, filter, after === null ? null : await this.show(after));
  }

  /** When these accounts were last used, by their ids. */
  uses(accounts: readonly Pick<Account, 'id'>[]): Promise<ReadonlyMap<string, AccountUse>> {
    return this.#parts.store.findAccountUses(accounts.map(({ id }) => id));
  }

  /** One account by id, by `provider:subject`, or by an address that this installation owns and no other account has. */
  async show(named: Named): Promise<Account> {
    const { store } = this.#parts;
    return typeof named === 'string' ? findNamed(store, named) : findExactly(store, named);
  }

  /** Sets a password, with `mustChange` if somebody else knows it; all sessions of the account end. */
  async setPassword(named: Named, password: string, operator: Actor, mustChange = false): Promise<Account> {
    const account = await this.show(named);
    await refuseOwnIds(this.#parts.store);
    this.#checkPassword(password, account);
    if (account.email === null) throw noEmail();
    const stored = await this.#parts.hasher.hash(password);
    const event = this.#event('user_password_set', operator, account.id);
    const problem = await this.#parts.store.setPassword(account.id, stored, mustChange, event);
    if (problem === 'gone') mustBeThere(false);
    else if (problem) throw new OperatorError(TAKEN[problem]);
    return { ...account, mustChangePassword: mustChange, invitation: null };
  }

  /** Disables an account: ends its sessions, and refuses all its requests until `enable`, which restores its grants. */
  disable(named: Named, operator: Actor): Promise<Account> {
    return this.#setStatus(named, 'disabled', 'user_disabled', operator);
  }

  /** Lets a disabled account sign in again. */
  enable(named: Named, operator: Actor): Promise<Account> {
    return this.#setStatus(named, 'active', 'user_enabled', operator);
  }

  /** Ends all sessions of an account; its password and its grants stay. */
  async endSessions(named: Named, operator: Actor): Promise<Account> {
    const account = await this.show(named);
    mustBeThere(
      await this.#parts.store.endAccountSessions(account.id, this.#event('user_sessions_ended', operator, account.id)),
    );
    return account;
  }

  /** Returns the live sessions of an account, newest first. */
  async listSessions({ id }: Pick<Account, 'id'>): Promise<Session[]> {
    const { store, now } = this.#parts;
    const at = now();
    return (await store.listSessions(id)).filter((session) => sessionExpiresAt(session) > at);
  }

  /** Returns the number of live sessions, which disabling, deleting and `endSessions` end. */
  countSessions({ id }: Pick<Account, 'id'>): Promise<number> {
    return this.#parts.store.countSessions(id, this.#parts.now());
  }

  /** Ends every grant of an account at once. */
  async revokeGrants(named: Named, operator: Actor): Promise<Account> {
    const account = await this.show(named);
    mustBeThere(
      await this.#parts.store.revokeAccountGrants(account.id, this.#event('user_grants_revoked', operator, account.id)),
    );
    return account;
  }

  /** Deletes an account with its sessions and grants. */
  async delete(named: Named, operator: Actor): Promise<Account> {
    const account = await this.show(named);
    const event = this.#event('user_deleted', operator, account.id);
    mustBeThere(await this.#parts.store.deleteAccount(account.id, event, !isMadeHere(account.id)));
    return account;
  }

  async #add(
    account: Account & { readonly email: string },
    operator: Actor,
    detail: DetailOf<'user_added'> = {},
  ): Promise<void> {
    const event = auditEvent('user_added', operator, account.createdAt, { resourceOwnerId: account.id }, detail);
    const taken = await this.#parts.store.addAccount(account, emailKey(account.email), event);
    if (taken) throw new OperatorError(TAKEN[taken]);
  }

  async #setStatus(named: Named, status: Account['status'], action: AuditAction, operator: Actor): Promise<Account> {
    const account = await this.show(named);
    const changed = await this.#parts.store.setAccountStatus(
      account.id,
      status,
      this.#event(action, operator, account.id),
    );
    if (!changed) throw new OperatorError(`the account is ${status} already`);
    return { ...account, status };
  }

  #checkPassword(password: string, account: AboutAccount): void {
    const problem = passwordProblem(password, account, this.#parts.guessable);
    if (problem) throw new OperatorError(PASSWORD_PROBLEMS[problem]);
  }

  #event(action: AuditAction, operator: Actor, resourceOwnerId: string): AuditEvent {
    return auditEvent(action, operator, this.#parts.now(), { resourceOwnerId });
  }
}

function mustBeThere(there: boolean): void {
  if (!there)
    throw new OperatorError('the account changed or was deleted at the same time', null, {
      remedy: 'look at it again, and try again',
      command: 'check "user show", and try again',
    });
}
