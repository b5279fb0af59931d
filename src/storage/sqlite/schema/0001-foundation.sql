-- All data of Valetkey. Back up the whole database, and never edit it by hand. It does not contain the root keys, without
-- which it gives no access. Times are in milliseconds since 1970-01-01T00:00:00Z.

-- One row. Raising the epoch ends every grant. The settings, as JSON by variable name, are those that all instances share.
-- The service issues with the current key; the next key is about to replace it, and no instance starts without it. Each
-- restore draws a new random history: values sealed before a restore cannot be opened after it. A backup is marked as one,
-- and cannot be served before a restore. The clean-up has its own time, which follows a clock that jumped ahead slowly.
CREATE TABLE installation (
  number INTEGER PRIMARY KEY CHECK (number = 1),
  id BLOB NOT NULL,
  epoch INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  token_prefix TEXT NOT NULL,
  settings TEXT NOT NULL,
  current_key_id INTEGER NOT NULL,
  next_key_id INTEGER,
  history BLOB NOT NULL CHECK (length(history) = 16),
  restored_at INTEGER,
  backed_up_at INTEGER,
  is_backup INTEGER NOT NULL CHECK (is_backup IN (0, 1)),
  clean_up_time INTEGER NOT NULL
) STRICT;

-- The root keys of this database, each proven by a canary: a MAC of the installation's id. A superseded key has the time of
-- its replacement; a retired key reads nothing.
CREATE TABLE root_key (
  key_id INTEGER PRIMARY KEY,
  canary BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  superseded_at INTEGER,
  retired_at INTEGER
) STRICT;

-- The keys that sign ID tokens, by their kid: one signs, one is next. The private key is sealed under a root key; a former key
-- has none any more, and is published until its time to drop.
CREATE TABLE signing_key (
  id TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('next', 'signing', 'former')),
  public_key TEXT NOT NULL,
  sealed_key TEXT,
  root_key_id INTEGER,
  created_at INTEGER NOT NULL,
  signs_since INTEGER,
  drop_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX signing_key_by_state ON signing_key (state) WHERE state <> 'former';

-- Instances of the service that run or ran, with the ids of the root keys that they have read (JSON).
CREATE TABLE serving_instance (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  key_ids TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Lists are JSON, as text, so that equal lists are equal texts. Secrets are stored as SHA-256 digests (base64), public keys
-- as JSON Web Keys.
CREATE TABLE client (
  id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
  type TEXT NOT NULL CHECK (type IN ('confidential', 'public')),
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  publisher TEXT,
  publisher_key TEXT,
  homepage TEXT,
  privacy_page TEXT,
  contact TEXT,
  is_checked INTEGER NOT NULL CHECK (is_checked IN (0, 1)),
  require_pkce INTEGER NOT NULL CHECK (require_pkce IN (0, 1)),
  refresh_overlap INTEGER,
  refresh_retry_window INTEGER,
  created_at INTEGER NOT NULL,
  remembers_since INTEGER,
  secrets TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  scopes TEXT NOT NULL,
  default_resource TEXT,
  person_fields TEXT NOT NULL,
  keys TEXT NOT NULL,
  consent TEXT NOT NULL CHECK (consent IN ('ask', 'remember', 'skip')),
  device_flow INTEGER NOT NULL CHECK (device_flow IN (0, 1)),
  assertion_audience TEXT NOT NULL CHECK (assertion_audience IN ('any', 'issuer')),
  sees_external_id INTEGER NOT NULL CHECK (sees_external_id IN (0, 1)),
  sign_in INTEGER NOT NULL CHECK (sign_in IN (0, 1)),
  -- The SHA-256 of the metadata document from which the client was registered; the document's address is the client's id.
  document_sha256 TEXT,
  -- The address of its keys, the time of the last fetch, and the time of the last try, successful or not.
  jwks_uri TEXT,
  jwks_fetched_at INTEGER,
  jwks_asked_at INTEGER
) STRICT, WITHOUT ROWID;

-- By the key of similar names, and by age, as apps are listed.
CREATE INDEX client_by_name ON client (name_key);
CREATE INDEX client_by_age ON client (created_at, id);
-- By the digest of each secret, to identify a found one.
CREATE INDEX client_by_newer_secret ON client (json_extract(secrets, '$[0].digest'));
CREATE INDEX client_by_older_secret ON client (json_extract(secrets, '$[1].digest'));

-- Replay marks of client assertions, by a digest of client and jti; only valid assertions leave one.
CREATE TABLE client_assertion (
  digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
  client_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX client_assertion_by_expiry ON client_assertion (expires_at);

-- The number of a client's marks, and the latest expiry of its deleted marks.
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
  accepts_unbound INTEGER NOT NULL CHECK (accepts_unbound IN (0, 1)),
  scopes TEXT,
  secrets TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX resource_server_by_resource ON resource_server (resource) WHERE resource IS NOT NULL;
-- By the digest of each secret, to identify a found one.
CREATE INDEX resource_server_by_newer_secret ON resource_server (json_extract(secrets, '$[0].digest'));
CREATE INDEX resource_server_by_older_secret ON resource_server (json_extract(secrets, '$[1].digest'));

-- The last use of a secret, by its digest; it stays after the secret is retired.
CREATE TABLE secret_use (
  digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
  used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Counts of an app's acts and refusals in an hour or a day; the key is its id, the span and the bucket. An hour of all apps has
-- the empty id.
CREATE TABLE tally (
  key TEXT PRIMARY KEY,
  client_id TEXT NOT NULL,
  span TEXT NOT NULL CHECK (span IN ('hour', 'day')),
  bucket INTEGER NOT NULL,
  allowed INTEGER NOT NULL,
  denied INTEGER NOT NULL,
  exchanges INTEGER NOT NULL,
  refreshes INTEGER NOT NULL,
  retries INTEGER NOT NULL,
  checks INTEGER NOT NULL,
  introspections INTEGER NOT NULL,
  invalid_client INTEGER NOT NULL,
  invalid_grant INTEGER NOT NULL,
  invalid_request INTEGER NOT NULL,
  limited INTEGER NOT NULL,
  other INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX tally_by_bucket ON tally (span, bucket);

-- In each hour or day, the apps with the most failures first.
CREATE INDEX tally_failed ON tally (span, bucket, (invalid_client + invalid_grant + invalid_request + limited + other) DESC, client_id)
WHERE invalid_client + invalid_grant + invalid_request + limited + other > 0;

-- Finds out at one place if an app had a failure since a time.
CREATE INDEX tally_failed_by_client ON tally (client_id, span, bucket)
WHERE invalid_client + invalid_grant + invalid_request + limited + other > 0;

-- The last failures of authenticated apps; the key is the id, the time and the request.
CREATE TABLE app_failure (
  key TEXT PRIMARY KEY,
  client_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  error TEXT NOT NULL,
  reason TEXT NOT NULL,
  network TEXT NOT NULL,
  grant_id TEXT
) STRICT, WITHOUT ROWID;

-- Sentences are a JSON object from language to text.
CREATE TABLE scope (
  name TEXT PRIMARY KEY,
  sentences TEXT NOT NULL,
  effect TEXT CHECK (effect IN ('reads', 'changes', 'sensitive')),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The products where people sign in elsewhere. Secrets and public keys have the form of those of clients.
CREATE TABLE identity_provider (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
  name TEXT NOT NULL,
  sign_in_url TEXT NOT NULL,
  home_page TEXT,
  secrets TEXT NOT NULL,
  keys TEXT NOT NULL,
  own_ids INTEGER NOT NULL CHECK (own_ids IN (0, 1)),
  rights TEXT NOT NULL,
  session_lifetime INTEGER,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- By the digest of each secret, to identify a found one.
CREATE INDEX identity_provider_by_newer_secret ON identity_provider (json_extract(secrets, '$[0].digest'));
CREATE INDEX identity_provider_by_older_secret ON identity_provider (json_extract(secrets, '$[1].digest'));

-- A password is JSON. A user who signs in at a provider has none, and may have no email address, or the same one as another
-- user. An invitation is JSON: the digest of a one-time link where the user sets a password, and its expiry.
CREATE TABLE account (
  id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
  email TEXT,
  email_key TEXT,
  email_verified INTEGER NOT NULL CHECK (email_verified IN (0, 1)),
  email_set_here INTEGER NOT NULL CHECK (email_set_here IN (0, 1)),
  username TEXT,
  name TEXT,
  avatar_url TEXT,
  password TEXT,
  foreign_rank INTEGER,
  is_unwrapped INTEGER NOT NULL CHECK (is_unwrapped IN (0, 1)),
  password_set_at INTEGER,
  must_change_password INTEGER NOT NULL CHECK (must_change_password IN (0, 1)),
  invitation TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Among accounts with a password or an invitation, email addresses and user names are unique; other accounts may share them.
CREATE UNIQUE INDEX account_by_sign_in ON account (email_key) WHERE password IS NOT NULL OR invitation IS NOT NULL;
CREATE UNIQUE INDEX account_by_username ON account (username)
  WHERE (password IS NOT NULL OR invitation IS NOT NULL) AND username IS NOT NULL;
CREATE INDEX account_by_age ON account (created_at, id);
CREATE INDEX account_by_email ON account (email_key) WHERE email_key IS NOT NULL;
-- For searches by operators, over all accounts.
CREATE INDEX account_called ON account (username) WHERE username IS NOT NULL;
-- By the root key that sealed a password, to seal it again after a rotation.
CREATE INDEX account_by_password_key ON account (json_extract(password, '$.keyId'), id) WHERE password IS NOT NULL;
-- Imported hashes: the slowest of each family of functions, and those that wait to be wrapped in our own.
CREATE INDEX account_by_foreign_rank ON account (foreign_rank) WHERE foreign_rank IS NOT NULL;
CREATE INDEX account_unwrapped ON account (id) WHERE is_unwrapped;

-- A user's identity at a provider. The id is the provider's id, a colon and the subject, so that both are compared byte by
-- byte. A write that makes both inserts the identity before the account: the identity's key decides the race.
CREATE TABLE identity (
  id TEXT PRIMARY KEY,
  provider_id TEXT NOT NULL REFERENCES identity_provider (id),
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX identity_by_account ON identity (account_id);

-- Deleted accounts whose id can recur, because it is the provider's: the next account has a higher epoch.
CREATE TABLE former_account (
  id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Identities of deleted accounts, kept for a day, so that their providers learn of the ended access even after a pause.
CREATE TABLE former_identity (
  id TEXT PRIMARY KEY,
  provider_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX former_identity_by_account ON former_identity (account_id);

CREATE TABLE session (
  digest BLOB PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  provider_id TEXT,
  external TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX session_by_account ON session (account_id);

-- A provider's statement about a browser's sign-in and its user (JSON). The account is made or changed when the browser
-- presents the ticket. The row stays as long as the sign-in request is valid, so that the request is bound to one user.
-- Without an identity, the user refused.
CREATE TABLE external_sign_in (
  nonce BLOB PRIMARY KEY CHECK (length(nonce) = 16),
  provider_id TEXT NOT NULL,
  identity_id TEXT,
  profile TEXT NOT NULL,
  browser BLOB NOT NULL,
  continue_to TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  demands_login INTEGER NOT NULL CHECK (demands_login IN (0, 1)),
  max_age INTEGER,
  auth_time INTEGER,
  amr TEXT NOT NULL,
  ticket BLOB NOT NULL,
  ticket_expires_at INTEGER NOT NULL,
  taken_at INTEGER,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Unused tickets, by user: they end with the sessions of that user.
CREATE INDEX external_sign_in_open ON external_sign_in (identity_id) WHERE taken_at IS NULL AND identity_id IS NOT NULL;

-- Grants refer to clients and accounts without a constraint: deleting one of those ends its grants at once, because they are
-- only read together, and the rows are deleted later.
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
  presented_from TEXT,
  access_token_expires_at INTEGER,
  expires_at INTEGER NOT NULL,
  used_generation INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER,
  revocation_reason TEXT CHECK (
    revocation_reason IN (
      'user', 'operator', 'client', 'code_replay', 'refresh_reuse', 'too_many_grants', 'refresh_conflict',
      'replaced', 'restored'
    )
  ),
  granted_at INTEGER NOT NULL,
  absolute_expires_at INTEGER NOT NULL,
  seed BLOB NOT NULL CHECK (length(seed) = 16),
  scope TEXT NOT NULL,
  left_out TEXT NOT NULL,
  person_fields TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  code_challenge TEXT,
  resource TEXT,
  resource_is_default INTEGER NOT NULL CHECK (resource_is_default IN (0, 1)),
  provider_id TEXT,
  external_id TEXT,
  signed_in_at INTEGER NOT NULL,
  openid TEXT
) STRICT, WITHOUT ROWID;

-- Only on columns that never change, so that a transition writes no index. Each ends with the id, because the table is
-- clustered by its primary key.
CREATE INDEX grant_by_client ON oauth_grant (client_id);
CREATE INDEX grant_by_resource_owner ON oauth_grant (resource_owner_id, client_id);

-- Each event also has a number in a chain, and a MAC over the whole event, under a key outside the database.
CREATE TABLE audit_event (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  actor_source TEXT,
  actor_request_id TEXT,
  actor_by TEXT,
  client_id TEXT,
  resource_owner_id TEXT,
  grant_id TEXT,
  detail TEXT,
  ended_access TEXT,
  chain_id TEXT NOT NULL,
  chain_number INTEGER NOT NULL,
  chain_mac BLOB NOT NULL CHECK (length(chain_mac) = 32)
) STRICT;

CREATE INDEX audit_event_checkpoint ON audit_event (sequence) WHERE action = 'audit_checkpoint';
CREATE INDEX audit_event_shortened ON audit_event (sequence) WHERE action = 'audit_shortened';
CREATE INDEX audit_event_incident ON audit_event (action, at) WHERE action IN ('code_replay', 'refresh_reuse', 'wrong_sign_ins');
CREATE INDEX audit_event_by_client ON audit_event (client_id) WHERE client_id IS NOT NULL;
-- Changes of a registration name no person: few beside the events of an app with many users.
CREATE INDEX audit_event_change ON audit_event (client_id, resource_owner_id) WHERE client_id IS NOT NULL AND resource_owner_id IS NULL;
CREATE INDEX audit_event_by_resource_owner ON audit_event (resource_owner_id) WHERE resource_owner_id IS NOT NULL;
CREATE INDEX audit_event_by_grant ON audit_event (grant_id) WHERE grant_id IS NOT NULL;
-- Acts of operators are few beside the events of users.
CREATE INDEX audit_event_of_operators ON audit_event (sequence) WHERE actor_kind = 'operator';
CREATE INDEX audit_event_by_operator ON audit_event (actor_id) WHERE actor_kind = 'operator';
CREATE INDEX audit_event_by_means ON audit_event (actor_by) WHERE actor_by IS NOT NULL;

-- Idempotency keys of operators' requests, as digests: a repeated request makes nothing.
CREATE TABLE idempotency_key (
  digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
  request BLOB NOT NULL CHECK (length(request) = 32),
  at INTEGER NOT NULL,
  made TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One-time links where a developer makes a secret; the index finds the newest one of an app, an API or a product.
CREATE TABLE hand_over (
  digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
  subject_kind TEXT NOT NULL CHECK (subject_kind IN ('client', 'resource_server', 'identity_provider')),
  subject_id TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  made_by TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  fetched_at INTEGER,
  fetched_from TEXT,
  ended_at INTEGER,
  ended_why TEXT CHECK (ended_why IN ('replaced', 'secret changed', 'paused', 'deleted', 'restored'))
) STRICT, WITHOUT ROWID;

CREATE INDEX hand_over_by_subject ON hand_over (subject_kind, subject_id, made_at);

-- Operators of the API and the console. Every withdrawal of access raises the epoch.
CREATE TABLE operator (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('read', 'support', 'admin')),
  status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
  epoch INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE operator_passkey (
  id TEXT PRIMARY KEY,
  operator_id TEXT NOT NULL REFERENCES operator (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  public_key BLOB NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  is_backed_up INTEGER NOT NULL CHECK (is_backed_up IN (0, 1)),
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  suspected_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX operator_passkey_by_operator ON operator_passkey (operator_id);

CREATE TABLE operator_session (
  digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
  operator_id TEXT NOT NULL REFERENCES operator (id) ON DELETE CASCADE,
  how TEXT NOT NULL CHECK (how IN ('passkey', 'address')),
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  present_at INTEGER,
  begun_by TEXT,
  confirmed_by TEXT,
  source TEXT NOT NULL,
  browser TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX operator_session_by_operator ON operator_session (operator_id);

CREATE TABLE operator_key (
  id TEXT PRIMARY KEY,
  operator_id TEXT NOT NULL REFERENCES operator (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  rights TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX operator_key_by_operator ON operator_key (operator_id);

-- One-time links where operators enroll a passkey or sign in, by the digest of the token.
CREATE TABLE operator_one_time_address (
  digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
  operator_id TEXT NOT NULL REFERENCES operator (id) ON DELETE CASCADE,
  purpose TEXT NOT NULL CHECK (purpose IN ('enroll', 'sign-in')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX operator_one_time_address_by_operator ON operator_one_time_address (operator_id);

-- Digests of acts that may happen only once until a time: the use of a passkey's challenge, the record of a refused act.
CREATE TABLE operator_once (
  digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
