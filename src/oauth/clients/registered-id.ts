/** The ids of what the operator registers: clients and resource servers (RFC 6749 §2.2). */
import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** 80 random bits in lower-case base 32: easy to copy, and never like an id of another kind (RFC 9700 §4.15). */
export function newId(kind: 'app' | 'rs'): string {
  return `${kind}_${[...randomBytes(16)].map((byte) => ALPHABET[byte & 31]).join('')}`;
}

/** True if a text has the form of an id that was made here. */
export function isOwnId(text: string): boolean {
  return /^(app|rs)_[0-9a-hjkmnp-tv-z]{16}$/.test(text);
}
