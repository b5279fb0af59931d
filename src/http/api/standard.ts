/**
 * The standard face's endpoints for clients, in the form of the RFCs: translates requests and answers, and decides
 * nothing.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { POLL_INTERVAL, readableUserCode } from '../../oauth/device/device-authorization.ts';
import type { DeviceCodes } from '../../oauth/device/device-flow.ts';
import { invalidRequest, Refusal } from '../../oauth/error.ts';
import { DEVICE_GRANT_TYPE } from '../../oauth/grants/device-grant.ts';
import type { Parameters } from '../../oauth/parameters.ts';
import { authorizationDetailsRefusal } from '../../oauth/protocol/authorization-request.ts';
import { PUSHED_REQUEST_LIFETIME } from '../../oauth/protocol/pushed-request.ts';
import type { IssuedTokens } from '../../oauth/tokens/token-pair.ts';
import { byGrant } from '../answer/logged-outcome.ts';
import { answerProblem } from '../answer/send-problem.ts';
import { addPreflight, allowOwnPages } from '../checks/cross-origin.ts';
import { oauthAnswers, sendJson, sendOAuthRefusal } from '../json/json-answers.ts';
import { type Operation, parametersOf } from '../json/operation.ts';
import { readClientCredentials } from '../request/client-authentication.ts';
import { formOf } from '../request/form.ts';
import { originOf } from '../request/origin.ts';
import { STANDARD_PATHS } from '../service/paths.ts';
import type { Service } from '../service/service.ts';
import { type Asked, answerOf, type ReadCredentials } from './malformed.ts';
import { AUTHORIZE_DEVICE, PUSH, REVOKE, TOKEN } from './standard-operations.ts';

/** Adds the token, revocation, pushed-request and device-authorization endpoints to the app's address. */
export function addStandardFace(app: FastifyInstance, service: Service): void {
  type Handler = (service: Service, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  const routes: [path: string, operation: Operation, handle: Handler][] = [
    [STANDARD_PATHS.token, TOKEN, token],
    [STANDARD_PATHS.revoke, REVOKE, revoke],
    [STANDARD_PATHS.pushedAuthorizationRequest, PUSH, push],
    [STANDARD_PATHS.deviceAuthorization, AUTHORIZE_DEVICE, authorizeDevice],
  ];
  for (const [path, operation, handle] of routes) {
    app.post(path, { config: { answers: oauthAnswers, operation } }, async (request, reply) => {
      await allowOwnPages(service, request, reply);
      return handle(service, request, reply);
    });
    addPreflight(app, path, 'POST');
  }
}

const readCredentials: ReadCredentials = (request) => readClientCredentials('standard', request, formOf(request));

/** `/oauth2/token` (RFC 6749 §3.2, §5.1). */
async function token(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const result = await answerOf(service, request, readCredentials, 'token', issue(service, request));
  if (result instanceof Refusal) return refuse(service, request, reply, result);
  request.outcome = byGrant(result.grant);
  return sendJson(reply, {
    access_token: result.accessToken,
    token_type: 'Bearer',
    expires_in: Math.max(0, Math.floor((result.accessTokenExpiresAt - service.now()) / 1000)),
    ...(result.isSignInAlone ? {} : { refresh_token: result.refreshToken }),
    ...(result.idToken ? { id_token: result.idToken } : {}),
    // A scope has at least one value (RFC 6749 §3.3), so an empty one is omitted.
    ...(result.scope === '' ? {} : { scope: result.scope }),
  });
}

function issue(service: Service, request: FastifyRequest): Asked<IssuedTokens> {
  const body = formOf(request);
  const details = authorizationDetailsRefusal(body);
  if (details) return details;
  const problem = body.problem(parametersOf(TOKEN), ['resource']);
  if (problem) return invalidRequest(problem); // RFC 6749 §3.2
  const credentials = readCredentials(request);
  if (credentials instanceof Refusal) return credentials;
  const origin = originOf(request);
  const asked = { scope: body.get('scope'), resources: body.all('resource') };
  switch (body.get('grant_type')) {
    case undefined:
      return invalidRequest('grant_type is required');
    case 'authorization_code': {
      const code = body.get('code');
      if (code === undefined) return invalidRequest('code is required');
      const presented = {
        redirectUri: body.get('redirect_uri') ?? null,
        codeVerifier: body.get('code_verifier'),
        takesIdToken: true,
        // RFC 6749 §4.1.3 has no scope here: the Allow decided it.
        asked: { ...asked, scope: undefined },
      };
      return service.authorizationServer.exchangeAuthorizationCode(credentials, code, presented, origin);
    }
    case 'refresh_token': {
      const refreshToken = body.get('refresh_token');
      if (refreshToken === undefined) return invalidRequest('refresh_token is required');
      return service.authorizationServer.refresh(credentials, refreshToken, asked, origin);
    }
    case DEVICE_GRANT_TYPE: {
      const deviceCode = body.get('device_code');
      if (deviceCode === undefined) return invalidRequest('device_code is required');
      return service.deviceFlow.poll(credentials, deviceCode, { ...asked, scope: undefined }, origin);
    }
    default:
      return new Refusal(
        'unsupported_grant_type',
        'grant_type must be authorization_code, refresh_token or the one of the device flow',
      );
  }
}

/** `/oauth2/revoke` (RFC 7009 §2). The hint is ignored: tokens are found without it. */
async function revoke(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const refusal = await answerOf(service, request, readCredentials, 'revocation', end(service, request));
  // Clients ignore the body (RFC 7009 §2.2), but some fail if there is no JSON.
  return refusal ? refuse(service, request, reply, refusal) : sendJson(reply, {});
}

function end(service: Service, request: FastifyRequest): Asked<null> {
  const body = formOf(request);
  const problem = body.problem(parametersOf(REVOKE));
  if (problem) return invalidRequest(problem);
  const credentials = readCredentials(request);
  if (credentials instanceof Refusal) return credentials;
  const presented = body.get('token');
  if (presented === undefined) return invalidRequest('token is required');
  return service.authorizationServer.revoke(credentials, presented, originOf(request));
}

/** `/oauth2/par` (RFC 9126 §2). */
async function push(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const asked = keep(service, request);
  const result = await answerOf(service, request, readCredentials, 'pushed_authorization_request', asked);
  if (result instanceof Refusal) return refuse(service, request, reply, result);
  return sendJson(reply.code(201), { request_uri: result, expires_in: PUSHED_REQUEST_LIFETIME });
}

function keep(service: Service, request: FastifyRequest): Asked<string> {
  const body = formOf(request);
  const details = authorizationDetailsRefusal(body);
  if (details) return details;
  const problem = body.problem(parametersOf(PUSH), ['resource']);
  if (problem) return invalidRequest(problem);
  const credentials = readCredentials(request);
  if (credentials instanceof Refusal) return credentials;
  return service.authorizationServer.pushRequest(credentials, body, originOf(request));
}

/** `/oauth2/device_authorization` (RFC 8628 §3.1, §3.2). */
async function authorizeDevice(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const origin = originOf(request);
  const { deviceRequests } = service.throttles;
  const retryAfter = deviceRequests.wait([origin.source], service.now());
  if (retryAfter > 0) return answerProblem(oauthAnswers, request, reply, { kind: 'too_many_requests', retryAfter });
  deviceRequests.count([origin.source], service.now());
  const asked = beginDevice(service, formOf(request), request);
  const result = await answerOf(service, request, readCredentials, 'device_authorization', asked);
  if (result instanceof Refusal) return refuse(service, request, reply, result);
  const page = service.appUrl + service.paths.device;
  const userCode = readableUserCode(result.userCode);
  return sendJson(reply, {
    device_code: result.deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: Math.ceil((result.expiresAt - service.now()) / 1000),
    interval: POLL_INTERVAL,
  });
}

function beginDevice(service: Service, body: Parameters, request: FastifyRequest): Asked<DeviceCodes> {
  const details = authorizationDetailsRefusal(body);
  if (details) return details;
  const problem = body.problem(parametersOf(AUTHORIZE_DEVICE), ['resource']);
  if (problem) return invalidRequest(problem);
  const credentials = readCredentials(request);
  if (credentials instanceof Refusal) return credentials;
  const [resource = null, ...others] = body.all('resource');
  if (others.length > 0) return new Refusal('invalid_target', 'ask for one resource at a time'); // RFC 8707 §2
  return service.deviceFlow.begin(credentials, { scope: body.get('scope'), resource }, originOf(request));
}

/** Sends a refusal, with a link to its reason on the developers' page (RFC 6749 §5.2 `error_uri`). */
function refuse(service: Service, request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  return sendOAuthRefusal(request, reply, refusal, { developersUrl: service.appUrl + service.paths.developers });
}
