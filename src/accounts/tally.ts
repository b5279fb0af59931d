/** How often people signed in, and how often that failed, since the process began. */
import type { ReturnOutcome } from './external-return.ts';
import type { SignInOutcome } from './sign-in.ts';

/** By what became of a password, and of a ticket from an identity provider. The counts only grow. */
export type SignInTally = {
  readonly password: Record<SignInOutcome['kind'], number>;
  readonly provider: Record<ReturnOutcome['kind'], number>;
};

/** A tally in which nothing was counted yet. */
export function newSignInTally(): SignInTally {
  return {
    password: { signed_in: 0, must_change: 0, wrong_credentials: 0, throttled: 0, busy: 0 },
    provider: { signed_in: 0, already: 0, denied: 0, dead: 0, refused: 0 },
  };
}
