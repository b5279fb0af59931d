/** The open connections of servers, and which of them have a request that is not answered yet. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request that is not answered yet. */
export type Unanswered = {
  /** Has its answer say that it is the last on its connection, or takes that back, as long as it is not being sent. */
  setLast(isLast: boolean): void;
};

/** One of them: its last request, until that is answered. Whoever sends several is answered in turn. */
export type OpenConnection = { unanswered: Unanswered | null };

/** Node.js knows them too, but takes one that never sent anything for busy, and one whose answer is still sent for idle. */
export class OpenConnections {
  readonly #all = new Map<Socket, OpenConnection>();
  #isEnding = false;
  #opened = 0;

  /** Watches the connections of a server, and the requests that it has Node.js read. */
  watch(server: Server): void {
    server.on('connection', (socket) => this.#open(socket));
    // Before it is handled, or the answer might be on its way already.
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const [connection, request] = [this.of(socket), new AnsweredByNode(response)];
      this.begin(connection, request);
      response.once('close', () => this.end(connection, request));
    });
  }

  /** How many were ever opened. */
  get opened(): number {
    return this.#opened;
  }

  /** The connection of a socket; of one that is closed already, one that is not counted any more. */
  of(socket: Socket): OpenConnection {
    return this.#all.get(socket) ?? { unanswered: null };
  }

  /** A request came that is to be answered. */
  begin(connection: OpenConnection, request: Unanswered): void {
    if (this.#isEnding) {
      // Whoever sent another request behind one that is not answered yet is told with the answer to the later one.
      connection.unanswered?.setLast(false);
      request.setLast(true);
    }
    connection.unanswered = request;
  }

  /** It was answered, or cannot be any more. */
  end(connection: OpenConnection, request: Unanswered): void {
    if (connection.unanswered === request) connection.unanswered = null;
  }

  /** From now on each answer is the last on its connection, and says so: nobody then sends into one that closes. */
  endAll(): void {
    this.#isEnding = true;
    for (const { unanswered } of this.#all.values()) unanswered?.setLast(true);
  }

  /** Hangs up where no request is unanswered, and no answer still being sent. */
  hangUpIdle(): void {
    for (const [socket, { unanswered }] of this.#all) if (!unanswered && socket.writableLength === 0) socket.destroy();
  }

  /** Hangs up everywhere. */
  hangUp(): void {
    for (const socket of this.#all.keys()) socket.destroy();
  }

  #open(socket: Socket): void {
    this.#opened += 1;
    this.#all.set(socket, { unanswered: null });
    socket.once('close', () => this.#all.delete(socket));
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
