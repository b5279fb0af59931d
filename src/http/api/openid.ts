/** OpenID Connect beside the standard face: the key set, the userinfo endpoint, and its part of the metadata. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../oauth/error.ts';
import { byGrant } from '../answer/logged-outcome.ts';
import { ANY_ORIGIN, addPreflight } from '../checks/cross-origin.ts';
import { readableBy } from '../json/cross-origin-answers.ts';
import { bearerChallenge, oauthAnswers, sendJson } from '../json/json-answers.ts';
import {
  answer,
  CHALLENGE,
  header,
  type Operation,
  oauthError,
  object,
  optional,
  problems,
  text,
} from '../json/operation.ts';
import { presentedToken } from '../request/client-authentication.ts';
import { STANDARD_PATHS } from '../service/paths.ts';
import type { Service } from '../service/service.ts';

/** Adds the key set and the userinfo endpoint to the app's address. */
export function addOpenId(app: FastifyInstance, service: Service): void {
  const keySet = { answers: oauthAnswers, operation: KEY_SET, limit: 'public', mayBePlain: true } as const;
  app.get(STANDARD_PATHS.keySet, { config: { ...keySet, isForAnyOrigin: true } }, async (_request, reply) => {
    const keys = await service.signingKeys.published();
    // The keys follow an empty set as soon as an app has sign-in, and no cache may keep that app waiting.
    if (keys.length === 0) return sendJson(reply, { keys });
    return reply.headers(PUBLIC_FOR_AN_HOUR).serializer(JSON.stringify).send({ keys });
  });
  addPreflight(app, STANDARD_PATHS.keySet, 'GET');
  const ask = (request: FastifyRequest, reply: FastifyReply) => sendUserInfo(service, request, reply);
  app.get(STANDARD_PATHS.userInfo, { config: { answers: oauthAnswers, operation: USER_INFO } }, ask);
  app.post(STANDARD_PATHS.userInfo, { config: { answers: oauthAnswers, operation: POSTED_USER_INFO } }, ask);
  addPreflight(app, STANDARD_PATHS.userInfo, 'GET, POST');
}

const PUBLIC_FOR_AN_HOUR = {
  'Content-Type': 'application/json',
  'Cache-Control': 'public, max-age=3600',
  'X-Content-Type-Options': 'nosniff',
};

/** OpenID Connect Core §5.3. */
async function sendUserInfo(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.headers(ANY_ORIGIN);
  const token = presentedToken(request);
  const found = token instanceof Refusal ? token : await service.openIdConnect.userInfo(token);
  if (!(found instanceof Refusal)) {
    request.outcome = byGrant(found.grant);
    return sendJson(reply, found.claims);
  }
  const { code, description, detail } = found;
  request.outcome = { error: code, detail };
  reply.code(code === 'insufficient_scope' ? 403 : 401).header('WWW-Authenticate', bearerChallenge(found));
  return sendJson(reply, { error: code, error_description: description });
}

/** The members of OpenID Connect Discovery 1.0 §3, from the first app with sign-in on. */
export function openIdMetadata({ appUrl }: Service, scopes: readonly string[]): object {
  return {
    userinfo_endpoint: appUrl + STANDARD_PATHS.userInfo,
    jwks_uri: appUrl + STANDARD_PATHS.keySet,
    scopes_supported: ['openid', 'profile', 'email', ...scopes],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: CLAIMS,
    claims_parameter_supported: false,
  };
}

const PROFILE_CLAIMS = ['name', 'preferred_username', 'picture', 'email', 'email_verified'];
const CLAIMS = ['sub', 'iss', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'at_hash', 'amr', ...PROFILE_CLAIMS];

/** Descriptions of those members that no other metadata has. */
export const OPENID_MEMBERS = {
  userinfo_endpoint: optional({ type: 'string', format: 'uri' }),
  jwks_uri: optional({ type: 'string', format: 'uri' }),
  subject_types_supported: optional({ const: ['public'] }),
  id_token_signing_alg_values_supported: optional({ const: ['RS256'] }),
  claims_supported: optional({ const: CLAIMS }),
  claims_parameter_supported: optional({ const: false }),
};

const KEY = object({
  kty: { const: 'RSA' },
  use: { const: 'sig' },
  alg: { const: 'RS256' },
  kid: text('The `kid` of the ID tokens that it signs.'),
  n: { type: 'string' },
  e: { type: 'string' },
});
const AN_HOUR = {
  'Cache-Control': header('OneHour', 'Keys may be cached for an hour, and an empty set not at all.', {
    enum: ['public, max-age=3600', 'no-store'],
  }),
};
const KEY_SET: Operation = {
  operationId: 'keySet',
  tags: ['discovery'],
  summary: 'Publishes the keys that sign ID tokens',
  description:
    'RFC 7517 §5. The key that signs next is here long before it does. Empty before the first app with sign-in, and not to be cached then.',
  responses: readableBy('Any', {
    200: answer('The key set.', object({ keys: { type: 'array', items: KEY } }), AN_HOUR),
    ...problems('OAuth', 'method_not_allowed', 'too_many_requests', 'internal', 'unavailable'),
  }),
};
const USER_INFO: Operation = {
  operationId: 'userInfo',
  tags: ['standard face'],
  summary: 'Returns the claims about the user of an access token',
  description: 'OpenID Connect Core §5.3. After a revocation is answered, the next request already refuses the token.',
  security: [{ accessToken: [] }, { standardFace: [] }],
  responses: readableBy('Any', {
    200: answer(
      'The claims that the user allowed and that have a value.',
      object({
        sub: text('The account’s ID, the same for every app. It never changes and is never reused.'),
        name: optional({ type: 'string' }),
        preferred_username: optional({ type: 'string' }),
        picture: optional({ type: 'string', format: 'uri' }),
        email: optional({ type: 'string' }),
        email_verified: optional({ const: true }),
      }),
    ),
    401: answer(
      'The token is missing or invalid, or bound to a resource.',
      oauthError('missing_token', 'invalid_token'),
      CHALLENGE.bearer,
    ),
    403: answer('The token signs nobody in.', oauthError('insufficient_scope'), CHALLENGE.bearer),
    ...problems('OAuth', 'method_not_allowed', 'internal', 'unavailable'),
  }),
};
const POSTED_USER_INFO: Operation = {
  ...USER_INFO,
  operationId: 'postedUserInfo',
  summary: 'The same for clients that post (OpenID Connect Core §5.3.1); the body is ignored',
  responses: { ...USER_INFO.responses, ...problems('OAuth', 'too_large', 'unsupported_media_type') },
};
