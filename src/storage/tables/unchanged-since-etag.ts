/** The demands of `If-Match` (RFC 9110 §13.1.1): the row is as it was when its `ETag` was computed. */
import type { Account } from '../../accounts/people/account.ts';
import type { AuditEvent } from '../../oauth/trail/audit.ts';
import type { Unchanged } from '../../oauth/trail/request-conditions.ts';
import type { Statement } from '../statements/shared-operations.ts';
import type { Stored, Table } from '../statements/table.ts';
import { ACCOUNT } from './accounts/accounts.ts';
import { OPERATOR } from './operators/operator-rows.ts';
import { CLIENT } from './registrations/clients.ts';
import { IDENTITY_PROVIDER } from './registrations/identity-providers.ts';
import { RESOURCE_SERVER } from './registrations/resource-servers.ts';
import { SCOPE } from './registrations/scopes.ts';

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

/** Finds one row always. An Allow locks its session: this waits for it, so that the next query finds its grant. */
const WAIT_FOR_ALLOWS = 'SELECT count(*) FROM (SELECT 1 FROM session WHERE account_id = $1 FOR UPDATE) AS its_sessions';
const NONE_SINCE = `
  SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM session WHERE account_id = $1 AND created_at >= $2)
    AND NOT EXISTS (SELECT 1 FROM oauth_grant WHERE resource_owner_id = $1 AND granted_at >= $2)`;

/** Returns the queries that must each find a row, in this order: the first one locks it. None for a request without the condition. */
export function demandsOf({ actor }: AuditEvent): Statement[] {
  const unchanged = actor.conditions?.unchanged;
  if (!unchanged) return [];
  const { noun, row, seenAt } = unchanged;
  const table = COMPARED[noun];
  const sql = `SELECT 1 FROM ${table.name} WHERE ${table.unchanged(1)} FOR NO KEY UPDATE`;
  const asSeen = { sql, values: table.values(row) };
  if (seenAt === undefined) return [asSeen];
  const { id } = row as Account;
  return [asSeen, { sql: WAIT_FOR_ALLOWS, values: [id] }, { sql: NONE_SINCE, values: [id, seenAt] }];
}
