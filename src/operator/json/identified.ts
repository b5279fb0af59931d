/** An identified credential as commands and an API print it. */
import { grantIdText } from '../../oauth/grants/grant.ts';
import type { Identified } from '../leaks/identified-credential.ts';
import { isoTime } from './time.ts';

/** An identified credential for programs. */
export type IdentifiedJson = ReturnType<typeof identifiedJson>;

/** The kind of a credential, its owner, and whether it works. */
export function identifiedJson({ kind, owner, person, grant, madeAt, expiresAt, deadBecause }: Identified) {
  return {
    kind,
    owner_kind: owner.kind,
    owner_id: owner.id,
    owner_name: owner.name,
    user_id: person?.id ?? null,
    user_email: person?.email ?? null,
    grant_id: grant && grantIdText(grant.grant.id),
    made_at: isoTime(madeAt),
    expires_at: isoTime(expiresAt),
    alive: deadBecause === null,
    dead_because: deadBecause,
  };
}
