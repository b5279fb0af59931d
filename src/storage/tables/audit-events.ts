/** The audit trail. Its events are written with the acts that they tell of; how readers follow it is each store's own. */
import type { AuditEvent, RecordedAuditEvent } from '../../oauth/audit.ts';
import { type GrantedAccess, together } from '../../oauth/granted-access.ts';
import type { AuditStore } from '../../oauth/store.ts';
import type { Runner } from '../acts.ts';
import { Table } from './table.ts';

/** An event in its place, as it is stored. */
export const AUDIT_EVENT = Table.of<RecordedAuditEvent>('audit_event', {
  sequence: 'integer',
  at: 'time',
  action: 'text',
  actor: { kind: 'text', id: 'text', source: 'text?', requestId: 'text?' },
  clientId: 'text?',
  resourceOwnerId: 'text?',
  grantId: 'text?',
  detail: 'text?',
  endedAccess: 'json?',
});

/** The same before it has a place. */
export const NEW_EVENT = AUDIT_EVENT.without('sequence');

/** What is recorded of an event, and of the grants that it ended. */
export function newEvent(event: AuditEvent, ended: readonly GrantedAccess[] | null = null) {
  return { ...event, endedAccess: ended && together(ended) };
}

/** What both stores do alike. */
export function trail(runner: Runner): Pick<AuditStore, 'recordDenial' | 'listAuditEvents'> {
  return {
    recordDenial: (event) => runner.record(event),
    async listAuditEvents({ clientId, resourceOwnerId, action, limit }) {
      const asked = Object.entries({ client_id: clientId, resource_owner_id: resourceOwnerId, action }).filter(
        (condition): condition is [string, string] => condition[1] !== undefined,
      );
      const conditions = asked.map(([column], index) => `${column} = $${index + 2}`).join(' AND ');
      const sql = `SELECT ${AUDIT_EVENT.names} FROM audit_event ${conditions && `WHERE ${conditions}`} ORDER BY sequence DESC LIMIT $1`;
      const rows = await runner.select({ sql, values: [limit, ...asked.map(([, value]) => value)] }, 'all');
      return rows.map((row) => AUDIT_EVENT.read(row));
    },
  };
}
