/** The audit trail in SQLite. Its rows are written by `Tables.act`, in one transaction with what they tell. */
import type { Actor, AuditAction, RecordedAuditEvent } from '../../oauth/audit.ts';
import type { AuditFilter, AuditStore } from '../../oauth/store.ts';
import { parseAccess } from '../access-text.ts';
import type { Tables } from './tables.ts';

type AuditEventRow = {
  readonly sequence: number;
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

/** The port's audit trail on these tables. */
export function auditStore(tables: Tables): AuditStore {
  const last = tables.one<{ sequence: number | null }>('SELECT max(sequence) AS sequence FROM audit_event');
  const listAfter = tables.all<AuditEventRow>('SELECT * FROM audit_event WHERE sequence > ? ORDER BY sequence LIMIT ?');
  return {
    recordDenial: (event) => tables.record(event),
    async listAuditEvents({ clientId, resourceOwnerId, action, limit }: AuditFilter) {
      const asked = Object.entries({ client_id: clientId, resource_owner_id: resourceOwnerId, action }).filter(
        (condition): condition is [string, string] => condition[1] !== undefined,
      );
      const where = asked.length > 0 ? `WHERE ${asked.map(([column]) => `${column} = ?`).join(' AND ')}` : '';
      const list = tables.all<AuditEventRow>(`SELECT * FROM audit_event ${where} ORDER BY sequence DESC LIMIT ?`);
      return tables.onDisk('all', list(...asked.map(([, value]) => value), limit).map(asEvent));
    },
    async lastAuditSequence() {
      return tables.onDisk('all', last()?.sequence ?? 0);
    },
    async listAuditEventsAfter(sequence, limit) {
      return tables.onDisk('all', listAfter(sequence, limit).map(asEvent));
    },
  };
}

function asEvent(row: AuditEventRow): RecordedAuditEvent {
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
