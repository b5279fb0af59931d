/** A root key as commands print it: never the key itself. */
import { rootKeyName } from '../../oauth/keys/root-key.ts';
import type { ListedKey } from '../root-keys/key-registry.ts';
import { isoTime } from './time.ts';

/** A root key for programs. */
export type RootKeyJson = ReturnType<typeof rootKeyJson>;

/** A root key, and what rests on it. */
export function rootKeyJson(key: ListedKey) {
  return {
    key_id: rootKeyName(key.keyId),
    status: key.status,
    is_here: key.isHere,
    created_at: isoTime(key.createdAt),
    superseded_at: isoTime(key.supersededAt),
    retired_at: isoTime(key.retiredAt),
    live_grants: key.grants,
    passwords: key.passwords,
    signing_keys: key.signingKeys,
  };
}
