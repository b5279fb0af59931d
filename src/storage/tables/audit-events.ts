/** The audit trail. Its events are written with the acts that they tell of; how readers follow it is each store's own. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type GrantedAccess, together } from '../../oauth/grants/granted-access.ts';
import type { AuditAction, AuditEvent } from '../../oauth/trail/audit.ts';
import { type ChainedAuditEvent, rowText, type TrailRow } from '../../oauth/trail/audit-chain.ts';
import type { AuditFilter, AuditStore } from '../../oauth/trail/audit-store.ts';
import type { Runner, Statement } from '../acts.ts';
import { asBuffer, type Stored, Table } from './table.ts';

/** An event in its places in the trail and in a chain, as it is stored. */
export const CHAINED_EVENT = Table.of<ChainedAuditEvent>('audit_event', {
  sequence: 'integer',
  at: 'time',
  action: 'text',
  actor: { kind: 'text', id: 'text', source: 'text?', requestId: 'text?' },
  clientId: 'text?',
  resourceOwnerId: 'text?',
  grantId: 'text?',
  detail: 'text?',
  endedAccess: 'json?',
  chain: { id: 'text', number: 'integer', mac: 'bytes' },
});

/** What an event tells. */
export const AUDIT_EVENT = CHAINED_EVENT.without('chain');

/** The same before it has a place. */
export const NEW_EVENT = AUDIT_EVENT.without('sequence');

/** What is recorded of an event, and of the grants that it ended. */
export function newEvent(event: AuditEvent, ended: readonly GrantedAccess[] | null = null) {
  return { ...event, endedAccess: ended && together(ended) };
}

/** Columns that hold a condition each. */
const ASKED = {
  sequence: 'sequence',
  clientId: 'client_id',
  resourceOwnerId: 'resource_owner_id',
  grantId: 'grant_id',
  action: 'action',
} as const satisfies Partial<Record<keyof AuditFilter, string>>;

/** Maximum step of the clock (ms): an event may be older than one in an earlier place, by this at most. */
const CLOCK_STEP_MS = 86_400_000;

/**
 * There is no index of times: with `since`, the walk through the newest events ends at the first that is older by the step
 * of a clock.
 */
function listing({ limit, since, ...filter }: AuditFilter): Statement {
  const values: Stored[] = [limit];
  const parameter = (value: Stored) => `$${values.push(value)}`;
  const conditions = (Object.entries(ASKED) as [keyof typeof ASKED, string][])
    .filter(([field]) => filter[field] !== undefined)
    .map(([field, column]) => `${column} = ${parameter(filter[field] as Stored)}`);
  if (since !== undefined)
    conditions.push(
      `at >= ${parameter(since)}`,
      `sequence > coalesce((SELECT sequence FROM audit_event WHERE at < ${parameter(since - CLOCK_STEP_MS)}
        ORDER BY sequence DESC LIMIT 1), 0)`,
    );
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return { sql: `SELECT ${AUDIT_EVENT.names} FROM audit_event ${where} ORDER BY sequence DESC LIMIT $1`, values };
}

/** Names of the client, resource server or provider, and of the account with its verified address. Ids of different kinds are never equal. */
const named = ({ sql, values }: Statement): Statement => ({
  sql: `
    SELECT ${AUDIT_EVENT.columns.map(({ name }) => `event.${name}`).join(', ')},
      coalesce(client.name, resource_server.name, identity_provider.name), account.id,
      CASE WHEN account.email_verified THEN account.email END, account.name
    FROM (${sql}) AS event
    LEFT JOIN client ON client.id = event.client_id
    LEFT JOIN resource_server ON resource_server.id = event.client_id
    LEFT JOIN identity_provider ON identity_provider.id = event.client_id
    LEFT JOIN account ON account.id = event.resource_owner_id
    ORDER BY event.sequence DESC`,
  values,
});

/** The last place that an event may get, which is the largest integer that every reader of numbers tells from its neighbours. */
export const LAST_PLACE = Number.MAX_SAFE_INTEGER;
const MISPLACED = `SELECT 1 FROM audit_event WHERE sequence < 1 OR sequence > ${LAST_PLACE} LIMIT 1`;

const WALK = `
  SELECT ${CHAINED_EVENT.names} FROM audit_event WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3`;

/** The newest event of a kind that has an index of its own, before a time (ms). */
const newest = (action: AuditAction, before: number): Statement => ({
  sql: `SELECT ${CHAINED_EVENT.names} FROM audit_event WHERE action = '${action}' AND at < $1 ORDER BY sequence DESC LIMIT 1`,
  values: [before],
});

const DELETE_OLDEST = `
  DELETE FROM audit_event
  WHERE sequence IN (SELECT sequence FROM audit_event WHERE sequence <= $1 ORDER BY sequence LIMIT $2)`;
const IS_LEFT = 'SELECT 1 FROM audit_event WHERE sequence <= $1 LIMIT 1';

/** The place of each column in a row, by its name. */
const PLACE = Object.fromEntries(CHAINED_EVENT.columns.map(({ name }, place) => [name, place]));

/** The text that a MAC covers, of values in the order of the columns: all but the MAC, which is the last. */
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

/** The verbs that both stores run alike. Between two windows of a walk, which may be long, everything else goes on. */
export function trail(runner: Runner): Omit<AuditStore, 'lastAuditSequence' | 'listAuditEventsAfter'> {
  const newestOf = async (action: AuditAction, before = Number.MAX_SAFE_INTEGER) =>
    (await runner.select(newest(action, before), 'all')).map(trailRow)[0] ?? null;
  return {
    hasMisplacedEvents: async () => (await runner.select({ sql: MISPLACED, values: [] }, 'all')).length > 0,
    findCheckpoint: (before) => newestOf('audit_checkpoint', before),
    findShortening: () => newestOf('audit_shortened'),
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
      return (await runner.select(listing(filter), 'all')).map((row) => AUDIT_EVENT.read(row));
    },
    async listNamedAuditEvents(filter) {
      const rows = await runner.select(named(listing(filter)), 'all');
      return rows.map((row) => {
        const [clientName, id, email, name] = row.slice(AUDIT_EVENT.columns.length) as (string | null)[];
        const resourceOwner = id ? { id, email: email ?? null, name: name ?? null } : null;
        return { ...AUDIT_EVENT.read(row), clientName: clientName ?? null, resourceOwner };
      });
    },
  };
}
