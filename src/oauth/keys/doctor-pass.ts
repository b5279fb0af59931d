/**
 * The pass with which the doctor asks a running service what it saw of a request. Only who has the root keys can make one, and
 * it is good for a minute.
 */
import { timingSafeEqual } from 'node:crypto';
import { currentKey, type Keyring, mac } from './keyring.ts';

/** A request as it arrived, in the form of the answer: null for an absent header. */
export type Seen = {
  readonly source: string;
  readonly peer: string;
  readonly peer_is_trusted: boolean;
  readonly forwarded_for: string | null;
  readonly forwarded_proto: string | null;
  readonly host: string | null;
  readonly target: string;
  readonly http_version: string;
  readonly connection: string | null;
  readonly cookie: string | null;
  readonly has_authorization: boolean;
};

/**
 * The header that carries the pass. The answer to it also carries a cookie like ours and a long header: a proxy must let
 * both through.
 */
export const PASS_HEADER = 'valetkey-doctor';
export const DOCTORS_COOKIE = '__Host-valetkey-doctor=1; Path=/; Max-Age=1; HttpOnly; Secure; SameSite=Lax';
export const PADDING_HEADER = 'valetkey-padding';
/** 8 KiB, somewhat more than the longest redirect needs. */
export const PADDING = 'x'.repeat(8192);

const LIFETIME_MS = 60_000;

/** A new pass. `now` in ms since the epoch. */
export function doctorPass(keyring: Keyring, now: number): string {
  const expiresAt = String(now + LIFETIME_MS);
  return `${keyring.currentKeyId}.${expiresAt}.${mac(currentKey(keyring, 'doctor'), expiresAt).toString('base64url')}`;
}

/** True if a text is a valid pass. A pass that expires too late comes from a clock that is ahead, and is refused. */
export function isDoctorPass(keyring: Keyring, text: string, now: number): boolean {
  const [, keyId = '', expiresAt = '', proof = ''] = /^(\d{1,10})\.(\d{1,16})\.([\w-]{43})$/.exec(text) ?? [];
  const key = keyring.key(Number(keyId), 'doctor');
  if (!key || Number(expiresAt) <= now || Number(expiresAt) > now + 2 * LIFETIME_MS) return false;
  return timingSafeEqual(Buffer.from(proof, 'base64url'), mac(key, expiresAt));
}
