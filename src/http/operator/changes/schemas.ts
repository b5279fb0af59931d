/** The schemas of bodies and answers of changing calls. */
import { namedObject, type ObjectSchema, object, optional, text } from '../../json/operation.ts';
import {
  CLIENT,
  COUNT,
  IDENTITY_PROVIDER,
  LIVE_SECRETS,
  list,
  RESOURCE_SERVER,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
  TRUTH,
  USER,
} from '../api/schemas.ts';

/** Keys of the request that cannot be used (RFC 7517 §5). */
const OMITTED_KEYS = {
  omitted_keys: optional({
    ...list(TEXT),
    description:
      'Why each key of the request that cannot be used is omitted (RFC 7517 §5). Only if the request has `keys`.',
  }),
};

/** A value that is not shown again: null if the request is repeated, or nothing secret is needed. */
const once = (what: string) => text(`${what}, shown this once.`, TEXT_OR_NULL);

const HAND_OVER = object({
  pick_up_url: once('The one-time address at which the developer makes the secret'),
  expires_at: TIME_OR_NULL,
});

const CLIENT_URLS = {
  authorization_url: TEXT,
  access_token_request_url: TEXT,
  refresh_token_request_url: TEXT,
  device_authorization_url: optional(TEXT),
  metadata_url: TEXT,
};

/** A registered app: the values that its developer needs. */
export const REGISTERED_CLIENT = namedObject('RegisteredClient', {
  client_id: TEXT,
  client_secret: once('The secret'),
  ...CLIENT_URLS,
  ...OMITTED_KEYS,
  hand_over: optional(HAND_OVER),
});

/** An app after a change. */
export const CHANGED_CLIENT = namedObject('ChangedClient', { ...CLIENT.properties, ...OMITTED_KEYS });

/** A registered API: the values that its developer needs. */
export const REGISTERED_RESOURCE_SERVER = namedObject('RegisteredResourceServer', {
  ...RESOURCE_SERVER.properties,
  resource_server_secret: once('The secret'),
  introspection_url: TEXT,
  revocation_stream_url: TEXT,
  hand_over: optional(HAND_OVER),
});

/** A registered product: the values that its developer needs. */
export const REGISTERED_PROVIDER = namedObject('RegisteredIdentityProvider', {
  ...IDENTITY_PROVIDER.properties,
  provider_secret: once('The secret'),
  sign_in_endpoint: TEXT,
  ...OMITTED_KEYS,
  hand_over: optional(HAND_OVER),
});

/** A product after a change. */
export const CHANGED_PROVIDER = namedObject('ChangedIdentityProvider', {
  ...IDENTITY_PROVIDER.properties,
  ...OMITTED_KEYS,
});

/** The findings of a test of a product. */
export const FINDINGS = namedObject('ProviderFindings', {
  ok: TRUTH,
  findings: list(object({ name: TEXT, ok: TRUTH, detail: TEXT, remedy: TEXT_OR_NULL })),
});

/** The things that ended through a product. */
export const ENDED_THROUGH_PROVIDER = namedObject('EndedThroughProvider', {
  provider_id: TEXT,
  since: TIME,
  sign_ins_ended: COUNT,
  sessions_ended: COUNT,
  grants_ended: COUNT,
  done: text('False if the time of one call was up: repeat the call, and it ends what is left.', TRUTH),
});

/** A new secret; `id` is the member with the id, and `secret` the one with the secret. */
export function newSecret(id: string, secret: string): ObjectSchema {
  return object({ [id]: TEXT, [secret]: once('The secret') });
}

/** A new hand-over; `id` is the member with the id, and `secret` the one of the secret that the developer makes. */
export function newHandOver(id: string, secret: string): ObjectSchema {
  return object({ [id]: TEXT, [secret]: { type: 'null' }, hand_over: HAND_OVER });
}

const { last_sign_in_at: _, apps_last_used_at: __, ...userMembers } = USER.properties;

/** A user after a change. */
export const CHANGED_USER = namedObject('ChangedUser', userMembers);

/** An invited user. */
export const INVITED_USER = namedObject('InvitedUser', {
  ...userMembers,
  invitation_url: once('The one-time address at which the user sets a password'),
});

/** A revoked grant. */
export const REVOKED_GRANT = namedObject('RevokedGrant', { id: TEXT, status: { const: 'revoked' } });

/** The grants that would end. */
export const GRANTS_TO_END = namedObject('GrantsToEnd', {
  grants: COUNT,
  users: COUNT,
  apps: COUNT,
  more: text('True if the count stopped early: at least so many would end.', TRUTH),
});

const NO_GRANTS = { grants: { const: 0 } };
const SESSIONS = { sessions: text('Live sessions.', COUNT) };
const INVITATIONS = { invitations: text('Live one-time addresses for a password.', COUNT) };

/** The sessions that would end, and no grant. */
export const SESSIONS_TO_END = namedObject('SessionsToEnd', { ...NO_GRANTS, ...SESSIONS });

/** The ways in that would end, and no grant. */
export const SIGN_INS_TO_END = namedObject('SignInsToEnd', { ...NO_GRANTS, ...SESSIONS, ...INVITATIONS });

/** All that would end with a user. */
export const USER_TO_END = namedObject('UserToEnd', { ...GRANTS_TO_END.properties, ...SESSIONS, ...INVITATIONS });

/** A secret that would end. */
export const SECRETS_TO_END = namedObject('SecretsToEnd', {
  secrets: LIVE_SECRETS,
});

/** The answer to a dry run of a call that ends no grant. */
export const NOTHING_TO_END = namedObject('NothingToEnd', NO_GRANTS);

/** The things that would end through a product. */
export const THROUGH_PROVIDER_TO_END = namedObject('ThroughProviderToEnd', {
  sign_ins: COUNT,
  sessions: COUNT,
  grants: COUNT,
  more: TRUTH,
});
