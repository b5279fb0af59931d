/** A grant as commands and an API print it: in a list, and its whole life. */

import type { GrantLife } from '../../oauth/connected-apps/grant-life.ts';
import { grantIdText, grantStatus, lastUse } from '../../oauth/grants/grant.ts';
import type { FoundGrant, ListedGrant } from '../../oauth/protocol/grant-store.ts';
import { eventJson } from './event.ts';
import { isoTime } from './time.ts';

/** A grant for programs. */
export type GrantJson = ReturnType<typeof grantJson>;

/** A grant with all that its row tells, for programs. */
export type FoundGrantJson = ReturnType<typeof foundGrantJson>;

/** A grant in a list. `now` in ms. */
export function grantJson({ grant, standing, clientName, resourceOwner }: ListedGrant, now: number) {
  return {
    id: grantIdText(grant.id),
    client_id: grant.clientId,
    client_name: clientName,
    user_id: grant.resourceOwnerId,
    user_email: resourceOwner.email,
    scope: grant.scope,
    status: grantStatus(grant, standing, now),
    provider_id: grant.providerId,
    signed_in_at: isoTime(grant.signedInAt),
    granted_at: isoTime(grant.grantedAt),
    last_used_at: isoTime(lastUse(grant)),
    expires_at: isoTime(grant.expiresAt),
  };
}

/** A grant with all that its row tells. `now` in ms. */
export function foundGrantJson(found: FoundGrant, now: number) {
  const { grant, client } = found;
  const { generation } = grant;
  return {
    ...grantJson({ ...found, clientName: client.name }, now),
    external_id: grant.externalId,
    redirect_uri: grant.redirectUri,
    resource: grant.resource,
    resource_is_default: grant.resourceIsDefault,
    redeemed: generation > 0,
    refreshes: Math.max(0, generation - 1),
    last_refreshed_at: generation > 1 ? isoTime(grant.rotatedAt) : null,
    last_token_used_at: isoTime(grant.lastUsedAt),
    expires_at_the_latest: isoTime(grant.absoluteExpiresAt),
    revoked_at: isoTime(grant.revokedAt),
    revocation_reason: grant.revocationReason,
  };
}

/** The whole life of a grant, whose row may be gone. `now` in ms. */
export function grantLifeJson({ id, found, events, ending }: GrantLife, now: number) {
  return {
    ...(found ? foundGrantJson(found, now) : { id, status: 'gone' }),
    ended: ending && eventJson(ending),
    events: events.map(eventJson),
  };
}
