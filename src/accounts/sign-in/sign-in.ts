/** Signing in with a password. */

import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import { widestNetworkOf } from '../../oauth/guessing/networks.ts';
import { auditEvent } from '../../oauth/trail/audit.ts';
import type { AccountPace } from '../guessing/account-pace.ts';
import { TurnedAway } from '../guessing/fair-line.ts';
import type { Guess, GuessBudget } from '../guessing/guess-budget.ts';
import type { Throttle } from '../guessing/throttle.ts';
import { isPlausiblePassword } from '../passwords/password.ts';
import type { PasswordHasher } from '../passwords/password-hash.ts';
import { onVerifiedPassword } from '../passwords/verified-password.ts';
import { type Account, emailKey, hasPassword, type PasswordAccount } from '../people/account.ts';
import { newSessionToken, passwordSession, sessionDigest } from '../people/session.ts';
import type { AccountStore } from '../people/store.ts';
import type { KnownBrowser, KnownBrowsers } from './known-browser.ts';
import type { SignInFloor } from './sign-in-floor.ts';
import type { WrongSignIns } from './wrong-sign-ins.ts';

/** The parts of a password check. `now` returns ms since the epoch. */
export type CheckParts = {
  readonly hasher: PasswordHasher;
  readonly budget: GuessBudget;
  readonly pace: AccountPace;
  readonly knownBrowsers: KnownBrowsers;
  readonly now: () => number;
};

/** The parts of sign-in. */
export type SignInParts = CheckParts & {
  readonly store: Pick<AccountStore, 'findAccount' | 'findPasswordAccount' | 'addSession' | 'rehashPassword'>;
  readonly floor: SignInFloor;
  readonly wrongSignIns: WrongSignIns;
  /** Counts the sign-ins of each account that worked: each leaves a session and an event. */
  readonly signInThrottle: Throttle;
};

/**
 * The result of a sign-in: the session's token and the browser's marks, for cookies. Or the reason of its failure, the same
 * for known and unknown addresses.
 */
export type SignInOutcome =
  | {
      readonly kind: 'signed_in';
      readonly sessionToken: string;
      readonly knownBrowser: string;
      readonly account: Account;
    }
  /** The password is right, but only allows choosing another one: no session began. */
  | { readonly kind: 'must_change'; readonly account: PasswordAccount }
  | { readonly kind: 'wrong_credentials' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number }
  | { readonly kind: 'busy' };

/** The user's input, the token of the session to replace, and the browser's marks. */
export type SignInAttempt = {
  readonly email: string;
  readonly password: string;
  readonly replaces: string | null;
  readonly knownBrowser: string | null;
};

/**
 * Signs a user in. Guesses are counted before any hashing; the session named by `replaces` ends. `tell` gets the id of the
 * tried account, or null, only for the log. A guess whose `signal` is aborted while it waits is not checked. The result comes
 * no earlier than the minimum duration of a check.
 */
export async function signIn(
  parts: SignInParts,
  attempt: SignInAttempt,
  origin: RequestOrigin,
  tell: (accountId: string | null) => void = () => {},
  signal?: AbortSignal,
): Promise<SignInOutcome> {
  const floorIsOver = await parts.floor.begin();
  const outcome = await tryToSignIn(parts, attempt, origin, tell, signal);
  if (outcome.kind === 'signed_in' || outcome.kind === 'wrong_credentials') await floorIsOver();
  return outcome;
}

async function tryToSignIn(
  parts: SignInParts,
  attempt: SignInAttempt,
  origin: RequestOrigin,
  tell: (accountId: string | null) => void,
  signal: AbortSignal | undefined,
): Promise<SignInOutcome> {
  // One character more than an address can have, so that a truncated text is never an address.
  const key = emailKey(attempt.email).slice(0, 255);
  const account = await parts.store.findPasswordAccount(key);
  const accountId = account?.id ?? null;
  tell(accountId);
  const active = account?.status === 'active' && hasPassword(account) ? account : null;
  const guess = { account: key, source: origin.source };
  const checked = await checkPassword(parts, { ...attempt, account: active, guess, signal });
  const wrong = () => {
    parts.wrongSignIns.count(accountId);
    return { kind: 'wrong_credentials' } as const;
  };
  if (checked.kind === 'wrong_credentials') return wrong();
  if (checked.kind !== 'right') return checked;
  if (checked.account.mustChangePassword) return { kind: 'must_change', account: checked.account };
  // Only tries with the right password count here, so that nobody can lock an owner out.
  const counted = [checked.account.id];
  const retryAfterSeconds = parts.signInThrottle.wait(counted, parts.now());
  if (retryAfterSeconds > 0) return { kind: 'throttled', retryAfterSeconds };
  parts.signInThrottle.count(counted, parts.now());
  const sessionToken = await beginSession(parts, checked.account, attempt.replaces, origin);
  if (sessionToken === null) return wrong();
  if (parts.hasher.isOutdated(checked.account.password)) await rehash(parts, checked.account, attempt.password);
  const knownBrowser = parts.knownBrowsers.renew(attempt.knownBrowser, checked.account, parts.now());
  return { kind: 'signed_in', sessionToken, knownBrowser, account: checked.account };
}

/** A password to check, of an active account or of none, and the key under which the guess is counted. */
export type PasswordCheck = {
  readonly account: PasswordAccount | null;
  readonly password: string;
  readonly knownBrowser: string | null;
  readonly guess: Guess;
  /** Aborted when nobody waits for the result any longer. */
  readonly signal: AbortSignal | undefined;
};

/** The result of a check. */
export type CheckedPassword =
  | { readonly kind: 'right'; readonly account: PasswordAccount }
  | Exclude<SignInOutcome, { readonly kind: 'signed_in' | 'must_change' }>;

/** Checks a password. The guess is counted before any hashing, and refunded if it was right or was not checked. */
export async function checkPassword(parts: CheckParts, check: PasswordCheck): Promise<CheckedPassword> {
  const { budget, knownBrowsers, now } = parts;
  const { account, password, guess } = check;
  const known = knownBrowsers.admit(check.knownBrowser, account, now());
  const retryAfterSeconds = known ? 0 : budget.count(guess, now());
  if (retryAfterSeconds > 0) return { kind: 'throttled', retryAfterSeconds };
  if (!isPlausiblePassword(password)) return { kind: 'wrong_credentials' };
  try {
    const isRight = await isRightPassword(parts, account, password, guess, known, check.signal);
    if (!isRight || !account) return { kind: 'wrong_credentials' };
  } catch (error) {
    if (!(error instanceof TurnedAway)) throw error;
    if (known) knownBrowsers.refund(known, now());
    else budget.refundUndecided(guess, now());
    return { kind: 'busy' };
  }
  if (known) knownBrowsers.succeed(known, now());
  else budget.refund(guess, now());
  budget.forget(guess, now());
  return { kind: 'right', account };
}

/** Checks a password: a known browser's in the queue for known browsers, a stranger's when its network is served. */
function isRightPassword(
  { hasher, pace }: CheckParts,
  account: Account | null,
  password: string,
  guess: Guess,
  known: KnownBrowser | null,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const stored = account?.password ?? null;
  if (known) return hasher.verify(stored, password, { lane: 'known', share: known.accountId }, signal);
  const place = { lane: 'unknown', share: widestNetworkOf(guess.source) } as const;
  return pace.run(guess, () => hasher.verify(stored, password, place, signal), signal);
}

/**
 * Begins a session with a password that was just verified; null if the password has changed or the account was disabled since.
 */
export async function beginSession(
  { store, now }: Pick<CheckParts, 'now'> & { readonly store: Pick<AccountStore, 'findAccount' | 'addSession'> },
  account: PasswordAccount,
  replaces: string | null,
  origin: RequestOrigin,
): Promise<string | null> {
  const { id } = account;
  const sessionToken = newSessionToken();
  const at = now();
  const session = passwordSession(sessionToken, id, at);
  const event = auditEvent('sign_in', { kind: 'user', id, ...origin }, at, { resourceOwnerId: id });
  const replaced = replaces === null ? null : sessionDigest(replaces);
  const isAdded = await onVerifiedPassword(store, account, (verified) =>
    store.addSession(session, verified, replaced, event),
  );
  return isAdded ? sessionToken : null;
}

/** Hashes the password again if the queue has room; otherwise the next sign-in does it. */
async function rehash({ store, hasher }: SignInParts, { id, password: from }: PasswordAccount, password: string) {
  try {
    await store.rehashPassword(id, from, await hasher.hash(password, id));
  } catch (error) {
    if (!(error instanceof TurnedAway)) throw error;
  }
}
