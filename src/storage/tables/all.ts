/**
 * What an installation consists of, table by table. What lives for minutes and is made anew is not here: what devices ask for
 * while they wait, the counts of throttles, and which instances run.
 */
import { STORED_ACCOUNT } from './accounts.ts';
import { APP_FAILURE, TALLY } from './activity.ts';
import { CHAINED_EVENT } from './audit-events.ts';
import { CLIENT_ASSERTION, CLIENT_ASSERTION_TOTAL } from './client-assertions.ts';
import { STORED_CLIENT } from './clients.ts';
import { EXTERNAL_SIGN_IN } from './external-sign-ins.ts';
import { STORED_GRANT } from './grant-rows.ts';
import { FORMER_ACCOUNT, FORMER_IDENTITY, IDENTITY } from './identities.ts';
import { IDENTITY_PROVIDER } from './identity-providers.ts';
import { STORED_ROOT_KEY } from './installation.ts';
import { RESOURCE_SERVER } from './resource-servers.ts';
import { SCOPE } from './scopes.ts';
import { SECRET_USE } from './secret-uses.ts';
import { SESSION } from './sessions.ts';
import type { Column, Table } from './table.ts';

/** A column, whether described or found in a database. */
export type StoredColumn = Pick<Column, 'name' | 'kind' | 'isNullable'>;

/** A table, whatever its rows are. The first column is its key, by which both stores order the rows in the same way. */
export type StoredTable = Pick<Table<object>, 'name'> & { readonly columns: readonly StoredColumn[] };

/** All but the installation's own row, in an order in which each refers only to those before it. */
export const TABLES: readonly StoredTable[] = [
  STORED_ROOT_KEY,
  SCOPE,
  RESOURCE_SERVER,
  STORED_CLIENT,
  CLIENT_ASSERTION,
  CLIENT_ASSERTION_TOTAL,
  IDENTITY_PROVIDER,
  SECRET_USE,
  TALLY,
  APP_FAILURE,
  STORED_ACCOUNT,
  IDENTITY,
  FORMER_ACCOUNT,
  FORMER_IDENTITY,
  SESSION,
  EXTERNAL_SIGN_IN,
  STORED_GRANT,
  CHAINED_EVENT,
];

/** The column by which a table is walked: its key. */
export function keyColumn({ columns }: StoredTable): StoredColumn {
  return columns[0] as StoredColumn;
}
