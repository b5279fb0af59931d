/** Keys of operators (`vk_ok_…`), for programs that call the API: 256 random bits, stored as a digest. */
import { readChecked } from '../../oauth/keys/credential.ts';
import type { Right } from './rights.ts';

/** An operator's key as it is stored. Times in ms. Its last use is noted by its digest, like that of a secret. */
export type OperatorKey = {
  /** `opk_` and random characters. */
  readonly id: string;
  readonly operatorId: string;
  /** Purpose of the key, in words. */
  readonly name: string;
  /** SHA-256 of the key's text. */
  readonly digest: Buffer;
  readonly rights: readonly Right[];
  readonly createdAt: number;
  readonly expiresAt: number;
};

const DAY_MS = 86_400_000;

/** Lifetime of a key (ms): by default, and at most. */
export const KEY_LIFETIME = { usual: 90 * DAY_MS, most: 365 * DAY_MS } as const;

/** Maximum number of keys of an operator. */
export const MAX_KEYS_OF_OPERATOR = 20;

/** Returns true if a text has the form of an operator's key, with its checksum. */
export function isKeyText(prefix: string, text: string): boolean {
  return readChecked(`${prefix}_ok_`, text) !== null;
}
