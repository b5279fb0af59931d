/** The numbers of sign-ins since the process began, by their outcome. They only grow. */
import { newPasswordTally, type PasswordTally } from '../sign-in/password-tally.ts';
import type { ReturnOutcome } from './external-return.ts';

/** Numbers of passwords, and of tickets from identity providers. */
export type SignInTally = {
  readonly password: PasswordTally;
  readonly provider: Record<ReturnOutcome['kind'], number>;
};

/** A tally in which nothing was counted yet. */
export function newSignInTally(): SignInTally {
  return { password: newPasswordTally(), provider: { signed_in: 0, already: 0, denied: 0, dead: 0, refused: 0 } };
}
