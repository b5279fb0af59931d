/**
 * The tables of an installation. Omits tables of short-lived, replaceable rows: waiting device requests,
 * counters of throttles, and running instances.
 */
import type { Column, Table } from '../statements/table.ts';
import { STORED_ACCOUNT } from './accounts/accounts.ts';
import { EXTERNAL_SIGN_IN } from './accounts/external-sign-ins.ts';
import { FORMER_ACCOUNT, FORMER_IDENTITY, IDENTITY } from './accounts/identities.ts';
import { SESSION } from './accounts/sessions.ts';
import { STORED_GRANT } from './grants/grant-rows.ts';
import { STORED_ROOT_KEY } from './installation/installation.ts';
import { SIGNING_KEY } from './installation/signing-keys.ts';
import { IDEMPOTENCY_KEY } from './operators/idempotency-keys.ts';
import { OPERATOR_KEY } from './operators/operator-keys.ts';
import { OPERATOR, OPERATOR_ONCE } from './operators/operator-rows.ts';
import { OPERATOR_PASSKEY, OPERATOR_SESSION } from './operators/operator-sessions.ts';
import { OPERATOR_ONE_TIME_ADDRESS } from './operators/operators.ts';
import { APP_FAILURE, TALLY } from './registrations/activity.ts';
import { CLIENT_ASSERTION, CLIENT_ASSERTION_TOTAL } from './registrations/client-assertions.ts';
import { STORED_CLIENT } from './registrations/clients.ts';
import { HAND_OVER } from './registrations/hand-over-rows.ts';
import { IDENTITY_PROVIDER } from './registrations/identity-providers.ts';
import { RESOURCE_SERVER } from './registrations/resource-servers.ts';
import { SCOPE } from './registrations/scopes.ts';
import { SECRET_USE } from './registrations/secret-uses.ts';
import { CHAINED_EVENT } from './trail/audit-events.ts';

/** A column, whether described or found in a database. */
export type StoredColumn = Pick<Column, 'name' | 'kind' | 'isNullable'>;

/** A table of any rows. The first column is its key, by which both stores sort the rows alike. */
export type StoredTable = Pick<Table<object>, 'name'> & { readonly columns: readonly StoredColumn[] };

/** All tables but the installation's own row, ordered so that each refers only to earlier ones. */
export const TABLES: readonly StoredTable[] = [
  STORED_ROOT_KEY,
  SIGNING_KEY,
  SCOPE,
  RESOURCE_SERVER,
  STORED_CLIENT,
  CLIENT_ASSERTION,
  CLIENT_ASSERTION_TOTAL,
  IDENTITY_PROVIDER,
  SECRET_USE,
  TALLY,
  APP_FAILURE,
  IDEMPOTENCY_KEY,
  STORED_ACCOUNT,
  IDENTITY,
  FORMER_ACCOUNT,
  FORMER_IDENTITY,
  SESSION,
  EXTERNAL_SIGN_IN,
  STORED_GRANT,
  CHAINED_EVENT,
  HAND_OVER,
  OPERATOR,
  OPERATOR_PASSKEY,
  OPERATOR_SESSION,
  OPERATOR_KEY,
  OPERATOR_ONE_TIME_ADDRESS,
  OPERATOR_ONCE,
];

/** Returns the key column, which orders scans of the table. */
export function keyColumn({ columns }: StoredTable): StoredColumn {
  return columns[0] as StoredColumn;
}
