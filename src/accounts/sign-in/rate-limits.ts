/** The rate limits for guesses and requests (ASVS 6.1.1; docs/reference/limits.md lists them for app developers). */
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { AccountPace } from '../guessing/account-pace.ts';
import { GuessBudget } from '../guessing/guess-budget.ts';
import { type Limit, type SharedCounters, Throttle } from '../guessing/throttle.ts';
import { KNOWN_BROWSER_LIFETIME, KnownBrowsers } from './known-browser.ts';

/** The limits that are not only for sign-in; each name says what is counted. */
const LIMITS = {
  accountAndSource: { count: 10, seconds: 300 },
  source: { count: 100, seconds: 600 },
  clientAndSource: { count: 30, seconds: 60 },
  authorize: { count: 6000, seconds: 60 },
  publicPages: { count: 3000, seconds: 60 },
  deviceRequests: { count: 100, seconds: 600 },
  userCode: { count: 20, seconds: 600 },
  decisions: { count: 60, seconds: 600 },
  /** Sign-ins of one account that worked. */
  signIns: { count: 60, seconds: 600 },
  /** Calls of one identity provider about its users. */
  providerCalls: { count: 100, seconds: 10 },
  /** Its calls that end something: they are never refused because of the others. */
  providerEndings: { count: 100, seconds: 10 },
  /** Calls of the operators' API with one key. */
  operatorCalls: { count: 100, seconds: 10 },
  /** Wrong keys of operators from one network. */
  operatorKeys: { count: 30, seconds: 60 },
} as const satisfies Record<string, Limit>;

/** The limits that only signing in knows. */
const SIGN_IN_LIMITS = {
  /** Tries at one account by strangers: of all networks with few tries, and of all networks with many. */
  seldomPace: { count: 10, seconds: 2 },
  oftenPace: { count: 10, seconds: 10 },
  /** Tries at one account by one network. A network above this limit counts as one with many tries. */
  accountAndNetwork: { count: 10, seconds: 86_400 },
  knownBrowsers: { count: 30, seconds: 600 },
  // Each counter expires after a year; by then, the mark that it counts for has expired.
  knownBrowserFailures: { count: 10, seconds: 10 * KNOWN_BROWSER_LIFETIME },
} as const satisfies Record<string, Limit>;

/** The throttles of an installation, by the names of their limits. */
export type Throttles = Readonly<Record<keyof typeof LIMITS, Throttle>>;

/** Makes the throttles; `counters` are those that all instances share, if there are several. */
export function makeThrottles(counters: SharedCounters | null): Throttles {
  const throttle = (name: keyof typeof LIMITS) => new Throttle(LIMITS[name], name, counters);
  return {
    accountAndSource: throttle('accountAndSource'),
    source: throttle('source'),
    clientAndSource: throttle('clientAndSource'),
    authorize: throttle('authorize'),
    // Each instance counts for itself, since this limit protects only the instance itself.
    publicPages: new Throttle(LIMITS.publicPages),
    deviceRequests: throttle('deviceRequests'),
    userCode: throttle('userCode'),
    decisions: throttle('decisions'),
    signIns: throttle('signIns'),
    providerCalls: throttle('providerCalls'),
    providerEndings: throttle('providerEndings'),
    operatorCalls: throttle('operatorCalls'),
    // Each instance counts for itself: 256 random bits are not guessed, and so anonymous requests write no row.
    operatorKeys: new Throttle(LIMITS.operatorKeys),
  };
}

/**
 * The parts of the sign-in limits. `now` returns ms since the epoch; `later` acts after a number of ms, and returns a
 * function that cancels it.
 */
export type SignInLimitsParts = {
  readonly keyring: Keyring;
  readonly counters: SharedCounters | null;
  readonly throttles: Throttles;
  readonly now: () => number;
  readonly later: (act: () => void, ms: number) => () => void;
};

/** Makes the limits of sign-in: budgets, queues, and the queue of known browsers. */
export function makeSignInLimits({ keyring, counters, throttles, now, later }: SignInLimitsParts) {
  const throttle = (name: keyof typeof SIGN_IN_LIMITS) => new Throttle(SIGN_IN_LIMITS[name], name, counters);
  return {
    budget: new GuessBudget(throttles),
    pace: new AccountPace({
      often: throttle('oftenPace'),
      seldom: throttle('seldomPace'),
      accountAndNetwork: throttle('accountAndNetwork'),
      now,
      later,
    }),
    knownBrowsers: new KnownBrowsers(keyring, {
      knownBrowsers: throttle('knownBrowsers'),
      knownBrowserFailures: throttle('knownBrowserFailures'),
    }),
  };
}
