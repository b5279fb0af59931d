/**
 * The sign-in request, which a browser carries to a provider and the provider's server sends back. It is sealed, so that
 * nobody else can read or change it, and not stored, so that page requests cannot fill a table.
 */
import { hash } from 'node:crypto';
import { isAheadOfClock } from '../../oauth/grants/clock-steps.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { compressed, decompressed, seal, unseal } from '../../oauth/keys/sealed.ts';

/** Lifetime of a sign-in request (ms). */
export const SIGN_IN_REQUEST_LIFETIME_MS = 3_600_000;

/** Maximum length: a longer one might not fit into the headers and forms of the products that carry it. */
const MAX_CHARACTERS = 6000;

/** The contents of a sign-in request. Times in ms since the epoch. */
export type SignInRequest = {
  /** 16 random bytes, which bind the request to one user. */
  readonly nonce: Buffer;
  /** The digest of the cookie that the browser got with it. */
  readonly browser: Buffer;
  readonly providerId: string;
  /** The page to continue to: path and query of one of ours. */
  readonly continueTo: string;
  /** True if only a sign-in after the request counts; `maxAge` is the maximum age of the sign-in in seconds, or null. */
  readonly demandsLogin: boolean;
  readonly maxAge: number | null;
  readonly expiresAt: number;
};

/** When it was made (ms). */
export function requestedAt({ expiresAt }: SignInRequest): number {
  return expiresAt - SIGN_IN_REQUEST_LIFETIME_MS;
}

/** Returns the digest of the browser's cookie, which the request holds. */
export function browserDigest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Offsets of its parts, in bytes. The provider's id and where to continue follow, compressed, the first with its length before it. */
const NONCE = 0;
const BROWSER = 16;
const FLAGS = 48;
const MAX_AGE = 49;
const ID_LENGTH = 53;
const REST = 54;
const FLAG = { demandsLogin: 1, hasMaxAge: 2 } as const;

/** The text of a request, in as few characters as possible; null if it would be too long. */
export function sealSignInRequest(keyring: Keyring, request: SignInRequest): string | null {
  const { nonce, browser, providerId, continueTo, demandsLogin, maxAge, expiresAt } = request;
  const head = Buffer.alloc(REST);
  nonce.copy(head, NONCE);
  browser.copy(head, BROWSER);
  head.writeUInt8((demandsLogin ? FLAG.demandsLogin : 0) | (maxAge === null ? 0 : FLAG.hasMaxAge), FLAGS);
  head.writeUInt32BE(maxAge ?? 0, MAX_AGE);
  head.writeUInt8(providerId.length, ID_LENGTH);
  const text = seal(keyring, 'sign-in', Buffer.concat([head, compressed(providerId + continueTo)]), expiresAt);
  return text.length > MAX_CHARACTERS ? null : text;
}

/** Reads a request; null if this installation did not make it, or it has expired. `now` in ms. */
export function openSignInRequest(keyring: Keyring, text: string, now: number): SignInRequest | null {
  const opened = text.length > MAX_CHARACTERS ? null : unseal(keyring, 'sign-in', text);
  if (!opened || opened.expiresAt <= now || isAheadOfClock(opened.expiresAt, SIGN_IN_REQUEST_LIFETIME_MS, now))
    return null;
  const { content, expiresAt } = opened;
  const flags = content.readUInt8(FLAGS);
  const rest = decompressed(content.subarray(REST));
  const idLength = content.readUInt8(ID_LENGTH);
  return {
    nonce: content.subarray(NONCE, BROWSER),
    browser: content.subarray(BROWSER, FLAGS),
    providerId: rest.slice(0, idLength),
    demandsLogin: (flags & FLAG.demandsLogin) !== 0,
    maxAge: (flags & FLAG.hasMaxAge) === 0 ? null : content.readUInt32BE(MAX_AGE),
    continueTo: rest.slice(idLength),
    expiresAt,
  };
}
