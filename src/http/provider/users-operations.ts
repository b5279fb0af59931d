/** The operations, in OpenAPI, of the endpoints about the people of identity providers. */
import {
  answer,
  component,
  done,
  type Operation,
  oauthError,
  object,
  optionalQueryParameter,
  postedJson,
  queryParameter,
  type Schema,
  SECRET_FIELDS,
  text,
} from '../api/operation.ts';
import { NO_SUCH_SUBJECT, providerQueryRefusals, providerRefusals } from './described-refusals.ts';
import { PROFILE_FIELDS } from './profile-fields.ts';

const SECURITY: Operation['security'] = [{ providerBasic: [] }, {}];
const NEEDS_BASIC: Operation['security'] = [{ providerBasic: [] }];
const WITHOUT_BODY: Operation['security'] = [{ providerBasic: [] }, { providerAssertion: [] }];

/** What all of them share. */
const COMMON = { tags: ['identity providers'], security: SECURITY } as const;

const PERSON = component(
  'schemas',
  'ProviderUser',
  object({
    ...PROFILE_FIELDS,
    email_verified: { type: 'boolean' },
    id: text('The account here; with `--own-ids` the subject itself.', { examples: ['usr_example'] }),
    status: text('Disabled people and their apps are refused everything.', { enum: ['active', 'disabled'] }),
  }),
);

const SENT_PERSON: Schema = {
  type: 'object',
  properties: PROFILE_FIELDS,
  required: ['subject'],
};

const CONNECTION = object({
  client_id: text('The app.', { examples: ['app_example'] }),
  name: text('What people call it.'),
  scope: text('What it may do, separated by spaces; empty without any.'),
  granted_at: text('When the person allowed it first.', { format: 'date-time' }),
  last_used_at: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'The last check or refresh; null when the app never came.',
  },
});

const DISCONNECT = component(
  'schemas',
  'Disconnect',
  object(
    {
      subject: text('Whose; without it, those of all your people.', { pattern: '^[!-~]{1,255}$' }),
      client_id: text('The app; without it, all apps.', { examples: ['app_example'] }),
      reason: text('Who or what ended it.', {
        enum: ['user', 'provider', 'app', 'operator', 'reuse', 'limit', 'account_ended'],
      }),
      at: text('When.', { format: 'date-time' }),
    },
    ['subject', 'client_id'],
  ),
);
const DISCONNECTS = object({
  disconnects: { type: 'array', items: DISCONNECT },
  next: text('The cursor behind this page, good for a day: send it as `after`.', { examples: ['AbCdEf'] }),
  has_more: { type: 'boolean', description: 'Whether to ask again at once.' },
});

/** Something that is done with one person. */
function act(operationId: string, summary: string, description: string): Operation {
  return {
    ...COMMON,
    operationId,
    summary,
    description,
    requestBody: postedJson({ ...SECRET_FIELDS, subject: PROFILE_FIELDS.subject }, ['subject']),
    responses: { 204: done('It is so.'), ...providerRefusals('invalid_request'), ...NO_SUCH_SUBJECT },
  };
}

/** The operations. */
export const USERS = {
  put: {
    ...COMMON,
    operationId: 'putUsers',
    summary: 'Makes people, or brings them up to date',
    description:
      'One person, or up to 200 in `users`, within 64 KiB. All of it happens, or nothing; an error names index and field. What is absent stays as it is, null clears it.',
    requestBody: postedJson(
      {
        ...SECRET_FIELDS,
        ...PROFILE_FIELDS,
        users: { type: 'array', minItems: 1, maxItems: 200, items: SENT_PERSON },
      },
      [],
    ),
    responses: { 204: done('All are as they were sent.'), ...providerRefusals('invalid_request') },
  },
  show: {
    ...COMMON,
    operationId: 'showUser',
    summary: 'Shows one of your people',
    security: WITHOUT_BODY,
    parameters: [queryParameter('subject', PROFILE_FIELDS.subject)],
    responses: {
      200: answer('The person.', PERSON),
      ...providerQueryRefusals(),
      ...NO_SUCH_SUBJECT,
    },
  },
  disable: act(
    'disableUser',
    'Disables one of your people',
    'Their sessions end, and everything of them is refused until they are enabled. To disable twice is no error.',
  ),
  enable: act('enableUser', 'Ends that', 'Their apps work again.'),
  delete: act(
    'deleteUser',
    'Erases one of your people',
    'Account, profile, sessions and grants are gone, and every token is refused. The same subject is somebody new when it comes again.',
  ),
  endSessions: act(
    'endUserSessions',
    'Signs one of your people out here',
    'Ask this when they sign out of your product. Their apps go on.',
  ),
  connections: {
    ...COMMON,
    operationId: 'listUserConnections',
    summary: 'The connected apps of one of your people',
    description: 'As their own page shows them: an app that is on several devices is there for each.',
    security: WITHOUT_BODY,
    parameters: [queryParameter('subject', PROFILE_FIELDS.subject)],
    responses: {
      200: answer('By name.', object({ connections: { type: 'array', items: CONNECTION } })),
      ...providerQueryRefusals(),
      ...NO_SUCH_SUBJECT,
    },
  },
  disconnects: {
    ...COMMON,
    operationId: 'listUserDisconnects',
    summary: 'What apps of your people lost, oldest first',
    description:
      'Poll it, at least daily: a cursor is good for a day. A page reads at most 500 events of the audit trail, so it may be empty while `has_more` is true. Without `after` it tells what the newest of them say. 503 while an earlier event may still be hidden.',
    security: WITHOUT_BODY,
    parameters: [
      optionalQueryParameter('after', text('`next` of the page before.', { maxLength: 300 })),
      optionalQueryParameter('limit', { type: 'integer', minimum: 1, maximum: 1000, default: 1000 }),
    ],
    responses: {
      200: answer('A page.', DISCONNECTS),
      ...providerQueryRefusals(),
      410: answer('`after` is no cursor, or older than a day.', oauthError('gone')),
    },
  },
  disconnect: {
    ...COMMON,
    operationId: 'revokeUserConnection',
    summary: 'Takes everything back from an app of one of your people',
    description:
      'On its devices, too; its next request is refused. The credentials are sent by Basic or as an assertion, since `client_id` is the app here.',
    security: NEEDS_BASIC,
    requestBody: postedJson(
      { subject: PROFILE_FIELDS.subject, client_id: text('The app.', { examples: ['app_example'] }) },
      ['subject', 'client_id'],
    ),
    responses: {
      204: done('The app has nothing of this person.'),
      ...providerRefusals('invalid_request'),
      ...NO_SUCH_SUBJECT,
    },
  },
} as const satisfies Record<string, Operation>;
