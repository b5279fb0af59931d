/** Signing in with a password. */
import { auditEvent } from '../oauth/audit.ts';
import type { RequestOrigin } from '../oauth/client-authenticator.ts';
import { widestNetworkOf } from '../oauth/networks.ts';
import { type Account, emailKey } from './account.ts';
import type { AccountPace } from './account-pace.ts';
import { TurnedAway } from './fair-line.ts';
import type { Guess, GuessBudget } from './guess-budget.ts';
import type { KnownBrowser, KnownBrowsers } from './known-browser.ts';
import { isPlausiblePassword } from './password.ts';
import type { PasswordHasher } from './password-hash.ts';
import { newSessionToken, type Session, sessionDigest } from './session.ts';
import type { AccountStore } from './store.ts';
import type { WrongSignIns } from './wrong-sign-ins.ts';

/** What signing in works with. `now` answers ms since the epoch. */
export type SignInParts = {
  readonly store: Pick<AccountStore, 'findAccountByEmail' | 'addSession' | 'rehashPassword'>;
  readonly hasher: PasswordHasher;
  readonly budget: GuessBudget;
  readonly pace: AccountPace;
  readonly knownBrowsers: KnownBrowsers;
  readonly wrongSignIns: WrongSignIns;
  readonly now: () => number;
};

/**
 * A sign-in that worked: the session's token, and by what the browser is known from now on, for cookies. Or why it did not: the
 * same for known and unknown addresses.
 */
export type SignInOutcome =
  | {
      readonly kind: 'signed_in';
      readonly sessionToken: string;
      readonly knownBrowser: string;
      readonly account: Account;
    }
  | { readonly kind: 'wrong_credentials' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number }
  | { readonly kind: 'busy' };

/** What somebody typed, the token of the session that a new one replaces, and by what the browser says it is known. */
export type SignInAttempt = {
  readonly email: string;
  readonly password: string;
  readonly replaces: string | null;
  readonly knownBrowser: string | null;
};

/**
 * Signs a person in. Guesses are counted before any hashing; the session that `replaces` names ends. `tell` hears the id of the
 * account that was tried, or that there is none, for the log alone. Whose `signal` is aborted while they wait is not checked.
 */
export async function signIn(
  parts: SignInParts,
  attempt: SignInAttempt,
  origin: RequestOrigin,
  tell: (accountId: string | null) => void = () => {},
  signal?: AbortSignal,
): Promise<SignInOutcome> {
  const { store, hasher, budget, knownBrowsers, wrongSignIns, now } = parts;
  // One character more than an address can have, so that what is cut is nobody's.
  const guess = { account: emailKey(attempt.email).slice(0, 255), source: origin.source };
  const account = await store.findAccountByEmail(guess.account);
  const accountId = account?.id ?? null;
  tell(accountId);
  const wrong = () => {
    wrongSignIns.count(accountId);
    return { kind: 'wrong_credentials' } as const;
  };
  const active = account?.status === 'active' ? account : null;
  const known = knownBrowsers.admit(attempt.knownBrowser, active, now());
  const retryAfterSeconds = known ? 0 : budget.count(guess, now());
  if (retryAfterSeconds > 0) return { kind: 'throttled', retryAfterSeconds };
  if (!isPlausiblePassword(attempt.password)) return wrong();
  try {
    const isRight = await isRightPassword(parts, active, attempt.password, guess, known, signal);
    if (!isRight || !active) return wrong();
  } catch (error) {
    if (!(error instanceof TurnedAway)) throw error;
    if (known) knownBrowsers.refund(known, now());
    else budget.refundUndecided(guess, now());
    return { kind: 'busy' };
  }
  if (known) knownBrowsers.succeed(known, now());
  else budget.refund(guess, now());
  budget.forget(guess, now());
  const sessionToken = await beginSession(parts, active, attempt.replaces, origin);
  if (sessionToken === null) return wrong();
  if (hasher.isOutdated(active.password)) await rehash(parts, active, attempt.password);
  const knownBrowser = knownBrowsers.renew(attempt.knownBrowser, active, now());
  return { kind: 'signed_in', sessionToken, knownBrowser, account: active };
}

/** Checks a password: of a known browser in the lane of these, else when it is the turn of the stranger's network. */
function isRightPassword(
  { hasher, pace }: SignInParts,
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

/** Null when the password was changed or the account disabled meanwhile. */
async function beginSession(
  { store, now }: SignInParts,
  { id, password }: Account,
  replaces: string | null,
  origin: RequestOrigin,
): Promise<string | null> {
  const sessionToken = newSessionToken();
  const at = now();
  const session: Session = { digest: sessionDigest(sessionToken), accountId: id, createdAt: at, lastSeenAt: at };
  const event = auditEvent('sign_in', { kind: 'user', id, ...origin }, at, { resourceOwnerId: id });
  const replaced = replaces === null ? null : sessionDigest(replaces);
  return (await store.addSession(session, password, replaced, event)) ? sessionToken : null;
}

/** Best effort: if too many passwords are being checked, the next sign-in does it. */
async function rehash({ store, hasher }: SignInParts, { id, password: from }: Account, password: string) {
  try {
    await store.rehashPassword(id, from, await hasher.hash(password, id));
  } catch (error) {
    if (!(error instanceof TurnedAway)) throw error;
  }
}
