/**
 * Endpoints for programs: what they read of a request, and what they set on a reply. Fastify's request and reply fit
 * these types, and so do those of `direct-request.ts` and `direct-reply.ts`.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { GrantNames } from '../oauth/grant.ts';
import type { Operation } from './api/operation.ts';
import type { HttpProblem } from './problem.ts';

/** How a request ended, for the log; never holds a secret. */
export type Outcome = {
  /** Absent when it went well. */
  readonly error?: string;
  readonly detail?: string;
  /** The client whose grant answered; or the client or resource server that a refused request names, whether that was proved or not. */
  readonly client_id?: string;
  /** The account and the grant that answered. */
  readonly sub?: string;
  readonly grant_id?: string;
  /** The account that somebody tried to sign in to, or null when there is none. */
  readonly account_id?: string | null;
};

/** A request whose body, if it has one, is decoded. */
export type EndpointRequest = {
  readonly id: string;
  readonly method: string;
  readonly headers: Pick<IncomingHttpHeaders, 'authorization' | 'origin'>;
  readonly body: unknown;
  /** Where the request comes from. Read when the request begins: a closed socket has no address. */
  readonly source: string;
  outcome: Outcome | undefined;
};

/** A reply that is not sent yet. */
export type EndpointReply = {
  code(status: number): EndpointReply;
  /** Sets a header that is not set yet. */
  header(name: string, value: string): EndpointReply;
  /** Sets several headers that never change. `values` is a constant of its module, since what is made of it is cached. */
  headers(values: Readonly<Record<string, string>>): EndpointReply;
  serializer(serialize: (value: object) => string): EndpointReply;
  send(value: object): EndpointReply;
};

/** Answers a request. If it throws, the server answers. */
export type Endpoint = (request: EndpointRequest, reply: EndpointReply) => Promise<EndpointReply>;

/** How a face that speaks JSON answers a problem. */
export type JsonAnswers = (request: EndpointRequest, reply: EndpointReply, problem: HttpProblem) => EndpointReply;

/** Adds an endpoint whose plain requests are answered on the connection (`direct-connection.ts`); its path is a constant. */
export function addDirectEndpoint(
  app: FastifyInstance,
  method: 'GET' | 'POST',
  url: string,
  { answers, operation }: { readonly answers: JsonAnswers; readonly operation: Operation },
  endpoint: Endpoint,
): void {
  app.route({ method, url, config: { answers, operation, direct: { endpoint, answers } }, handler: endpoint });
}

/** How a request went well that a grant answered: for the log, which tells what an app did for whom. */
export function byGrant({ clientId, resourceOwnerId, grantId }: GrantNames): Outcome {
  return { client_id: clientId, sub: resourceOwnerId, grant_id: grantId };
}
