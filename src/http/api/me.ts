/** `GET {api_url}/v2/me`: confirms that an access token works, and says whose it is. */
import type { FastifyInstance } from 'fastify';
import { Refusal } from '../../oauth/error.ts';
import type { CheckedToken } from '../../oauth/tokens/access-token.ts';
import { byGrant } from '../answer/logged-outcome.ts';
import { ANY_ORIGIN, addPreflight } from '../checks/cross-origin.ts';
import { readableBy } from '../json/cross-origin-answers.ts';
import { dateTime } from '../json/date-time.ts';
import { apiAnswers, sendJson, sendTokenRefusal } from '../json/json-answers.ts';
import {
  answer,
  apiError,
  CHALLENGE,
  namedObject,
  type Operation,
  object,
  optional,
  problems,
  text,
} from '../json/operation.ts';
import { presentedToken } from '../request/client-authentication.ts';
import { ME_PATH, RESOURCE_METADATA_PATH } from '../service/paths.ts';
import type { Service } from '../service/service.ts';

/** Adds the check to the API's address. */
export function addMe(app: FastifyInstance, service: Service): void {
  const metadataUrl = service.apiUrl + RESOURCE_METADATA_PATH;
  app.get(ME_PATH, { config: { answers: apiAnswers, operation: OPERATION } }, async (request, reply) => {
    reply.headers(ANY_ORIGIN);
    const token = presentedToken(request);
    const checked = token instanceof Refusal ? token : await service.authorizationServer.checkAccessToken(token);
    if (checked instanceof Refusal) return sendTokenRefusal(request, reply, checked, metadataUrl);
    request.outcome = byGrant(checked.grant);
    return sendJson(reply, describe(checked));
  });
  addPreflight(app, ME_PATH, 'GET');
}

function describe({ resourceOwner, externalId, clientId, scope, grantedAt, expiresAt }: CheckedToken): object {
  const { id, username, email, name, avatarUrl } = resourceOwner;
  return {
    status: 'success',
    data: {
      id,
      username,
      email,
      name,
      avatar_url: avatarUrl,
      ...(externalId === null ? {} : { external_id: externalId }),
    },
    authorization: {
      client_id: clientId,
      scope,
      granted_at: dateTime(grantedAt),
      expires_at: dateTime(expiresAt),
    },
  };
}

const ACCOUNT = object({
  id: text('The account’s ID. It never changes and is never reused.', { examples: ['usr_example'] }),
  username: { type: ['string', 'null'] },
  email: { type: ['string', 'null'] },
  name: { type: ['string', 'null'] },
  avatar_url: { type: ['string', 'null'] },
  external_id: optional(
    text('The user’s ID at the identity provider where they signed in. Only for apps that the operator chose.'),
  ),
});
const AUTHORIZATION = object({
  client_id: { type: 'string', examples: ['app_example'] },
  scope: text('The granted scopes, separated by spaces; may be empty.'),
  granted_at: text('Time at which the user pressed Allow.', { format: 'date-time' }),
  expires_at: text('Expiry of this access token.', { format: 'date-time' }),
});
const OPERATION: Operation = {
  operationId: 'me',
  tags: ['published face'],
  summary: 'Checks an access token, and returns its user',
  description: 'RFC 6750 §2.1. After a revocation is answered, the next check already refuses the token.',
  security: [{ accessToken: [] }, { publishedFace: [] }, { standardFace: [] }],
  responses: readableBy('Any', {
    200: answer(
      'The token works.',
      namedObject('Me', { status: { const: 'success' }, data: ACCOUNT, authorization: AUTHORIZATION }),
    ),
    401: answer('The token is missing or invalid.', apiError('missing_token', 'invalid_token'), CHALLENGE.bearer),
    ...problems('Api', 'method_not_allowed', 'internal', 'unavailable'),
  }),
};
