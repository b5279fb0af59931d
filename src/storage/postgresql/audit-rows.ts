/** An event of the audit trail as a row, and back. */
import type { Actor, AuditAction, AuditEvent, RecordedAuditEvent } from '../../oauth/audit.ts';
import type { GrantedAccess } from '../../oauth/granted-access.ts';
import { accessText, parseAccess } from '../access-text.ts';

type EventRow = {
  readonly at: number;
  readonly action: AuditAction;
  readonly actor_kind: Actor['kind'];
  readonly actor_id: string;
  readonly actor_source: string | null;
  readonly actor_request_id: string | null;
  readonly client_id: string | null;
  readonly resource_owner_id: string | null;
  readonly grant_id: string | null;
  readonly detail: string | null;
  readonly ended_access: string | null;
};

/** An event's row with its place. */
export type RecordedEventRow = EventRow & { readonly sequence: number };

const TYPES = {
  at: 'bigint',
  action: 'text',
  actor_kind: 'text',
  actor_id: 'text',
  actor_source: 'text',
  actor_request_id: 'text',
  client_id: 'text',
  resource_owner_id: 'text',
  grant_id: 'text',
  detail: 'text',
  ended_access: 'text',
} as const satisfies Record<keyof EventRow, string>;

/** The columns of an event, without its place. */
export const EVENT_COLUMNS = Object.keys(TYPES).join(', ');

/** Their names and types, as a list of rows in JSON is read. */
export const EVENT_RECORD = Object.entries(TYPES)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');

/** Records events from a list of rows in JSON, each with the `attempt` that it tells of; one that is there stays as it is. */
export const RECORD_EVENTS = `
  INSERT INTO audit_event (${EVENT_COLUMNS}, attempt)
  SELECT ${EVENT_COLUMNS}, attempt FROM json_to_recordset($1) AS recorded (${EVENT_RECORD}, attempt uuid)
  ON CONFLICT (attempt) WHERE attempt IS NOT NULL DO NOTHING`;

/** What is stored of an event, and of the grants that it ended. */
export function eventRow({ actor, ...event }: AuditEvent, ended: readonly GrantedAccess[] | null = null): EventRow {
  return {
    at: event.at,
    action: event.action,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_source: actor.source,
    actor_request_id: actor.requestId,
    client_id: event.clientId,
    resource_owner_id: event.resourceOwnerId,
    grant_id: event.grantId,
    detail: event.detail,
    ended_access: accessText(ended),
  };
}

/** The event of a row. */
export function asEvent(row: RecordedEventRow): RecordedAuditEvent {
  return {
    sequence: row.sequence,
    at: row.at,
    action: row.action,
    actor: { kind: row.actor_kind, id: row.actor_id, source: row.actor_source, requestId: row.actor_request_id },
    clientId: row.client_id,
    resourceOwnerId: row.resource_owner_id,
    grantId: row.grant_id,
    detail: row.detail,
    endedAccess: parseAccess(row.ended_access),
  };
}
