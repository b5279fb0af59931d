/**
 * The audit trail in PostgreSQL. Events are written by `Database.act` and by the batches of grants, in one transaction
 * with what they tell. A place is taken before its transaction commits, so that a later place may be seen earlier: who
 * reads on from a place takes events as they come while no place is missing between them, and where one is, waits until
 * it is known to stay empty. No event is ever skipped, and nothing else on the server can hold the reader up.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { RecordedAuditEvent } from '../../oauth/audit.ts';
import { type AuditFilter, type AuditStore, StoreUnavailable } from '../../oauth/store.ts';
import { asEvent, EVENT_COLUMNS, type RecordedEventRow } from './audit-rows.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { SQLSTATE, sqlState } from './errors.ts';
import { LOCKS } from './locks.ts';

/** So long writers may let a reader wait, and none of them behind it (ms). They hold their places for one commit. */
const SETTLING_MS = 100;
/** So often the end of the trail is looked for, by whoever cannot begin without. */
const MOST_TRIES = 10;

const SELECT = `SELECT sequence, ${EVENT_COLUMNS} FROM audit_event`;
const AFTER = `${SELECT} WHERE sequence > $1 ORDER BY sequence LIMIT $2`;
const LAST = 'SELECT coalesce(max(sequence), 0) AS sequence FROM audit_event';

/** The port's audit trail. */
export function auditStore(database: Database): AuditStore {
  return {
    recordDenial: (event) => database.record(event),
    async listAuditEvents({ clientId, resourceOwnerId, action, limit }: AuditFilter) {
      const asked = Object.entries({ client_id: clientId, resource_owner_id: resourceOwnerId, action }).filter(
        (condition): condition is [string, string] => condition[1] !== undefined,
      );
      const conditions = asked.map(([column], index) => `${column} = $${index + 2}`);
      const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
      const list = `${SELECT} ${where} ORDER BY sequence DESC LIMIT $1`;
      const rows = await database.rows<RecordedEventRow>(list, [limit, ...asked.map(([, value]) => value)]);
      return rows.map(asEvent);
    },
    lastAuditSequence: () =>
      database.run(async (connection) => {
        // Many ask at once when instances start together, and each is in the way of all others.
        for (let tries = 0; tries < MOST_TRIES; tries += 1) {
          const last = await whenSettled(connection, () => connection.one<{ sequence: number }>(LAST));
          if (last) return last.sequence;
          await pause(SETTLING_MS);
        }
        throw new StoreUnavailable('the end of the audit trail is being written');
      }),
    listAuditEventsAfter: (sequence, limit) =>
      database.run(async (connection) => {
        const list = () => listAfter(connection, sequence, limit);
        const events = await list();
        const settled = withoutGap(events, sequence);
        return settled.length === events.length ? events : ((await whenSettled(connection, list)) ?? settled);
      }),
  };
}

async function listAfter(connection: Connection, sequence: number, limit: number): Promise<RecordedAuditEvent[]> {
  return (await connection.rows<RecordedEventRow>(AFTER, [sequence, limit])).map(asEvent);
}

/** The events up to the first place that is missing. */
function withoutGap(events: readonly RecordedAuditEvent[], after: number): RecordedAuditEvent[] {
  return events.filter((event, index) => event.sequence === after + index + 1);
}

/**
 * Reads when every place that was taken is either filled or stays empty: places are taken under a shared lock that lasts
 * as long as their transaction, and this lock excludes it. Answers null when a writer holds its place for too long.
 */
async function whenSettled<T>(connection: Connection, read: () => Promise<T>): Promise<T | null> {
  try {
    return await connection.transaction(async () => {
      await connection.script(`SET LOCAL lock_timeout = ${SETTLING_MS}`);
      await connection.one('SELECT pg_advisory_xact_lock($1, $2)', LOCKS.audit);
      return read();
    });
  } catch (error) {
    if (sqlState(error) !== SQLSTATE.LOCK_NOT_AVAILABLE) throw error;
    return null;
  }
}
