/** How each face answers a problem: as a page, or as JSON of its kind. A face decides only how the answer looks. */
import type { FastifyReply, FastifyRequest } from 'fastify';
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

/** `Retry-After`, and the same for clients that read `RateLimit`; seconds. */
export function setRetryAfter(reply: FastifyReply, seconds: number): void {
  reply.header('Retry-After', String(seconds)).header('RateLimit', `"default";r=0;t=${seconds}`);
}

/** `Retry-After` when password checks are busy (s). */
export const BUSY_RETRY_AFTER = 2;

/** How a server answers at an address without a route. */
export type FallbackAnswers = (request: FastifyRequest) => Answers;
