/** The parts of the schema beside tables and columns: written by test/storage/catalogue.test.ts. */
import type { SchemaObject } from '../catalogue.ts';

/** Every index, key, reference, trigger and function. */
export const CATALOGUE: readonly SchemaObject[] = [
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_age',
    definition: 'CREATE INDEX account_by_age ON account (created_at, id)',
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_email',
    definition: 'CREATE INDEX account_by_email ON account (email_key) WHERE email_key IS NOT NULL',
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_foreign_rank',
    definition: 'CREATE INDEX account_by_foreign_rank ON account (foreign_rank) WHERE foreign_rank IS NOT NULL',
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_password_key',
    definition:
      "CREATE INDEX account_by_password_key ON account (json_extract(password, '$.keyId'), id) WHERE password IS NOT NULL",
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_sign_in',
    definition:
      'CREATE UNIQUE INDEX account_by_sign_in ON account (email_key) WHERE password IS NOT NULL OR invitation IS NOT NULL',
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_username',
    definition:
      'CREATE UNIQUE INDEX account_by_username ON account (username) WHERE (password IS NOT NULL OR invitation IS NOT NULL) AND username IS NOT NULL',
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_unwrapped',
    definition: 'CREATE INDEX account_unwrapped ON account (id) WHERE is_unwrapped',
  },
  {
    kind: 'key',
    table: 'account',
    name: 'primary',
    definition: 'id',
  },
  {
    kind: 'index',
    table: 'audit_event',
    name: 'audit_event_by_client',
    definition: 'CREATE INDEX audit_event_by_client ON audit_event (client_id) WHERE client_id IS NOT NULL',
  },
  {
    kind: 'index',
    table: 'audit_event',
    name: 'audit_event_by_resource_owner',
    definition:
      'CREATE INDEX audit_event_by_resource_owner ON audit_event (resource_owner_id) WHERE resource_owner_id IS NOT NULL',
  },
  {
    kind: 'index',
    table: 'audit_event',
    name: 'audit_event_checkpoint',
    definition: "CREATE INDEX audit_event_checkpoint ON audit_event (sequence) WHERE action = 'audit_checkpoint'",
  },
  {
    kind: 'index',
    table: 'audit_event',
    name: 'audit_event_shortened',
    definition: "CREATE INDEX audit_event_shortened ON audit_event (sequence) WHERE action = 'audit_shortened'",
  },
  {
    kind: 'key',
    table: 'audit_event',
    name: 'primary',
    definition: 'sequence',
  },
  {
    kind: 'index',
    table: 'client',
    name: 'client_by_age',
    definition: 'CREATE INDEX client_by_age ON client (created_at, id)',
  },
  {
    kind: 'index',
    table: 'client',
    name: 'client_by_name',
    definition: 'CREATE INDEX client_by_name ON client (name_key)',
  },
  {
    kind: 'key',
    table: 'client',
    name: 'primary',
    definition: 'id',
  },
  {
    kind: 'index',
    table: 'client_assertion',
    name: 'client_assertion_by_expiry',
    definition: 'CREATE INDEX client_assertion_by_expiry ON client_assertion (expires_at)',
  },
  {
    kind: 'key',
    table: 'client_assertion',
    name: 'primary',
    definition: 'digest',
  },
  {
    kind: 'key',
    table: 'client_assertion_total',
    name: 'primary',
    definition: 'client_id',
  },
  {
    kind: 'index',
    table: 'external_sign_in',
    name: 'external_sign_in_open',
    definition:
      'CREATE INDEX external_sign_in_open ON external_sign_in (identity_id) WHERE taken_at IS NULL AND identity_id IS NOT NULL',
  },
  {
    kind: 'key',
    table: 'external_sign_in',
    name: 'primary',
    definition: 'nonce',
  },
  {
    kind: 'key',
    table: 'former_account',
    name: 'primary',
    definition: 'id',
  },
  {
    kind: 'index',
    table: 'former_identity',
    name: 'former_identity_by_account',
    definition: 'CREATE INDEX former_identity_by_account ON former_identity (account_id)',
  },
  {
    kind: 'key',
    table: 'former_identity',
    name: 'primary',
    definition: 'id',
  },
  {
    kind: 'index',
    table: 'identity',
    name: 'identity_by_account',
    definition: 'CREATE INDEX identity_by_account ON identity (account_id)',
  },
  {
    kind: 'key',
    table: 'identity',
    name: 'primary',
    definition: 'id',
  },
  {
    kind: 'reference',
    table: 'identity',
    name: 'account_id',
    definition: 'account (id) on delete cascade',
  },
  {
    kind: 'reference',
    table: 'identity',
    name: 'provider_id',
    definition: 'identity_provider (id) on delete no action',
  },
  {
    kind: 'key',
    table: 'identity_provider',
    name: 'primary',
    definition: 'id',
  },
  {
    kind: 'key',
    table: 'installation',
    name: 'primary',
    definition: 'number',
  },
  {
    kind: 'key',
    table: 'migration',
    name: 'primary',
    definition: 'number',
  },
  {
    kind: 'index',
    table: 'oauth_grant',
    name: 'grant_by_client',
    definition: 'CREATE INDEX grant_by_client ON oauth_grant (client_id)',
  },
  {
    kind: 'index',
    table: 'oauth_grant',
    name: 'grant_by_resource_owner',
    definition: 'CREATE INDEX grant_by_resource_owner ON oauth_grant (resource_owner_id, client_id)',
  },
  {
    kind: 'key',
    table: 'oauth_grant',
    name: 'primary',
    definition: 'id',
  },
  {
    kind: 'index',
    table: 'resource_server',
    name: 'resource_server_by_resource',
    definition: 'CREATE INDEX resource_server_by_resource ON resource_server (resource) WHERE resource IS NOT NULL',
  },
  {
    kind: 'key',
    table: 'resource_server',
    name: 'primary',
    definition: 'id',
  },
  {
    kind: 'key',
    table: 'root_key',
    name: 'primary',
    definition: 'key_id',
  },
  {
    kind: 'key',
    table: 'scope',
    name: 'primary',
    definition: 'name',
  },
  {
    kind: 'key',
    table: 'secret_use',
    name: 'primary',
    definition: 'digest',
  },
  {
    kind: 'key',
    table: 'serving_instance',
    name: 'primary',
    definition: 'id',
  },
  {
    kind: 'index',
    table: 'session',
    name: 'session_by_account',
    definition: 'CREATE INDEX session_by_account ON session (account_id)',
  },
  {
    kind: 'key',
    table: 'session',
    name: 'primary',
    definition: 'digest',
  },
  {
    kind: 'reference',
    table: 'session',
    name: 'account_id',
    definition: 'account (id) on delete cascade',
  },
];
