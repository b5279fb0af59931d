/**
 * Changing one's own password (ASVS 6.2.2, 6.2.3): the signed-in user enters the current password again. A user whose password
 * somebody else knows chooses another one at sign-in, before any session begins.
 */

import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import { auditEvent, userActor } from '../../oauth/trail/audit.ts';
import type { DetailOf } from '../../oauth/trail/event-members.ts';
import { hashNewPassword, hasItAlready, type NewPasswordProblem } from '../passwords/new-password.ts';
import { passwordProblem } from '../passwords/password.ts';
import { onVerifiedPassword } from '../passwords/verified-password.ts';
import { emailKey, hasPassword, type PasswordAccount } from '../people/account.ts';
import { newSessionToken, passwordSession, sessionDigest } from '../people/session.ts';
import type { AccountStore } from '../people/store.ts';
import { beginSession, type CheckedPassword, type CheckParts, checkPassword } from './sign-in.ts';
import type { WrongSignIns } from './wrong-sign-ins.ts';

/** The parts of a password change. `guessable` are words that no password may consist of. */
export type ChangeParts = CheckParts & {
  readonly store: Pick<AccountStore, 'findAccount' | 'changePassword' | 'addSession'>;
  readonly wrongSignIns: WrongSignIns;
  readonly guessable: readonly string[];
};

/** The user's input, and the browser's marks. */
export type ChangeAttempt = {
  readonly current: string;
  readonly password: string;
  readonly knownBrowser: string | null;
};

/**
 * The result of setting a password: the token of the account's only session, and the browser's marks, for cookies. Or the
 * reason why nothing was changed; `wrong_credentials` if another request changed the password first.
 */
export type SetPassword =
  | { readonly kind: 'changed'; readonly sessionToken: string; readonly knownBrowser: string }
  | { readonly kind: 'refused'; readonly problem: NewPasswordProblem }
  | { readonly kind: 'busy' | 'wrong_credentials' };

/** The same, or why the current password was not even checked. */
export type ChangeOutcome = SetPassword | Exclude<CheckedPassword, { readonly kind: 'right' }>;

/**
 * Changes the password of a signed-in user, and ends all sessions of the account except a new one for this browser (ASVS
 * 7.4.3). A wrong current password counts like one at sign-in: an attacker at an unlocked browser must not guess faster here.
 * Grants stay: apps never had the password.
 */
export async function changePassword(
  parts: ChangeParts,
  account: PasswordAccount,
  { current, password, knownBrowser }: ChangeAttempt,
  origin: RequestOrigin,
  signal?: AbortSignal,
): Promise<ChangeOutcome> {
  const problem = passwordProblem(password, account, parts.guessable);
  if (problem) return { kind: 'refused', problem };
  const guess = { account: emailKey(account.email), source: origin.source };
  const checked = await checkPassword(parts, { account, password: current, knownBrowser, guess, signal });
  if (checked.kind === 'wrong_credentials') parts.wrongSignIns.count(account.id);
  if (checked.kind !== 'right') return checked;
  return setOwn(parts, account, { password, knownBrowser, replaces: null }, origin);
}

/** The account of a sign-in that found that its password must be changed, by its id; null if that is not true any more. */
export async function findMustChange(
  store: Pick<AccountStore, 'findAccount'>,
  id: string,
): Promise<PasswordAccount | null> {
  const account = await store.findAccount(id);
  if (account?.status !== 'active' || !account.mustChangePassword) return null;
  return hasPassword(account) ? account : null;
}

/** A new password in place of one that must be changed, the browser's marks, and the token of a session that ends. */
export type Replacement = {
  readonly password: string;
  readonly knownBrowser: string | null;
  readonly replaces: string | null;
};

/**
 * Replaces a password that must be changed, and begins the session that the sign-in did not begin. Only for a user who has
 * just signed in with that password.
 */
export async function replacePassword(
  parts: ChangeParts,
  account: PasswordAccount,
  replacement: Replacement,
  origin: RequestOrigin,
): Promise<SetPassword> {
  const problem = passwordProblem(replacement.password, account, parts.guessable);
  return problem ? { kind: 'refused', problem } : setOwn(parts, account, replacement, origin, { at_sign_in: true });
}

/** Sets the password of a user who proved the current one. */
async function setOwn(
  parts: ChangeParts,
  account: PasswordAccount,
  replacement: Replacement,
  origin: RequestOrigin,
  detail: DetailOf<'password_changed'> = {},
): Promise<SetPassword> {
  const { store, hasher, knownBrowsers, now } = parts;
  const { password, knownBrowser, replaces } = replacement;
  const hashed = await hashNewPassword(hasher, account, password);
  if (hashed.kind !== 'hashed') return hashed;
  const { id } = account;
  const at = now();
  const sessionToken = newSessionToken();
  const session = passwordSession(sessionToken, id, at);
  const event = auditEvent('password_changed', userActor(id, origin), at, { resourceOwnerId: id }, detail);
  const replaced = replaces === null ? null : sessionDigest(replaces);
  // A concurrent new password, or a disabled account, wins.
  const isChanged = await onVerifiedPassword(store, account, (verified) =>
    store.changePassword(verified, hashed.stored, session, replaced, event),
  );
  if (!isChanged) return signInWithSame(parts, id, replacement, origin);
  return {
    kind: 'changed',
    sessionToken,
    knownBrowser: knownBrowsers.renew(knownBrowser, { id, passwordSetAt: at }, at),
  };
}

/**
 * The result of a form that was sent twice: the first request set the password, and the browser dropped its response. The
 * second request gets its own session. If the password has changed again since, nobody is signed in.
 */
async function signInWithSame(
  parts: ChangeParts,
  id: string,
  { password, knownBrowser, replaces }: Replacement,
  origin: RequestOrigin,
): Promise<SetPassword> {
  const { store, hasher, knownBrowsers, now } = parts;
  const account = await store.findAccount(id);
  const isThere = await hasItAlready(hasher, account, password);
  if (isThere === 'busy') return { kind: 'busy' };
  if (!isThere || !account || !hasPassword(account)) return { kind: 'wrong_credentials' };
  const sessionToken = await beginSession(parts, account, replaces, origin);
  if (sessionToken === null) return { kind: 'wrong_credentials' };
  return { kind: 'changed', sessionToken, knownBrowser: knownBrowsers.renew(knownBrowser, account, now()) };
}
