/** Limits how often one source may request public routes: pages, documents, and addresses without a route. */
import type { FastifyInstance } from 'fastify';
import type { Throttle } from '../../accounts/guessing/throttle.ts';
import { addCheck, answerProblem, type FallbackAnswers } from '../answer/send-problem.ts';
import type { Service } from '../service/service.ts';

/** Counts a visit, unless its source is over the limit. Returns the seconds to wait, or 0 if the visit was counted. */
export function countVisit(throttle: Throttle, source: string, now: number): number {
  const wait = throttle.wait([source], now);
  if (wait === 0) throttle.count([source], now);
  return wait;
}

/** Limits public routes, and addresses without a route. */
export function limitPublic(app: FastifyInstance, service: Service, fallback: FallbackAnswers): void {
  addCheck(app, (request, reply) => {
    const { config } = request.routeOptions;
    if (config.limit !== 'public' && !request.is404) return undefined;
    const retryAfter = countVisit(service.throttles.publicPages, request.source, service.now());
    if (retryAfter === 0) return undefined;
    // Stop reading further requests on this connection.
    reply.header('Connection', 'close');
    return answerProblem(config.answers ?? fallback(request), request, reply, {
      kind: 'too_many_requests',
      retryAfter,
    });
  });
}
