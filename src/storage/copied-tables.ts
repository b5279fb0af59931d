/** What an installation consists of, table by table, in a form that all databases read and write alike. */

/** How a column is told: flags are 0 or 1; bytes and UUIDs are hexadecimal digits in lower case. */
export type ColumnKind = 'text' | 'number' | 'flag' | 'bytes' | 'uuid';

/** A column of a table. */
export type CopiedColumn = { readonly name: string; readonly kind: ColumnKind; readonly isNullable: boolean };

/**
 * A table with its columns in the order of the schemas. The first is its primary key, by which all databases order the rows
 * in the same way.
 */
export type CopiedTable = { readonly name: string; readonly columns: readonly CopiedColumn[] };

/** A value of a row, as `ColumnKind` says. */
export type CopiedValue = string | number | null;

/** A row: its values in the order of the columns. */
export type CopiedRow = readonly CopiedValue[];

/** The installation's own row, which makes a database whole. */
export const INSTALLATION: CopiedTable = table('installation', {
  number: 'number',
  id: 'bytes',
  epoch: 'number',
  created_at: 'number',
  token_prefix: 'text',
  settings: 'text',
  current_key_id: 'number',
});

/**
 * Everything else, in an order in which each refers only to those before it. What lives for minutes and is made anew is
 * not here: what devices ask for while they wait, and the counts of throttles.
 */
export const TABLES: readonly CopiedTable[] = [
  table('root_key', { key_id: 'number', canary: 'bytes', created_at: 'number' }),
  table('scope', { name: 'text', sentences: 'text', created_at: 'number' }),
  table('resource_server', {
    id: 'text',
    name: 'text',
    resource: 'text?',
    scopes: 'text?',
    secrets: 'text',
    created_at: 'number',
  }),
  table('client', {
    id: 'text',
    epoch: 'number',
    status: 'text',
    type: 'text',
    name: 'text',
    require_pkce: 'flag',
    refresh_overlap: 'number?',
    refresh_retry_window: 'number?',
    created_at: 'number',
    resumed_at: 'number?',
    secrets: 'text',
    redirect_uris: 'text',
    scopes: 'text',
    keys: 'text',
    consent: 'text',
    device_flow: 'flag',
    assertion_audience: 'text',
  }),
  table('client_assertion', { digest: 'bytes', client_id: 'text', expires_at: 'number' }),
  table('client_assertion_total', { client_id: 'text', marks: 'number', cleared_until: 'number' }),
  table('account', {
    id: 'text',
    epoch: 'number',
    status: 'text',
    email: 'text',
    email_key: 'text',
    username: 'text?',
    name: 'text',
    avatar_url: 'text?',
    is_operator: 'flag',
    password_phc: 'text',
    password_key_id: 'number',
    password_set_at: 'number',
    created_at: 'number',
  }),
  table('session', { digest: 'bytes', account_id: 'text', created_at: 'number', last_seen_at: 'number' }),
  table('oauth_grant', {
    id: 'uuid',
    client_id: 'text',
    resource_owner_id: 'text',
    epochs_installation: 'number',
    epochs_client: 'number',
    epochs_resource_owner: 'number',
    generation: 'number',
    key_id: 'number',
    rotated_at: 'number',
    access_token_expires_at: 'number?',
    expires_at: 'number',
    used_generation: 'number',
    last_used_at: 'number?',
    revoked_at: 'number?',
    revocation_reason: 'text?',
    granted_at: 'number',
    absolute_expires_at: 'number',
    seed: 'bytes',
    scope: 'text',
    redirect_uri: 'text',
    code_challenge: 'text?',
    resource: 'text?',
  }),
  table('audit_event', {
    sequence: 'number',
    at: 'number',
    action: 'text',
    actor_kind: 'text',
    actor_id: 'text',
    actor_source: 'text?',
    actor_request_id: 'text?',
    client_id: 'text?',
    resource_owner_id: 'text?',
    grant_id: 'text?',
    detail: 'text?',
    ended_access: 'text?',
  }),
];

/** The column by which a table is walked: its primary key. */
export function keyColumn({ columns }: CopiedTable): CopiedColumn {
  return columns[0] as CopiedColumn;
}

/** A table from its columns; a question mark says that one may be null. */
function table(name: string, columns: Readonly<Record<string, ColumnKind | `${ColumnKind}?`>>): CopiedTable {
  return {
    name,
    columns: Object.entries(columns).map(([column, told]) => {
      const isNullable = told.endsWith('?');
      return { name: column, kind: (isNullable ? told.slice(0, -1) : told) as ColumnKind, isNullable };
    }),
  };
}
