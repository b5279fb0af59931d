/** An event of the audit trail as commands and an API print it. */
import type { NamedAuditEvent } from '../../oauth/trail/audit-store.ts';
import { readMembers } from '../../oauth/trail/event-members.ts';
import { eventWords } from '../trail/event-words.ts';
import { isoTime } from './time.ts';

/** An event for programs. */
export type EventJson = ReturnType<typeof eventJson>;

/** An event, with the names of what it concerns. `detail` has words for people, `members` what was recorded. */
export function eventJson(event: NamedAuditEvent) {
  return {
    sequence: event.sequence,
    at: isoTime(event.at),
    action: event.action,
    actor_kind: event.actor.kind,
    actor_id: event.actor.id,
    actor_by: event.actor.by,
    source: event.actor.source,
    request_id: event.actor.requestId,
    client_id: event.clientId,
    client_name: event.clientName,
    user_id: event.resourceOwnerId,
    user_email: event.resourceOwner?.email ?? null,
    grant_id: event.grantId,
    detail: eventWords(event),
    members: readMembers(event.detail),
  };
}
