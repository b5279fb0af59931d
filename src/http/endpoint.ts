/**
 * Endpoints for programs: what they read of a request, and what they do with a reply. Fastify's request and reply are one
 * kind of these, those of `direct-request.ts` and `direct-reply.ts` the other.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Operation } from './api/operation.ts';
import type { HttpProblem } from './problem.ts';

/** What a request came to, for the log; never holds a secret. */
export type Outcome = {
  readonly error: string;
  readonly detail?: string;
  /** The app or API that the request names, whether it is that one or not. */
  readonly client_id?: string;
  /** The account that somebody tried to sign in to, or null when there is none. */
  readonly account_id?: string | null;
};

/** A request whose body, if it has one, is decoded. */
export type EndpointRequest = {
  readonly id: string;
  readonly method: string;
  readonly headers: Pick<IncomingHttpHeaders, 'authorization' | 'origin'>;
  readonly body: unknown;
  /** Where the request comes from, read at once: a socket that is gone does not tell. */
  readonly source: string;
  outcome: Outcome | undefined;
};

/** A reply that is not sent yet. */
export type EndpointReply = {
  code(status: number): EndpointReply;
  /** Sets a header that is not set yet. */
  header(name: string, value: string): EndpointReply;
  /** The same for several that are always the same: `values` is a constant of its module. */
  headers(values: Readonly<Record<string, string>>): EndpointReply;
  serializer(serialize: (value: object) => string): EndpointReply;
  send(value: object): EndpointReply;
};

/** Answers a request; what it throws, the server answers. */
export type Endpoint = (request: EndpointRequest, reply: EndpointReply) => Promise<EndpointReply>;

/** How a face that speaks JSON says no. */
export type JsonAnswers = (request: EndpointRequest, reply: EndpointReply, problem: HttpProblem) => EndpointReply;

/** Adds an endpoint of programs whose plain requests are answered on the connection (`direct.ts`); its path is a constant. */
export function addDirectEndpoint(
  app: FastifyInstance,
  method: 'GET' | 'POST',
  url: string,
  { answers, operation }: { readonly answers: JsonAnswers; readonly operation: Operation },
  endpoint: Endpoint,
): void {
  app.route({ method, url, config: { answers, operation, direct: { endpoint, answers } }, handler: endpoint });
}
