-- All data of Valetkey. Back up the whole database, and never edit it by hand. It does not contain the root keys, without
-- which it gives no access. Times are in milliseconds since 1970-01-01T00:00:00Z. Keys are compared byte by byte (COLLATE
-- "C"), so that no index depends on the operating system's idea of an alphabet.

-- One row. Raising the epoch ends every grant. The settings, as JSON by variable name, are those that all instances share.
-- The service issues with the current key; the next key is about to replace it, and no instance starts without it. Each
-- restore draws a new random history: values sealed before a restore cannot be opened after it. A backup is marked as one,
-- and cannot be served before a restore.
CREATE TABLE installation (
  number smallint PRIMARY KEY CHECK (number = 1),
  id bytea NOT NULL,
  epoch integer NOT NULL,
  created_at bigint NOT NULL,
  token_prefix text NOT NULL,
  settings text NOT NULL,
  current_key_id bigint NOT NULL,
  next_key_id bigint,
  history bytea NOT NULL CHECK (length(history) = 16),
  restored_at bigint,
  backed_up_at bigint,
  is_backup boolean NOT NULL,
  clean_up_time bigint NOT NULL
);

-- The root keys of this database, each proven by a canary: a MAC of the installation's id. A superseded key has the time of
-- its replacement; a retired key reads nothing.
CREATE TABLE root_key (
  key_id bigint PRIMARY KEY,
  canary bytea NOT NULL,
  created_at bigint NOT NULL,
  superseded_at bigint,
  retired_at bigint
);

-- The keys that sign ID tokens, by their kid: one signs, one is next. The private key is sealed under a root key; a former key
-- has none any more, and is published until its time to drop.
CREATE TABLE signing_key (
  id text COLLATE "C" PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('next', 'signing', 'former')),
  public_key text NOT NULL,
  sealed_key text,
  root_key_id bigint,
  created_at bigint NOT NULL,
  signs_since bigint,
  drop_at bigint
);

CREATE UNIQUE INDEX signing_key_by_state ON signing_key (state) WHERE state <> 'former';

-- Instances of the service that run or ran, with the ids of the root keys that they have read (JSON). A crash of the server
-- loses this table, and the instances write it again.
CREATE UNLOGGED TABLE serving_instance (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  key_ids text NOT NULL
);

-- Lists are JSON, as text, so that equal lists are equal texts. Secrets are stored as SHA-256 digests (base64), public keys
-- as JSON Web Keys.
CREATE TABLE client (
  id text COLLATE "C" PRIMARY KEY,
  epoch integer NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'paused')),
  type text NOT NULL CHECK (type IN ('confidential', 'public')),
  name text NOT NULL,
  name_key text COLLATE "C" NOT NULL,
  publisher text,
  publisher_key text,
  homepage text,
  privacy_page text,
  contact text,
  is_checked boolean NOT NULL,
  require_pkce boolean NOT NULL,
  refresh_overlap integer,
  refresh_retry_window integer,
  created_at bigint NOT NULL,
  remembers_since bigint,
  secrets text NOT NULL,
  redirect_uris text NOT NULL,
  scopes text NOT NULL,
  default_resource text,
  person_fields text NOT NULL,
  keys text NOT NULL,
  consent text NOT NULL CHECK (consent IN ('ask', 'remember', 'skip')),
  device_flow boolean NOT NULL,
  assertion_audience text NOT NULL CHECK (assertion_audience IN ('any', 'issuer')),
  sees_external_id boolean NOT NULL,
  sign_in boolean NOT NULL,
  -- The SHA-256 of the metadata document from which the client was registered; the document's address is the client's id.
  document_sha256 text,
  -- The address of its keys, the time of the last fetch, and the time of the last try, successful or not.
  jwks_uri text,
  jwks_fetched_at bigint,
  jwks_asked_at bigint
);

-- By the key of similar names, and by age, as apps are listed.
CREATE INDEX client_by_name ON client (name_key, id);
CREATE INDEX client_by_age ON client (created_at, id);
-- By the digest of each secret, to identify a found one.
CREATE INDEX client_by_newer_secret ON client (((((secrets::jsonb) -> 0) ->> 'digest')));
CREATE INDEX client_by_older_secret ON client (((((secrets::jsonb) -> 1) ->> 'digest')));

-- Replay marks of client assertions, by a digest of client and jti; only valid assertions leave one. After a lost
-- connection, the attempt tells a request if it made the mark itself.
CREATE TABLE client_assertion (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  client_id text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  attempt uuid NOT NULL
);

CREATE INDEX client_assertion_by_expiry ON client_assertion (expires_at);

-- The number of a client's marks, and the latest expiry of its deleted marks. Inserting or deleting marks locks the client's
-- row first.
CREATE TABLE client_assertion_total (
  client_id text COLLATE "C" PRIMARY KEY,
  marks integer NOT NULL CHECK (marks >= 0),
  cleared_until bigint NOT NULL
);

-- No scopes (null) means all of them.
CREATE TABLE resource_server (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  resource text COLLATE "C",
  accepts_unbound boolean NOT NULL,
  scopes text,
  secrets text NOT NULL,
  created_at bigint NOT NULL
);

CREATE INDEX resource_server_by_resource ON resource_server (resource) WHERE resource IS NOT NULL;
-- By the digest of each secret, to identify a found one.
CREATE INDEX resource_server_by_newer_secret ON resource_server (((((secrets::jsonb) -> 0) ->> 'digest')));
CREATE INDEX resource_server_by_older_secret ON resource_server (((((secrets::jsonb) -> 1) ->> 'digest')));

-- The last use of a secret, by its digest; it stays after the secret is retired.
CREATE TABLE secret_use (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  used_at bigint NOT NULL
) WITH (fillfactor = 70);

-- Counts of an app's acts and refusals in an hour or a day; the key is its id, the span and the bucket. An hour of all apps has
-- the empty id.
CREATE TABLE tally (
  key text COLLATE "C" PRIMARY KEY,
  client_id text COLLATE "C" NOT NULL,
  span text NOT NULL CHECK (span IN ('hour', 'day')),
  bucket bigint NOT NULL,
  allowed bigint NOT NULL,
  denied bigint NOT NULL,
  exchanges bigint NOT NULL,
  refreshes bigint NOT NULL,
  retries bigint NOT NULL,
  checks bigint NOT NULL,
  introspections bigint NOT NULL,
  invalid_client bigint NOT NULL,
  invalid_grant bigint NOT NULL,
  invalid_request bigint NOT NULL,
  limited bigint NOT NULL,
  other bigint NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX tally_by_bucket ON tally (span, bucket);

-- In each hour or day, the apps with the most failures first.
CREATE INDEX tally_failed ON tally (span, bucket, (invalid_client + invalid_grant + invalid_request + limited + other) DESC, client_id)
WHERE invalid_client + invalid_grant + invalid_request + limited + other > 0;

-- Finds out at one place if an app had a failure since a time.
CREATE INDEX tally_failed_by_client ON tally (client_id, span, bucket)
WHERE invalid_client + invalid_grant + invalid_request + limited + other > 0;

-- The last failures of authenticated apps; the key is the id, the time and the request.
CREATE TABLE app_failure (
  key text COLLATE "C" PRIMARY KEY,
  client_id text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  request_id text NOT NULL,
  endpoint text NOT NULL,
  error text NOT NULL,
  reason text NOT NULL,
  network text NOT NULL,
  grant_id text
);

-- Sentences are a JSON object from language to text.
CREATE TABLE scope (
  name text COLLATE "C" PRIMARY KEY,
  sentences text NOT NULL,
  effect text CHECK (effect IN ('reads', 'changes', 'sensitive')),
  created_at bigint NOT NULL
);

-- The products where people sign in elsewhere. Secrets and public keys have the form of those of clients.
CREATE TABLE identity_provider (
  id text COLLATE "C" PRIMARY KEY,
  status text NOT NULL CHECK (status IN ('active', 'paused')),
  name text NOT NULL,
  sign_in_url text NOT NULL,
  home_page text,
  secrets text NOT NULL,
  keys text NOT NULL,
  own_ids boolean NOT NULL,
  rights text NOT NULL,
  session_lifetime integer,
  created_at bigint NOT NULL
);

-- By the digest of each secret, to identify a found one.
CREATE INDEX identity_provider_by_newer_secret ON identity_provider (((((secrets::jsonb) -> 0) ->> 'digest')));
CREATE INDEX identity_provider_by_older_secret ON identity_provider (((((secrets::jsonb) -> 1) ->> 'digest')));

-- A password is JSON. A user who signs in at a provider has none, and may have no email address, or the same one as another
-- user. An invitation is JSON: the digest of a one-time link where the user sets a password, and its expiry.
CREATE TABLE account (
  id text COLLATE "C" PRIMARY KEY,
  epoch integer NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'disabled')),
  email text,
  email_key text COLLATE "C",
  email_verified boolean NOT NULL,
  email_set_here boolean NOT NULL,
  username text COLLATE "C",
  name text,
  avatar_url text,
  password text,
  foreign_rank integer,
  is_unwrapped boolean NOT NULL,
  password_set_at bigint,
  must_change_password boolean NOT NULL,
  invitation text,
  created_at bigint NOT NULL
);

-- Among accounts with a password or an invitation, email addresses and user names are unique; other accounts may share them.
CREATE UNIQUE INDEX account_by_sign_in ON account (email_key) WHERE password IS NOT NULL OR invitation IS NOT NULL;
CREATE UNIQUE INDEX account_by_username ON account (username)
  WHERE (password IS NOT NULL OR invitation IS NOT NULL) AND username IS NOT NULL;
CREATE INDEX account_by_age ON account (created_at, id);
CREATE INDEX account_by_email ON account (email_key, id) WHERE email_key IS NOT NULL;
-- For searches by operators, over all accounts.
CREATE INDEX account_called ON account (username, id) WHERE username IS NOT NULL;
-- By the root key that sealed a password, to seal it again after a rotation.
CREATE INDEX account_by_password_key ON account ((((password::jsonb) ->> 'keyId')::bigint), id) WHERE password IS NOT NULL;
-- Imported hashes: the slowest of each family of functions, and those that wait to be wrapped in our own.
CREATE INDEX account_by_foreign_rank ON account (foreign_rank) WHERE foreign_rank IS NOT NULL;
CREATE INDEX account_unwrapped ON account (id) WHERE is_unwrapped;

-- A user's identity at a provider. The id is the provider's id, a colon and the subject, so that both are compared byte by
-- byte. A write that makes both inserts the identity before the account: the identity's key decides the race.
CREATE TABLE identity (
  id text COLLATE "C" PRIMARY KEY,
  provider_id text COLLATE "C" NOT NULL REFERENCES identity_provider (id),
  account_id text COLLATE "C" NOT NULL REFERENCES account (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  created_at bigint NOT NULL
);

CREATE INDEX identity_by_account ON identity (account_id);

-- Deleted accounts whose id can recur, because it is the provider's: the next account has a higher epoch.
CREATE TABLE former_account (
  id text COLLATE "C" PRIMARY KEY,
  epoch integer NOT NULL
);

-- Identities of deleted accounts, kept for a day, so that their providers learn of the ended access even after a pause.
CREATE TABLE former_identity (
  id text COLLATE "C" PRIMARY KEY,
  provider_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  ended_at bigint NOT NULL
);

CREATE INDEX former_identity_by_account ON former_identity (account_id);

CREATE TABLE session (
  digest bytea PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  created_at bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  provider_id text COLLATE "C",
  external text
) WITH (fillfactor = 80);

CREATE INDEX session_by_account ON session (account_id);

-- A provider's statement about a browser's sign-in and its user (JSON). The account is made or changed when the browser
-- presents the ticket. The row stays as long as the sign-in request is valid, so that the request is bound to one user.
-- Without an identity, the user refused.
CREATE TABLE external_sign_in (
  nonce bytea PRIMARY KEY CHECK (octet_length(nonce) = 16),
  provider_id text COLLATE "C" NOT NULL,
  identity_id text COLLATE "C",
  profile text NOT NULL,
  browser bytea NOT NULL,
  continue_to text NOT NULL,
  requested_at bigint NOT NULL,
  demands_login boolean NOT NULL,
  max_age bigint,
  auth_time bigint,
  amr text NOT NULL,
  ticket bytea NOT NULL,
  ticket_expires_at bigint NOT NULL,
  taken_at bigint,
  expires_at bigint NOT NULL
);

-- Unused tickets, by user: they end with the sessions of that user.
CREATE INDEX external_sign_in_open ON external_sign_in (identity_id) WHERE taken_at IS NULL AND identity_id IS NOT NULL;

-- Grants refer to clients and accounts without a constraint: deleting one of those ends its grants at once, because they are
-- only read together, and the rows are deleted later. The attempt is that of the last transition: after a lost connection, a
-- request can see if the transition was its own. Pages have room for the next version of a row.
CREATE TABLE oauth_grant (
  id uuid PRIMARY KEY,
  client_id text COLLATE "C" NOT NULL,
  resource_owner_id text COLLATE "C" NOT NULL,
  epochs_installation integer NOT NULL,
  epochs_client integer NOT NULL,
  epochs_resource_owner integer NOT NULL,
  generation integer NOT NULL,
  key_id bigint NOT NULL,
  rotated_at bigint NOT NULL,
  presented_from text,
  access_token_expires_at bigint,
  expires_at bigint NOT NULL,
  used_generation integer NOT NULL,
  last_used_at bigint,
  revoked_at bigint,
  revocation_reason text CHECK (
    revocation_reason IN (
      'user', 'operator', 'client', 'code_replay', 'refresh_reuse', 'too_many_grants', 'refresh_conflict',
      'replaced', 'restored'
    )
  ),
  attempt uuid,
  granted_at bigint NOT NULL,
  absolute_expires_at bigint NOT NULL,
  seed bytea NOT NULL CHECK (octet_length(seed) = 16),
  scope text NOT NULL,
  left_out text NOT NULL,
  person_fields text NOT NULL,
  redirect_uri text NOT NULL,
  code_challenge text,
  resource text,
  resource_is_default boolean NOT NULL,
  provider_id text COLLATE "C",
  external_id text COLLATE "C",
  signed_in_at bigint NOT NULL,
  openid text
) WITH (fillfactor = 70);

-- Only on columns that never change, so that a transition writes no index. A client's newest grants need no sorting.
CREATE INDEX grant_by_client ON oauth_grant (client_id, id);
CREATE INDEX grant_by_resource_owner ON oauth_grant (resource_owner_id, client_id, id);

-- A transaction takes numbers in the trail under a shared lock until its end. A reader that gets the lock exclusively knows
-- that every earlier number is either used or stays empty.
CREATE SEQUENCE audit_event_sequence;

CREATE FUNCTION next_audit_sequence() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(1449878905, 3);
  RETURN nextval('audit_event_sequence');
END
$$;

CREATE TABLE audit_event (
  sequence bigint PRIMARY KEY DEFAULT next_audit_sequence(),
  at bigint NOT NULL,
  action text NOT NULL,
  actor_kind text NOT NULL,
  actor_id text NOT NULL,
  actor_source text,
  actor_request_id text,
  actor_by text COLLATE "C",
  client_id text COLLATE "C",
  resource_owner_id text COLLATE "C",
  grant_id text,
  detail text,
  ended_access text,
  chain_id text NOT NULL,
  chain_number bigint NOT NULL,
  chain_mac bytea NOT NULL CHECK (octet_length(chain_mac) = 32),
  attempt uuid
);

-- Each session of Valetkey has a chain: every event carries its number there and an HMAC over itself. The session gets the
-- two blocks of the key (RFC 2104) when it begins, and keeps how far its chain is in a setting of its own, which a
-- transaction that is undone takes back. The key is nowhere in the database, so that no other session can add an event.
CREATE FUNCTION chain_audit_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  chain text := nullif(current_setting('valetkey.chain_id', true), '');
BEGIN
  IF NEW.chain_mac IS NOT NULL THEN
    RETURN NEW; -- Copied, with its place.
  END IF;
  IF chain IS NULL THEN
    RAISE EXCEPTION 'only Valetkey itself writes to the audit trail';
  END IF;
  NEW.chain_id := chain;
  NEW.chain_number := current_setting('valetkey.chain_number')::bigint + 1;
  NEW.chain_mac := sha256(decode(current_setting('valetkey.chain_outer'), 'hex') || sha256(
    decode(current_setting('valetkey.chain_inner'), 'hex') || convert_to(json_build_array(
      NEW.sequence, NEW.at, NEW.action, NEW.actor_kind, NEW.actor_id, NEW.actor_source, NEW.actor_request_id, NEW.actor_by,
      NEW.client_id, NEW.resource_owner_id, NEW.grant_id, NEW.detail, NEW.ended_access, NEW.chain_id, NEW.chain_number)::text, 'UTF8')));
  PERFORM set_config('valetkey.chain_number', NEW.chain_number::text, false);
  RETURN NEW;
END
$$;

CREATE TRIGGER chain_audit_event BEFORE INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION chain_audit_event();
-- Also in a session that is set up as one of a replica, as some tools for maintenance do.
ALTER TABLE audit_event ENABLE ALWAYS TRIGGER chain_audit_event;

CREATE INDEX audit_event_checkpoint ON audit_event (sequence) WHERE action = 'audit_checkpoint';
CREATE INDEX audit_event_shortened ON audit_event (sequence) WHERE action = 'audit_shortened';
CREATE INDEX audit_event_incident ON audit_event (action, at) WHERE action IN ('code_replay', 'refresh_reuse', 'wrong_sign_ins');
CREATE INDEX audit_event_by_client ON audit_event (client_id, sequence) WHERE client_id IS NOT NULL;
-- Changes of a registration name no person: few beside the events of an app with many users.
CREATE INDEX audit_event_change ON audit_event (client_id, sequence) WHERE client_id IS NOT NULL AND resource_owner_id IS NULL;
CREATE INDEX audit_event_by_resource_owner ON audit_event (resource_owner_id, sequence)
  WHERE resource_owner_id IS NOT NULL;
CREATE INDEX audit_event_by_grant ON audit_event (grant_id, sequence) WHERE grant_id IS NOT NULL;
-- Acts of operators are few beside the events of users.
CREATE INDEX audit_event_of_operators ON audit_event (sequence) WHERE actor_kind = 'operator';
CREATE INDEX audit_event_by_operator ON audit_event (actor_id, sequence) WHERE actor_kind = 'operator';
CREATE INDEX audit_event_by_means ON audit_event (actor_by, sequence) WHERE actor_by IS NOT NULL;
CREATE UNIQUE INDEX audit_event_by_attempt ON audit_event (attempt) WHERE attempt IS NOT NULL;

-- Pending device requests, bounded and short-lived. Unlogged: after a crash of the server a waiting device needs a new code,
-- and anonymous requests do not write to the write-ahead log. The networks of the requests share the limit, one of each
-- weight.
CREATE UNLOGGED TABLE device_request (
  user_code text COLLATE "C" PRIMARY KEY,
  grant_id uuid NOT NULL,
  client_id text NOT NULL,
  scope text NOT NULL,
  resource text,
  resource_is_default boolean NOT NULL,
  code_challenge text NOT NULL,
  expires_at bigint NOT NULL,
  decision text CHECK (decision IN ('allowed', 'denied')),
  attempt uuid,
  polled_at bigint NOT NULL,
  interval_s integer NOT NULL,
  network_1 text COLLATE "C",
  network_4 text COLLATE "C",
  network_32 text COLLATE "C"
) WITH (fillfactor = 70);

CREATE INDEX device_request_by_expiry ON device_request (expires_at);
CREATE INDEX device_request_by_network_1 ON device_request (network_1);
CREATE INDEX device_request_by_network_4 ON device_request (network_4);
CREATE INDEX device_request_by_network_32 ON device_request (network_32);

-- The time up to which a key's guesses are counted (GCRA). A crash clears all counters, and the limits restart (decision
-- 0039).
CREATE UNLOGGED TABLE throttle (
  key bytea PRIMARY KEY,
  arrives_at bigint NOT NULL
) WITH (fillfactor = 50);

-- Idempotency keys of operators' requests, as digests: a repeated request makes nothing.
CREATE TABLE idempotency_key (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  request bytea NOT NULL CHECK (octet_length(request) = 32),
  at bigint NOT NULL,
  made text NOT NULL
);

-- One-time links where a developer makes a secret; the index finds the newest one of an app, an API or a product.
CREATE TABLE hand_over (
  digest bytea PRIMARY KEY CHECK (length(digest) = 32),
  subject_kind text NOT NULL CHECK (subject_kind IN ('client', 'resource_server', 'identity_provider')),
  subject_id text COLLATE "C" NOT NULL,
  made_at bigint NOT NULL,
  made_by text NOT NULL,
  expires_at bigint NOT NULL,
  fetched_at bigint,
  fetched_from text,
  ended_at bigint,
  ended_why text CHECK (ended_why IN ('replaced', 'secret changed', 'paused', 'deleted', 'restored'))
);

CREATE INDEX hand_over_by_subject ON hand_over (subject_kind, subject_id, made_at);

-- Operators of the API and the console. Every withdrawal of access raises the epoch.
CREATE TABLE operator (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  role text NOT NULL CHECK (role IN ('read', 'support', 'admin')),
  status text NOT NULL CHECK (status IN ('active', 'disabled')),
  epoch integer NOT NULL,
  created_at bigint NOT NULL
);

CREATE TABLE operator_passkey (
  id text COLLATE "C" PRIMARY KEY,
  operator_id text COLLATE "C" NOT NULL REFERENCES operator (id) ON DELETE CASCADE,
  name text NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text NOT NULL,
  is_backed_up boolean NOT NULL,
  created_at bigint NOT NULL,
  last_used_at bigint,
  suspected_at bigint
);

CREATE INDEX operator_passkey_by_operator ON operator_passkey (operator_id);

CREATE TABLE operator_session (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  operator_id text COLLATE "C" NOT NULL REFERENCES operator (id) ON DELETE CASCADE,
  how text NOT NULL CHECK (how IN ('passkey', 'address')),
  created_at bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  present_at bigint,
  begun_by text COLLATE "C",
  confirmed_by text COLLATE "C",
  source text NOT NULL,
  browser text NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX operator_session_by_operator ON operator_session (operator_id);

CREATE TABLE operator_key (
  id text COLLATE "C" PRIMARY KEY,
  operator_id text COLLATE "C" NOT NULL REFERENCES operator (id) ON DELETE CASCADE,
  name text NOT NULL,
  digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
  rights text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);

CREATE INDEX operator_key_by_operator ON operator_key (operator_id);

-- One-time links where operators enroll a passkey or sign in, by the digest of the token.
CREATE TABLE operator_one_time_address (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  operator_id text COLLATE "C" NOT NULL REFERENCES operator (id) ON DELETE CASCADE,
  purpose text NOT NULL CHECK (purpose IN ('enroll', 'sign-in')),
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);

CREATE INDEX operator_one_time_address_by_operator ON operator_one_time_address (operator_id);

-- Digests of acts that may happen only once until a time: the use of a passkey's challenge, the record of a refused act.
CREATE TABLE operator_once (
  digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  expires_at bigint NOT NULL
);
