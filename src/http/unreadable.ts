/** Requests that are no HTTP, or do not come whole: answered on their connection, in one form for all addresses. */
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerTrouble, STATUS, type Trouble } from './answer.ts';
import { answerText, DirectReply } from './direct-reply.ts';
import type { EndpointRequest, JsonAnswers } from './endpoint.ts';
import { newRequestId } from './request-id.ts';
import type { RequestLog } from './request-log.ts';

/** What Node.js says of a connection: its own code, or that of its parser. */
type ConnectionError = Error & { readonly code?: string };

/** What an answer needs of its server. `now` answers ms since the epoch. */
export type UnreadableParts = { readonly log: RequestLog; readonly answers: JsonAnswers; readonly now: () => number };

/** Whoever went, or said that no more comes, in the middle of a request asked for nothing. */
const GONE: ReadonlySet<string> = new Set(['ECONNRESET', 'HPE_INVALID_EOF_STATE']);

/** A request whose head could be read. */
type Begun = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** Nothing was asked before, so that nothing is left to be answered. */
const UNASKED = { headersSent: true, writableFinished: true };

/** The unreadable requests of one server. */
export class Unreadable {
  readonly #parts: UnreadableParts;
  /** The last one of each connection. */
  readonly #begun = new WeakMap<Socket, Begun>();
  readonly #answered = new WeakSet<FastifyRequest>();

  constructor(parts: UnreadableParts) {
    this.#parts = parts;
  }

  /** The head of a request could be read: what is wrong on its connection before its body has come is its own. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    this.#begun.set(request.raw.socket, { request, reply });
  }

  /** Whether a request was answered here, of which its own reply knows nothing. */
  hasAnswered(request: FastifyRequest): boolean {
    return this.#answered.has(request);
  }

  /** Answers what Node.js could not read, and ends the connection. No request is given another's answer, or two. */
  answer(error: ConnectionError, socket: Socket): void {
    const begun = this.#begun.get(socket);
    const isWhole = begun?.request.raw.complete ?? true;
    const { headersSent, writableFinished } = begun?.reply.raw ?? UNASKED;
    if (!socket.writable || GONE.has(error.code ?? '')) socket.destroy();
    else if (headersSent !== writableFinished || (headersSent && !isWhole)) socket.destroy();
    else if (!begun || writableFinished) this.#answerUnknown(socket, error);
    else if (isWhole) begun.reply.raw.setHeader('Connection', 'close');
    else this.#answerBegun(begun, socket, error);
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
    const trouble = troubleOf(error);
    request.outcome = { error: trouble.kind, detail: error.code ?? error.message };
    const reply = new DirectReply(request.id, (status, headers, body) => {
      socket.end(answerText(status, headers, body, true, now()));
      socket.destroySoon();
    });
    answerTrouble(answers, request, reply, trouble);
    return STATUS[trouble.kind];
  }
}

function troubleOf({ code }: ConnectionError): Trouble {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { kind: 'timeout' };
  return { kind: code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'bad_request' };
}
