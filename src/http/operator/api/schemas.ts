/** The schemas of the operators' API: the objects that `src/operator/json` makes. */
import { AUDIT_ACTIONS } from '../../../oauth/trail/audit.ts';
import { CLIENT_SETTINGS } from '../../../operator/fields/client-fields.ts';
import { PROVIDER_SETTINGS } from '../../../operator/fields/identity-provider-fields.ts';
import { RESOURCE_SERVER_SETTINGS } from '../../../operator/fields/resource-server-fields.ts';
import { SCOPE_MEANING } from '../../../operator/fields/scope-fields.ts';
import { namedObject, object, type Schema, text } from '../../json/operation.ts';
import { answeredSettings } from './setting-schemas.ts';

/** Schemas of values. */
export const TIME: Schema = { type: 'string', format: 'date-time' };
export const TIME_OR_NULL: Schema = { type: ['string', 'null'], format: 'date-time' };
export const TEXT: Schema = { type: 'string' };
export const TEXT_OR_NULL: Schema = { type: ['string', 'null'] };
export const TRUTH: Schema = { type: 'boolean' };
export const COUNT: Schema = { type: 'integer', minimum: 0 };
/** Returns the schema of a list. */
export const list = (items: Schema): Schema => ({ type: 'array', items });
const oneOf = (...words: string[]): Schema => ({ type: 'string', enum: words });

/** The secrets that work. */
export const LIVE_SECRETS = list(object({ created_at: TIME, last_used_at: TIME_OR_NULL }));

const CLIENT_MEMBERS = {
  client_id: TEXT,
  type: oneOf('confidential', 'public'),
  ...answeredSettings(CLIENT_SETTINGS),
  status: oneOf('active', 'paused'),
  last_used_at: TIME_OR_NULL,
  live_secrets: LIVE_SECRETS,
  keys: list(object({ kid: TEXT_OR_NULL, kty: TEXT_OR_NULL, alg: TEXT_OR_NULL, last_used_at: TIME_OR_NULL })),
  document_sha256: TEXT_OR_NULL,
  jwks_uri: TEXT_OR_NULL,
  jwks_fetched_at: TIME_OR_NULL,
  created_at: TIME,
};

/** An app in a list. */
export const CLIENT = namedObject('Client', CLIENT_MEMBERS);

const COUNTS = {
  allowed: COUNT,
  denied: COUNT,
  exchanges: COUNT,
  refreshes: COUNT,
  retries: COUNT,
  checks: COUNT,
  introspections: COUNT,
  failures: text('All failures, before those of each cause.', { type: 'integer' }),
  invalid_client: COUNT,
  invalid_grant: COUNT,
  invalid_request: COUNT,
  limited: COUNT,
  other: COUNT,
};
const TALLY = namedObject('Tally', COUNTS);
const FAILURE = namedObject('Failure', {
  at: TIME,
  request_id: TEXT,
  endpoint: TEXT,
  error: TEXT,
  reason: text('As the app was told; of a paused app, that it is paused.'),
  network: text('The network (/24 or /48) of the request.'),
  grant_id: TEXT_OR_NULL,
});

const PAGE_FAILURE = namedObject('PageFailure', {
  at: TIME,
  request_id: TEXT,
  error: TEXT,
  reason: TEXT,
  received: text('The redirect URI that is not registered. It may come from anyone: show it as text only.', {
    type: ['string', 'null'],
  }),
  network: text('The network (/24 or /48) of the browser.'),
});

const HAND_OVER = {
  hand_over: {
    anyOf: [
      namedObject('HandOver', {
        made_at: TIME,
        made_by: TEXT,
        expires_at: TIME,
        fetched_at: TIME_OR_NULL,
        fetched_from: TEXT_OR_NULL,
        ended_at: TIME_OR_NULL,
        ended_because: TEXT_OR_NULL,
      }),
      { type: 'null' },
    ],
    description: 'The newest hand-over, without its address.',
  },
};

/** An app with the activity of its last 24 hours, and its newest hand-over. */
export const SHOWN_CLIENT = namedObject('ShownClient', {
  ...CLIENT_MEMBERS,
  last_24_hours: TALLY,
  last_failure: { anyOf: [FAILURE, { type: 'null' }] },
  ...HAND_OVER,
});

/** The numbers of an app, by hour or day. */
export const TALLIES = namedObject('Tallies', {
  client_id: TEXT,
  span: oneOf('hour', 'day'),
  tallies: list(object({ at: text('Begin of the hour or day.', { format: 'date-time' }), ...COUNTS })),
});

/** The failures of an app, newest first. */
export const FAILURES = namedObject('Failures', {
  client_id: TEXT,
  counted_since: {
    ...TIME,
    description:
      'Start of the hour or day that `since` is in, or of the first day that is kept: `tally` counts from then.',
  },
  tally: TALLY,
  failures: { ...list(FAILURE), description: 'The failures since `since`, newest first.' },
  authorization_page: {
    ...list(PAGE_FAILURE),
    description:
      'Refusals on the authorization page since `since`, newest first: the last 20 in the memory of this instance.',
  },
});

const RESOURCE_SERVER_MEMBERS = {
  resource_server_id: TEXT,
  ...answeredSettings(RESOURCE_SERVER_SETTINGS),
  live_secrets: LIVE_SECRETS,
  created_at: TIME,
};

/** An API in a list. */
export const RESOURCE_SERVER = namedObject('ResourceServer', RESOURCE_SERVER_MEMBERS);

/** An API with its newest hand-over. */
export const SHOWN_RESOURCE_SERVER = namedObject('ShownResourceServer', { ...RESOURCE_SERVER_MEMBERS, ...HAND_OVER });

const IDENTITY_PROVIDER_MEMBERS = {
  provider_id: TEXT,
  status: oneOf('active', 'paused'),
  ...answeredSettings(PROVIDER_SETTINGS),
  own_ids: TRUTH,
  live_secrets: LIVE_SECRETS,
  keys: COUNT,
  created_at: TIME,
};

/** A product in a list. */
export const IDENTITY_PROVIDER = namedObject('IdentityProvider', IDENTITY_PROVIDER_MEMBERS);

/** A product with its newest hand-over. */
export const SHOWN_IDENTITY_PROVIDER = namedObject('ShownIdentityProvider', {
  ...IDENTITY_PROVIDER_MEMBERS,
  ...HAND_OVER,
});

/** A scope. */
export const SCOPE = namedObject('Scope', {
  name: TEXT,
  ...answeredSettings(SCOPE_MEANING),
  created_at: TIME,
});

const USER_MEMBERS = {
  id: TEXT,
  email: TEXT_OR_NULL,
  email_verified: TRUTH,
  username: TEXT_OR_NULL,
  name: TEXT_OR_NULL,
  avatar_url: TEXT_OR_NULL,
  status: oneOf('active', 'disabled'),
  has_password: TRUTH,
  must_change_password: TRUTH,
  invited_until: TIME_OR_NULL,
  created_at: TIME,
  last_sign_in_at: TIME_OR_NULL,
  apps_last_used_at: TIME_OR_NULL,
};

/** A user in a list. */
export const USER = namedObject('User', USER_MEMBERS);

/** A user with the identities at products. */
export const SHOWN_USER = namedObject('ShownUser', {
  ...USER_MEMBERS,
  identities: list(object({ provider: TEXT, subject: TEXT })),
});

const GRANT_MEMBERS = {
  id: TEXT,
  client_id: TEXT,
  client_name: TEXT,
  user_id: TEXT,
  user_email: TEXT_OR_NULL,
  scope: TEXT,
  status: oneOf('issued', 'active', 'expired', 'revoked'),
  provider_id: TEXT_OR_NULL,
  signed_in_at: TIME,
  granted_at: TIME,
  last_used_at: TIME_OR_NULL,
  expires_at: TIME,
};

/** A grant in a list. */
export const GRANT = namedObject('Grant', GRANT_MEMBERS);

/** An event of the audit trail. */
export const AUDIT_EVENT = namedObject('AuditEvent', {
  sequence: text('Number of the event.', { type: 'integer', minimum: 1 }),
  at: TIME,
  action: oneOf(...AUDIT_ACTIONS),
  actor_kind: TEXT,
  actor_id: TEXT,
  actor_by: text('The ID of the operator’s key, or kind and begin of the session.', TEXT_OR_NULL),
  source: TEXT_OR_NULL,
  request_id: TEXT_OR_NULL,
  client_id: text('The app, API, product or operator that it concerns.', TEXT_OR_NULL),
  client_name: TEXT_OR_NULL,
  user_id: TEXT_OR_NULL,
  user_email: TEXT_OR_NULL,
  grant_id: TEXT_OR_NULL,
  detail: text('Words for people.', TEXT_OR_NULL),
  members: text('What was recorded, by name: see the reference of events.', { type: ['object', 'null'] }),
});

const LIFE = { ended: { anyOf: [AUDIT_EVENT, { type: 'null' }] }, events: list(AUDIT_EVENT) };

/** The whole life of a grant. */
export const GRANT_LIFE = {
  anyOf: [
    namedObject('GrantLife', {
      ...GRANT_MEMBERS,
      external_id: TEXT_OR_NULL,
      redirect_uri: TEXT,
      resource: TEXT_OR_NULL,
      resource_is_default: TRUTH,
      redeemed: TRUTH,
      refreshes: COUNT,
      last_refreshed_at: TIME_OR_NULL,
      last_token_used_at: TIME_OR_NULL,
      expires_at_the_latest: TIME,
      revoked_at: TIME_OR_NULL,
      revocation_reason: TEXT_OR_NULL,
      ...LIFE,
    }),
    namedObject('GoneGrant', { id: TEXT, status: { const: 'gone' }, ...LIFE }),
  ],
};

/** An identified credential. */
export const IDENTIFIED = namedObject('Identified', {
  kind: TEXT,
  owner_kind: oneOf('client', 'resource_server', 'identity_provider', 'user', 'operator'),
  owner_id: TEXT,
  owner_name: TEXT,
  user_id: TEXT_OR_NULL,
  user_email: TEXT_OR_NULL,
  grant_id: TEXT_OR_NULL,
  made_at: TIME_OR_NULL,
  expires_at: TIME_OR_NULL,
  alive: TRUTH,
  dead_because: TEXT_OR_NULL,
});

const FINDING = namedObject('Finding', {
  area: TEXT,
  name: TEXT,
  verdict: oneOf('ok', 'warning', 'wrong'),
  detail: TEXT,
  remedy: TEXT_OR_NULL,
});

/** The state of the installation. */
export const STATUS = namedObject('Status', {
  at: TIME,
  version: TEXT,
  instances: list(TEXT),
  last_backup_at: TIME_OR_NULL,
  last_restore_at: TIME_OR_NULL,
  root_key: object({ key_id: TEXT, created_at: TIME, due_at: TIME }),
  worst: { anyOf: [FINDING, { type: 'null' }] },
  findings: list(FINDING),
});
