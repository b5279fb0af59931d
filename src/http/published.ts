/** The published face's token endpoints: request and answer translated to the letter of the interface, nothing decided. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { invalidRequest, Refusal } from '../oauth/error.ts';
import type { TokenPair } from '../oauth/grant.ts';
import type { Parameters } from '../oauth/parameters.ts';
import { readBearerToken, readClientCredentials } from './client-authentication.ts';
import { formOf } from './form.ts';
import { oauthAnswers, sendJson, sendOAuthRefusal } from './json-answers.ts';
import { originOf } from './origin.ts';
import { REFRESH_TOKEN_PATH, TOKEN_PATH } from './paths.ts';
import type { Service } from './service.ts';

const TOKEN_PARAMETERS = ['grant_type', 'client_id', 'client_secret', 'code', 'redirect_uri', 'code_verifier'];
const REFRESH_PARAMETERS = ['grant_type', 'client_id', 'client_secret', 'refresh_token'];

/** Adds the token endpoints to the app's address. */
export function addPublishedFace(app: FastifyInstance, service: Service): void {
  const config = { answers: oauthAnswers };
  app.post(TOKEN_PATH, { config }, async (request, reply) => {
    return sendPair(request, reply, await exchange(service, request));
  });
  app.post(REFRESH_TOKEN_PATH, { config }, async (request, reply) => {
    return sendPair(request, reply, await refresh(service, request));
  });
}

/** `POST {app_url}/api/auth/oauth/token` (RFC 6749 §4.1.3). */
async function exchange(service: Service, request: FastifyRequest): Promise<TokenPair | Refusal> {
  const body = formOf(request);
  const refusal = checkBody(body, TOKEN_PARAMETERS, 'authorization_code');
  if (refusal) return refusal;
  const credentials = readClientCredentials(request.headers.authorization, body);
  if (credentials instanceof Refusal) return credentials;
  const code = body.get('code');
  const redirectUri = body.get('redirect_uri');
  if (code === undefined) return invalidRequest('code is required');
  if (redirectUri === undefined) return invalidRequest('redirect_uri is required');
  const presented = { redirectUri, codeVerifier: body.get('code_verifier') };
  return service.authorizationServer.exchangeAuthorizationCode(
    credentials,
    code,
    presented,
    originOf(service, request),
  );
}

/** `POST {app_url}/api/auth/oauth/refreshToken` (RFC 6749 §6): the token is in the header, or in the body if there is none. */
async function refresh(service: Service, request: FastifyRequest): Promise<TokenPair | Refusal> {
  const body = formOf(request);
  const refusal = checkBody(body, REFRESH_PARAMETERS, 'refresh_token');
  if (refusal) return refusal;
  const token = readRefreshToken(request.headers.authorization, body.get('refresh_token'));
  if (token instanceof Refusal) return token;
  const credentials = { clientId: body.get('client_id'), clientSecret: body.get('client_secret') };
  return service.authorizationServer.refresh(credentials, token, originOf(service, request));
}

function readRefreshToken(authorization: string | undefined, inBody: string | undefined): string | Refusal {
  if (authorization === undefined) {
    return inBody ?? invalidRequest('the refresh token is required, as Authorization: Bearer');
  }
  const inHeader = readBearerToken(authorization);
  if (inHeader === null) return invalidRequest('the Authorization header must be Bearer with the refresh token');
  if (inBody !== undefined && inBody !== inHeader)
    return invalidRequest('refresh_token differs between the header and the body');
  return inHeader;
}

function checkBody(body: Parameters, known: readonly string[], grantType: string): Refusal | null {
  const problem = body.problem(known);
  if (problem) return invalidRequest(problem); // RFC 6749 §3.2
  const sent = body.get('grant_type');
  if (sent === undefined) return invalidRequest('grant_type is required');
  return sent === grantType ? null : new Refusal('unsupported_grant_type', `grant_type must be ${grantType}`); // RFC 6749 §5.2
}

/** The answer is an object with exactly these two fields. */
function sendPair(request: FastifyRequest, reply: FastifyReply, result: TokenPair | Refusal): FastifyReply {
  if (result instanceof Refusal) return sendOAuthRefusal(request, reply, result);
  return sendJson(reply, { access_token: result.accessToken, refresh_token: result.refreshToken });
}
