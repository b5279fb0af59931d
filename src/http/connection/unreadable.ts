/** Requests that are no HTTP, or do not come whole: answered on their connection, in one form for all addresses. */
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerProblem } from '../answer.ts';
import type { EndpointRequest, JsonAnswers } from '../endpoint.ts';
import { type HttpProblem, STATUS } from '../problem.ts';
import { newRequestId } from '../request-id.ts';
import type { RequestLog } from '../request-log.ts';
import { answerText, DirectReply } from './direct-reply.ts';

/** What Node.js says of a connection: its own code, or that of its parser. */
type ConnectionError = Error & { readonly code?: string };

/** What an answer needs of its server. `now` answers ms since the epoch. */
export type UnreadableParts = { readonly log: RequestLog; readonly answers: JsonAnswers; readonly now: () => number };

/** Whoever said that no more comes, in the middle of a request, asked for nothing by it. */
const CUT_SHORT = 'HPE_INVALID_EOF_STATE';

/** A request whose head could be read. */
type Begun = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** The last request of a connection, and the one before it, if that was not answered then. */
type Reading = { readonly last: Begun; readonly before: Begun | undefined };

/** The unreadable requests of one server. */
export class Unreadable {
  readonly #parts: UnreadableParts;
  readonly #readings = new WeakMap<Socket, Reading>();
  readonly #answered = new WeakSet<FastifyRequest>();

  constructor(parts: UnreadableParts) {
    this.#parts = parts;
  }

  /** The head of a request could be read: what is wrong on its connection before its body has come is its own. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    const { socket } = request.raw;
    this.#readings.set(socket, { last: { request, reply }, before: unanswered(this.#readings.get(socket)?.last) });
  }

  /** Whether a request was answered here, of which its own reply knows nothing. */
  hasAnswered(request: FastifyRequest): boolean {
    return this.#answered.has(request);
  }

  /** Answers what Node.js could not read, and ends the connection. No request is given another's answer, or two. */
  answer(error: ConnectionError, socket: Socket): void {
    const { last, before: earlier } = this.#readings.get(socket) ?? {};
    const broken = last?.request.raw.complete ? undefined : last;
    const before = unanswered(broken ? earlier : last);
    if (!socket.writable || error.code === 'ECONNRESET' || broken?.reply.raw.headersSent) socket.destroy();
    else if (before) endWith(before, socket);
    else if (error.code === CUT_SHORT) socket.destroy();
    else if (broken) this.#answerBegun(broken, socket, error);
    else this.#answerUnknown(socket, error);
  }

  /** It has its line in the log when the connection is closed, as every request does. */
  #answerBegun({ request, reply }: Begun, socket: Socket, error: ConnectionError): void {
    this.#answered.add(request);
    reply.code(this.#send(request, socket, error));
  }

  #answerUnknown(socket: Socket, error: ConnectionError): void {
    const { log } = this.#parts;
    const known = { id: newRequestId(), method: '', source: log.sourceOf(socket, undefined) };
    const request: EndpointRequest = { ...known, headers: {}, body: undefined, outcome: undefined };
    const status = this.#send(request, socket, error);
    log.end(request, { route: undefined, status, ms: 0 });
  }

  /** Answers the status. */
  #send(request: EndpointRequest, socket: Socket, error: ConnectionError): number {
    const { answers, now } = this.#parts;
    const problem = problemOf(error);
    request.outcome = { error: problem.kind, detail: error.code ?? error.message };
    const reply = new DirectReply(request.id, (status, headers, body) => {
      socket.end(answerText(status, headers, body, true, now()));
      socket.destroySoon();
    });
    answerProblem(answers, request, reply, problem);
    return STATUS[problem.kind];
  }
}

/** The request, unless all of its answer is sent. */
function unanswered(begun: Begun | undefined): Begun | undefined {
  return begun?.reply.raw.writableFinished ? undefined : begun;
}

/** Has a connection end with the answer to a request; one that is on its way already is cut off. */
function endWith({ reply }: Begun, socket: Socket): void {
  if (reply.raw.headersSent) socket.destroy();
  else reply.raw.setHeader('Connection', 'close');
}

function problemOf({ code }: ConnectionError): HttpProblem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { kind: 'timeout' };
  return { kind: code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'bad_request' };
}
