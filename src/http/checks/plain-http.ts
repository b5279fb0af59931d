/** Refuses requests that came by plain http although the service has https. */
import type { FastifyInstance } from 'fastify';
import { addCheck, answerProblem, type FallbackAnswers } from '../answer/send-problem.ts';
import { cameByPlainHttp } from '../request/origin.ts';

/**
 * Refuses a request that a trusted proxy received by plain http, if `url` is https: others could read it. Does not
 * redirect to https, so that a client that sends secrets this way notices (RFC 6749 §10.9). Routes without personal
 * data are exempt.
 */
export function refusePlainHttp(app: FastifyInstance, url: string, fallback: FallbackAnswers): void {
  if (!url.startsWith('https:')) return;
  addCheck(app, (request, reply) => {
    const { config } = request.routeOptions;
    if (config.mayBePlain || !cameByPlainHttp(request.raw.socket, request.headers['x-forwarded-proto']))
      return undefined;
    request.outcome = { error: 'plain_http', detail: 'X-Forwarded-Proto of the proxy says http' };
    return answerProblem(config.answers ?? fallback(request), request, reply, { kind: 'plain_http' });
  });
}
