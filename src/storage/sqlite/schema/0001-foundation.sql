-- Everything that Valetkey stores: back up the whole database and never edit it by hand; the root keys are not in here.
-- Instants are in milliseconds since 1970-01-01T00:00:00Z. Nothing here opens anything without the root keys.

-- One row. Raising the epoch ends every grant. The settings are those that all instances have to agree on: JSON, by the
-- names of their variables. The current key is the one that the service issues with.
CREATE TABLE installation (
  number INTEGER PRIMARY KEY CHECK (number = 1),
  id BLOB NOT NULL,
  epoch INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  token_prefix TEXT NOT NULL,
  settings TEXT NOT NULL,
  current_key_id INTEGER NOT NULL
) STRICT;

-- The root keys that this database was used with, each proven by a canary: a MAC of the installation's id.
CREATE TABLE root_key (
  key_id INTEGER PRIMARY KEY,
  canary BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Lists are JSON, as text, so that equal lists are equal texts. The digests of secrets are made with a root key (base64);
-- public keys are JSON Web Keys.
CREATE TABLE client (
  id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
  type TEXT NOT NULL CHECK (type IN ('confidential', 'public')),
  name TEXT NOT NULL,
  require_pkce INTEGER NOT NULL CHECK (require_pkce IN (0, 1)),
  refresh_overlap INTEGER,
  refresh_retry_window INTEGER,
  created_at INTEGER NOT NULL,
  resumed_at INTEGER,
  secrets TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  scopes TEXT NOT NULL,
  keys TEXT NOT NULL,
  consent TEXT NOT NULL CHECK (consent IN ('ask', 'remember', 'skip')),
  device_flow INTEGER NOT NULL CHECK (device_flow IN (0, 1)),
  assertion_audience TEXT NOT NULL CHECK (assertion_audience IN ('any', 'issuer'))
) STRICT, WITHOUT ROWID;

-- Replay marks of client assertions, by a digest of client and jti; only assertions that were good leave one.
CREATE TABLE client_assertion (
  digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
  client_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX client_assertion_by_expiry ON client_assertion (expires_at);

-- How many marks a client has, and the latest expiry of those that were cleared away.
CREATE TABLE client_assertion_total (
  client_id TEXT PRIMARY KEY,
  marks INTEGER NOT NULL CHECK (marks >= 0),
  cleared_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- No scopes (null) means all of them.
CREATE TABLE resource_server (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  resource TEXT,
  scopes TEXT,
  secrets TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX resource_server_by_resource ON resource_server (resource) WHERE resource IS NOT NULL;

-- Sentences are a JSON object from language to text.
CREATE TABLE scope (
  name TEXT PRIMARY KEY,
  sentences TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE account (
  id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
  email TEXT NOT NULL,
  email_key TEXT NOT NULL UNIQUE,
  username TEXT UNIQUE,
  name TEXT NOT NULL,
  avatar_url TEXT,
  is_operator INTEGER NOT NULL CHECK (is_operator IN (0, 1)),
  password_phc TEXT NOT NULL,
  password_key_id INTEGER NOT NULL,
  password_set_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  digest BLOB PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_by_account ON session (account_id);

-- Grants refer to clients and accounts without a constraint: deleting one of those ends its grants at once, since they
-- are only ever read together, and the rows are cleared away later.
CREATE TABLE oauth_grant (
  id BLOB PRIMARY KEY CHECK (length(id) = 16),
  client_id TEXT NOT NULL,
  resource_owner_id TEXT NOT NULL,
  epochs_installation INTEGER NOT NULL,
  epochs_client INTEGER NOT NULL,
  epochs_resource_owner INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  key_id INTEGER NOT NULL,
  rotated_at INTEGER NOT NULL,
  access_token_expires_at INTEGER,
  expires_at INTEGER NOT NULL,
  used_generation INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER,
  revocation_reason TEXT CHECK (
    revocation_reason IN ('user', 'operator', 'client', 'code_replay', 'refresh_reuse', 'too_many_grants')
  ),
  granted_at INTEGER NOT NULL,
  absolute_expires_at INTEGER NOT NULL,
  seed BLOB NOT NULL CHECK (length(seed) = 16),
  scope TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  code_challenge TEXT,
  resource TEXT
) STRICT, WITHOUT ROWID;

-- Only on columns that never change, so that a transition writes no index. Each ends with the id, as the table is its own key.
CREATE INDEX grant_by_client ON oauth_grant (client_id);
CREATE INDEX grant_by_resource_owner ON oauth_grant (resource_owner_id, client_id);

CREATE TABLE audit_event (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  actor_source TEXT,
  actor_request_id TEXT,
  client_id TEXT,
  resource_owner_id TEXT,
  grant_id TEXT,
  detail TEXT,
  ended_access TEXT
) STRICT;

CREATE INDEX audit_event_by_client ON audit_event (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX audit_event_by_resource_owner ON audit_event (resource_owner_id) WHERE resource_owner_id IS NOT NULL;
