/** The routes of the operators' API: each names its act, its description and its answer. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OperatorOrigin } from '../../../operator/access/access.ts';
import type { Access, Act } from '../../../operator/access/rights.ts';
import type { Members } from '../../../operator/fields/field.ts';
import { sendDone, sendJson } from '../../json/json-answers.ts';
import type { Operation } from '../../json/operation.ts';
import { originOf } from '../../request/origin.ts';
import { ApiError, operatorAnswers } from './api-error.ts';
import { queryNames } from './described-parts.ts';
import { etagOf } from './etag.ts';
import type { KeyGuard } from './key-guard.ts';
import { type Query, readQuery } from './query.ts';

/** A call of the API that may do its route's act. */
export type Call = {
  readonly access: Access;
  /** Throws `ApiError` unless the access may do a further act. */
  readonly requires: (act: Act) => Promise<void>;
  readonly origin: OperatorOrigin;
  /** The id in the path; empty without one. */
  readonly id: string;
  /** The query of a GET, with the parameters that its operation has. */
  readonly query: Query;
  readonly request: FastifyRequest;
  /** For status and headers; the frame sends the body. */
  readonly reply: FastifyReply;
};

/** A route below `/v1`. `answer` returns the body, or null for none; it throws `ApiError` and `OperatorError`. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Such as `/clients/:id`; an id is one percent-encoded segment. */
  readonly path: string;
  readonly act: Act;
  readonly operation: Operation;
  /** The further acts that a body makes of the call. */
  readonly also?: (members: Members) => readonly Act[];
  readonly answer: (call: Call) => Promise<object | null>;
};

/** Returns a route. An answer has an `ETag` if its operation says so. */
export function route(
  method: Route['method'],
  path: string,
  act: Act,
  operation: Operation,
  answer: Route['answer'],
): Route {
  return { method, path, act, operation, answer };
}

/** The address of the API below the operators' address. */
const API_PATH = '/v1';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Adds routes to the API's part of the server, and answers 405 to all other methods of their addresses. */
export function addRoutes(part: FastifyInstance, routes: readonly Route[], { accessOf, requires }: KeyGuard): void {
  for (const { method, path, act, operation, also, answer } of routes) {
    const hasTag = operation.responses[200]?.headers['ETag'] !== undefined;
    part.route<{ Params: { id?: string } }>({
      method,
      url: API_PATH + path,
      config: { answers: operatorAnswers, operation, act, ...(also && { also }) },
      handler: async (request, reply) => {
        const { id = '' } = request.params;
        refuseIfMatch(request, operation);
        const body = await answer({
          access: accessOf(request),
          requires: (further) => requires(request, further),
          origin: originOf(request),
          query: method === 'GET' ? readQuery(request, queryNames(operation)) : {},
          id,
          request,
          reply,
        });
        if (body && hasTag && !('dry_run' in body)) reply.header('ETag', etagOf(body));
        return body ? sendJson(reply, body) : sendDone(reply);
      },
    });
  }
  for (const [path, some] of Map.groupBy(routes, (route) => route.path)) {
    const allow: string[] = some.map(({ method }) => method);
    if (allow.includes('GET')) allow.push('HEAD');
    const others = METHODS.filter((method) => !allow.includes(method));
    const handler = () => {
      throw new Error('the guard answers');
    };
    part.route({ method: others, url: API_PATH + path, config: { answers: operatorAnswers, allow }, handler });
  }
}

/** A condition that is not checked must not seem to hold. */
function refuseIfMatch({ headers, method }: FastifyRequest, { parameters = [] }: Operation): void {
  if (headers['if-match'] === undefined || method === 'GET' || method === 'HEAD') return;
  if (!parameters.some(({ name }) => name === 'If-Match'))
    throw new ApiError('invalid_request', 'If-Match has no meaning for this call: leave it out', 'If-Match');
}
