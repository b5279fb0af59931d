/** The schemas of bodies and answers of changing calls. */
import { component, type ObjectSchema, object, type Schema, text } from '../../api/operation.ts';
import { CLIENT, IDENTITY_PROVIDER, RESOURCE_SERVER, USER } from '../api/schemas.ts';

const TEXT: Schema = { type: 'string' };
const TEXT_OR_NULL: Schema = { type: ['string', 'null'] };
const TRUTH: Schema = { type: 'boolean' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const list = (items: Schema): Schema => ({ type: 'array', items });
const named = (name: string, schema: ObjectSchema): ObjectSchema => component('schemas', name, schema);
const TIME: Schema = { type: 'string', format: 'date-time' };
/** Keys of the request that cannot be used (RFC 7517 §5). */
const OMITTED_KEYS = {
  omitted_keys: {
    ...list(TEXT),
    description:
      'Why each key of the request that cannot be used is omitted (RFC 7517 §5). Only if the request has `keys`.',
  },
};

/** Returns the schema of an object after a call that may set its keys. */
const changed = ({ properties, required }: ObjectSchema): ObjectSchema => {
  const optional = Object.keys(properties).filter((name) => !(required as string[]).includes(name));
  return object({ ...properties, ...OMITTED_KEYS }, [...optional, 'omitted_keys']);
};

/** A value that is not shown again: null if the request is repeated, or nothing secret is needed. */
const once = (what: string) => text(`${what}, shown this once.`, { type: ['string', 'null'] });

const HAND_OVER = object({
  pick_up_url: once('The one-time address at which the developer makes the secret'),
  expires_at: { type: ['string', 'null'], format: 'date-time' },
});

const CLIENT_URLS = {
  authorization_url: TEXT,
  access_token_request_url: TEXT,
  refresh_token_request_url: TEXT,
  device_authorization_url: TEXT,
  metadata_url: TEXT,
};

/** A registered app: the values that its developer needs. */
export const REGISTERED_CLIENT = named(
  'RegisteredClient',
  object(
    { client_id: TEXT, client_secret: once('The secret'), ...CLIENT_URLS, ...OMITTED_KEYS, hand_over: HAND_OVER },
    ['device_authorization_url', 'omitted_keys', 'hand_over'],
  ),
);

/** An app after a change. */
export const CHANGED_CLIENT = named('ChangedClient', changed(CLIENT));

/** A registered API: the values that its developer needs. */
export const REGISTERED_RESOURCE_SERVER = named(
  'RegisteredResourceServer',
  object(
    {
      ...RESOURCE_SERVER.properties,
      resource_server_secret: once('The secret'),
      introspection_url: TEXT,
      revocation_stream_url: TEXT,
      hand_over: HAND_OVER,
    },
    ['hand_over'],
  ),
);

/** A registered product: the values that its developer needs. */
export const REGISTERED_PROVIDER = named(
  'RegisteredIdentityProvider',
  object(
    {
      ...IDENTITY_PROVIDER.properties,
      provider_secret: once('The secret'),
      sign_in_endpoint: TEXT,
      ...OMITTED_KEYS,
      hand_over: HAND_OVER,
    },
    ['omitted_keys', 'hand_over'],
  ),
);

/** A product after a change. */
export const CHANGED_PROVIDER = named('ChangedIdentityProvider', changed(IDENTITY_PROVIDER));

/** The findings of a test of a product. */
export const FINDINGS = named(
  'ProviderFindings',
  object({ ok: TRUTH, findings: list(object({ name: TEXT, ok: TRUTH, detail: TEXT, remedy: TEXT_OR_NULL })) }),
);

/** The things that ended through a product. */
export const ENDED_THROUGH_PROVIDER = named(
  'EndedThroughProvider',
  object({
    provider_id: TEXT,
    since: TIME,
    sign_ins_ended: COUNT,
    sessions_ended: COUNT,
    grants_ended: COUNT,
    done: text('False if the time of one call was up: repeat the call, and it ends what is left.', TRUTH),
  }),
);

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
export const CHANGED_USER = named('ChangedUser', object(userMembers));

/** An invited user. */
export const INVITED_USER = named(
  'InvitedUser',
  object({ ...userMembers, invitation_url: once('The one-time address at which the user sets a password') }),
);

/** A revoked grant. */
export const REVOKED_GRANT = named('RevokedGrant', object({ id: TEXT, status: { const: 'revoked' } }));

/** The grants that would end. */
export const GRANTS_TO_END = named(
  'GrantsToEnd',
  object({
    grants: COUNT,
    users: COUNT,
    apps: COUNT,
    more: text('True if the count stopped early: at least so many would end.', TRUTH),
  }),
);

const NO_GRANTS = { grants: { const: 0 } };
const SESSIONS = { sessions: text('Live sessions.', COUNT) };
const INVITATIONS = { invitations: text('Live one-time addresses for a password.', COUNT) };

/** The sessions that would end, and no grant. */
export const SESSIONS_TO_END = named('SessionsToEnd', object({ ...NO_GRANTS, ...SESSIONS }));

/** The ways in that would end, and no grant. */
export const SIGN_INS_TO_END = named('SignInsToEnd', object({ ...NO_GRANTS, ...SESSIONS, ...INVITATIONS }));

/** All that would end with a user. */
export const USER_TO_END = named('UserToEnd', object({ ...GRANTS_TO_END.properties, ...SESSIONS, ...INVITATIONS }));

/** A secret that would end. */
export const SECRETS_TO_END = named(
  'SecretsToEnd',
  object({
    secrets: list(object({ created_at: TIME, last_used_at: { type: ['string', 'null'], format: 'date-time' } })),
  }),
);

/** The answer to a dry run of a call that ends no grant. */
export const NOTHING_TO_END = named('NothingToEnd', object(NO_GRANTS));

/** The things that would end through a product. */
export const THROUGH_PROVIDER_TO_END = named(
  'ThroughProviderToEnd',
  object({ sign_ins: COUNT, sessions: COUNT, grants: COUNT, more: TRUTH }),
);
