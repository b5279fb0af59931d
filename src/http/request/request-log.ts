/** Logs requests: a line for each, with its source, and unexpected errors. */
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { StoreUnavailable } from '../../oauth/store.ts';
import type { HttpProblem } from '../answer/problem.ts';
import { type Answers, answerProblem } from '../answer/send-problem.ts';
import type { Service } from '../service/service.ts';
import { MalformedBody, UnsupportedBody } from './decoding.ts';
import { readSource } from './origin.ts';
import { RefusalWarnings } from './refusal-warnings.ts';

/** `Retry-After` when the store could not serve (s). */
const UNAVAILABLE_RETRY_AFTER = 2;

/** Outcomes that are no refusals: a device polls until the user decides (RFC 8628 §3.5), and clients hang up. */
const NO_REFUSALS: readonly string[] = ['authorization_pending', 'aborted'];

/** A logger with a cheap `line`, for lines that are logged thousands of times a second. */
export type RequestLogger = FastifyBaseLogger & { line(members: object, level?: 'info' | 'warn'): void };

/** The log of one server's requests. */
export class RequestLog {
  readonly #service: Service;
  readonly #logger: RequestLogger;
  readonly #warnings = new RefusalWarnings();

  constructor(service: Service, logger: RequestLogger) {
    this.#service = service;
    this.#logger = logger;
  }

  /** Returns the source of a connection's request. */
  sourceOf(socket: Socket, forwardedFor: string | string[] | undefined): string {
    return readSource(this.#service, socket, forwardedFor);
  }

  /** Answers an error that a handler threw, in a face's form. */
  answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, answers: Answers): FastifyReply {
    const problem = problemOf(error);
    const about = { request_id: request.id, err: error };
    if (problem.kind === 'internal') this.#logger.error(about, 'a request failed unexpectedly');
    if (problem.kind === 'unavailable') {
      this.#logger.warn({ request_id: request.id }, `the store could not serve: ${(error as Error).message}`);
      this.#logger.debug(about, 'where the store could not serve');
    }
    return answerProblem(answers, request, reply, problem);
  }

  /** Logs the end of a request, `ms` after its start; never its query, body, cookies or credentials. */
  end(
    request: Pick<FastifyRequest, 'id' | 'method' | 'source' | 'outcome'>,
    { route, status, ms }: { readonly route: string | undefined; readonly status: number; readonly ms: number },
  ): void {
    const { outcome, source } = request;
    this.#service.tally?.end(route, outcome, status, ms);
    const silent = this.#warnedOf(source, outcome?.error ?? (status < 400 ? null : String(status)));
    this.#logger.line(
      {
        request_id: request.id,
        method: request.method,
        route: route ?? null,
        status,
        ms: Math.round(ms * 10) / 10,
        source,
        ...outcome,
        ...(silent ? { without_warning: silent } : {}),
        msg: 'request',
      },
      silent === null ? 'info' : 'warn',
    );
  }

  /**
   * Returns the number of refusals of this kind from this source since the last warning; null if this one gets no
   * warning.
   */
  #warnedOf(source: string, kind: string | null): number | null {
    if (kind === null || NO_REFUSALS.includes(kind)) return null;
    return this.#warnings.next(source, kind, this.#service.now());
  }
}

function problemOf(error: unknown): HttpProblem {
  if (error instanceof StoreUnavailable) return { kind: 'unavailable', retryAfter: UNAVAILABLE_RETRY_AFTER };
  if (error instanceof MalformedBody) return { kind: 'bad_request', description: error.message };
  if (error instanceof UnsupportedBody) return { kind: 'unsupported_media_type' };
  const status = (error as { statusCode?: number }).statusCode;
  if (status === 413) return { kind: 'too_large' };
  if (status === 415) return { kind: 'unsupported_media_type' };
  return { kind: status !== undefined && status < 500 ? 'bad_request' : 'internal' };
}
