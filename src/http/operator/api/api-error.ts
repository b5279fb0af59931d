/** The errors of the operators' API: the product API's form, with the wrong field and the request's id. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NothingThere, OperatorError } from '../../../oauth/error.ts';
import { AccessEnded } from '../../../oauth/trail/audit.ts';
import { ChangedSince } from '../../../oauth/trail/request-conditions.ts';
import { KeyOfAnotherRequest } from '../../../operator/idempotency.ts';
import { STATUS as PROBLEM_STATUS } from '../../answer/problem.ts';
import { type Answers, answerProblem, setRetryAfter } from '../../answer/send-problem.ts';
import { describe, sendJson } from '../../json/json-answers.ts';

/** The codes of errors that a request of the API can have, each with its HTTP status, besides those of `HttpProblem`. */
const OWN_STATUS = {
  invalid_request: 400,
  missing_key: 401,
  invalid_key: 401,
  forbidden: 403,
  conflict: 409,
  changed_since: 412,
} as const;

/** The codes of errors, each with its HTTP status. */
export const API_STATUS = { ...PROBLEM_STATUS, ...OWN_STATUS } as const;

/** A code of an error. */
export type ApiErrorCode = keyof typeof API_STATUS;

/** An error with a message for developers. `field` names the parameter or member that is wrong, `retryAfter` is in seconds. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  readonly field: string | null;
  readonly retryAfter: number | undefined;

  constructor(code: ApiErrorCode, message: string, field: string | null = null, retryAfter?: number) {
    super(message);
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
  }
}

/** Returns the error of an id that nothing has. */
export function notFound(noun: string): ApiError {
  return new ApiError('not_found', `there is no ${noun} with this id`);
}

/** Returns the refusal of a call whose `If-Match` is of an earlier state. */
export function changedSince(): ApiError {
  return new ApiError('changed_since', 'the object changed since its ETag was sent: fetch it again, and try again');
}

/** Returns the API's error for one that a handler threw; null for an error that every server answers alike. */
export function apiErrorOf(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error;
  if (error instanceof ChangedSince) return changedSince();
  if (error instanceof KeyOfAnotherRequest) return new ApiError('conflict', error.message, 'Idempotency-Key');
  if (error instanceof AccessEnded) return new ApiError('forbidden', error.message);
  if (error instanceof NothingThere) return new ApiError('not_found', error.message);
  if (!(error instanceof OperatorError)) return null;
  return new ApiError(error.field === null ? 'conflict' : 'invalid_request', error.message, error.field);
}

/** Sends an error. */
export function sendApiError(
  request: FastifyRequest,
  reply: FastifyReply,
  { code, message, field, retryAfter }: ApiError,
): FastifyReply {
  request.outcome = { ...request.outcome, error: code };
  if (API_STATUS[code] === 401)
    reply.header(
      'WWW-Authenticate',
      `Bearer realm="valetkey"${code === 'invalid_key' ? ', error="invalid_token"' : ''}`,
    );
  if (retryAfter !== undefined) setRetryAfter(reply, retryAfter);
  return sendJson(reply.code(API_STATUS[code]), bodyOf(request, code, message, field));
}

/** Problems before or around a handler, in the same form. */
export const operatorAnswers: Answers = (request, reply, problem) => {
  request.outcome = { ...request.outcome, error: request.outcome?.error ?? problem.kind };
  return sendJson(reply, bodyOf(request, problem.kind, describe(problem), null));
};

/** Answers 405. */
export function refuseMethod(request: FastifyRequest, reply: FastifyReply, allow: readonly string[]): FastifyReply {
  return answerProblem(operatorAnswers, request, reply, { kind: 'method_not_allowed', allow });
}

function bodyOf({ id }: FastifyRequest, code: ApiErrorCode, message: string, field: string | null): object {
  return { status: 'error', error: { code, message, field, request_id: id } };
}
