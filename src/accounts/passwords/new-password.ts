/** The new password of somebody who proved to be its owner, on its way to the store. */

import { TurnedAway } from '../guessing/fair-line.ts';
import type { Account, StoredPassword } from '../people/account.ts';
import type { PasswordProblem } from './password.ts';
import type { PasswordHasher } from './password-hash.ts';

/**
 * Returns true if an account has a new password already: its form was sent twice, as by a double click, and the other request
 * was faster. Only for somebody who proved to be the owner in this request.
 */
export async function hasItAlready(
  hasher: PasswordHasher,
  account: Account | null,
  password: string,
): Promise<boolean | 'busy'> {
  if (!account || account.mustChangePassword) return false;
  try {
    return await hasher.verify(account.password, password, { lane: 'known', share: account.id });
  } catch (error) {
    if (error instanceof TurnedAway) return 'busy';
    throw error;
  }
}

/** Why a person's new password is refused: by the rules for all, or because it is the `same` that somebody else knows. */
export type NewPasswordProblem = PasswordProblem | 'same';

/** The stored form of a new password, or the reason why it is refused. */
export type HashedPassword =
  | { readonly kind: 'hashed'; readonly stored: StoredPassword }
  | { readonly kind: 'refused'; readonly problem: 'same' }
  | { readonly kind: 'busy' };

/**
 * Hashes a new password that the rules allow. Only for somebody who proved to be the owner: it tells whether the new password
 * is the very one that must be changed.
 */
export async function hashNewPassword(
  hasher: PasswordHasher,
  account: Account,
  password: string,
): Promise<HashedPassword> {
  const place = { lane: 'known', share: account.id } as const;
  try {
    if (account.mustChangePassword && (await hasher.verify(account.password, password, place)))
      return { kind: 'refused', problem: 'same' };
    return { kind: 'hashed', stored: await hasher.hash(password, account.id) };
  } catch (error) {
    if (error instanceof TurnedAway) return { kind: 'busy' };
    throw error;
  }
}
