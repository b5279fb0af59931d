/** Refusals of sign-in, enrollment and confirmation of operators, and their reasons for the log. */
import type { OperatorStore } from './operator-store.ts';
import { MAX_PASSKEYS, type Passkey } from './passkey.ts';
import { WrongAnswer } from './webauthn.ts';

/**
 * Reason why nobody was signed in. `dead`: the one-time address was used, replaced or has expired. `expired`: the page was
 * open for too long. `wrong`: the answer does not verify, or its passkey is unknown or cannot be used. `known`: the new passkey
 * is enrolled already. `full`: its operator has `MAX_PASSKEYS`. `name`: others could not read its name. `second`: the operator
 * has a passkey by now, and the page makes the first one alone.
 */
export type SignInRefusal = {
  readonly kind: 'dead' | 'expired' | 'wrong' | 'known' | 'full' | 'name' | 'second';
  readonly detail: string;
};

/** Refuses a one-time address. */
export const DEAD: SignInRefusal = { kind: 'dead', detail: 'the one-time address was used, replaced or has expired' };

/** Refuses a first passkey that is none. */
export const SECOND: SignInRefusal = { kind: 'second', detail: 'the operator has a passkey by now' };

/** Refuses an answer. */
export function wrong(detail: string): SignInRefusal {
  return { kind: 'wrong', detail };
}

/** Returns the refusal of an answered challenge. */
export function ofChallenge(problem: 'expired' | 'wrong'): SignInRefusal {
  return problem === 'wrong'
    ? wrong('the challenge was made for another browser, page or operator')
    : { kind: 'expired', detail: 'the challenge has expired' };
}

/** Returns the refusal of an answer that does not verify; throws every other error. */
export function ofError(error: unknown): SignInRefusal {
  if (error instanceof WrongAnswer) return wrong(error.message);
  throw error;
}

/** Returns the refusal of a verified new passkey that the store did not add, or null if its passkeys are not the reason. */
export async function whyNotAdded(store: OperatorStore, { id, operatorId }: Passkey): Promise<SignInRefusal | null> {
  if (await store.findPasskey(id)) return { kind: 'known', detail: 'the passkey is enrolled already' };
  const isFull = (await store.listPasskeys(operatorId)).length >= MAX_PASSKEYS;
  return isFull ? { kind: 'full', detail: `the operator ${operatorId} has ${MAX_PASSKEYS} passkeys` } : null;
}
