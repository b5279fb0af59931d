/**
 * A connection that Node.js reads. Its parser begins every request that it finds in a chunk, and 64 KB may hold 1,700
 * of them. So it gets pieces that each end at most one head: one piece whenever it is this connection's turn, and none
 * while enough requests are under way.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type ConnectionContext, TIMEOUTS } from './context.ts';
import type { NodeReader, OpenConnection } from './open-connections.ts';

/** Maximum number of requests of one connection that are begun and not answered yet. */
const MAX_UNDER_WAY = 8;

const CR = 0x0d;
const LF = 0x0a;
const HEAD_END = '\r\n\r\n';

/** A connection with a bounded number of requests under way. */
export class NodeConnection implements NodeReader {
  readonly #socket: Socket;
  readonly #self: OpenConnection;
  readonly #context: ConnectionContext;
  readonly #since: number;
  readonly #parse: (bytes: Buffer) => void;
  #first: IncomingMessage | null = null;
  #last: IncomingMessage | null = null;
  #underWay = 0;
  /** Why this class has paused the socket. Node.js also pauses it, for other reasons, and resumes it itself. */
  #waitsFor: 'answer' | 'turn' | null = null;
  /** Whether the next piece may go to the parser. */
  #isItsTurn = false;
  #isBroken = false;

  /** Takes a paused connection that Node.js listens to already. Its next request began at `since` (ms). */
  constructor(socket: Socket, since: number, context: ConnectionContext) {
    const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
    if (!parse) throw new Error('Node.js does not listen to what comes on a connection');
    this.#socket = socket;
    this.#since = since;
    this.#context = context;
    this.#self = context.open.of(socket);
    this.#self.node = this;
    this.#parse = parse;
    // Ours is added first: with a second listener, the parser of Node.js leaves the reading to the socket.
    socket.on('data', this.#onData);
    socket.off('data', parse);
  }

  /** Answers the timeout of the first request here. Node.js would count only from when it was given the connection. */
  checkTimeouts(now: number): void {
    if (this.#isBroken || this.#first?.complete || now - this.#since <= TIMEOUTS.request) return;
    this.#isBroken = true;
    this.#context.unreadable.answer(new TimedOut(), this.#socket);
  }

  /** A request was begun. */
  begin(request: IncomingMessage): void {
    this.#first ??= request;
    this.#last = request;
    this.#underWay += 1;
  }

  /** A request has ended: all of its answer is sent, or the client is gone. */
  end(): void {
    this.#underWay -= 1;
    if (this.#waitsFor === 'answer') this.#waitForTurn();
  }

  /** The parser failed: nothing more can be read on this connection. */
  break(): void {
    this.#isBroken = true;
  }

  readonly #onData = (chunk: Buffer): void => {
    const socket = this.#socket;
    // Ignored: bytes after a parser error or after the last answer.
    if (this.#isBroken || !socket.writable) return;
    if (!this.#isItsTurn) return void this.#wait(chunk);
    this.#isItsTurn = false;
    const end = pieceEnd(chunk);
    this.#parse(chunk.subarray(0, end));
    if (end === chunk.length) return;
    // The parser must get nothing while Node.js has paused the socket.
    if (socket.isPaused()) socket.unshift(chunk.subarray(end));
    else this.#wait(chunk.subarray(end));
  };

  /** Puts bytes back into the stream until they may go to the parser. The stream's `end` then comes after them. */
  #wait(bytes: Buffer): void {
    this.#socket.pause().unshift(bytes);
    // If the last request is not complete, these bytes are its body, and not another request.
    if (this.#last?.complete) this.#context.open.expectMore(this.#self);
    if (this.#underWay >= MAX_UNDER_WAY) this.#waitsFor = 'answer';
    else if (this.#waitsFor !== 'turn') this.#waitForTurn();
  }

  #waitForTurn(): void {
    this.#waitsFor = 'turn';
    this.#context.batch.add(this.#self.turnOf, () => {
      this.#waitsFor = null;
      this.#isItsTurn = true;
      this.#socket.resume();
    });
  }
}

/** The error of Node.js for a request that does not come whole in time. */
class TimedOut extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** Where the first piece ends: after line ends, which may be the rest of a head's end, or else after the next head. */
function pieceEnd(bytes: Buffer): number {
  let end = 0;
  while (bytes[end] === CR || bytes[end] === LF) end += 1;
  if (end > 0) return end;
  end = bytes.indexOf(HEAD_END, 0, 'latin1');
  return end < 0 ? bytes.length : end + HEAD_END.length;
}
