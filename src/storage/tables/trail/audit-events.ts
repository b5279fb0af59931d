/**
 * The audit trail. An event is written in the transaction of its act; each store implements how readers follow the
 * trail.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type AccessOfRow, joinedAccess } from '../../../oauth/grants/granted-access.ts';
import { type AuditAction, type AuditEvent, INCIDENTS, type IncidentCounts } from '../../../oauth/trail/audit.ts';
import { type ChainedAuditEvent, rowText, type TrailRow } from '../../../oauth/trail/audit-chain.ts';
import {
  type AuditFilter,
  type AuditStore,
  type NamedAuditEvent,
  TRAIL_CLOCK_STEP_MS,
} from '../../../oauth/trail/audit-store.ts';
import { detailText } from '../../../oauth/trail/event-members.ts';
import { inGroups, type Runner, type Statement, type Tuple } from '../../statements/shared-operations.ts';
import { asBuffer, nullable, type Stored, Table } from '../../statements/table.ts';
import { auditLists } from './audit-lists.ts';

/** A stored event, with its positions in the trail and in a chain. */
export const CHAINED_EVENT = Table.of<ChainedAuditEvent>('audit_event', {
  sequence: 'integer',
  at: 'time',
  action: 'text',
  actor: { kind: 'text', id: 'text', source: nullable('text'), requestId: nullable('text'), by: nullable('text') },
  clientId: nullable('text'),
  resourceOwnerId: nullable('text'),
  grantId: nullable('text'),
  detail: nullable('text'),
  endedAccess: nullable('json'),
  chain: { id: 'text', number: 'integer', mac: 'bytes' },
});

/** An event without its position in a chain. */
export const AUDIT_EVENT = CHAINED_EVENT.without('chain');

/** An event before it has a position. */
export const NEW_EVENT = AUDIT_EVENT.without('sequence');

/** Returns an event as it is recorded, with the access of the grants that it ended. */
export function newEvent(event: AuditEvent, ended: readonly AccessOfRow[] | null = null) {
  const { action, actor } = event;
  return {
    ...event,
    actor: { ...actor, by: actor.by ?? null },
    detail: detailText(action, event.detail),
    endedAccess: ended && joinedAccess(ended),
  };
}

/** Filter fields, by the column that each is compared with. */
const ASKED = {
  sequence: 'sequence',
  clientId: 'client_id',
  resourceOwnerId: 'resource_owner_id',
  grantId: 'grant_id',
  actorBy: 'actor_by',
  action: 'action',
} as const satisfies Partial<Record<keyof AuditFilter, string>>;

/** Times have no index: `from` is the place before which every event is older than `since`. */
function listing({ limit, since, ...filter }: AuditFilter, from: number): Statement {
  const values: Stored[] = [limit];
  const parameter = (value: Stored) => `$${values.push(value)}`;
  const conditions = (Object.entries(ASKED) as [keyof typeof ASKED, string][])
    .filter(([field]) => filter[field] !== undefined)
    .map(([field, column]) => `${column} = ${parameter(filter[field] as Stored)}`);
  if (since !== undefined) conditions.push(`at >= ${parameter(since)}`, `sequence >= ${parameter(from)}`);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return { sql: `SELECT ${AUDIT_EVENT.names} FROM audit_event ${where} ORDER BY sequence DESC LIMIT $1`, values };
}

/**
 * Adds the name of the client, resource server, provider or operator, the account with its verified email, and the name of the
 * acting operator or provider. Ids of different kinds never collide, but the user of a command may have any name.
 */
const named = ({ sql, values }: Statement): Statement => ({
  sql: `
    SELECT ${AUDIT_EVENT.columns.map(({ name }) => `event.${name}`).join(', ')},
      coalesce(client.name, resource_server.name, identity_provider.name, operator.name), account.id,
      CASE WHEN account.email_verified THEN account.email END, account.name,
      coalesce(acting_operator.name, acting_provider.name)
    FROM (${sql}) AS event
    LEFT JOIN client ON client.id = event.client_id
    LEFT JOIN resource_server ON resource_server.id = event.client_id
    LEFT JOIN identity_provider ON identity_provider.id = event.client_id
    LEFT JOIN operator ON operator.id = event.client_id
    LEFT JOIN account ON account.id = event.resource_owner_id
    LEFT JOIN operator AS acting_operator ON event.actor_kind = 'operator' AND acting_operator.id = event.actor_id
    LEFT JOIN identity_provider AS acting_provider
      ON event.actor_kind = 'provider' AND acting_provider.id = event.actor_id
    ORDER BY event.sequence DESC`,
  values,
});

function readNamed(row: Tuple): NamedAuditEvent {
  const [clientName, id, email, name, actorName] = row.slice(AUDIT_EVENT.columns.length) as (string | null)[];
  const resourceOwner = id ? { id, email: email ?? null, name: name ?? null } : null;
  return { ...AUDIT_EVENT.read(row), clientName: clientName ?? null, actorName: actorName ?? null, resourceOwner };
}

/** The last sequence number that an event may have: the largest integer that every JSON reader represents exactly. */
export const LAST_PLACE = Number.MAX_SAFE_INTEGER;
const MISPLACED = `SELECT 1 FROM audit_event WHERE sequence < 1 OR sequence > ${LAST_PLACE} LIMIT 1`;

const WALK = `
  SELECT ${CHAINED_EVENT.names} FROM audit_event WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3`;

/** Selects the newest event before a time (ms), of an action that has its own index. */
const newest = (action: AuditAction, before: number): Statement => ({
  sql: `SELECT ${CHAINED_EVENT.names} FROM audit_event WHERE action = '${action}' AND at < $1 ORDER BY sequence DESC LIMIT 1`,
  values: [before],
});

/** SQLite takes the index of incidents only for its own condition. */
const IS_INCIDENT = `action IN (${INCIDENTS.map((action) => `'${action}'`).join(', ')})`;
const COUNT_INCIDENTS = `SELECT ${INCIDENTS.map(
  (action) => `(
    SELECT count(*) FROM (
      SELECT 1 FROM audit_event WHERE ${IS_INCIDENT} AND action = '${action}' AND at >= $1 LIMIT $2) AS found)`,
).join(', ')}`;

const LIST_INCIDENTS = INCIDENTS.map(
  (action) => `
    SELECT sequence FROM (
      SELECT sequence FROM audit_event WHERE ${IS_INCIDENT} AND action = '${action}' AND at >= $1
      ORDER BY at DESC LIMIT $2) AS newest`,
).join(' UNION ALL ');

const DELETE_OLDEST = `
  DELETE FROM audit_event
  WHERE sequence IN (SELECT sequence FROM audit_event WHERE sequence <= $1 ORDER BY sequence LIMIT $2)`;
const IS_LEFT = 'SELECT 1 FROM audit_event WHERE sequence <= $1 LIMIT 1';

/** Index of each column in a row, by its name. */
const PLACE = Object.fromEntries(CHAINED_EVENT.columns.map(({ name }, place) => [name, place]));

/** Returns the text that a MAC covers, from values in column order: all but the last one, which is the MAC. */
export function coveredText(values: readonly unknown[]): string {
  return rowText(values.slice(0, -1) as (string | number | null)[]);
}

function trailRow(values: readonly unknown[]): TrailRow {
  const value = <T>(name: string) => values[PLACE[name] as number] as T;
  return {
    sequence: value('sequence'),
    at: value('at'),
    action: value('action'),
    detail: value('detail'),
    chain: { id: value('chain_id'), number: value('chain_number'), mac: asBuffer(value('chain_mac')) },
    text: coveredText(values),
  };
}

/**
 * Implements the operations that both stores share. A scan may be long, so it yields to the event loop between batches.
 */
export function auditEventStore(runner: Runner): Omit<AuditStore, 'lastAuditSequence' | 'listAuditEventsAfter'> {
  const lists = auditLists(runner);
  const listingOf = async (filter: AuditFilter) =>
    listing(filter, filter.since === undefined ? 0 : await lists.findAuditPlace(filter.since - TRAIL_CLOCK_STEP_MS));
  const newestOf = async (action: AuditAction, before = Number.MAX_SAFE_INTEGER) =>
    (await runner.select(newest(action, before), 'all')).map(trailRow)[0] ?? null;
  return {
    hasMisplacedEvents: async () => (await runner.select({ sql: MISPLACED, values: [] }, 'all')).length > 0,
    findCheckpoint: (before) => newestOf('audit_checkpoint', before),
    findShortening: () => newestOf('audit_shortened'),
    async countIncidents(since, limit) {
      const [counts] = await runner.select({ sql: COUNT_INCIDENTS, values: [since, limit] }, 'all');
      return Object.fromEntries(INCIDENTS.map((action, at) => [action, Number(counts?.[at])])) as IncidentCounts;
    },
    async listIncidents(since, limit) {
      const rows = await runner.select({ sql: LIST_INCIDENTS, values: [since, limit] }, 'all');
      return rows.map(([sequence]) => Number(sequence));
    },
    recordDenial: (event) => runner.record(event),
    recordOfTrail: (event) => runner.record(event),
    async deleteTrailRows(upTo, limit) {
      await runner.change([], { sql: DELETE_OLDEST, values: [upTo, limit] });
      return (await runner.select({ sql: IS_LEFT, values: [upTo] }, 'all')).length > 0;
    },
    async listTrailRows(...values) {
      await nextTurn();
      return (await runner.select({ sql: WALK, values }, 'all')).map(trailRow);
    },
    async listChainedEvents(...values) {
      await nextTurn();
      return (await runner.select({ sql: WALK, values }, 'all')).map((row) => CHAINED_EVENT.read(row));
    },
    async listAuditEvents(filter) {
      return (await runner.select(await listingOf(filter), 'all')).map((row) => AUDIT_EVENT.read(row));
    },
    async listNamedAuditEvents(filter) {
      return (await runner.select(named(await listingOf(filter)), 'all')).map(readNamed);
    },
    ...lists,
    async listNamedAuditEventsAt(sequences) {
      const rows = await inGroups(
        runner,
        sequences,
        0,
        (some) =>
          named({
            sql: `SELECT ${AUDIT_EVENT.names} FROM audit_event WHERE sequence IN (${some.join(', ')})`,
            values: [],
          }).sql,
      );
      const found = new Map(rows.map(readNamed).map((event) => [event.sequence, event]));
      return sequences.map((sequence) => found.get(sequence)).filter((event) => event !== undefined);
    },
  };
}
