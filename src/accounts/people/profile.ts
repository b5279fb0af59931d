/** A provider's data on its users: the JSON fields and their rules. */
import { invalidRequest, type Refusal } from '../../oauth/error.ts';
import type { Account } from './account.ts';
import { subjectProblem } from './identity-provider.ts';

/** A provider's data on a user; an absent field stays unchanged. */
export type Profile = Partial<Pick<Account, 'email' | 'emailVerified' | 'name' | 'username' | 'avatarUrl'>>;

/** A provider's statement about one of its users. */
export type PersonStatement = { readonly subject: string; readonly profile: Profile };

/** Members of a JSON object, of any kind. */
export type Members = Readonly<Record<string, unknown>>;

const MAX_EMAIL = 254;
/** Maximum number of characters of a name or user name that a provider sends. */
export const MAX_NAME = 200;
const MAX_AVATAR_URL = 2048;

/** The subject of an object, or a refusal that names the field; `at` stands before its name. */
export function readSubject(members: Members, at = ''): string | Refusal {
  const { subject } = members;
  if (subject === undefined) return invalidRequest(`${at}subject is required`);
  if (typeof subject !== 'string') return invalidRequest(`${at}subject must be a string`);
  const problem = subjectProblem(subject);
  return problem === null ? subject : invalidRequest(`${at}subject: ${problem}`);
}

/**
 * The profile in an object, or a refusal that names the field. Null clears a field; unknown fields are ignored. An address
 * without `email_verified` is not verified.
 */
export function readProfile(members: Members, at = ''): Profile | Refusal {
  const { email, email_verified, name, username, avatar_url } = members;
  const refused =
    textProblem(email, MAX_EMAIL, `${at}email`) ??
    (email_verified === undefined || email_verified === null || typeof email_verified === 'boolean'
      ? null
      : invalidRequest(`${at}email_verified must be true, false or null`)) ??
    textProblem(name, MAX_NAME, `${at}name`) ??
    textProblem(username, MAX_NAME, `${at}username`) ??
    avatarProblem(avatar_url, `${at}avatar_url`);
  if (refused) return refused;
  return {
    ...(email === undefined ? {} : { email: email as string | null }),
    ...(email === undefined && email_verified === undefined ? {} : { emailVerified: email_verified === true }),
    ...(name === undefined ? {} : { name: name as string | null }),
    ...(username === undefined ? {} : { username: username as string | null }),
    ...(avatar_url === undefined ? {} : { avatarUrl: avatar_url as string | null }),
  };
}

/** True if a text has neither NUL nor half a surrogate pair, so it can be stored and sent unchanged. */
export function isCleanText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function textProblem(value: unknown, most: number, field: string): Refusal | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') return invalidRequest(`${field} must be a string or null`);
  if (value === '' || [...value].length > most)
    return invalidRequest(`${field} must have 1 to ${most} characters, or be null`);
  return isCleanText(value) ? null : invalidRequest(`${field} must not hold NUL or half a surrogate pair`);
}

function avatarProblem(value: unknown, field: string): Refusal | null {
  const refused = textProblem(value, MAX_AVATAR_URL, field);
  if (refused || value === undefined || value === null) return refused;
  // A parser of addresses would also take one with spaces around it, line ends in it or without its slashes.
  const isAddress = /^https:\/\/[^\s\p{Cc}]+$/iu.test(value as string) && URL.canParse(value as string);
  return isAddress ? null : invalidRequest(`${field} must be an https address`);
}
