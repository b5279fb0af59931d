/** Changing one's own password (ASVS 6.2.2, 6.2.3): who is signed in proves once more that the account is theirs. */
import { auditEvent } from '../oauth/audit.ts';
import type { RequestOrigin } from '../oauth/client-authenticator.ts';
import { type Account, emailKey, type PasswordAccount, type StoredPassword } from './account.ts';
import { TurnedAway } from './fair-line.ts';
import { type PasswordProblem, passwordProblem } from './password.ts';
import { newSessionToken, passwordSession } from './session.ts';
import { type CheckedPassword, type CheckParts, checkPassword } from './sign-in.ts';
import type { AccountStore } from './store.ts';
import type { WrongSignIns } from './wrong-sign-ins.ts';

/** What changing a password works with. `guessable` are words that no password may consist of. */
export type ChangeParts = CheckParts & {
  readonly store: Pick<AccountStore, 'changePassword'>;
  readonly wrongSignIns: WrongSignIns;
  readonly guessable: readonly string[];
};

/** What a person typed, and the browser's marks. */
export type ChangeAttempt = {
  readonly current: string;
  readonly password: string;
  readonly knownBrowser: string | null;
};

/**
 * A change that was made, with the token of the one session that the account has from now on and the browser's marks, for
 * cookies. Or why nothing was changed.
 */
export type ChangeOutcome =
  | { readonly kind: 'changed'; readonly sessionToken: string; readonly knownBrowser: string }
  | { readonly kind: 'refused'; readonly problem: PasswordProblem }
  | Exclude<CheckedPassword, { readonly kind: 'right' }>;

/**
 * Changes the password of a signed-in person, and ends all sessions of the account but a new one for this browser (ASVS
 * 7.4.3). A wrong current password counts as one at sign-in: somebody at an unlocked browser may guess no faster here. Grants
 * stay: apps never had the password.
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
  const stored = await hash(parts, account, password);
  if (stored === null) return { kind: 'busy' };
  const at = parts.now();
  const sessionToken = newSessionToken();
  const session = passwordSession(sessionToken, account.id, at);
  const event = auditEvent('password_changed', { kind: 'user', id: account.id, ...origin }, at, {
    resourceOwnerId: account.id,
  });
  // A password that was set meanwhile, or a disabled account, wins.
  if (!(await parts.store.changePassword(account.password, stored, session, event)))
    return { kind: 'wrong_credentials' };
  const renewed = parts.knownBrowsers.renew(knownBrowser, { id: account.id, passwordSetAt: at }, at);
  return { kind: 'changed', sessionToken, knownBrowser: renewed };
}

/** Null when too many passwords are being hashed. */
async function hash({ hasher }: ChangeParts, { id }: Account, password: string): Promise<StoredPassword | null> {
  try {
    return await hasher.hash(password, id);
  } catch (error) {
    if (error instanceof TurnedAway) return null;
    throw error;
  }
}
