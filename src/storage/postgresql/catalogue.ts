/** The parts of the schema beside tables and columns: written by test/storage/catalogue.test.ts. */
import type { SchemaObject } from '../catalogue.ts';

/** Every index, key, reference, trigger and function. */
export const CATALOGUE: readonly SchemaObject[] = [
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_age',
    definition: 'CREATE INDEX account_by_age ON account USING btree (created_at, id)',
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_email',
    definition: 'CREATE INDEX account_by_email ON account USING btree (email_key) WHERE (email_key IS NOT NULL)',
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_foreign_rank',
    definition:
      'CREATE INDEX account_by_foreign_rank ON account USING btree (foreign_rank) WHERE (foreign_rank IS NOT NULL)',
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_password_key',
    definition:
      "CREATE INDEX account_by_password_key ON account USING btree (((((password)::jsonb ->> 'keyId'::text))::bigint), id) WHERE (password IS NOT NULL)",
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_sign_in',
    definition:
      'CREATE UNIQUE INDEX account_by_sign_in ON account USING btree (email_key) WHERE ((password IS NOT NULL) OR (invitation IS NOT NULL))',
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_by_username',
    definition:
      'CREATE UNIQUE INDEX account_by_username ON account USING btree (username) WHERE (((password IS NOT NULL) OR (invitation IS NOT NULL)) AND (username IS NOT NULL))',
  },
  {
    kind: 'index',
    table: 'account',
    name: 'account_unwrapped',
    definition: 'CREATE INDEX account_unwrapped ON account USING btree (id) WHERE is_unwrapped',
  },
  {
    kind: 'key',
    table: 'account',
    name: 'account_pkey',
    definition: 'ALTER TABLE account ADD CONSTRAINT account_pkey PRIMARY KEY (id)',
  },
  {
    kind: 'index',
    table: 'audit_event',
    name: 'audit_event_by_attempt',
    definition:
      'CREATE UNIQUE INDEX audit_event_by_attempt ON audit_event USING btree (attempt) WHERE (attempt IS NOT NULL)',
  },
  {
    kind: 'index',
    table: 'audit_event',
    name: 'audit_event_by_client',
    definition:
      'CREATE INDEX audit_event_by_client ON audit_event USING btree (client_id, sequence) WHERE (client_id IS NOT NULL)',
  },
  {
    kind: 'index',
    table: 'audit_event',
    name: 'audit_event_by_resource_owner',
    definition:
      'CREATE INDEX audit_event_by_resource_owner ON audit_event USING btree (resource_owner_id, sequence) WHERE (resource_owner_id IS NOT NULL)',
  },
  {
    kind: 'index',
    table: 'audit_event',
    name: 'audit_event_checkpoint',
    definition:
      "CREATE INDEX audit_event_checkpoint ON audit_event USING btree (sequence) WHERE (action = 'audit_checkpoint'::text)",
  },
  {
    kind: 'index',
    table: 'audit_event',
    name: 'audit_event_shortened',
    definition:
      "CREATE INDEX audit_event_shortened ON audit_event USING btree (sequence) WHERE (action = 'audit_shortened'::text)",
  },
  {
    kind: 'key',
    table: 'audit_event',
    name: 'audit_event_pkey',
    definition: 'ALTER TABLE audit_event ADD CONSTRAINT audit_event_pkey PRIMARY KEY (sequence)',
  },
  {
    kind: 'trigger',
    table: 'audit_event',
    name: 'chain_audit_event',
    definition:
      'CREATE TRIGGER chain_audit_event BEFORE INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION chain_audit_event(); ALTER TABLE audit_event ENABLE ALWAYS TRIGGER chain_audit_event',
  },
  {
    kind: 'index',
    table: 'client',
    name: 'client_by_age',
    definition: 'CREATE INDEX client_by_age ON client USING btree (created_at, id)',
  },
  {
    kind: 'index',
    table: 'client',
    name: 'client_by_name',
    definition: 'CREATE INDEX client_by_name ON client USING btree (name_key)',
  },
  {
    kind: 'key',
    table: 'client',
    name: 'client_pkey',
    definition: 'ALTER TABLE client ADD CONSTRAINT client_pkey PRIMARY KEY (id)',
  },
  {
    kind: 'index',
    table: 'client_assertion',
    name: 'client_assertion_by_expiry',
    definition: 'CREATE INDEX client_assertion_by_expiry ON client_assertion USING btree (expires_at)',
  },
  {
    kind: 'key',
    table: 'client_assertion',
    name: 'client_assertion_pkey',
    definition: 'ALTER TABLE client_assertion ADD CONSTRAINT client_assertion_pkey PRIMARY KEY (digest)',
  },
  {
    kind: 'key',
    table: 'client_assertion_total',
    name: 'client_assertion_total_pkey',
    definition: 'ALTER TABLE client_assertion_total ADD CONSTRAINT client_assertion_total_pkey PRIMARY KEY (client_id)',
  },
  {
    kind: 'index',
    table: 'device_request',
    name: 'device_request_by_expiry',
    definition: 'CREATE INDEX device_request_by_expiry ON device_request USING btree (expires_at)',
  },
  {
    kind: 'index',
    table: 'device_request',
    name: 'device_request_by_network_1',
    definition: 'CREATE INDEX device_request_by_network_1 ON device_request USING btree (network_1)',
  },
  {
    kind: 'index',
    table: 'device_request',
    name: 'device_request_by_network_32',
    definition: 'CREATE INDEX device_request_by_network_32 ON device_request USING btree (network_32)',
  },
  {
    kind: 'index',
    table: 'device_request',
    name: 'device_request_by_network_4',
    definition: 'CREATE INDEX device_request_by_network_4 ON device_request USING btree (network_4)',
  },
  {
    kind: 'key',
    table: 'device_request',
    name: 'device_request_pkey',
    definition: 'ALTER TABLE device_request ADD CONSTRAINT device_request_pkey PRIMARY KEY (user_code)',
  },
  {
    kind: 'index',
    table: 'external_sign_in',
    name: 'external_sign_in_open',
    definition:
      'CREATE INDEX external_sign_in_open ON external_sign_in USING btree (identity_id) WHERE ((taken_at IS NULL) AND (identity_id IS NOT NULL))',
  },
  {
    kind: 'key',
    table: 'external_sign_in',
    name: 'external_sign_in_pkey',
    definition: 'ALTER TABLE external_sign_in ADD CONSTRAINT external_sign_in_pkey PRIMARY KEY (nonce)',
  },
  {
    kind: 'key',
    table: 'former_account',
    name: 'former_account_pkey',
    definition: 'ALTER TABLE former_account ADD CONSTRAINT former_account_pkey PRIMARY KEY (id)',
  },
  {
    kind: 'index',
    table: 'former_identity',
    name: 'former_identity_by_account',
    definition: 'CREATE INDEX former_identity_by_account ON former_identity USING btree (account_id)',
  },
  {
    kind: 'key',
    table: 'former_identity',
    name: 'former_identity_pkey',
    definition: 'ALTER TABLE former_identity ADD CONSTRAINT former_identity_pkey PRIMARY KEY (id)',
  },
  {
    kind: 'index',
    table: 'identity',
    name: 'identity_by_account',
    definition: 'CREATE INDEX identity_by_account ON identity USING btree (account_id)',
  },
  {
    kind: 'key',
    table: 'identity',
    name: 'identity_pkey',
    definition: 'ALTER TABLE identity ADD CONSTRAINT identity_pkey PRIMARY KEY (id)',
  },
  {
    kind: 'reference',
    table: 'identity',
    name: 'identity_account_id_fkey',
    definition:
      'ALTER TABLE identity ADD CONSTRAINT identity_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED',
  },
  {
    kind: 'reference',
    table: 'identity',
    name: 'identity_provider_id_fkey',
    definition:
      'ALTER TABLE identity ADD CONSTRAINT identity_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES identity_provider(id)',
  },
  {
    kind: 'key',
    table: 'identity_provider',
    name: 'identity_provider_pkey',
    definition: 'ALTER TABLE identity_provider ADD CONSTRAINT identity_provider_pkey PRIMARY KEY (id)',
  },
  {
    kind: 'key',
    table: 'installation',
    name: 'installation_pkey',
    definition: 'ALTER TABLE installation ADD CONSTRAINT installation_pkey PRIMARY KEY (number)',
  },
  {
    kind: 'key',
    table: 'migration',
    name: 'migration_pkey',
    definition: 'ALTER TABLE migration ADD CONSTRAINT migration_pkey PRIMARY KEY (number)',
  },
  {
    kind: 'index',
    table: 'oauth_grant',
    name: 'grant_by_client',
    definition: 'CREATE INDEX grant_by_client ON oauth_grant USING btree (client_id, id)',
  },
  {
    kind: 'index',
    table: 'oauth_grant',
    name: 'grant_by_resource_owner',
    definition: 'CREATE INDEX grant_by_resource_owner ON oauth_grant USING btree (resource_owner_id, client_id, id)',
  },
  {
    kind: 'key',
    table: 'oauth_grant',
    name: 'oauth_grant_pkey',
    definition: 'ALTER TABLE oauth_grant ADD CONSTRAINT oauth_grant_pkey PRIMARY KEY (id)',
  },
  {
    kind: 'index',
    table: 'resource_server',
    name: 'resource_server_by_resource',
    definition:
      'CREATE INDEX resource_server_by_resource ON resource_server USING btree (resource) WHERE (resource IS NOT NULL)',
  },
  {
    kind: 'key',
    table: 'resource_server',
    name: 'resource_server_pkey',
    definition: 'ALTER TABLE resource_server ADD CONSTRAINT resource_server_pkey PRIMARY KEY (id)',
  },
  {
    kind: 'key',
    table: 'root_key',
    name: 'root_key_pkey',
    definition: 'ALTER TABLE root_key ADD CONSTRAINT root_key_pkey PRIMARY KEY (key_id)',
  },
  {
    kind: 'function',
    table: 'schema',
    name: 'chain_audit_event',
    definition: 'ddcbe680cb8c086e3df5b1607f50199d',
  },
  {
    kind: 'function',
    table: 'schema',
    name: 'next_audit_sequence',
    definition: 'a89494cbc6ce80def87f45a0e91b2d6f',
  },
  {
    kind: 'key',
    table: 'scope',
    name: 'scope_pkey',
    definition: 'ALTER TABLE scope ADD CONSTRAINT scope_pkey PRIMARY KEY (name)',
  },
  {
    kind: 'key',
    table: 'secret_use',
    name: 'secret_use_pkey',
    definition: 'ALTER TABLE secret_use ADD CONSTRAINT secret_use_pkey PRIMARY KEY (digest)',
  },
  {
    kind: 'key',
    table: 'serving_instance',
    name: 'serving_instance_pkey',
    definition: 'ALTER TABLE serving_instance ADD CONSTRAINT serving_instance_pkey PRIMARY KEY (id)',
  },
  {
    kind: 'index',
    table: 'session',
    name: 'session_by_account',
    definition: 'CREATE INDEX session_by_account ON session USING btree (account_id)',
  },
  {
    kind: 'key',
    table: 'session',
    name: 'session_pkey',
    definition: 'ALTER TABLE session ADD CONSTRAINT session_pkey PRIMARY KEY (digest)',
  },
  {
    kind: 'reference',
    table: 'session',
    name: 'session_account_id_fkey',
    definition:
      'ALTER TABLE session ADD CONSTRAINT session_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE',
  },
  {
    kind: 'key',
    table: 'throttle',
    name: 'throttle_pkey',
    definition: 'ALTER TABLE throttle ADD CONSTRAINT throttle_pkey PRIMARY KEY (key)',
  },
];
