/** Revocation notices: tell resource servers that access ended, so that none of them trusts a cached answer. */

import type { LiveAccess } from '../grants/granted-access.ts';
import { personFieldsOf } from '../grants/person-fields.ts';
import type { AuditAction, RecordedAuditEvent } from '../trail/audit.ts';
import { readMembers } from '../trail/event-members.ts';
import { mayHearOf, type ResourceServer } from './resource-server.ts';

/**
 * The ended access: of a grant, a client, a resource owner, or a resource owner at a client. A notice without names means all
 * access.
 */
export type RevocationNotice = {
  readonly grantId?: string;
  readonly clientId?: string;
  readonly resourceOwnerId?: string;
};

type Subject = 'grant' | 'client' | 'resource owner' | 'everything';

/** The acts after which a good access token may be good no longer, or for less. */
const SUBJECTS: Partial<Record<AuditAction, Subject>> = {
  code_replay: 'grant',
  refresh_reuse: 'grant',
  refresh_conflict: 'grant',
  too_many_grants: 'grant',
  client_updated: 'client',
  client_paused: 'client',
  client_grants_revoked: 'client',
  client_deleted: 'client',
  user_updated: 'resource owner',
  user_disabled: 'resource owner',
  user_grants_revoked: 'resource owner',
  user_deleted: 'resource owner',
  all_grants_revoked: 'everything',
  database_restored: 'everything',
  resource_server_updated: 'everything',
  resource_server_secret_retired: 'everything',
  resource_server_deleted: 'everything',
};

/** The fields of an event that a notice depends on. */
type NotedEvent = Pick<RecordedAuditEvent, 'action' | 'grantId' | 'clientId' | 'resourceOwnerId' | 'detail'>;

/** The notice that an event of the audit trail calls for, or null. */
export function revocationNotice(event: NotedEvent): RevocationNotice | null {
  const { action, grantId, clientId, resourceOwnerId } = event;
  if (action === 'user_updated' && !changesUsername(event)) return null;
  // The revocation of one grant names the grant. One from the connected-apps page covers all grants of a user for a client.
  const subject = action === 'grant_revoked' ? (grantId === null ? 'grants of both' : 'grant') : SUBJECTS[action];
  switch (subject) {
    case 'grant':
      return grantId === null ? {} : { grantId };
    case 'grants of both':
      return clientId === null || resourceOwnerId === null ? {} : { clientId, resourceOwnerId };
    case 'client':
      return clientId === null ? {} : { clientId };
    case 'resource owner':
      return resourceOwnerId === null ? {} : { resourceOwnerId };
    case 'everything':
      return {};
    default:
      return null;
  }
}

/**
 * Returns the notice of an event for one resource server, or null. The end of grants is only told to resource servers that may
 * have learned `active: true` of one of them, so that none learns about unrelated clients and users. If that is unknown, the
 * notice has no names, and the resource server must drop its whole cache.
 *
 * `resourceServer` is its registration shortly before the event was read, or null if unknown. Earlier registrations
 * need no check: each change of one is told as the end of all access. `accessTo` is asked about resource owners whose
 * names have changed.
 */
export function noticeFor(
  event: RecordedAuditEvent,
  resourceServer: ResourceServer | null,
  accessTo: AccessTo = new Map(),
): RevocationNotice | null {
  const notice = revocationNotice(event);
  if (event.action === 'user_updated') return notice && noticeOfUpdate(notice, resourceServer, accessTo);
  if (!notice || !isOfGrants(notice)) return notice;
  if (!resourceServer || !event.endedAccess) return {};
  return event.endedAccess.some((access) => mayHearOf(resourceServer, access)) ? notice : null;
}

/** The access of the live grants of each of some resource owners, as read after the events; one that is missing is not known. */
export type AccessTo = ReadonlyMap<string, readonly LiveAccess[]>;

/** The resource owners whose access `noticeFor` needs for some events. */
export function updatedOwners(events: readonly RecordedAuditEvent[]): string[] {
  const updated = events.filter((event) => event.action === 'user_updated' && changesUsername(event));
  return [...new Set(updated.flatMap(({ resourceOwnerId }) => resourceOwnerId ?? []))];
}

/** The user name is all that introspection tells of a person beside an id (RFC 7662 §2.2). */
function changesUsername({ detail }: Pick<RecordedAuditEvent, 'detail'>): boolean {
  const fields = readMembers(detail)?.['fields'];
  return !Array.isArray(fields) || fields.includes('username');
}

/**
 * Sent only to resource servers that may have received the user name with a live grant of this user. Access that ended since
 * has its own notice.
 */
function noticeOfUpdate(
  notice: RevocationNotice,
  resourceServer: ResourceServer | null,
  accessTo: AccessTo,
): RevocationNotice | null {
  const access = accessTo.get(notice.resourceOwnerId ?? '');
  if (!resourceServer || !access) return {};
  const isTold = access.some((each) => personFieldsOf(each).includes('username') && mayHearOf(resourceServer, each));
  return isTold ? notice : null;
}

function isOfGrants({ grantId, clientId, resourceOwnerId }: RevocationNotice): boolean {
  return grantId !== undefined || (clientId !== undefined && resourceOwnerId !== undefined);
}
