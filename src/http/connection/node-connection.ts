/**
 * A connection that Node.js reads. Its parser begins every request that it finds in what it is given, and 64 KB may hold
 * 1,700 of them. So it is given pieces of which each ends at most one head: one each time that it is this connection's
 * turn, and none while enough requests are under way.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type ConnectionContext, TIMEOUTS } from './context.ts';
import type { NodeReader, OpenConnection } from './open-connections.ts';

/** Maximum number of requests of one connection that are begun and not answered yet. */
const MOST_UNDER_WAY = 8;

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
  /** What it is paused for here: an answer, or its turn. Node.js pauses it for other reasons, and resumes it itself. */
  #waitsFor: 'answer' | 'turn' | null = null;
  /** Whether the next bytes may be handed on. */
  #isItsTurn = false;
  #isBroken = false;

  /** Takes a connection that Node.js listens to already, and that is paused. Its next request began at `since` (ms). */
  constructor(socket: Socket, since: number, context: ConnectionContext) {
    const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
    if (!parse) throw new Error('Node.js does not listen to what comes on a connection');
    this.#socket = socket;
    this.#since = since;
    this.#context = context;
    this.#self = context.open.of(socket);
    this.#self.node = this;
    this.#parse = parse;
    // In this order: with another listener Node.js leaves the reading to the socket.
    socket.on('data', this.#onData);
    socket.off('data', parse);
  }

  /** Ends the connection if its first request here has not come whole for too long: Node.js counts from when it was given it. */
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

  /** It was answered: all of the answer is sent, or nobody is there any more. */
  end(): void {
    this.#underWay -= 1;
    if (this.#waitsFor === 'answer') this.#waitForTurn();
  }

  /** What came cannot be read: nor can what comes. */
  break(): void {
    this.#isBroken = true;
  }

  readonly #onData = (chunk: Buffer): void => {
    const socket = this.#socket;
    // What follows what cannot be read, or comes after the last answer, is not heard.
    if (this.#isBroken || !socket.writable) return;
    if (!this.#isItsTurn) return void this.#wait(chunk);
    this.#isItsTurn = false;
    const end = pieceEnd(chunk);
    this.#parse(chunk.subarray(0, end));
    if (end === chunk.length) return;
    // Node.js must be given nothing while it has paused.
    if (socket.isPaused()) socket.unshift(chunk.subarray(end));
    else this.#wait(chunk.subarray(end));
  };

  /** Keeps bytes in the stream, whose end is then told after them, until they may be handed on. */
  #wait(bytes: Buffer): void {
    this.#socket.pause().unshift(bytes);
    // As long as its body has not come whole, what waits is that, and not another request.
    if (this.#last?.complete) this.#context.open.expectMore(this.#self);
    if (this.#underWay >= MOST_UNDER_WAY) this.#waitsFor = 'answer';
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

/** What Node.js says of a request that does not come whole in time. */
class TimedOut extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** Where the first piece of some bytes ends: of ends of lines, which may be the rest of a head's end, or behind the next head. */
function pieceEnd(bytes: Buffer): number {
  let end = 0;
  while (bytes[end] === CR || bytes[end] === LF) end += 1;
  if (end > 0) return end;
  end = bytes.indexOf(HEAD_END, 0, 'latin1');
  return end < 0 ? bytes.length : end + HEAD_END.length;
}
