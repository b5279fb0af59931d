/**
 * The audit trail in PostgreSQL. `Database.act` and the batches of grants write events in the transaction of their acts. A
 * sequence number is assigned before its transaction commits, so a later number may become visible earlier. A reader takes
 * events while no number between them is missing. At a missing number it waits until that number is filled or certain to
 * stay empty. So no event is ever skipped, and no other activity on the server delays the reader.
 *
 * Why a lock instead of a comparison of transaction ids: the whole server shares the ids, so a transaction of another
 * database, or a read-only one, would delay readers; and after a failover, vanished transactions leave no lock behind.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { RecordedAuditEvent } from '../../../oauth/trail/audit.ts';
import { type AuditStore, TrailHeldUp, TrailPlaceLost } from '../../../oauth/trail/audit-store.ts';
import { AUDIT_EVENT, LAST_PLACE } from '../../tables/trail/audit-events.ts';
import type { Connection } from '../connection/connection.ts';
import { SQLSTATE, sqlState } from '../connection/errors.ts';
import type { Database } from '../statements/database.ts';
import { LOCKS } from '../statements/locks.ts';

/**
 * Timeout of a reader that waits for writers, which new writers must also wait for (ms). Writers hold their sequence
 * numbers for one commit.
 */
const SETTLING_MS = 100;
/** Maximum number of attempts to find the end of the trail, for a caller that cannot start without it. */
const MAX_TRIES = 10;

const FROM = `SELECT ${AUDIT_EVENT.names} FROM audit_event WHERE sequence >= $1 ORDER BY sequence LIMIT $2`;
const LAST = `SELECT coalesce(max(sequence), 0) AS sequence FROM audit_event WHERE sequence <= ${LAST_PLACE}`;
/** Processes that hold the lock of `next_audit_sequence`. A prepared transaction has no process. */
const HOLDERS = `
  SELECT string_agg(coalesce(pid::text, 'of a prepared transaction'), ', ' ORDER BY pid) AS processes FROM pg_locks
  WHERE locktype = 'advisory' AND classid = $1 AND objid = $2 AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Implements the port's reading of the trail after a sequence number. */
export function trailFollowing(database: Database): Pick<AuditStore, 'lastAuditSequence' | 'listAuditEventsAfter'> {
  return {
    lastAuditSequence: () =>
      database.run(async (connection) => {
        // Many readers ask at once when instances start together, and each one's lock blocks all others.
        for (let tries = 0; tries < MAX_TRIES; tries += 1) {
          const last = await whenSettled(connection, () => connection.one<{ sequence: number }>(LAST));
          if (last) return last.sequence;
          await pause(SETTLING_MS);
        }
        throw await heldUp(connection);
      }),
    listAuditEventsAfter: (sequence, limit) =>
      database.run(async (connection) => {
        const events = await listAfter(connection, sequence, limit);
        if (isWithoutGap(events, sequence)) return events;
        const settled = await whenSettled(connection, () => listAfter(connection, sequence, limit));
        if (!settled) throw await heldUp(connection);
        return settled;
      }),
  };
}

/**
 * Reads the event at `sequence` as well. Retention keeps the events of the last 30 days, and no reader keeps its
 * position for that long. So if this event is missing, the server never had it, such as a replica after a failover: it
 * may assign the same sequence numbers again.
 */
async function listAfter(connection: Connection, sequence: number, limit: number): Promise<RecordedAuditEvent[]> {
  const events = (await connection.tuples(FROM, [sequence, limit + 1])).map((row) => AUDIT_EVENT.read(row));
  if (sequence === 0) return events.slice(0, limit);
  if (events[0]?.sequence !== sequence)
    throw new TrailPlaceLost(`the audit trail has lost place ${sequence}: the database is an older one than before`);
  return events.slice(1);
}

function isWithoutGap(events: readonly RecordedAuditEvent[], after: number): boolean {
  return events.every((event, index) => event.sequence === after + index + 1);
}

async function heldUp(connection: Connection): Promise<TrailHeldUp> {
  const { processes } = (await connection.one<{ processes: string | null }>(HOLDERS, LOCKS.audit)) ?? {};
  return new TrailHeldUp(
    `the audit trail is held up by a transaction that has taken a place in it and has not ended (server process ${processes ?? 'unknown'})`,
  );
}

/**
 * Reads while every assigned sequence number is either filled or stays empty: numbers are assigned under a shared lock
 * that lasts as long as their transaction, and this lock excludes it. Returns null if a writer holds its number for too
 * long.
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
