/** The numbers of sign-ins with a password since the process began, by their outcome. They only grow. */
import type { SignInOutcome } from './sign-in.ts';

/** A number for each outcome. */
export type PasswordTally = Record<SignInOutcome['kind'], number>;

/** A tally in which nothing was counted yet. */
export function newPasswordTally(): PasswordTally {
  return { signed_in: 0, must_change: 0, wrong_credentials: 0, throttled: 0, busy: 0 };
}
