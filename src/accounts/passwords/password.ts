/**
 * The rules for passwords (ASVS 6.2): long enough and not common; no rules for characters, no forced changes, no
 * truncation.
 */
import type { Account } from '../people/account.ts';
import commonPasswords from './common-passwords.json' with { type: 'json' };

/** Maximum length (bytes of UTF-8): a longer password is refused before any work is done for it. */
const MAX_PASSWORD_BYTES = 1024;
/** Minimum number of characters. */
const MIN_PASSWORD_LENGTH = 8;

/**
 * The 6,000 most common passwords of eight characters or more, in lower case (ASVS 6.2.4). The file has them in the
 * ranking of the word list of zxcvbn-ts (MIT).
 */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set(commonPasswords);

/** Why a new password is refused, in words for an operator that say the remedy. */
export const PASSWORD_PROBLEMS = {
  too_short: `a password has at least ${MIN_PASSWORD_LENGTH} characters; 15 or more are better`,
  too_long: `a password has at most ${MAX_PASSWORD_BYTES} bytes`,
  nul: 'a password must not hold a NUL character',
  common: 'this password is one of the most common ones: anybody would try it',
  guessable: 'this password is hardly more than a name that anybody would try: choose another',
} as const;

/** The kinds of those problems. */
export type PasswordProblem = keyof typeof PASSWORD_PROBLEMS;

/** True if a text could be a password at all; others are not checked. */
export function isPlausiblePassword(password: string): boolean {
  return password !== '' && Buffer.byteLength(password) <= MAX_PASSWORD_BYTES;
}

/**
 * The reason why a new password of an account is refused, or null. It must not be one of the words that attackers try first:
 * those of the account, and `guessable`, those of the installation.
 */
export function passwordProblem(
  password: string,
  { email, name, username }: Pick<Account, 'email' | 'name' | 'username'>,
  guessable: readonly string[],
): PasswordProblem | null {
  if ([...password].length < MIN_PASSWORD_LENGTH) return 'too_short';
  if (!isPlausiblePassword(password)) return 'too_long';
  if (password.includes('\0')) return 'nul';
  const plain = password.toLowerCase();
  if (COMMON_PASSWORDS.has(plain)) return 'common';
  const address = email ?? '';
  const fullName = name ?? '';
  const words = [address, ...address.split(/[@.]/), ...fullName.split(' '), username ?? '', ...guessable];
  return words.some((word) => isHardlyMoreThan(plain, word.toLowerCase())) ? 'guessable' : null;
}

function isHardlyMoreThan(password: string, word: string): boolean {
  return password.includes(word) && password.length - word.length < 4;
}
