-- What the standard face stores: resource servers, scopes, a client's keys, and which client assertions were used.

-- A grant may be for one resource, and its client may end it. A check cannot be changed: the table is made anew.
CREATE TABLE oauth_grant_0002 (
  id BLOB PRIMARY KEY CHECK (length(id) = 16),
  client_id TEXT NOT NULL,
  resource_owner_id TEXT NOT NULL,
  installation_epoch INTEGER NOT NULL,
  client_epoch INTEGER NOT NULL,
  resource_owner_epoch INTEGER NOT NULL,
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

INSERT INTO oauth_grant_0002
SELECT id, client_id, resource_owner_id, installation_epoch, client_epoch, resource_owner_epoch, generation, key_id,
  rotated_at, access_token_expires_at, expires_at, used_generation, last_used_at, revoked_at, revocation_reason,
  granted_at, absolute_expires_at, seed, scope, redirect_uri, code_challenge, NULL
FROM oauth_grant;

DROP TABLE oauth_grant;
ALTER TABLE oauth_grant_0002 RENAME TO oauth_grant;

CREATE INDEX grant_by_client ON oauth_grant (client_id);
CREATE INDEX grant_by_resource_owner ON oauth_grant (resource_owner_id, client_id);

-- Public keys are JSON Web Keys.
ALTER TABLE client ADD COLUMN keys TEXT NOT NULL DEFAULT '[]';
ALTER TABLE client ADD COLUMN consent TEXT NOT NULL DEFAULT 'ask' CHECK (consent IN ('ask', 'remember', 'skip'));
ALTER TABLE client ADD COLUMN device_flow INTEGER NOT NULL DEFAULT 0 CHECK (device_flow IN (0, 1));
ALTER TABLE client ADD COLUMN assertion_audience TEXT NOT NULL DEFAULT 'any'
  CHECK (assertion_audience IN ('any', 'issuer'));

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
