/** `GET {api_url}/v2/me`: confirms that an access token works, and says whose it is. */
import type { FastifyInstance } from 'fastify';
import type { CheckedToken } from '../oauth/authorization-server.ts';
import { invalidToken, Refusal } from '../oauth/error.ts';
import { readBearerToken } from './client-authentication.ts';
import { apiAnswers, sendJson, sendTokenRefusal } from './json-answers.ts';
import { ME_PATH } from './paths.ts';
import type { Service } from './service.ts';

/** Adds the check to the API's address. The token is taken from the header alone (RFC 6750 §2.1). */
export function addMe(app: FastifyInstance, service: Service): void {
  app.get(ME_PATH, { config: { answers: apiAnswers } }, async (request, reply) => {
    const { authorization } = request.headers;
    // Another scheme brings no token either (RFC 6750 §3.1).
    if (!/^Bearer +[^ ]/i.test(authorization ?? '')) return sendTokenRefusal(request, reply, NO_TOKEN);
    const token = readBearerToken(authorization as string);
    const checked =
      token === null
        ? invalidToken('the Authorization header holds more than a token')
        : await service.authorizationServer.checkAccessToken(token);
    if (checked instanceof Refusal) return sendTokenRefusal(request, reply, checked);
    return sendJson(reply, describe(checked));
  });
}

const NO_TOKEN = new Refusal('missing_token', 'an access token is required, as Authorization: Bearer');

function describe({ resourceOwner, clientId, scope, grantedAt, expiresAt }: CheckedToken): object {
  const { id, username, email, name, avatarUrl } = resourceOwner;
  return {
    status: 'success',
    data: { id, username, email, name, avatar_url: avatarUrl },
    authorization: {
      client_id: clientId,
      scope,
      granted_at: new Date(grantedAt).toISOString(),
      expires_at: new Date(expiresAt).toISOString(),
    },
  };
}
