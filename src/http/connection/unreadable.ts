/** Answers requests that are not HTTP or do not come whole, on their connection and in one form for all addresses. */
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerProblem } from '../answer.ts';
import type { EndpointRequest, JsonAnswers } from '../endpoint.ts';
import { type HttpProblem, STATUS } from '../problem.ts';
import { newRequestId } from '../request-id.ts';
import type { RequestLog } from '../request-log.ts';
import { answerText, DirectReply } from './direct-reply.ts';

/** An error of a connection, with a code of Node.js or its parser. */
type ConnectionError = Error & { readonly code?: string };

/** What an answer needs of its server. `now` returns ms since the epoch. */
export type UnreadableParts = { readonly log: RequestLog; readonly answers: JsonAnswers; readonly now: () => number };

/** The client half-closed in the middle of a request: that is no request. */
const CUT_SHORT = 'HPE_INVALID_EOF_STATE';

/** A request whose head was read. */
type Begun = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** The last request of a connection; and the one before it, if that was unanswered when the last one began. */
type Reading = { readonly last: Begun; readonly before: Begun | undefined };

/** The unreadable requests of one server. */
export class Unreadable {
  readonly #parts: UnreadableParts;
  readonly #readings = new WeakMap<Socket, Reading>();

  constructor(parts: UnreadableParts) {
    this.#parts = parts;
  }

  /** The head of a request was read. Until its body is complete, an error of the connection belongs to it. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    const { socket } = request.raw;
    this.#readings.set(socket, { last: { request, reply }, before: unanswered(this.#readings.get(socket)?.last) });
  }

  /** Answers what Node.js could not read, and ends the connection. No request gets two answers, or another one's. */
  answer(error: ConnectionError, socket: Socket): void {
    const { last, before: earlier } = this.#readings.get(socket) ?? {};
    const broken = last?.request.raw.complete ? undefined : last;
    const before = unanswered(broken ? earlier : last);
    if (!socket.writable || error.code === 'ECONNRESET' || broken?.reply.raw.headersSent) socket.destroy();
    else if (before) endWith(before, socket);
    else if (error.code === CUT_SHORT) socket.destroy();
    else this.#send(broken, socket, error);
  }

  #send(broken: Begun | undefined, socket: Socket, error: ConnectionError): void {
    const { log, answers, now } = this.#parts;
    const request = broken?.request ?? nameless(log.sourceOf(socket, undefined));
    const problem = problemOf(error);
    request.outcome = { error: problem.kind, detail: error.code ?? error.message };
    const reply = new DirectReply(request.id, (status, headers, body) => {
      socket.end(answerText(status, headers, body, true, now()));
      socket.destroySoon();
    });
    answerProblem(answers, request, reply, problem);
    const status = STATUS[problem.kind];
    if (broken)
      broken.reply.code(status); // It is logged when its own reply closes, like every request.
    else log.end(request, { route: undefined, status, ms: 0 });
  }
}

/** What stands for a request of which nothing could be read. */
function nameless(source: string): EndpointRequest {
  return { id: newRequestId(), method: '', source, headers: {}, body: undefined, outcome: undefined };
}

/** The request, unless all of its answer is sent. */
function unanswered(begun: Begun | undefined): Begun | undefined {
  return begun?.reply.raw.writableFinished ? undefined : begun;
}

/** Makes an answer the last on its connection. An answer that is being sent is cut off. */
function endWith({ reply }: Begun, socket: Socket): void {
  if (reply.raw.headersSent) socket.destroy();
  else reply.raw.setHeader('Connection', 'close');
}

function problemOf({ code }: ConnectionError): HttpProblem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { kind: 'timeout' };
  return { kind: code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'bad_request' };
}
