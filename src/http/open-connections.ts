/** The open connections of servers, and which of them have a request that is not answered yet. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request that is not answered yet. */
export type Unanswered = {
  /** Has its answer say that it is the last on its connection, or takes that back, as long as it is not being sent. */
  setLast(isLast: boolean): void;
};

/** Node.js knows them too, but takes one that never sent anything for busy, and one whose answer is still sent for idle. */
export class OpenConnections {
  /** With the last request of each, until it is answered: whoever sends several is answered in turn. */
  readonly #unanswered = new Map<Socket, Unanswered | null>();
  #isEnding = false;
  #opened = 0;

  /** Watches the connections of a server, and the requests that it has Node.js read. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.#open(socket));
    // Before it is handled, or the answer might be on its way already.
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const request = new AnsweredByNode(response);
      this.begin(socket, request);
      response.once('close', () => this.end(socket, request));
    });
  }

  /** How many were ever opened. */
  get opened(): number {
    return this.#opened;
  }

  /** A request came that is to be answered. */
  begin(socket: Socket, request: Unanswered): void {
    if (this.#isEnding) {
      // Whoever sent another request behind one that is not answered yet is told with the answer to the later one.
      this.#unanswered.get(socket)?.setLast(false);
      request.setLast(true);
    }
    this.#unanswered.set(socket, request);
  }

  /** It was answered, or cannot be any more. */
  end(socket: Socket, request: Unanswered): void {
    if (this.#unanswered.get(socket) === request) this.#unanswered.set(socket, null);
  }

  /** From now on each answer is the last on its connection, and says so: nobody then sends into one that closes. */
  endAll(): void {
    this.#isEnding = true;
    for (const request of this.#unanswered.values()) request?.setLast(true);
  }

  /** Hangs up where no request is unanswered, and no answer still being sent. */
  hangUpIdle(): void {
    for (const [socket, request] of this.#unanswered) if (!request && socket.writableLength === 0) socket.destroy();
  }

  /** Hangs up everywhere. */
  hangUp(): void {
    for (const socket of this.#unanswered.keys()) socket.destroy();
  }

  #open(socket: Socket): void {
    this.#opened += 1;
    this.#unanswered.set(socket, null);
    socket.once('close', () => this.#unanswered.delete(socket));
  }
}

class AnsweredByNode implements Unanswered {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  setLast(isLast: boolean): void {
    if (this.#response.headersSent) return;
    if (isLast) this.#response.setHeader('Connection', 'close');
    else this.#response.removeHeader('Connection');
  }
}
