/** The operations of the standard face's endpoints for clients; `standard.ts` answers them. */
import { CLIENT_ASSERTION_TYPE } from '../../oauth/clients/client-assertion.ts';
import { POLL_INTERVAL } from '../../oauth/device/device-authorization.ts';
import { DEVICE_GRANT_TYPE } from '../../oauth/grants/device-grant.ts';
import { PUSHED_REQUEST_LIFETIME } from '../../oauth/protocol/pushed-request.ts';
import { readableBy } from '../json/cross-origin-answers.ts';
import {
  answer,
  bodyRefusals,
  CODE_VERIFIER,
  credential,
  namedFields,
  namedObject,
  type Operation,
  object,
  optional,
  posted,
  SECRET_FIELDS,
  text,
} from '../json/operation.ts';

const CLIENT_FIELDS = {
  ...SECRET_FIELDS,
  client_assertion: text('A JWT that the client signed, in place of a secret (RFC 7523 §2.2).', { maxLength: 8192 }),
  client_assertion_type: { const: CLIENT_ASSERTION_TYPE },
};
const SCOPE = text('Scope names, separated by spaces.', { examples: ['mail.read'] });
const RESOURCE = text('The resource that the tokens are limited to (RFC 8707 §2).', { format: 'uri' });
/** Credentials by Basic, or in the body. A public client has no secret. */
const BY_CLIENT: Operation['security'] = [{ clientBasic: [] }, {}];

const TOKEN_REQUEST = {
  ...namedFields('TokenRequest', ['grant_type'], {
    ...CLIENT_FIELDS,
    grant_type: { enum: ['authorization_code', 'refresh_token', DEVICE_GRANT_TYPE] },
    code: credential('The code that the redirect URI received.', 'vk_ac_example'),
    redirect_uri: text('The same as in the authorization request, if that had one.', { format: 'uri' }),
    code_verifier: CODE_VERIFIER,
    refresh_token: credential('The refresh token.', 'vk_rt_example'),
    device_code: text('The device code (RFC 8628 §3.4).', { examples: ['vk_dc_example'] }),
    scope: text(
      'With a refresh token: some of the granted scopes. The new tokens have all of them nevertheless (RFC 6749 §6).',
    ),
    resource: text('With a code or a refresh token: the same as in the authorization request (RFC 8707 §2.2).', {
      format: 'uri',
    }),
  }),
  oneOf: [
    { properties: { grant_type: { const: 'authorization_code' } }, required: ['code'] },
    { properties: { grant_type: { const: 'refresh_token' } }, required: ['refresh_token'] },
    { properties: { grant_type: { const: DEVICE_GRANT_TYPE } }, required: ['device_code'] },
  ],
};
const TOKENS = namedObject('TokenResponse', {
  access_token: credential('For the `Authorization: Bearer` header of an API.', 'vk_at_example'),
  token_type: { const: 'Bearer' },
  expires_in: { type: 'integer', minimum: 0, description: 'Lifetime of the access token in seconds.' },
  refresh_token: optional(
    credential(
      'For the next refresh. It replaces the earlier one. Absent if the app only signs the user in.',
      'vk_rt_example',
    ),
  ),
  id_token: optional(text('In the answer to a code, if `openid` was granted (OpenID Connect Core §3.1.3.3).')),
  scope: optional(text('The granted scopes; absent if there are none (RFC 6749 §5.1).', { minLength: 1 })),
});
/** `/oauth2/token`. */
export const TOKEN: Operation = {
  operationId: 'token',
  tags: ['standard face'],
  summary: 'Issues tokens for a code, a refresh token or a device code',
  description: 'RFC 6749 §3.2. A public client sends only its `client_id`. A device polls here (RFC 8628 §3.4, §3.5).',
  security: BY_CLIENT,
  requestBody: posted(TOKEN_REQUEST),
  responses: readableBy('Own', {
    200: answer('The tokens (RFC 6749 §5.1).', TOKENS),
    ...bodyRefusals(
      'invalid_request',
      'invalid_grant',
      'unsupported_grant_type',
      'invalid_scope',
      'invalid_target',
      'invalid_authorization_details',
      'authorization_pending',
      'slow_down',
      'expired_token',
      'access_denied',
    ),
  }),
};

const REVOCATION_REQUEST = namedFields('RevocationRequest', ['token'], {
  ...CLIENT_FIELDS,
  token: text('An access or refresh token of the client.', { examples: ['vk_rt_example'] }),
  token_type_hint: text('Ignored.', { examples: ['refresh_token'] }),
});
/** `/oauth2/revoke`. */
export const REVOKE: Operation = {
  operationId: 'revoke',
  tags: ['standard face'],
  summary: 'Revokes the whole grant of a token',
  description: 'RFC 7009 §2. An unknown token, or one of another client, is no error (RFC 7009 §2.2).',
  security: BY_CLIENT,
  requestBody: posted(REVOCATION_REQUEST),
  responses: readableBy('Own', {
    200: answer('The grant is revoked, or there was none.', object({})),
    ...bodyRefusals('invalid_request'),
  }),
};

const PUSHED_REQUEST = namedFields('PushedAuthorizationRequest', ['response_type', 'redirect_uri'], {
  ...CLIENT_FIELDS,
  redirect_uri: text('A registered redirect URI, character for character.', { format: 'uri' }),
  state: text('Required without `code_challenge`.', { maxLength: 4096 }),
  response_type: { const: 'code' },
  scope: SCOPE,
  code_challenge: text('RFC 7636 §4.2.', { pattern: '^[A-Za-z0-9_-]{43}$' }),
  code_challenge_method: { const: 'S256' },
  resource: RESOURCE,
  prompt: text('`none`, or some of `login`, `consent` and `select_account`.', {
    pattern: '^(none|(login|consent|select_account)( (login|consent|select_account))*)$',
  }),
  login_hint: text('The email address of the user who is expected to sign in.'),
  max_age: text('Maximum age of the sign-in, in seconds.', { pattern: '^[0-9]{1,10}$' }),
  ui_locales: text('The user’s preferred languages, separated by spaces.'),
});
/** `/oauth2/par`. */
export const PUSH: Operation = {
  operationId: 'pushAuthorizationRequest',
  tags: ['standard face'],
  summary: 'Accepts an authorization request, and returns a reference to it',
  description: 'RFC 9126 §2.',
  security: BY_CLIENT,
  requestBody: posted(PUSHED_REQUEST),
  responses: readableBy('Own', {
    201: answer(
      'The reference (RFC 9126 §2.2).',
      namedObject('PushedAuthorizationResponse', {
        request_uri: text('The reference: send it to the authorization page.'),
        expires_in: { const: PUSHED_REQUEST_LIFETIME },
      }),
    ),
    ...bodyRefusals(
      'invalid_request',
      'unsupported_response_type',
      'invalid_scope',
      'invalid_target',
      'invalid_authorization_details',
      'request_not_supported',
      'registration_not_supported',
    ),
  }),
};

const DEVICE_REQUEST = namedFields('DeviceAuthorizationRequest', [], {
  ...CLIENT_FIELDS,
  scope: SCOPE,
  resource: RESOURCE,
});
/** `/oauth2/device_authorization`. */
export const AUTHORIZE_DEVICE: Operation = {
  operationId: 'authorizeDevice',
  tags: ['standard face'],
  summary: 'Issues a device code and a user code',
  description: 'RFC 8628 §3.1. Only for clients that are registered for devices.',
  security: BY_CLIENT,
  requestBody: posted(DEVICE_REQUEST),
  responses: readableBy('Own', {
    200: answer(
      'The codes (RFC 8628 §3.2).',
      namedObject('DeviceAuthorizationResponse', {
        device_code: text('For polling.', { examples: ['vk_dc_example'] }),
        user_code: text('The code that the user types.', { pattern: '^[A-Z]{4}-[A-Z]{4}$' }),
        verification_uri: text('The page on which the user types the code.', { format: 'uri' }),
        verification_uri_complete: text('The same page, with the code filled in.', { format: 'uri' }),
        expires_in: { type: 'integer', minimum: 0 },
        interval: { const: POLL_INTERVAL },
      }),
    ),
    ...bodyRefusals(
      'invalid_request',
      'unauthorized_client',
      'invalid_scope',
      'invalid_target',
      'invalid_authorization_details',
    ),
  }),
};
