/**
 * The token endpoints of the published face: translates requests and answers to the letter of the interface, and
 * decides nothing.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { invalidRequest, Refusal } from '../../oauth/error.ts';
import type { Parameters } from '../../oauth/parameters.ts';
import type { IssuedTokens } from '../../oauth/tokens/token-pair.ts';
import { WHOLE_GRANT } from '../../oauth/tokens/token-request.ts';
import { byGrant } from '../answer/logged-outcome.ts';
import { oauthAnswers, sendJson, sendOAuthRefusal } from '../json/json-answers.ts';
import {
  answer,
  bodyRefusals,
  CODE_VERIFIER,
  credential,
  namedFields,
  namedObject,
  type Operation,
  parametersOf,
  posted,
  SECRET_FIELDS,
  text,
} from '../json/operation.ts';
import {
  authorizationOf,
  notAToken,
  readBearerToken,
  readClientCredentials,
} from '../request/client-authentication.ts';
import { formOf } from '../request/form.ts';
import { originOf } from '../request/origin.ts';
import { REFRESH_TOKEN_PATH, TOKEN_PATH } from '../service/paths.ts';
import type { Service } from '../service/service.ts';
import { type Asked, answerOf, type ReadCredentials } from './malformed.ts';

/** Adds the token endpoints to the app's address. */
export function addPublishedFace(app: FastifyInstance, service: Service): void {
  const answers = oauthAnswers;
  app.post(TOKEN_PATH, { config: { answers, operation: EXCHANGE } }, async (request, reply) =>
    sendPair(request, reply, await answerOf(service, request, ofExchange, 'token', exchange(service, request))),
  );
  app.post(REFRESH_TOKEN_PATH, { config: { answers, operation: REFRESH } }, async (request, reply) =>
    sendPair(request, reply, await answerOf(service, request, ofRefresh, 'token', refresh(service, request))),
  );
}

const ofExchange: ReadCredentials = (request) => readClientCredentials('published', request, formOf(request));

/** The header is the refresh token's. A client that sends Basic there, by mistake, proves itself all the same. */
const ofRefresh: ReadCredentials = (request) => {
  const inBody = credentialsInBody(formOf(request));
  return inBody.clientSecret === undefined ? ofExchange(request) : inBody;
};

function credentialsInBody(body: Parameters) {
  return { method: 'secret', clientId: body.get('client_id'), clientSecret: body.get('client_secret') } as const;
}

/** `POST {app_url}/api/auth/oauth/token` (RFC 6749 §4.1.3). */
function exchange(service: Service, request: FastifyRequest): Asked<IssuedTokens> {
  const body = formOf(request);
  const refusal = checkBody(body, EXCHANGE, 'authorization_code', service.appUrl);
  if (refusal) return refusal;
  const credentials = ofExchange(request);
  if (credentials instanceof Refusal) return credentials;
  const code = body.get('code');
  const redirectUri = body.get('redirect_uri');
  if (code === undefined) return invalidRequest('code is required');
  if (redirectUri === undefined) return invalidRequest('redirect_uri is required');
  const presented = { redirectUri, codeVerifier: body.get('code_verifier'), asked: WHOLE_GRANT };
  return service.authorizationServer.exchangeAuthorizationCode(credentials, code, presented, originOf(request));
}

/**
 * `POST {app_url}/api/auth/oauth/refreshToken` (RFC 6749 §6). The token is in the header, or in the body if there is
 * no header.
 */
function refresh(service: Service, request: FastifyRequest): Asked<IssuedTokens> {
  const body = formOf(request);
  const refusal = checkBody(body, REFRESH, 'refresh_token', service.appUrl);
  if (refusal) return refusal;
  const token = readRefreshToken(authorizationOf(request.headers), body.get('refresh_token'));
  if (token instanceof Refusal) return token;
  return service.authorizationServer.refresh(credentialsInBody(body), token, WHOLE_GRANT, originOf(request));
}

function readRefreshToken(authorization: string | undefined, inBody: string | undefined): string | Refusal {
  if (authorization === undefined) {
    return inBody ?? invalidRequest('the refresh token is required: send Authorization: Bearer');
  }
  const inHeader = readBearerToken(authorization);
  if (inHeader === null)
    return invalidRequest(notAToken(authorization) ?? 'the Authorization header must be Bearer with the refresh token');
  if (inBody !== undefined && inBody !== inHeader)
    return invalidRequest('refresh_token differs between the header and the body');
  return inHeader;
}

type GrantType = 'authorization_code' | 'refresh_token';

/** The right address for a grant type that was sent to the wrong one. */
const elsewhere: Record<GrantType, readonly [what: string, path: string]> = {
  authorization_code: ['a code', TOKEN_PATH],
  refresh_token: ['a refresh', REFRESH_TOKEN_PATH],
};

function checkBody(body: Parameters, operation: Operation, grantType: GrantType, appUrl: string): Refusal | null {
  const problem = body.problem(parametersOf(operation));
  if (problem) return invalidRequest(problem); // RFC 6749 §3.2
  const sent = body.get('grant_type');
  if (sent === undefined) return invalidRequest('grant_type is required');
  if (sent === grantType) return null;
  const needed = `grant_type must be ${grantType}`;
  if (sent !== 'authorization_code' && sent !== 'refresh_token') return new Refusal('unsupported_grant_type', needed);
  const [what, path] = elsewhere[sent];
  return new Refusal('unsupported_grant_type', `${needed}; ${what} goes to ${appUrl}${path}`); // RFC 6749 §5.2
}

/** The answer is an object with exactly these two fields. */
function sendPair(request: FastifyRequest, reply: FastifyReply, result: IssuedTokens | Refusal): FastifyReply {
  if (result instanceof Refusal) return sendOAuthRefusal(request, reply, result);
  request.outcome = byGrant(result.grant);
  return sendJson(reply, { access_token: result.accessToken, refresh_token: result.refreshToken });
}

const TOKEN_REQUEST = namedFields('PublishedTokenRequest', ['grant_type', 'code', 'redirect_uri'], {
  grant_type: { const: 'authorization_code' },
  ...SECRET_FIELDS,
  code: credential('The code that the redirect URI received.', 'vk_ac_example'),
  redirect_uri: text('The same as in the authorization request (RFC 6749 §4.1.3).', { format: 'uri' }),
  code_verifier: CODE_VERIFIER,
});
const REFRESH_REQUEST = namedFields('PublishedRefreshRequest', ['grant_type', 'client_id', 'client_secret'], {
  grant_type: { const: 'refresh_token' },
  ...SECRET_FIELDS,
  refresh_token: credential('The refresh token. Omit it if it is in the header.', 'vk_rt_example'),
});
const PAIR = namedObject('TokenPair', {
  access_token: credential('For the `Authorization: Bearer` header of the API.', 'vk_at_example'),
  refresh_token: credential('For the refresh request. It replaces the earlier one.', 'vk_rt_example'),
});
const EXCHANGE: Operation = {
  operationId: 'exchangeAuthorizationCode',
  tags: ['published face'],
  summary: 'Exchanges a code for the first pair of tokens',
  description: 'RFC 6749 §4.1.3. A code works once. A second exchange revokes all its tokens.',
  security: [{ clientBasic: [] }, {}],
  requestBody: posted(TOKEN_REQUEST),
  responses: {
    200: answer('The pair.', PAIR),
    ...bodyRefusals('invalid_request', 'invalid_grant', 'unsupported_grant_type'),
  },
};
const REFRESH: Operation = {
  operationId: 'refreshTokens',
  tags: ['published face'],
  summary: 'Exchanges a refresh token for a new pair',
  description: 'RFC 6749 §6, with the refresh token in the header. If the answer is lost, send the same request again.',
  security: [{ refreshToken: [] }, {}],
  requestBody: posted(REFRESH_REQUEST),
  responses: {
    200: answer('The new pair.', PAIR),
    ...bodyRefusals('invalid_request', 'invalid_grant', 'unsupported_grant_type'),
  },
};
