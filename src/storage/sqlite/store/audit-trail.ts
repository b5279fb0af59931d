/** Following the audit trail in SQLite, where sequence numbers are assigned and committed in one order. */
import type { AuditStore } from '../../../oauth/trail/audit-store.ts';
import { listRows, type Runner } from '../../statements/shared-operations.ts';
import { AUDIT_EVENT, LAST_PLACE } from '../../tables/trail/audit-events.ts';

const LAST = `SELECT coalesce(max(sequence), 0) FROM audit_event WHERE sequence <= ${LAST_PLACE}`;
const AFTER = `SELECT ${AUDIT_EVENT.names} FROM audit_event WHERE sequence > $1 ORDER BY sequence LIMIT $2`;

/**
 * Implements the port's reading of the trail after a sequence number. `requireInPlace` throws once the file is
 * replaced, as by a restore: otherwise a reader would wait forever for events that only the new file gets.
 */
export function trailFollowing(
  runner: Runner,
  requireInPlace: () => void,
): Pick<AuditStore, 'lastAuditSequence' | 'listAuditEventsAfter'> {
  return {
    async lastAuditSequence() {
      requireInPlace();
      return (await runner.select({ sql: LAST, values: [] }, 'all'))[0]?.[0] as number;
    },
    listAuditEventsAfter: (sequence, limit) => listRows(runner, AUDIT_EVENT, AFTER, [sequence, limit]),
  };
}
