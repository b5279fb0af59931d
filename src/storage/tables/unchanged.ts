/** The demand of `If-Match` (RFC 9110 §13.1.1): the row is as it was when its `ETag` was computed. */
import type { AuditEvent } from '../../oauth/trail/audit.ts';
import type { Unchanged } from '../../oauth/trail/request-conditions.ts';
import type { Statement } from '../acts.ts';
import { ACCOUNT } from './accounts.ts';
import { CLIENT } from './clients.ts';
import { IDENTITY_PROVIDER } from './identity-providers.ts';
import { OPERATOR } from './operator-rows.ts';
import { RESOURCE_SERVER } from './resource-servers.ts';
import { SCOPE } from './scopes.ts';
import type { Stored, Table } from './table.ts';

type Compared = Pick<Table<object>, 'name' | 'unchanged'> & { values(row: object): Stored[] };

/** The compared columns. The service itself fetches an app's keys: times of fetches are no change. */
const COMPARED: Readonly<Record<Unchanged['noun'], Compared>> = {
  client: CLIENT.without('jwksFetchedAt', 'jwksAskedAt'),
  resource_server: RESOURCE_SERVER,
  identity_provider: IDENTITY_PROVIDER,
  scope: SCOPE,
  user: ACCOUNT,
  operator: OPERATOR,
};

/** Returns the query that must find the row, and locks it, or null for a request without the condition. */
export function demandOf({ actor }: AuditEvent): Statement | null {
  const unchanged = actor.conditions?.unchanged;
  if (!unchanged) return null;
  const table = COMPARED[unchanged.noun];
  const sql = `SELECT 1 FROM ${table.name} WHERE ${table.unchanged(1)} FOR NO KEY UPDATE`;
  return { sql, values: table.values(unchanged.row) };
}
