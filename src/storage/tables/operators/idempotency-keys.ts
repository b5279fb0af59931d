/** `Idempotency-Key`s of operators' requests, each written in the transaction of what it made. */
import type { AuditEvent } from '../../../oauth/trail/audit.ts';
import { IDEMPOTENCY_KEY_MS, type IdempotencyStore, type Made } from '../../../oauth/trail/request-conditions.ts';
import { findRow, type Runner, type Statement } from '../../statements/shared-operations.ts';
import { Table } from '../../statements/table.ts';

/** A stored key. */
export const IDEMPOTENCY_KEY = Table.of<Made>('idempotency_key', {
  digest: 'bytes',
  request: 'bytes',
  at: 'time',
  made: 'text',
});

/** Changes one row, unless the key is there and alive. In PostgreSQL it waits for a transaction that adds the key. */
const RECORD = `
  ${IDEMPOTENCY_KEY.insertion}
  ON CONFLICT (digest) DO UPDATE SET request = excluded.request, at = excluded.at, made = excluded.made
  WHERE idempotency_key.at <= excluded.at - ${IDEMPOTENCY_KEY_MS}`;
const FIND = `SELECT ${IDEMPOTENCY_KEY.names} FROM idempotency_key WHERE digest = $1`;

/** Returns the statement that records the key of an act's request, or null without one. It must change one row. */
export function recordingKey({ actor, clientId, resourceOwnerId }: AuditEvent): Statement | null {
  const once = actor.conditions?.once;
  if (!once) return null;
  const made = clientId ?? resourceOwnerId ?? '';
  return { sql: RECORD, values: IDEMPOTENCY_KEY.values({ ...once, made }) };
}

/** Implements the port for `Idempotency-Key`s. */
export function idempotencyStore(runner: Runner): IdempotencyStore {
  return { findMade: (digest) => findRow(runner, IDEMPOTENCY_KEY, { sql: FIND, values: [digest] }) };
}
