/** A connection whose requests are plain: it reads one, has it answered, and reads the next. */
import type { Socket } from 'node:net';
import { answerProblem } from '../answer.ts';
import { type ConnectionContext, TIMEOUTS } from './context.ts';
import { answerText, DirectReply } from './direct-reply.ts';
import { contentOf, DirectRequest } from './direct-request.ts';
import type { DirectRoutes } from './direct-routes.ts';
import type { OpenConnection, Unanswered } from './open-connections.ts';
import { readPlainHead } from './plain-request.ts';

/** Added to our keep-alive timeout, so that a client with the same timeout closes first (ms). */
const CLIENT_GOES_FIRST_MS = 1000;

const NOTHING: Buffer = Buffer.alloc(0);

/** A connection that has at most one request under way. */
export class DirectConnection implements Unanswered {
  readonly #socket: Socket;
  readonly #routes: DirectRoutes;
  readonly #context: ConnectionContext;
  readonly #onDone: (since: number | null) => void;
  readonly #self: OpenConnection;
  /** What was read of a request so far: the first chunk, those after it, and the number of bytes. */
  #first = NOTHING;
  #more: Buffer[] | null = null;
  #length = 0;
  /** The request whose head was read, until it is answered; and whether all of it was read, so that its answer is awaited. */
  #request: DirectRequest | null = null;
  #isAsked = false;
  /** Whether the client sends no other request; whether the server wants none; whether the last answer was sent. */
  #isLast = false;
  #isEnding = false;
  #isOver = false;
  #hasAnswered = false;
  /** Since when no request is under way (ms). */
  #silentSince = performance.now();

  /**
   * Takes an open connection that nobody has read from. `onDone` is called once: with null when the connection is
   * closed, or when it is given back with the time at which its unanswered request began (ms). The bytes of that are
   * put back.
   */
  constructor(
    socket: Socket,
    routes: DirectRoutes,
    context: ConnectionContext,
    onDone: (since: number | null) => void,
  ) {
    this.#socket = socket;
    this.#routes = routes;
    this.#context = context;
    this.#self = context.open.of(socket);
    this.#onDone = onDone;
    socket.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose).on('error', ignore);
  }

  setLast(isLast: boolean): void {
    this.#isEnding = isLast;
  }

  /** Ends the connection after a timeout: it was silent, or a request did not come whole. `now` is `performance.now()`. */
  checkTimeouts(now: number): void {
    if (this.#isAsked) return;
    const { firstHead, request, keepAlive } = TIMEOUTS;
    const silence = this.#hasAnswered && !this.#isOver ? keepAlive + CLIENT_GOES_FIRST_MS : firstHead;
    if (this.#isOver || !this.#request) {
      if (now - this.#silentSince > silence) this.#socket.destroy();
    } else if (now - this.#begunAt(this.#request.since) > request) this.#answerTimeout(this.#request);
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isOver) return;
    // Bytes that come before the answer are put back into the stream, so that its `end` comes after them.
    if (this.#isAsked) return void this.#socket.pause().unshift(chunk);
    if (this.#length === 0) this.#first = chunk;
    else if (this.#more) this.#more.push(chunk);
    else this.#more = [chunk];
    this.#length += chunk.length;
    this.#read();
  };

  readonly #onEnd = (): void => {
    this.#isLast = true;
    if (!this.#isAsked) this.#socket.destroySoon();
  };

  readonly #onClose = (): void => {
    const request = this.#request;
    this.#request = null;
    if (request) {
      request.outcome = { error: 'aborted' };
      this.#context.log.end(request, {
        route: request.route.path,
        status: 200,
        ms: performance.now() - request.since,
      });
    }
    this.#onDone(null);
  };

  #read(): void {
    if (!this.#request) {
      this.#first = withoutEmptyLines(this.#all());
      this.#length = this.#first.length;
    }
    if (this.#length === 0) return;
    this.#request ??= this.#readHead();
    if (!this.#request) this.#giveBack();
    else if (this.#length >= this.#request.end) this.#ask(this.#request);
  }

  #readHead(): DirectRequest | null {
    const { log, open } = this.#context;
    const head = readPlainHead(this.#all());
    const route = head && this.#routes.get(head.line);
    const content = route && contentOf(route, head.headers);
    if (!content) return null;
    open.begin(this.#self, this);
    return new DirectRequest(route, head, content, log.sourceOf(this.#socket, head.headers['x-forwarded-for']));
  }

  #ask(request: DirectRequest): void {
    const bytes = this.#all();
    this.#first = NOTHING;
    this.#length = 0;
    this.#isAsked = true;
    if (request.headers.isLast) this.#isLast = true;
    const rest = withoutEmptyLines(bytes.subarray(request.end));
    if (rest.length > 0) this.#socket.pause().unshift(rest);
    this.#context.batch.add(this.#self.turnOf, () => void this.#answer(request, bytes));
  }

  /** RFC 9110 §15.5.9. */
  #answerTimeout(request: DirectRequest): void {
    this.#isLast = true;
    answerProblem(request.route.answers, request, this.#replyTo(request), { kind: 'timeout' });
  }

  async #answer(request: DirectRequest, bytes: Buffer): Promise<void> {
    const reply = this.#replyTo(request);
    try {
      request.decode(bytes);
      await request.route.endpoint(request, reply);
    } catch (error) {
      this.#answerError(error, request, reply);
    }
  }

  #replyTo(request: DirectRequest): DirectReply {
    return new DirectReply(request.id, (status, headers, body) => this.#send(request, status, headers, body));
  }

  #answerError(error: unknown, request: DirectRequest, reply: DirectReply): void {
    try {
      this.#context.log.answerError(error, request, reply, request.route.answers);
    } catch {
      this.#socket.destroy(); // If the answer cannot be written, the connection ends and not the process.
    }
  }

  /** Sends an answer, unless the client is gone. Requests that came behind it are answered too, even during a stop. */
  #send(request: DirectRequest, status: number, headers: string, body: string): void {
    if (this.#request !== request || this.#socket.destroyed) return;
    const { open, log, now } = this.#context;
    this.#request = null;
    this.#isAsked = false;
    this.#hasAnswered = true;
    open.end(this.#self, this);
    const isLast = this.#isLast || (this.#isEnding && this.#socket.readableLength === 0);
    const text = answerText(status, headers, body, isLast, now());
    if (isLast) this.#finish(text);
    else if (this.#socket.write(text)) this.#socket.resume();
    else this.#socket.pause().once('drain', () => this.#socket.resume());
    this.#silentSince = performance.now();
    log.end(request, { route: request.route.path, status, ms: this.#silentSince - request.since });
  }

  /** Sends the last answer. What comes after it is ignored. */
  #finish(text: string): void {
    this.#isOver = true;
    this.#socket.end(text);
    this.#socket.resume().destroySoon();
  }

  /** All bytes that were read and not handled yet. */
  #all(): Buffer {
    if (this.#more) this.#first = Buffer.concat([this.#first, ...this.#more]);
    this.#more = null;
    return this.#first;
  }

  #giveBack(): void {
    const socket = this.#socket;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose).off('error', ignore);
    socket.pause();
    socket.unshift(this.#all());
    this.#onDone(this.#begunAt(performance.now()));
    socket.resume();
  }

  /** When a request began, whose head came at `headAt`: the first one began with its connection (ms). */
  #begunAt(headAt: number): number {
    return this.#hasAnswered ? headAt : this.#silentSince;
  }
}

/** Removes the empty lines that some clients send after a body (RFC 9112 §2.2). */
function withoutEmptyLines(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes[start] === 0x0d && bytes[start + 1] === 0x0a) start += 2;
  return start === 0 ? bytes : bytes.subarray(start);
}

/** For `error`: `close` always follows. */
function ignore(): void {}
