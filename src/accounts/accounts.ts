/** What people and operators do with accounts: sign in, sign out, and the operator’s acts. */
import { type Actor, type AuditAction, type AuditEvent, auditEvent } from '../oauth/audit.ts';
import type { RequestOrigin } from '../oauth/client-authenticator.ts';
import { OperatorError } from '../oauth/error.ts';
import { type Account, emailKey, emailProblem, newAccountId, personNameProblem, usernameProblem } from './account.ts';
import { isPlausiblePassword, passwordProblem } from './password.ts';
import { type PasswordHasher, PasswordHashingBusy } from './password-hash.ts';
import { newSessionToken, type Session, sessionDigest, sessionExpiresAt, shouldNoteSeen } from './session.ts';
import type { AccountStore } from './store.ts';
import type { Throttle } from './throttle.ts';

/** What accounts work with. `now` answers ms since the epoch; `guessable` are words that no password may consist of. */
export type AccountsParts = {
  readonly store: AccountStore;
  readonly hasher: PasswordHasher;
  /** Wrong passwords for one account from one source, and from one source for whatever account. */
  readonly throttles: { readonly accountAndSource: Throttle; readonly source: Throttle };
  readonly now: () => number;
  readonly guessable: readonly string[];
};

/** A sign-in that worked: the token for the cookie. Or why it did not: the same for known and unknown addresses. */
export type SignInOutcome =
  | { readonly kind: 'signed_in'; readonly sessionToken: string; readonly account: Account }
  | { readonly kind: 'wrong_credentials' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number }
  | { readonly kind: 'busy' };

/** What an operator says of a new account. */
export type NewAccount = {
  readonly email: string;
  readonly name: string;
  readonly username: string | null;
  readonly isOperator: boolean;
  readonly password: string;
};

/** Accounts, sessions, sign-in. The operator's acts throw an `OperatorError` when refused, and then changed nothing. */
export class Accounts {
  readonly #parts: AccountsParts;

  constructor(parts: AccountsParts) {
    this.#parts = parts;
  }

  /** Signs a person in. Guesses are counted before any hashing; the session that `replaces` names ends (its token). */
  async signIn(
    email: string,
    password: string,
    replaces: string | null,
    origin: RequestOrigin,
  ): Promise<SignInOutcome> {
    const { store, hasher, throttles, now } = this.#parts;
    // One character more than an address can have, so that what is cut is nobody's.
    const key = emailKey(email).slice(0, 255);
    const retryAfterSeconds = this.#countGuess(key, origin.source);
    if (retryAfterSeconds > 0) return { kind: 'throttled', retryAfterSeconds };
    if (!isPlausiblePassword(password)) return { kind: 'wrong_credentials' };
    const account = await store.findAccountByEmail(key);
    const active = account?.status === 'active' ? account : null;
    try {
      if (!(await hasher.verify(active?.password ?? null, password)) || !active) return { kind: 'wrong_credentials' };
    } catch (error) {
      if (!(error instanceof PasswordHashingBusy)) throw error;
      throttles.accountAndSource.refund(`${key} ${origin.source}`, now());
      throttles.source.refund(origin.source, now());
      return { kind: 'busy' };
    }
    throttles.accountAndSource.reset(`${key} ${origin.source}`, now());
    throttles.source.refund(origin.source, now());
    const sessionToken = newSessionToken();
    const at = now();
    const session: Session = {
      digest: sessionDigest(sessionToken),
      accountId: active.id,
      createdAt: at,
      lastSeenAt: at,
    };
    const event = auditEvent('sign_in', { kind: 'user', id: active.id, ...origin }, at, { resourceOwnerId: active.id });
    const replaced = replaces === null ? null : sessionDigest(replaces);
    const added = await store.addSession(session, active.password, replaced, event);
    if (added && hasher.isOutdated(active.password)) await this.#rehash(active, password);
    return added ? { kind: 'signed_in', sessionToken, account: active } : { kind: 'wrong_credentials' };
  }

  /** Best effort: if too many passwords are being checked, the next sign-in does it. */
  async #rehash({ id, password: from }: Account, password: string): Promise<void> {
    const { store, hasher } = this.#parts;
    try {
      await store.rehashPassword(id, from, await hasher.hash(password));
    } catch (error) {
      if (!(error instanceof PasswordHashingBusy)) throw error;
    }
  }

  /** Whose session a token is of, and since when, while the session lasts and the account is active; else null. */
  async accountOfSession(sessionToken: string): Promise<{ account: Account; signedInAt: number } | null> {
    const { store, now } = this.#parts;
    const digest = sessionDigest(sessionToken);
    const found = await store.findSession(digest);
    if (found?.account.status !== 'active' || sessionExpiresAt(found.session) <= now()) return null;
    if (shouldNoteSeen(found.session, now())) await store.touchSession(digest, now());
    return { account: found.account, signedInAt: found.session.createdAt };
  }

  /** Ends a session, whatever state it is in. */
  async signOut(sessionToken: string, account: Account, origin: RequestOrigin): Promise<void> {
    const { store, now } = this.#parts;
    const event = auditEvent('sign_out', { kind: 'user', id: account.id, ...origin }, now(), {
      resourceOwnerId: account.id,
    });
    await store.endSession(sessionDigest(sessionToken), event);
  }

  /** Adds an account. */
  async add(account: NewAccount, operator: Actor): Promise<Account> {
    const { store, hasher, now } = this.#parts;
    const problems = {
      email: emailProblem(account.email),
      name: personNameProblem(account.name),
      username: account.username === null ? null : usernameProblem(account.username),
    };
    for (const [field, problem] of Object.entries(problems))
      if (problem) throw new OperatorError(`${field}: ${problem}`);
    const { password, ...rest } = account;
    this.#checkPassword(password, rest);
    const added: Account = {
      ...rest,
      id: newAccountId(),
      avatarUrl: null,
      status: 'active',
      epoch: 0,
      password: await hasher.hash(password),
      createdAt: now(),
    };
    const taken = await store.addAccount(added, emailKey(added.email), this.#event('user_added', operator, added.id));
    if (taken)
      throw new OperatorError(`another account has this ${taken === 'email' ? 'e-mail address' : 'user name'} already`);
    return added;
  }

  /** Whether there is an account. */
  hasAny(): Promise<boolean> {
    return this.#parts.store.hasAccounts();
  }

  /** Accounts, newest first, at most so many. */
  list(limit: number): Promise<Account[]> {
    return this.#parts.store.listAccounts(limit);
  }

  /** One account by id or e-mail address. */
  async show(idOrEmail: string): Promise<Account> {
    const { store } = this.#parts;
    const account = idOrEmail.includes('@')
      ? await store.findAccountByEmail(emailKey(idOrEmail))
      : await store.findAccount(idOrEmail);
    if (!account) throw new OperatorError(`there is no account ${JSON.stringify(idOrEmail)}: "user list" lists them`);
    return account;
  }

  /** Sets a password; all sessions of the account end. */
  async setPassword(idOrEmail: string, password: string, operator: Actor): Promise<Account> {
    const account = await this.show(idOrEmail);
    this.#checkPassword(password, account);
    const stored = await this.#parts.hasher.hash(password);
    mustBeThere(
      await this.#parts.store.setPassword(account.id, stored, this.#event('user_password_set', operator, account.id)),
    );
    return account;
  }

  /** Refuses everything of an account while it lasts, and ends its sessions; its grants come back with it. */
  disable(idOrEmail: string, operator: Actor): Promise<Account> {
    return this.#setStatus(idOrEmail, 'disabled', 'user_disabled', operator);
  }

  /** Lets a disabled account sign in again. */
  enable(idOrEmail: string, operator: Actor): Promise<Account> {
    return this.#setStatus(idOrEmail, 'active', 'user_enabled', operator);
  }

  /** Ends every grant of an account at once. */
  async revokeGrants(idOrEmail: string, operator: Actor): Promise<Account> {
    const account = await this.show(idOrEmail);
    mustBeThere(
      await this.#parts.store.revokeAccountGrants(account.id, this.#event('user_grants_revoked', operator, account.id)),
    );
    return account;
  }

  /** Deletes an account with its sessions and grants. */
  async delete(idOrEmail: string, operator: Actor): Promise<Account> {
    const account = await this.show(idOrEmail);
    mustBeThere(await this.#parts.store.deleteAccount(account.id, this.#event('user_deleted', operator, account.id)));
    return account;
  }

  /** Counts a try for both keys and answers the seconds to wait, or 0: a try that must wait is not counted again. */
  #countGuess(key: string, source: string): number {
    const { throttles, now } = this.#parts;
    const pair = [`${key} ${source}`];
    const wait = Math.max(throttles.accountAndSource.wait(pair, now()), throttles.source.wait([source], now()));
    if (wait > 0) return wait;
    throttles.accountAndSource.count(pair, now());
    throttles.source.count([source], now());
    return 0;
  }

  async #setStatus(
    idOrEmail: string,
    status: Account['status'],
    action: AuditAction,
    operator: Actor,
  ): Promise<Account> {
    const account = await this.show(idOrEmail);
    const changed = await this.#parts.store.setAccountStatus(
      account.id,
      status,
      this.#event(action, operator, account.id),
    );
    if (!changed) throw new OperatorError(`the account is ${status} already`);
    return { ...account, status };
  }

  #checkPassword(password: string, account: Pick<Account, 'email' | 'name' | 'username'>): void {
    const words = [account.email, ...account.email.split(/[@.]/), ...account.name.split(' '), account.username ?? ''];
    const problem = passwordProblem(password, [...words, ...this.#parts.guessable]);
    if (problem) throw new OperatorError(problem);
  }

  #event(action: AuditAction, operator: Actor, resourceOwnerId: string): AuditEvent {
    return auditEvent(action, operator, this.#parts.now(), { resourceOwnerId });
  }
}

function mustBeThere(there: boolean): void {
  if (!there) throw new OperatorError('the account was deleted at the same time');
}
