/** What a password must be (ASVS 6.2): long enough and not everybody's; no composition rules, no changes, no truncation. */
import { COMMON_PASSWORDS } from './common-passwords.ts';

/** A password longer than this (bytes of UTF-8) is refused before any work is done for it. */
const MAX_PASSWORD_BYTES = 1024;
/** A password has at least so many characters. */
const MIN_PASSWORD_LENGTH = 8;

/** Whether a password can be anybody's at all; false means that it is not even looked at. */
export function isPlausiblePassword(password: string): boolean {
  return password !== '' && Buffer.byteLength(password) <= MAX_PASSWORD_BYTES;
}

/** Why a new password is refused, in words that say the remedy, or null. `context` are words that anybody would try first. */
export function passwordProblem(password: string, context: readonly string[]): string | null {
  if ([...password].length < MIN_PASSWORD_LENGTH)
    return `a password has at least ${MIN_PASSWORD_LENGTH} characters; 15 or more are better`;
  if (!isPlausiblePassword(password)) return `a password has at most ${MAX_PASSWORD_BYTES} bytes`;
  if (password.includes('\0')) return 'a password must not hold a NUL character';
  const plain = password.toLowerCase();
  if (COMMON_PASSWORDS.has(plain)) return 'this password is one of the most common ones: anybody would try it';
  if (context.some((word) => isHardlyMoreThan(plain, word.toLowerCase())))
    return 'this password is hardly more than a name that anybody would try: choose another';
  return null;
}

function isHardlyMoreThan(password: string, word: string): boolean {
  return password.includes(word) && password.length - word.length < 4;
}
