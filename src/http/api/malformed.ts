/** Malformed requests, refused before authentication. */
import type { FastifyRequest } from 'fastify';
import type { FailedEndpoint } from '../../oauth/activity/app-failure.ts';
import type { ClientCredentials } from '../../oauth/clients/client.ts';
import { Refusal } from '../../oauth/error.ts';
import { originOf } from '../request/origin.ts';
import type { Service } from '../service/service.ts';

/** A pending response, or the refusal of a request before authentication. */
export type Asked<Answer> = Promise<Answer | Refusal> | Refusal;

/** Reads the credentials of a client from a request, as its endpoint takes them. */
export type ReadCredentials = (request: FastifyRequest) => ClientCredentials | Refusal;

/** The answer. A malformed request of an app that proves who it is goes to the failures which its operator sees. */
export async function answerOf<Answer>(
  service: Service,
  request: FastifyRequest,
  read: ReadCredentials,
  endpoint: FailedEndpoint,
  asked: Asked<Answer>,
): Promise<Answer | Refusal> {
  if (!(asked instanceof Refusal)) return asked;
  const credentials = read(request);
  if (!(credentials instanceof Refusal))
    await service.authorizationServer.recordMalformed(credentials, asked, endpoint, originOf(request));
  return asked;
}
