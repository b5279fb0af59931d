/** `/oauth2/introspect` (RFC 7662): requests of resource servers and their answers, translated. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ActiveToken, ResourceServer } from '../../oauth/clients/resource-server.ts';
import { invalidRequest, Refusal } from '../../oauth/error.ts';
import { formOf } from '../form.ts';
import { originOf } from '../origin.ts';
import { byGrant } from '../outcome.ts';
import { STANDARD_PATHS } from '../paths.ts';
import type { Service } from '../service.ts';
import { readClientCredentials } from './client-authentication.ts';
import { oauthAnswers, sendJson, sendOAuthRefusal } from './json-answers.ts';
import {
  answer,
  bodyRefusals,
  component,
  fields,
  type Operation,
  object,
  parametersOf,
  posted,
  SECRET_FIELDS,
  text,
} from './operation.ts';

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

/** RFC 7662 §2.2. The grant's id is ours: a notice of a revocation names it. */
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

const REQUEST = component(
  'schemas',
  'IntrospectionRequest',
  fields(
    {
      ...SECRET_FIELDS,
      token: text('The access token that came to the resource server.', { examples: ['vk_at_example'] }),
      token_type_hint: text('Makes no difference.', { examples: ['access_token'] }),
    },
    ['token'],
  ),
);
const ACTIVE = object(
  {
    active: { const: true },
    scope: text('What the resource server may know of, separated by spaces; empty without any.'),
    client_id: text('For whom.', { examples: ['app_example'] }),
    sub: text('Whose: never changes.', { examples: ['usr_example'] }),
    username: text('If the account has one.'),
    external_id: text('What the product calls them where they signed in to allow this, if they did at a product.'),
    token_type: { const: 'Bearer' },
    exp: { type: 'integer', description: 'When it ends, in seconds since the epoch.' },
    iss: { type: 'string', format: 'uri' },
    aud: text('The resource, if the token is for a certain one (RFC 8707 §2).', { format: 'uri' }),
    grant_id: text('The grant, which the notice of a revocation names.', { format: 'uuid' }),
  },
  ['username', 'external_id', 'aud'],
);
const OPERATION: Operation = {
  operationId: 'introspect',
  tags: ['resource servers'],
  summary: 'Says what an access token is good for',
  description: 'RFC 7662 §2.1, for registered resource servers.',
  security: [{ resourceServerBasic: [] }, {}],
  requestBody: posted(REQUEST),
  responses: {
    200: answer(
      'What it is good for; every reason for nothing looks the same (RFC 7662 §2.2).',
      component('schemas', 'Introspection', { oneOf: [ACTIVE, object({ active: { const: false } })] }),
    ),
    ...bodyRefusals('invalid_request'),
  },
};
