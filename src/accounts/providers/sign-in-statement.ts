/** A statement of a provider's server about a sign-in request: who signed in, when and how, or that the user refused. */
import { invalidRequest, Refusal } from '../../oauth/error.ts';
import { isCleanText, type Members, type Profile, readProfile, readSubject } from '../people/profile.ts';

/** A statement. `subject` is null if the user refused; `authTime` in seconds since the epoch, or null if not stated. */
export type SignInStatement = {
  readonly signInRequest: string;
  readonly subject: string | null;
  readonly authTime: number | null;
  readonly amr: readonly string[];
  readonly profile: Profile;
};

/** Maximum difference between the clocks of a product and ours (ms). */
export const MAX_CLOCK_SKEW_MS = 60_000;

const MAX_METHODS = 10;
const MAX_METHOD = 40;

/** The statement in a JSON object, or a refusal that names the field. Unknown fields are ignored. */
export function readStatement(members: Members): SignInStatement | Refusal {
  const { sign_in_request: signInRequest, error, subject, auth_time, amr } = members;
  if (typeof signInRequest !== 'string') return invalidRequest('sign_in_request is required, as a string');
  if (error !== undefined) {
    if (error !== 'access_denied') return invalidRequest('error must be access_denied');
    if (subject !== undefined) return invalidRequest('error must be sent without subject');
    return { signInRequest, subject: null, authTime: null, amr: [], profile: {} };
  }
  const who = readSubject(members);
  if (who instanceof Refusal) return who;
  if (!isTime(auth_time)) return invalidRequest('auth_time must be a whole number of seconds since 1970');
  if (!areMethods(amr)) return invalidRequest(`amr must be an array of at most ${MAX_METHODS} short strings`);
  const profile = readProfile(members);
  if (profile instanceof Refusal) return profile;
  return { signInRequest, subject: who, authTime: auth_time ?? null, amr: amr ?? [], profile };
}

function isTime(value: unknown): value is number | null | undefined {
  return value === undefined || value === null || (Number.isSafeInteger(value) && (value as number) >= 0);
}

function areMethods(value: unknown): value is readonly string[] | null | undefined {
  if (value === undefined || value === null) return true;
  const isMethod = (one: unknown) =>
    typeof one === 'string' && one !== '' && one.length <= MAX_METHOD && isCleanText(one);
  return Array.isArray(value) && value.length <= MAX_METHODS && value.every(isMethod);
}
