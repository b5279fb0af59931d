/** Answers requests that are not HTTP or are incomplete, on their connection and in one form for all addresses. */
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HttpProblem, STATUS } from '../answer/problem.ts';
import { JSON_HEADERS, type ProblemForm } from '../json/json-answers.ts';
import { newRequestId } from '../request/request-id.ts';
import type { RequestLog } from '../request/request-log.ts';

/** Not imported: an import would load Node.js' WebSocket and `fetch`, 3 MB of an idle process. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** An error of a connection, with a code of Node.js or its parser. */
type ConnectionError = Error & { readonly code?: string };

/** The log of a server, the form of its problems, and its clock (ms since the epoch). */
export type UnreadableParts = { readonly log: RequestLog; readonly form: ProblemForm; readonly now: () => number };

/** The client half-closed in the middle of a request, so there is no request to answer. */
const CUT_SHORT = 'HPE_INVALID_EOF_STATE';

/** A request whose head was read. */
type Begun = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** Answers the unreadable requests of one server. */
export class Unreadable {
  readonly #parts: UnreadableParts;
  /** The last request of each connection. */
  readonly #last = new WeakMap<Socket, Begun>();

  constructor(parts: UnreadableParts) {
    this.#parts = parts;
  }

  /** Notes a request whose head was read. Until its body is complete, a connection's error belongs to it. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    this.#last.set(request.raw.socket, { request, reply });
  }

  /** Answers input that Node.js could not read, and ends the connection. No request gets two answers. */
  answer(error: ConnectionError, socket: Socket): void {
    const last = this.#last.get(socket);
    const broken = last?.request.raw.complete ? undefined : last;
    const isOver = !socket.writable || broken?.reply.raw.headersSent;
    if (isOver || error.code === 'ECONNRESET' || error.code === CUT_SHORT) socket.destroy();
    else this.#send(broken, socket, error);
  }

  #send(broken: Begun | undefined, socket: Socket, error: ConnectionError): void {
    const { log, form, now } = this.#parts;
    const problem = problemOf(error);
    const status = STATUS[problem.kind];
    const outcome = { error: problem.kind, detail: error.code ?? error.message };
    const id = broken?.request.id ?? newRequestId();
    socket.end(answerText(status, { id, body: JSON.stringify(form(problem)), now: now() }));
    socket.destroySoon();
    // With a head, the request is logged when its reply closes, like every request.
    if (broken) {
      broken.request.outcome = outcome;
      broken.reply.code(status);
    } else {
      const request = { id, method: '', source: log.sourceOf(socket, undefined), outcome };
      log.end(request, { route: undefined, status, ms: 0 });
    }
  }
}

/** Formats the last answer of a connection (RFC 9112 §4). */
function answerText(status: number, { id, body, now }: { id: string; body: string; now: number }): string {
  const headers = {
    'X-Request-Id': id,
    ...JSON_HEADERS,
    Date: new Date(now).toUTCString(),
    Connection: 'close',
    'Content-Length': Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

function problemOf({ code }: ConnectionError): HttpProblem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { kind: 'timeout' };
  return { kind: code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'bad_request' };
}
