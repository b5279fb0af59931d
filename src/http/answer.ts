/**
 * How each face says no. A face has one `Answers`: the same events in its own form (a page, or JSON of its kind), so that
 * what is refused and how it looks are decided in one place each.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EndpointReply } from './endpoint.ts';

/** Things that can go wrong before or around a handler, with the HTTP status each one has. */
export const STATUS = {
  bad_request: 400,
  plain_http: 400,
  not_found: 404,
  method_not_allowed: 405,
  timeout: 408,
  too_large: 413,
  unsupported_media_type: 415,
  too_many_requests: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
} as const;

/** A trouble by name; `retryAfter` in seconds and `allow` go into headers, `description` is public. */
export type Trouble = {
  readonly kind: keyof typeof STATUS;
  readonly description?: string;
  readonly retryAfter?: number;
  readonly allow?: readonly string[];
};

/** Sends a trouble in a face's form; status and headers are set already. */
export type Answers = (request: FastifyRequest, reply: FastifyReply, trouble: Trouble) => EndpointReply;

/** Sends a trouble with its status and headers through a face's form. */
export function answerTrouble<Request, Reply extends EndpointReply, Answer>(
  answers: (request: Request, reply: Reply, trouble: Trouble) => Answer,
  request: Request,
  reply: Reply,
  trouble: Trouble,
): Answer {
  reply.code(STATUS[trouble.kind]);
  if (trouble.allow) reply.header('Allow', trouble.allow.join(', '));
  if (trouble.retryAfter !== undefined) setRetryAfter(reply, trouble.retryAfter);
  return answers(request, reply, trouble);
}

/** `Retry-After`, and the same for clients that read `RateLimit`; seconds. */
export function setRetryAfter(reply: EndpointReply, seconds: number): void {
  reply.header('Retry-After', String(seconds)).header('RateLimit', `"default";r=0;t=${seconds}`);
}
