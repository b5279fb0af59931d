/**
 * Form tokens: a post is accepted only if its form was shown recently, in the same browser session, for the same purpose (RFC
 * 6749 §10.12). A token is a time and a MAC; nothing is stored.
 */
import { timingSafeEqual } from 'node:crypto';
import { isAheadOfClock } from '../../oauth/grants/clock-steps.ts';
import { currentKey, type Keyring, mac } from '../../oauth/keys/keyring.ts';

/** The binding of a form: the browser session's secret, the form's purpose, and its exact subject. */
export type FormBinding = { readonly session: string; readonly purpose: string; readonly subject: string };

const LIFETIME_MS = 10 * 60 * 1000;

/** Lifetime of a form with a password field, and of its contents (ms). Long, so that users need not type a password twice. */
export const SIGN_IN_LIFETIME_MS = 12 * 3600 * 1000;

/** Makes the token of a form that is shown now (ms). */
export function makeFormToken(keyring: Keyring, binding: FormBinding, now: number): string {
  return `${now.toString(36)}.${digest(keyring, keyring.currentKeyId, binding, now).toString('base64url')}`;
}

/**
 * Checks that a token was made for this binding. `expired`: its lifetime (ms; 10 minutes by default) is over, or the
 * clock stepped back. `wrong`: all other cases. `now` in ms.
 */
export function checkFormToken(
  keyring: Keyring,
  binding: FormBinding,
  token: string | undefined,
  now: number,
  lifetime = LIFETIME_MS,
): 'good' | 'expired' | 'wrong' {
  const [, time, text] = /^([0-9a-z]{1,11})\.([A-Za-z0-9_-]{43})$/.exec(token ?? '') ?? [];
  if (time === undefined || text === undefined) return 'wrong';
  const madeAt = Number.parseInt(time, 36);
  const presented = Buffer.from(text, 'base64url');
  const good = keyring.keyIds.some((keyId) => timingSafeEqual(digest(keyring, keyId, binding, madeAt), presented));
  if (!good) return 'wrong';
  return now - madeAt > lifetime || isAheadOfClock(madeAt, 0, now) ? 'expired' : 'good';
}

/** Time of a form token (ms), as the token states it: only a valid token can be trusted. */
export function formTokenMadeAt(token: string): number {
  return Number.parseInt(token.split('.')[0] ?? '', 36);
}

function digest(keyring: Keyring, keyId: number, binding: FormBinding, madeAt: number): Buffer {
  const key = keyring.key(keyId, 'form') ?? currentKey(keyring, 'form');
  return mac(key, JSON.stringify([binding.session, binding.purpose, binding.subject, madeAt]));
}
