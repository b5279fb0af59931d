/** The schemas of bodies and answers of changing calls. */
import { PROVIDER_RIGHTS } from '../../../accounts/people/identity-provider.ts';
import { PERSON_FIELDS } from '../../../oauth/grants/person-fields.ts';
import { SCOPE_EFFECTS } from '../../../oauth/grants/scope.ts';
import { component, type ObjectSchema, object, type Schema, text } from '../../api/operation.ts';
import { CLIENT, IDENTITY_PROVIDER, RESOURCE_SERVER, USER } from '../api/schemas.ts';

const TEXT: Schema = { type: 'string' };
const TEXT_OR_NULL: Schema = { type: ['string', 'null'] };
const TRUTH: Schema = { type: 'boolean' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const SECONDS_OR_NULL: Schema = {
  type: ['integer', 'null'],
  minimum: 0,
  description: 'Seconds; null for the default.',
};
const list = (items: Schema): Schema => ({ type: 'array', items });
const named = (name: string, schema: ObjectSchema): ObjectSchema => component('schemas', name, schema);
const TIME: Schema = { type: 'string', format: 'date-time' };
const KEYS: Schema = list({ type: 'object', description: 'A public key (RFC 7517 §4).' });

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

/** Returns the schema of a setting whose default is set by null (RFC 7396 §2). */
const orNull = ({ type, enum: words, ...others }: Schema): Schema => ({
  ...(type === undefined ? {} : { type: [type, 'null'] }),
  ...(words === undefined ? {} : { enum: [...(words as unknown[]), null] }),
  ...others,
});

/** A value that is not shown again: null if the request is repeated, or nothing secret is needed. */
const once = (what: string) => text(`${what}, shown this once.`, { type: ['string', 'null'] });

const HAND_OVER = object({
  pick_up_url: once('The one-time address at which the developer makes the secret'),
  expires_at: { type: ['string', 'null'], format: 'date-time' },
});

const HANDS_OVER = text('Make no secret now, but a one-time address for the developer.', {
  type: 'boolean',
  default: false,
});

/** The settings of an app. */
export const CLIENT_SETTINGS = {
  name: TEXT,
  publisher: TEXT_OR_NULL,
  homepage: TEXT_OR_NULL,
  privacy_page: TEXT_OR_NULL,
  contact: TEXT_OR_NULL,
  is_checked: text(
    'You checked the publisher and the hosts of the redirect URIs. Needs `clients.trust`. A change of these, or of the name, homepage, privacy page or contact, makes it false, unless the same body sets it.',
    orNull(TRUTH),
  ),
  redirect_uris: orNull(list(TEXT)),
  scopes: orNull(
    list({
      anyOf: [TEXT, object({ name: TEXT, sentence: TEXT_OR_NULL, optional: TRUTH }, ['sentence', 'optional'])],
      description: 'A sentence other than the present one of that scope, which null removes, needs `scopes.trust`.',
    }),
  ),
  default_resource: TEXT_OR_NULL,
  person_fields: orNull(list({ enum: PERSON_FIELDS })),
  require_pkce: orNull(TRUTH),
  refresh_overlap: SECONDS_OR_NULL,
  refresh_retry_window: SECONDS_OR_NULL,
  keys: { ...orNull(KEYS), description: 'Public keys that the app proves itself with. Needs `clients.secrets`.' },
  consent: orNull({ enum: ['ask', 'remember', 'skip'], description: 'Anything but `ask` needs `clients.trust`.' }),
  device_flow: orNull(TRUTH),
  assertion_audience: orNull({ enum: ['any', 'issuer'] }),
  sees_external_id: orNull(TRUTH),
} satisfies Record<string, Schema>;

/** A new app. */
export const NEW_CLIENT = {
  ...CLIENT_SETTINGS,
  type: { enum: ['confidential', 'public'], default: 'confidential' },
  hand_over: HANDS_OVER,
} satisfies Record<string, Schema>;

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

/** The settings of an API. */
export const RESOURCE_SERVER_SETTINGS = {
  name: TEXT,
  resource: TEXT_OR_NULL,
  accepts_unbound: orNull(TRUTH),
  scopes: { type: ['array', 'null'], items: TEXT, description: 'Null for all.' },
} satisfies Record<string, Schema>;

/** A new API. */
export const NEW_RESOURCE_SERVER = { ...RESOURCE_SERVER_SETTINGS, hand_over: HANDS_OVER };

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

/** The settings of a product. */
export const PROVIDER_SETTINGS = {
  name: TEXT,
  sign_in_url: text('Needs `identity-providers.trust`, as keys and rights do.'),
  keys: orNull(KEYS),
  rights: orNull(list({ enum: PROVIDER_RIGHTS })),
  session: SECONDS_OR_NULL,
} satisfies Record<string, Schema>;

/** A new product. */
export const NEW_PROVIDER = { provider_id: TEXT, own_ids: TRUTH, ...PROVIDER_SETTINGS, hand_over: HANDS_OVER };

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

/** The meaning of a scope. */
export const SCOPE_MEANING = {
  sentences: { type: 'object', additionalProperties: TEXT, description: 'By language (BCP 47), such as en.' },
  effect: { enum: [...SCOPE_EFFECTS, null] },
} satisfies Record<string, Schema>;

/** The names and the address of a user. */
export const ABOUT_USER = { email: TEXT, name: TEXT, username: TEXT_OR_NULL } satisfies Record<string, Schema>;

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
