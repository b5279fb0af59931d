/**
 * Credentials that came in place of another one, or not whole: what can be seen of a text by its beginning, its length and its
 * checksum. None of that is secret, so an answer tells its sender nothing new.
 */

import { invalidCode, invalidDeviceCode, invalidRefreshToken, invalidToken, type Refusal } from '../error.ts';
import { CREDENTIAL_CHARACTERS, hasChecksum } from './credential.ts';

/** The credentials that a request may be asked for, with their kinds, and how they are refused. */
const ASKED = {
  'access token': { kind: 'at', refuse: invalidToken },
  'refresh token': { kind: 'rt', refuse: invalidRefreshToken },
  'authorization code': { kind: 'ac', refuse: invalidCode },
  'device code': { kind: 'dc', refuse: invalidDeviceCode },
} as const;

/** The names of all credentials by kind. */
const NAMES: readonly (readonly [kind: string, name: string])[] = [
  ['at', 'an access token'],
  ['rt', 'a refresh token'],
  ['ac', 'an authorization code'],
  ['dc', 'a device code'],
  ['cs', 'a client secret'],
  ['rs', 'the secret of an API'],
  ['ps', 'the secret of an identity provider'],
];

/**
 * Refuses a text that is not a credential of the kind that is asked for, and says what it is if that can be seen. `prefix` is
 * at the front of our own.
 */
export function notTheCredential(asked: keyof typeof ASKED, text: string, prefix: string): Refusal {
  const { kind, refuse } = ASKED[asked];
  const mistake = mistakeOf(asked, kind, text, prefix);
  const detail = `not ${NAMES.find(([each]) => each === kind)?.[1]} of this service`;
  return refuse(mistake ? `${detail}: ${mistake}` : detail, mistake);
}

function mistakeOf(asked: string, kind: string, text: string, prefix: string): string | undefined {
  if (/^Bearer\b/i.test(text)) return TWICE_BEARER;
  const [is, name] = NAMES.find(([each]) => text.startsWith(`${prefix}_${each}_`)) ?? [];
  if (is === undefined) return undefined;
  if (is !== kind) return `this is ${name}: send the ${asked}`;
  // A device code has no fixed length.
  const isLength = kind === 'dc' || text.length === prefix.length + kind.length + 2 + CREDENTIAL_CHARACTERS;
  return isLength && hasChecksum(text) ? undefined : `the ${asked} is not whole: send all of it, and nothing else`;
}

/** The public words for a header whose token begins with its scheme. */
export const TWICE_BEARER = 'the header has the word Bearer twice: send it once, before the token';

/** Returns the mistake that can be seen of a secret, in public words; undefined if it may be one of this service. */
export function mistakeOfSecret(secret: string): string | undefined {
  if (/\s/.test(secret)) return 'the secret contains a space or a line break: send it without';
  const isOfKind = /^\w+_(?:cs|rs|ps)_/.test(secret);
  return isOfKind && !hasChecksum(secret) ? 'the secret is not whole: send all of it, and nothing else' : undefined;
}
