/** How readers follow the audit trail in SQLite, where places are taken and filled in one order. */
import type { AuditStore } from '../../oauth/store.ts';
import { AUDIT_EVENT } from '../tables/audit-events.ts';
import type { Tables } from './tables.ts';

/** The port's reading of the trail from a place on. */
export function trailFollowing(tables: Tables): Pick<AuditStore, 'lastAuditSequence' | 'listAuditEventsAfter'> {
  const last = tables.one<{ sequence: number | null }>('SELECT max(sequence) AS sequence FROM audit_event');
  const listAfter = tables.tuples(
    `SELECT ${AUDIT_EVENT.names} FROM audit_event WHERE sequence > ? ORDER BY sequence LIMIT ?`,
  );
  return {
    async lastAuditSequence() {
      return tables.onDisk('all', last()?.sequence ?? 0);
    },
    async listAuditEventsAfter(sequence, limit) {
      const events = listAfter(sequence, limit).map((row) => AUDIT_EVENT.read(row));
      return tables.onDisk('all', events);
    },
  };
}
