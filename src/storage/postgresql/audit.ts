/**
 * The audit trail in PostgreSQL. Events are written by `Database.act` and by the batches of grants, in one transaction
 * with what they tell. A place is taken before its transaction commits, so that a later place may be seen earlier. A reader
 * takes events while no place between them is missing. Where one is missing, it waits until that place is filled or is
 * known to stay empty. So no event is ever skipped, and nothing else on the server can hold the reader up.
 *
 * Why a lock, and no comparison of transaction ids: ids are of the whole server, so that a transaction of another database,
 * or one that only reads, would hold readers up; and after a failover no lock is left of transactions that are gone.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { RecordedAuditEvent } from '../../oauth/trail/audit.ts';
import { type AuditStore, TrailHeldUp, TrailPlaceLost } from '../../oauth/trail/audit-store.ts';
import { AUDIT_EVENT, LAST_PLACE } from '../tables/audit-events.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { SQLSTATE, sqlState } from './errors.ts';
import { LOCKS } from './locks.ts';

/** Timeout of a reader that waits for writers, while no other writer begins (ms). They hold their places for one commit. */
const SETTLING_MS = 100;
/** Maximum number of times that the end of the trail is looked for, by whoever cannot begin without. */
const MAX_TRIES = 10;

const FROM = `SELECT ${AUDIT_EVENT.names} FROM audit_event WHERE sequence >= $1 ORDER BY sequence LIMIT $2`;
const LAST = `SELECT coalesce(max(sequence), 0) AS sequence FROM audit_event WHERE sequence <= ${LAST_PLACE}`;
/** Who holds the lock that `next_audit_sequence` takes. A prepared transaction has no process. */
const HOLDERS = `
  SELECT string_agg(coalesce(pid::text, 'of a prepared transaction'), ', ' ORDER BY pid) AS processes FROM pg_locks
  WHERE locktype = 'advisory' AND classid = $1 AND objid = $2 AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** The port's reading of the trail from a place on. */
export function trailFollowing(database: Database): Pick<AuditStore, 'lastAuditSequence' | 'listAuditEventsAfter'> {
  return {
    lastAuditSequence: () =>
      database.run(async (connection) => {
        // Many ask at once when instances start together, and each is in the way of all others.
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
 * The event at the place itself is read as well. Retention leaves the events of the last 30 days, and no reader keeps a
 * place for that long. So where this event is gone, the server never had it, as a replica after a failover: it may give
 * the places up to there once more.
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
 * Reads when every place that was taken is either filled or stays empty: places are taken under a shared lock that lasts
 * as long as their transaction, and this lock excludes it. Returns null when a writer holds its place for too long.
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
