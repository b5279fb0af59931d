/** The new password of an authenticated owner, before it is stored. */

import { TurnedAway } from '../guessing/fair-line.ts';
import type { Account, StoredPassword } from '../people/account.ts';
import type { PasswordProblem } from './password.ts';
import type { PasswordHasher } from './password-hash.ts';

/**
 * Returns true if an account already has the new password: its form was sent twice, for example by a double click, and the
 * other request was faster. Only after this request has authenticated the owner.
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

/** The reason why a user's new password is refused: a general rule, or `same`, if somebody else already knows it. */
export type NewPasswordProblem = PasswordProblem | 'same';

/** The stored form of a new password, or the reason why it is refused. */
export type HashedPassword =
  | { readonly kind: 'hashed'; readonly stored: StoredPassword }
  | { readonly kind: 'refused'; readonly problem: 'same' }
  | { readonly kind: 'busy' };

/**
 * Hashes a new password that the rules allow. Only for the authenticated owner: the result reveals if the new password equals
 * the one that must be changed.
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
