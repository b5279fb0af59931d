/** Walks over the audit trail: places by time, and narrow rows in either order. */
import type { AuditPlace, AuditStore, AuditWalk } from '../../../oauth/trail/audit-store.ts';
import type { Runner, Statement } from '../../statements/shared-operations.ts';
import { type Stored, Table } from '../../statements/table.ts';

const PLACE = Table.of<AuditPlace>('audit_event', { sequence: 'integer', at: 'time', isFound: 'boolean' });

/** The events of operators alone; as in their indexes, which have no other events. */
const OF_OPERATORS = "actor_kind = 'operator'";

/**
 * The conditions of the filter's fields with an index, the most selective one first; the others are compared row by row. An
 * app may have far more events than all operators together.
 */
const INDEXED = {
  grantId: (id: string) => `grant_id = ${id}`,
  resourceOwnerId: (id: string) => `resource_owner_id = ${id}`,
  changesOf: (id: string) => `client_id = ${id} AND resource_owner_id IS NULL`,
  actorBy: (by: string) => `actor_by = ${by}`,
  operatorId: (id: string) => `actor_id = ${id} AND ${OF_OPERATORS}`,
  byOperators: () => OF_OPERATORS,
  clientId: (id: string) => `client_id = ${id}`,
} as const satisfies Partial<Record<keyof AuditWalk, (value: string) => string>>;
const COMPARED = {
  ...INDEXED,
  action: (action: string) => `action = ${action}`,
  requestId: (id: string) => `actor_request_id = ${id}`,
} as const;

/** One index alone is read, and each of its rows counts, so that a page reads no more than its window. */
function walkOf({ order, actions, ...filter }: AuditWalk, after: number | null, limit: number): Statement {
  const values: Stored[] = [];
  const parameter = (value: Stored) => `$${values.push(value)}`;
  const condition = (field: keyof typeof COMPARED) =>
    field === 'byOperators' ? COMPARED[field]() : COMPARED[field](parameter(filter[field] as string));
  const asked = (Object.keys(COMPARED) as (keyof typeof COMPARED)[]).filter((field) => filter[field] !== undefined);
  const indexed = asked.find((field) => field in INDEXED);
  const read = indexed === undefined ? [] : [condition(indexed)];
  if (after !== null) read.push(`sequence ${order === 'newest' ? '<' : '>'} ${parameter(after)}`);
  const found = asked.filter((field) => field !== indexed).map(condition);
  if (actions !== undefined) found.push(`action IN (${actions.map(parameter).join(', ')})`);
  const where = read.length === 0 ? '' : `WHERE ${read.join(' AND ')}`;
  const sql = `
    SELECT sequence, at, coalesce(${found.join(' AND ') || 'TRUE'}, FALSE) FROM audit_event ${where}
    ORDER BY sequence ${order === 'newest' ? 'DESC' : 'ASC'} LIMIT ${limit}`;
  return { sql, values };
}

/** The event at the middle of a search, or the next one: numbers have gaps. */
const atMiddle = (column: 'sequence' | 'at') =>
  `(SELECT ${column} FROM audit_event WHERE sequence >= (low + high) / 2 ORDER BY sequence LIMIT 1)`;
const IS_BEFORE = `coalesce(${atMiddle('at')} < $1, FALSE)`;

/** A binary search in one statement. Times have no index, since every event would write it. */
const SEARCH = `
  WITH RECURSIVE search (low, high) AS (
    SELECT CAST(1 AS bigint), CAST(coalesce(max(sequence), 0) + 1 AS bigint) FROM audit_event
    UNION ALL
    SELECT CASE WHEN ${IS_BEFORE} THEN ${atMiddle('sequence')} + 1 ELSE low END,
      CASE WHEN ${IS_BEFORE} THEN high ELSE (low + high) / 2 END
    FROM search WHERE low < high)
  SELECT high FROM search WHERE low >= high LIMIT 1`;

/** Implements the port's walks. */
export function auditLists(runner: Runner): Pick<AuditStore, 'findAuditPlace' | 'listAuditPlaces'> {
  return {
    async findAuditPlace(at) {
      const [row] = await runner.select({ sql: SEARCH, values: [at] }, 'all');
      return row?.[0] as number;
    },
    async listAuditPlaces(walk, after, limit) {
      return (await runner.select(walkOf(walk, after, limit), 'all')).map((row) => PLACE.read(row));
    },
  };
}
