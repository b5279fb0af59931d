/** A key for ID tokens as commands print it: never the private key. */

import { rootKeyName } from '../../oauth/keys/root-key.ts';
import type { ListedSigningKey } from '../../oauth/openid/signing-keys.ts';
import { isoTime } from './time.ts';

/** A key for ID tokens, for programs. */
export type SigningKeyJson = ReturnType<typeof signingKeyJson>;

/** A key for ID tokens, and the root key that it is sealed under. */
export function signingKeyJson({ id, state, opens, rootKeyId, createdAt, signsSince, dropAt }: ListedSigningKey) {
  return {
    kid: id,
    status: state,
    opens,
    root_key: rootKeyId === null ? null : rootKeyName(rootKeyId),
    created_at: isoTime(createdAt),
    signs_since: isoTime(signsSince),
    drop_at: isoTime(dropAt),
  };
}
