/** Operators as commands and the console print them for programs: never a token, a digest of one or a key. */

import type { Operator } from '../access/operator.ts';
import type { OperatorKey } from '../access/operator-key.ts';
import { operatorSessionEndsAt } from '../access/operator-session.ts';
import type { MadeAddress, OperatorInFull, UsedKey } from '../access/operators.ts';
import { isoTime } from './time.ts';

/** An operator for programs. */
export type OperatorJson = ReturnType<typeof operatorJson>;

/** A key for programs. */
export type OperatorKeyJson = ReturnType<typeof usedKeyJson>;

/** Returns an operator. */
export function operatorJson({ id, name, role, status, createdAt }: Operator) {
  return { operator_id: id, name, role, status, created_at: isoTime(createdAt) };
}

/** Returns an operator with a one-time address. */
export function addressJson({ operator, url, expiresAt }: MadeAddress) {
  return { ...operatorJson(operator), one_time_url: url, one_time_url_expires_at: isoTime(expiresAt) };
}

/** Returns an operator with passkeys, live sessions and keys. */
export function operatorInFullJson({ operator, passkeys, sessions, keys }: OperatorInFull) {
  return {
    ...operatorJson(operator),
    passkeys: passkeys.map((passkey) => ({
      passkey_id: passkey.id,
      name: passkey.name,
      backed_up: passkey.isBackedUp,
      added_at: isoTime(passkey.createdAt),
      last_used_at: isoTime(passkey.lastUsedAt),
      /** When its counter first did not go on; null if it always did. */
      suspected_copied_at: isoTime(passkey.suspectedAt),
    })),
    sessions: sessions.map((session) => ({
      began_with: session.how === 'passkey' ? 'passkey' : 'one-time address',
      began_at: isoTime(session.createdAt),
      last_seen_at: isoTime(session.lastSeenAt),
      ends_at: isoTime(operatorSessionEndsAt(session)),
      network: session.source,
      browser: session.browser,
    })),
    keys: keys.map(usedKeyJson),
  };
}

/** Returns a key. */
export function keyJson({ id, operatorId, name, rights, createdAt, expiresAt }: OperatorKey) {
  return {
    key_id: id,
    operator_id: operatorId,
    name,
    rights,
    created_at: isoTime(createdAt),
    expires_at: isoTime(expiresAt),
  };
}

/** Returns a key with its last use. */
export function usedKeyJson(key: UsedKey) {
  return { ...keyJson(key), last_used_at: isoTime(key.lastUsedAt) };
}
