/** Sends problems in each face's form: as a page, or as JSON. A face decides only the form. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type HttpProblem, STATUS } from './problem.ts';

/** Sends a problem in a face's form; status and headers are set already. */
export type Answers = (request: FastifyRequest, reply: FastifyReply, problem: HttpProblem) => FastifyReply;

/** Sends a problem with its status and headers through a face's form. */
export function answerProblem(
  answers: Answers,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: HttpProblem,
): FastifyReply {
  reply.code(STATUS[problem.kind]);
  if (problem.allow) reply.header('Allow', problem.allow.join(', '));
  if (problem.retryAfter !== undefined) setRetryAfter(reply, problem.retryAfter);
  return answers(request, reply, problem);
}

/** Sets `Retry-After`, and `RateLimit` for clients that read that; seconds. */
export function setRetryAfter(reply: FastifyReply, seconds: number): void {
  reply.header('Retry-After', String(seconds)).header('RateLimit', `"default";r=0;t=${seconds}`);
}

/** `Retry-After` when password checks are busy (s). */
export const BUSY_RETRY_AFTER = 2;

/** Answers of a server at an address without a route. */
export type FallbackAnswers = (request: FastifyRequest) => Answers;

/**
 * Adds a check before the body is read. It answers a request that it refuses, and returns undefined for every other one. An
 * asynchronous hook would cost each request a promise for each check.
 */
export function addCheck(
  app: FastifyInstance,
  check: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    try {
      if (check(request, reply) === undefined) done();
    } catch (error) {
      done(error as Error);
    }
  });
}
