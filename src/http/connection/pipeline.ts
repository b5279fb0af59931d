/**
 * Handles the requests of one connection one after the other. Node.js begins every request that it finds in a chunk,
 * and 64 KB may hold 1,700 of them. So its parser gets pieces: up to the end of the next head, if no request is pending;
 * and a body at once.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ConnectionContext, TIMEOUTS } from './context.ts';
import { replaceParser } from './node-internals.ts';
import type { OpenConnection } from './open-connections.ts';

const CR = 0x0d;
const LF = 0x0a;
const HEAD_END = '\r\n\r\n';

/** A connection whose requests are handled one after the other. */
export class Pipeline {
  readonly #socket: Socket;
  readonly #self: OpenConnection;
  readonly #context: ConnectionContext;
  readonly #parse: (bytes: Buffer) => void;
  /** The last request whose head was read; null once its answer is complete. */
  #request: IncomingMessage | null = null;
  #isUnanswered = false;
  /** Number of missing bytes of its body; for a chunked body, positive while more follow. */
  #bodyLeft = 0;
  /** Number of bytes read behind the parser's current piece. */
  #behind = 0;
  #isHeadBegun = false;
  #isBroken = false;
  /** Start of the silence, or time of the current request's first byte (`performance.now()`). */
  #since = performance.now();
  #hasAnswered = false;

  /** Takes over a paused connection that Node.js already listens to. */
  constructor(socket: Socket, context: ConnectionContext) {
    this.#socket = socket;
    this.#context = context;
    this.#self = context.open.of(socket);
    this.#parse = replaceParser(socket, this.#onData);
  }

  /** Called when Node.js has read the head of a request; `handle` is called in the turn of the connection's source. */
  begin(request: IncomingMessage, response: ServerResponse, handle: () => void): void {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    this.#request = request;
    this.#bodyLeft = coding === undefined ? Number(length) : Number.POSITIVE_INFINITY;
    this.#isHeadBegun = false;
    this.#isUnanswered = true;
    this.#context.open.begin(this.#self, response, this.#behind > this.#bodyLeft);
    response.once('close', () => this.#end(response));
    this.#context.batch.add(this.#self.turnOf, () => {
      if (!response.destroyed) handle();
    });
  }

  /** Called when the parser failed: no further input can be read. */
  break(): void {
    this.#isBroken = true;
  }

  /** Ends the connection after a timeout: it was silent, or its request is incomplete. `now` is `performance.now()`. */
  checkTimeouts(now: number): void {
    const isWhole = this.#request?.complete !== false && !this.#isHeadBegun;
    if (this.#isBroken || (this.#isUnanswered && isWhole)) return;
    const limit = this.#request?.complete === false ? TIMEOUTS.request : this.#limitOfHead(isWhole);
    if (now - this.#since <= limit) return;
    if (isWhole) return void this.#socket.destroy();
    this.#isBroken = true;
    this.#context.unreadable.answer(new TimedOut(), this.#socket);
  }

  #limitOfHead(isSilent: boolean): number {
    if (!this.#hasAnswered) return TIMEOUTS.firstHead;
    return isSilent ? TIMEOUTS.keepAlive : TIMEOUTS.request;
  }

  readonly #onData = (chunk: Buffer): void => {
    let bytes = chunk;
    while (bytes.length > 0) {
      // Ignored: bytes after a parser error or after the last answer.
      if (this.#isBroken || !this.#socket.writable) return;
      const end = this.#pieceEnd(bytes);
      if (end === 0) {
        this.#wait(bytes);
        return;
      }
      this.#behind = bytes.length - end;
      this.#parse(bytes.subarray(0, end));
      bytes = bytes.subarray(end);
      // The parser must get no input while Node.js has paused the socket.
      if (this.#socket.isPaused() && bytes.length > 0) this.#socket.unshift(bytes);
      if (this.#socket.isPaused()) return;
    }
  };

  /**
   * Returns the end of the piece that the parser may have now: with the body; after empty lines, which begin no
   * request and may belong to a head's end; or after the next head. 0 if the bytes must wait for an answer.
   */
  #pieceEnd(bytes: Buffer): number {
    const isInBody = this.#request?.complete === false;
    if (isInBody && Number.isFinite(this.#bodyLeft)) {
      const end = Math.min(this.#bodyLeft, bytes.length);
      this.#bodyLeft -= end;
      return end;
    }
    let end = 0;
    while (bytes[end] === CR || bytes[end] === LF) end += 1;
    if (end > 0) return end;
    // A chunked body ends with an empty line, like a head.
    if (!isInBody && this.#isUnanswered) return 0;
    if (!isInBody) this.#beginHead();
    end = bytes.indexOf(HEAD_END, 0, 'latin1');
    return end < 0 ? bytes.length : end + HEAD_END.length;
  }

  #beginHead(): void {
    if (!this.#isHeadBegun && this.#hasAnswered) this.#since = performance.now();
    this.#isHeadBegun = true;
  }

  /** Puts bytes back into the stream, until the parser may have them. The stream's `end` then follows them. */
  #wait(bytes: Buffer): void {
    this.#socket.pause().unshift(bytes);
    this.#context.open.expectMore(this.#self);
  }

  /** Called when an answer is sent completely, or the client is gone. */
  #end(response: ServerResponse): void {
    this.#context.open.end(this.#self, response);
    this.#isUnanswered = false;
    this.#hasAnswered = true;
    this.#since = performance.now();
    if (this.#socket.readableLength > 0) this.#socket.resume();
  }
}

/** The error of Node.js for a request that is incomplete after its timeout. */
class TimedOut extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
}
