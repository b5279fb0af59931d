/** `/oauth2/introspect` (RFC 7662): translates resource servers' requests and the answers. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidRequest, Refusal } from '../../oauth/error.ts';
import type { ActiveToken, ResourceServer } from '../../oauth/resource-servers/resource-server.ts';
import { byGrant } from '../answer/logged-outcome.ts';
import { oauthAnswers, sendJson, sendOAuthRefusal } from '../json/json-answers.ts';
import {
  answer,
  bodyRefusals,
  component,
  namedFields,
  type Operation,
  object,
  optional,
  parametersOf,
  posted,
  SECRET_FIELDS,
  text,
} from '../json/operation.ts';
import { readClientCredentials } from '../request/client-authentication.ts';
import { formOf } from '../request/form.ts';
import { originOf } from '../request/origin.ts';
import { STANDARD_PATHS } from '../service/paths.ts';
import type { Service } from '../service/service.ts';

const INACTIVE = { active: false };

/** Adds introspection to the app's address. */
export function addIntrospection(app: FastifyInstance, service: Service): void {
  app.post(
    STANDARD_PATHS.introspect,
    { config: { answers: oauthAnswers, operation: OPERATION } },
    async (request, reply) => {
      const body = formOf(request);
      const problem = body.problem(parametersOf(OPERATION));
      if (problem) return sendOAuthRefusal(request, reply, invalidRequest(problem));
      const resourceServer = await authenticateResourceServer(service, request);
      if (resourceServer instanceof Refusal) return sendOAuthRefusal(request, reply, resourceServer);
      const token = body.get('token');
      if (token === undefined) return sendOAuthRefusal(request, reply, invalidRequest('token is required'));
      const active = await service.introspection.introspect(resourceServer, token);
      if (!active) return sendJson(reply, INACTIVE);
      request.outcome = byGrant(active.grant);
      return sendJson(reply, describe(service.appUrl, active));
    },
  );
}

/** Authenticates the resource server that sent a request, by Basic or in the body. */
export async function authenticateResourceServer(
  service: Service,
  request: FastifyRequest,
): Promise<ResourceServer | Refusal> {
  const credentials = readClientCredentials('standard', request, formOf(request));
  if (credentials instanceof Refusal) return credentials;
  const secret = credentials.method === 'secret' ? credentials.clientSecret : undefined;
  return service.introspection.authenticate({ id: credentials.clientId, secret }, originOf(request));
}

/** RFC 7662 §2.2. `grant_id` is our extension: revocation notices name it. */
function describe(issuer: string, token: ActiveToken): object {
  const { username, id } = token.resourceOwner;
  return {
    active: true,
    // A scope has at least one value (RFC 6749 §3.3).
    ...(token.scope === '' ? {} : { scope: token.scope }),
    client_id: token.clientId,
    sub: id,
    ...(username === null ? {} : { username }),
    ...(token.externalId === null ? {} : { external_id: token.externalId }),
    token_type: 'Bearer',
    exp: Math.floor(token.expiresAt / 1000),
    iss: issuer,
    ...(token.resource === null ? {} : { aud: token.resource }),
    grant_id: token.grant.grantId,
  };
}

const REQUEST = namedFields('IntrospectionRequest', ['token'], {
  ...SECRET_FIELDS,
  token: text('The access token that the resource server received.', { examples: ['vk_at_example'] }),
  token_type_hint: text('Ignored.', { examples: ['access_token'] }),
});
const ACTIVE = object({
  active: { const: true },
  scope: text('The granted scopes that this resource server may see, separated by spaces.'),
  client_id: text('The app that the token was issued to.', { examples: ['app_example'] }),
  sub: text('The user’s account ID. It never changes.', { examples: ['usr_example'] }),
  username: optional(text('Absent if the account has none.')),
  external_id: optional(
    text(
      'The user’s ID at the identity provider where they signed in to allow this access. Absent if they signed in here.',
    ),
  ),
  token_type: { const: 'Bearer' },
  exp: { type: 'integer', description: 'Expiry of the token, in seconds since 1970.' },
  iss: { type: 'string', format: 'uri' },
  aud: optional(
    text('The resource that the token is limited to (RFC 8707 §2). Absent if it is not limited.', {
      format: 'uri',
    }),
  ),
  grant_id: text('The grant. Revocation notices name it.', { format: 'uuid' }),
});
const OPERATION: Operation = {
  operationId: 'introspect',
  tags: ['resource servers'],
  summary: 'Checks an access token',
  description: 'RFC 7662 §2.1. Only for registered resource servers.',
  security: [{ resourceServerBasic: [] }, {}],
  requestBody: posted(REQUEST),
  responses: {
    200: answer(
      'The token’s details, or `active: false` whatever the reason (RFC 7662 §2.2).',
      component('schemas', 'Introspection', { oneOf: [ACTIVE, object({ active: { const: false } })] }),
    ),
    ...bodyRefusals('invalid_request'),
  },
};
