/** The OpenAPI operations of the endpoints for identity providers' users. */

import { PERSON_FIELDS } from '../../oauth/grants/person-fields.ts';
import { SCOPE_EFFECTS } from '../../oauth/grants/scope.ts';
import {
  answer,
  done,
  fields,
  namedObject,
  type Operation,
  oauthError,
  object,
  optional,
  optionalQueryParameter,
  postedJson,
  queryParameter,
  type Schema,
  SECRET_FIELDS,
  text,
} from '../json/operation.ts';
import { MAX_CONNECTIONS } from './connections.ts';
import { NO_SUCH_SUBJECT, providerQueryRefusals, providerRefusals } from './described-refusals.ts';
import { PROFILE_FIELDS } from './profile-fields.ts';

const SECURITY: Operation['security'] = [{ providerBasic: [] }, {}];
const NEEDS_BASIC: Operation['security'] = [{ providerBasic: [] }];
const WITHOUT_BODY: Operation['security'] = [{ providerBasic: [] }, { providerAssertion: [] }];

/** Shared by all operations. */
const COMMON = { tags: ['identity providers'], security: SECURITY } as const;

const PERSON = namedObject('ProviderUser', {
  ...PROFILE_FIELDS,
  email_verified: { type: 'boolean' },
  id: text('The account’s ID here. With `--own-ids`, the subject itself.', { examples: ['usr_example'] }),
  status: text('Disabled users cannot sign in, and their apps’ requests are refused.', {
    enum: ['active', 'disabled'],
  }),
});

const SENT_PERSON = fields(['subject'], PROFILE_FIELDS);

const textOrNull = (description: string, more: Schema = {}): Schema => ({
  type: ['string', 'null'],
  description,
  ...more,
});

const CONNECTION_ID = text('Names the connection: a whole app, or one device or installation.', { maxLength: 4000 });

const CONNECTION = namedObject('Connection', {
  connection_id: CONNECTION_ID,
  client_id: text('The app.', { examples: ['app_example'] }),
  name: text('The app’s name.'),
  publisher: textOrNull('The app’s publisher.'),
  homepage: textOrNull('The app’s page.'),
  privacy_page: textOrNull('Its privacy policy.'),
  contact: textOrNull('Where users get help with the app.'),
  is_checked: {
    type: 'boolean',
    description: 'True if the operator vouches for the publisher and the redirect hosts.',
  },
  host: textOrNull('Host of the app’s metadata document; null if it has none.'),
  redirect_hosts: {
    type: 'array',
    items: { type: 'string' },
    description: 'Hosts that the app sends users to; none for a device.',
  },
  signs_in: { type: 'boolean', description: 'True if the app signs the user in with OpenID Connect.' },
  scope: text('The granted scopes besides those of a sign-in, separated by spaces; may be empty.'),
  permissions: {
    type: 'array',
    items: object({
      name: text('The scope.'),
      sentence: textOrNull('Its meaning; null if nobody wrote one.'),
      effect: textOrNull('Its effect, if the operator named it.', { enum: [...SCOPE_EFFECTS, null] }),
      optional: { type: 'boolean', description: 'True if users may decline it.' },
    }),
  },
  profile: {
    type: 'array',
    items: { enum: [...PERSON_FIELDS] },
    description: 'The profile fields that the app gets and the account has.',
  },
  granted_at: text('Time of the first Allow.', { format: 'date-time' }),
  last_used_at: textOrNull('Time of the last check, refresh or sign-in; null if there was none.', {
    format: 'date-time',
  }),
  expires_at: text('End of the access without further use.', { format: 'date-time' }),
  expires_at_the_latest: text('End of the access in any case.', { format: 'date-time' }),
  device: { type: 'boolean', description: 'True for an app on a device without a browser.' },
  is_waiting: { type: 'boolean', description: 'True if the user allowed it and the app has not fetched it yet.' },
});

const DISCONNECT = namedObject('Disconnect', {
  subject: optional(text('The user. Absent if it concerns all your users.', { pattern: '^[!-~]{1,255}$' })),
  client_id: optional(text('The app. Absent if it concerns all apps.', { examples: ['app_example'] })),
  reason: text('The cause.', {
    enum: ['user', 'provider', 'app', 'operator', 'reuse', 'limit', 'account_ended'],
  }),
  at: text('Time of the event.', { format: 'date-time' }),
});
const DISCONNECTS = object({
  disconnects: { type: 'array', items: DISCONNECT },
  next: text('Cursor of the next page, valid for a day. Send it as `after`.', { examples: ['AbCdEf'] }),
  has_more: { type: 'boolean', description: 'True if more events are available now.' },
});

/** Describes an operation on one user. */
function act(operationId: string, summary: string, description: string): Operation {
  return {
    ...COMMON,
    operationId,
    summary,
    description,
    requestBody: postedJson(['subject'], { ...SECRET_FIELDS, subject: PROFILE_FIELDS.subject }),
    responses: { 204: done('Done, or already so.'), ...providerRefusals('invalid_request'), ...NO_SUCH_SUBJECT },
  };
}

/** The operations. */
export const USERS = {
  put: {
    ...COMMON,
    operationId: 'putUsers',
    summary: 'Creates or updates users',
    description:
      'One user, or up to 200 in `users`, within 64 KiB. All are written, or none; an error names the index and the field. An absent field stays unchanged; null clears it.',
    requestBody: postedJson([], {
      ...SECRET_FIELDS,
      ...PROFILE_FIELDS,
      users: { type: 'array', minItems: 1, maxItems: 200, items: SENT_PERSON },
    }),
    responses: { 204: done('All users were written.'), ...providerRefusals('invalid_request') },
  },
  show: {
    ...COMMON,
    operationId: 'showUser',
    summary: 'Returns one of your users',
    security: WITHOUT_BODY,
    parameters: [queryParameter('subject', PROFILE_FIELDS.subject)],
    responses: {
      200: answer('The user.', PERSON),
      ...providerQueryRefusals(),
      ...NO_SUCH_SUBJECT,
    },
  },
  disable: act(
    'disableUser',
    'Disables one of your users',
    'The user’s sessions end. Sign-ins and apps’ requests are refused until the user is enabled. Disabling twice is no error.',
  ),
  enable: act('enableUser', 'Enables one of your users again', 'The user’s apps work again.'),
  delete: act(
    'deleteUser',
    'Deletes one of your users',
    'Deletes the account, its profile, sessions and grants; every token is refused. If the same subject comes again, it gets a new account.',
  ),
  endSessions: act(
    'endUserSessions',
    'Ends a user’s sessions here',
    'Call this when the user signs out of your product. The user’s apps stay connected.',
  ),
  connections: {
    ...COMMON,
    operationId: 'listUserConnections',
    summary: 'Lists the connected apps of one of your users',
    description: 'As on the user’s own page: an app on several devices is listed for each.',
    security: WITHOUT_BODY,
    parameters: [
      queryParameter('subject', PROFILE_FIELDS.subject),
      optionalQueryParameter(
        'language',
        text('Language of the sentences (BCP 47).', { pattern: '^[A-Za-z0-9-]{2,35}$', default: 'en' }),
      ),
      optionalQueryParameter('limit', {
        type: 'integer',
        minimum: 1,
        maximum: MAX_CONNECTIONS,
        default: MAX_CONNECTIONS,
      }),
      optionalQueryParameter('after', text('`next` of the previous page.')),
    ],
    responses: {
      200: answer(
        'A page of the apps, by name.',
        object({
          connections: { type: 'array', items: CONNECTION },
          next: textOrNull('Cursor of the next page; null on the last one.'),
        }),
      ),
      ...providerQueryRefusals(),
      ...NO_SUCH_SUBJECT,
    },
  },
  disconnects: {
    ...COMMON,
    operationId: 'listUserDisconnects',
    summary: 'Lists access that your users’ apps lost, oldest first',
    description:
      'Poll at least daily: a cursor expires after a day. A page covers at most 500 events of the audit trail, so it may be empty while `has_more` is true. Without `after`, it covers the newest events. Returns 503 while an earlier event may still be hidden.',
    security: WITHOUT_BODY,
    parameters: [
      optionalQueryParameter('after', text('`next` of the previous page.', { maxLength: 300 })),
      optionalQueryParameter('limit', { type: 'integer', minimum: 1, maximum: 1000, default: 1000 }),
    ],
    responses: {
      200: answer('A page.', DISCONNECTS),
      ...providerQueryRefusals(),
      410: answer('`after` is not a cursor, or is older than a day.', oauthError('gone')),
    },
  },
  disconnect: {
    ...COMMON,
    operationId: 'revokeUserConnection',
    summary: 'Ends a connection of one of your users, or all of an app',
    description:
      'With `connection_id`, this connection ends; with `client_id`, the app on all devices. One of both is required. The app’s next request is refused; what has ended already is no error. Send your credentials by Basic or as an assertion, since `client_id` is the app’s here.',
    security: NEEDS_BASIC,
    requestBody: postedJson(['subject'], {
      subject: PROFILE_FIELDS.subject,
      connection_id: CONNECTION_ID,
      client_id: text('The app.', { examples: ['app_example'] }),
    }),
    responses: {
      204: done('The connection has ended.'),
      ...providerRefusals('invalid_request'),
      ...NO_SUCH_SUBJECT,
    },
  },
} as const satisfies Record<string, Operation>;
