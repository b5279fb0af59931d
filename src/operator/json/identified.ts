/** An identified credential as commands and an API print it. */
import { grantIdText } from '../../oauth/grants/grant.ts';
import type { Identified } from '../identify.ts';
import { isoTime } from './time.ts';

/** An identified credential for programs. */
export type IdentifiedJson = ReturnType<typeof identifiedJson>;

/** The kind of a credential, its owner, and whether it works. */
export function identifiedJson({ kind, owner, grant, madeAt, expiresAt, deadBecause }: Identified) {
  return {
    kind,
    owner_id: owner.id,
    owner_name: owner.name,
    user_id: grant?.resourceOwner.id ?? null,
    user_email: grant?.resourceOwner.email ?? null,
    grant_id: grant && grantIdText(grant.grant.id),
    made_at: isoTime(madeAt),
    expires_at: isoTime(expiresAt),
    alive: deadBecause === null,
    dead_because: deadBecause,
  };
}
