/** The audit trail. Its events are written with the acts that they tell of; how readers follow it is each store's own. */
import type { AuditEvent, RecordedAuditEvent } from '../../oauth/audit.ts';
import { type GrantedAccess, together } from '../../oauth/granted-access.ts';
import type { AuditFilter, AuditStore } from '../../oauth/store.ts';
import type { Runner, Statement } from '../acts.ts';
import { type Stored, Table } from './table.ts';

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

/** Columns that hold a condition each. */
const ASKED = {
  sequence: 'sequence',
  clientId: 'client_id',
  resourceOwnerId: 'resource_owner_id',
  grantId: 'grant_id',
  action: 'action',
} as const satisfies Partial<Record<keyof AuditFilter, string>>;

/** How far apart the times of events may be whose places are in another order, as after a step of the clock (ms). */
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

/** Names of the client, resource server or provider, and of the account. Ids of different kinds are never equal. */
const named = ({ sql, values }: Statement): Statement => ({
  sql: `
    SELECT ${AUDIT_EVENT.columns.map(({ name }) => `event.${name}`).join(', ')},
      coalesce(client.name, resource_server.name, identity_provider.name), account.id, account.email, account.name
    FROM (${sql}) AS event
    LEFT JOIN client ON client.id = event.client_id
    LEFT JOIN resource_server ON resource_server.id = event.client_id
    LEFT JOIN identity_provider ON identity_provider.id = event.client_id
    LEFT JOIN account ON account.id = event.resource_owner_id
    ORDER BY event.sequence DESC`,
  values,
});

/** What both stores do alike. */
export function trail(runner: Runner): Pick<AuditStore, 'recordDenial' | 'listAuditEvents' | 'listNamedAuditEvents'> {
  return {
    recordDenial: (event) => runner.record(event),
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
