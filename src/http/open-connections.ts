/** The open connections of servers, and which of them have a request that is not answered yet. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Node.js knows them too, but takes one that never sent anything for busy, and one whose answer is still sent for idle. */
export class OpenConnections {
  /** With the answer to the last request of each, until it is given: whoever sends several is answered in turn. */
  readonly #answers = new Map<Socket, ServerResponse | null>();
  #isEnding = false;
  #opened = 0;

  constructor(servers: readonly Server[]) {
    for (const server of servers) {
      server.on('connection', (socket) => this.#open(socket));
      // Before it is handled, or the answer might be on its way already.
      server.prependListener('request', (request, response) => this.#begin(request, response));
    }
  }

  /** How many were ever opened. */
  get opened(): number {
    return this.#opened;
  }

  /** From now on each answer is the last on its connection, and says so: nobody then sends into one that closes. */
  end(): void {
    this.#isEnding = true;
    for (const answer of this.#answers.values()) if (answer) sayLast(answer);
  }

  /** Hangs up where no request is unanswered. */
  hangUpIdle(): void {
    for (const [socket, answer] of this.#answers) if (!answer) socket.destroy();
  }

  /** Hangs up everywhere. */
  hangUp(): void {
    for (const socket of this.#answers.keys()) socket.destroy();
  }

  #open(socket: Socket): void {
    this.#opened += 1;
    this.#answers.set(socket, null);
    socket.once('close', () => this.#answers.delete(socket));
  }

  #begin({ socket }: IncomingMessage, answer: ServerResponse): void {
    if (this.#isEnding) {
      // Whoever sent another request behind one that is not answered yet is told with the answer to the later one.
      const before = this.#answers.get(socket);
      if (before && !before.headersSent) before.removeHeader('Connection');
      sayLast(answer);
    }
    this.#answers.set(socket, answer);
    answer.once('close', () => {
      if (this.#answers.get(socket) === answer) this.#answers.set(socket, null);
    });
  }
}

function sayLast(answer: ServerResponse): void {
  if (!answer.headersSent) answer.setHeader('Connection', 'close');
}
