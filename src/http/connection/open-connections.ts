/** The open connections of servers: how many there may be, which have a request that is not answered yet, and who does not read. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request that is not answered yet. */
export type Unanswered = {
  /** Has its answer say that it is the last on its connection, or takes that back, as long as it is not being sent. */
  setLast(isLast: boolean): void;
};

/** What hands the bytes of a connection to Node.js: it is told what becomes of the requests in them. */
export type NodeReader = {
  /** A request was begun. */
  begin(request: IncomingMessage): void;
  /** It was answered: all of the answer is sent, or nobody is there any more. */
  end(): void;
  /** What came cannot be read: nor can what comes. */
  break(): void;
};

/** One of them. */
export type OpenConnection = {
  /** With whose requests its own take turns: those of its source, or, of a trusted proxy, nobody's. */
  readonly turnOf: unknown;
  /** Whether a trusted proxy opened it. */
  readonly isOfProxy: boolean;
  /** Its last request, until that is answered. Whoever sends several is answered in turn. */
  unanswered: Unanswered | null;
  /** What hands its bytes to Node.js, once Node.js reads it. */
  node: NodeReader | null;
  /** Whether it had a request since the last check. */
  isUsed: boolean;
  /** Bytes of it that the system has taken, as of the last check, and since when that number stands (ms). */
  taken: number;
  takenSince: number;
};

/** Maximum number of connections in all, and of one source. */
export type MostConnections = { readonly inAll: number; readonly ofSource: number };

/** What bounds need of their surroundings. `sourceOf` answers null for whom only the bound in all holds. */
export type Bounds = {
  readonly most: MostConnections;
  readonly sourceOf: (socket: Socket) => string | null;
  readonly report: (sentence: string) => void;
};

const CHECK_EVERY_MS = 1000;
/** How long an answer may wait without any of it being taken (ms). */
const UNREAD_MS = 15_000;
/** The log tells at most this often what was refused (ms). */
const TELL_EVERY_MS = 60_000;

/** Node.js knows them too, but takes one that never sent anything for busy, and one whose answer is still sent for idle. */
export class OpenConnections {
  readonly #bounds: Bounds;
  /** Those that were used longest ago first, as of the last check. */
  readonly #all = new Map<Socket, OpenConnection>();
  readonly #ofSource = new Map<string, number>();
  readonly #checking = setInterval(() => this.#check(), CHECK_EVERY_MS).unref();
  #isEnding = false;
  #opened = 0;
  #refused = 0;
  #replaced = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Watches the requests that a server has Node.js read. */
  watchRequests(server: Server): void {
    // Before it is handled, or the answer might be on its way already.
    server.prependListener('request', (message: IncomingMessage, response: ServerResponse) => {
      const [connection, request] = [this.of(message.socket), new AnsweredByNode(response)];
      this.begin(connection, request);
      connection.node?.begin(message);
      response.once('close', () => {
        this.end(connection, request);
        connection.node?.end();
      });
    });
    server.on('clientError', (_error, socket) => this.#all.get(socket as Socket)?.node?.break());
  }

  /** Takes in a connection that was opened. False when there is no room for it; then it is ended. */
  admit(socket: Socket): boolean {
    this.#opened += 1;
    if (socket.destroyed) return false;
    const source = this.#bounds.sourceOf(socket);
    if (!this.#hasRoomFor(source)) {
      this.#refused += 1;
      socket.destroy();
      return false;
    }
    this.#all.set(socket, newConnection(source ?? socket, source === null));
    if (source !== null) this.#ofSource.set(source, (this.#ofSource.get(source) ?? 0) + 1);
    socket.once('close', () => {
      this.#all.delete(socket);
      if (source !== null) this.#leave(source);
    });
    return true;
  }

  /** How many were ever opened. */
  get opened(): number {
    return this.#opened;
  }

  /** The connection of a socket; of one that is closed already, one that is not counted any more. */
  of(socket: Socket): OpenConnection {
    return this.#all.get(socket) ?? newConnection(socket, false);
  }

  /** A request came that is to be answered. */
  begin(connection: OpenConnection, request: Unanswered): void {
    if (this.#isEnding) {
      // Whoever sent another request behind one that is not answered yet is told with the answer to the later one.
      connection.unanswered?.setLast(false);
      request.setLast(true);
    }
    connection.unanswered = request;
    connection.isUsed = true;
  }

  /** More has come behind its last request, and waits until that may be begun. */
  expectMore(connection: OpenConnection): void {
    if (this.#isEnding) connection.unanswered?.setLast(false);
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

  /** Hangs up where there is nothing more to answer or to send; on trusted proxies only if they are named. */
  hangUpIdle(whom: 'all' | 'all but proxies'): void {
    for (const [socket, connection] of this.#all)
      if (isIdle(socket, connection) && !(connection.isOfProxy && whom === 'all but proxies')) socket.destroy();
  }

  /** Hangs up everywhere. */
  hangUp(): void {
    for (const socket of this.#all.keys()) socket.destroy();
  }

  /** There will be none any more. */
  close(): void {
    clearInterval(this.#checking);
  }

  /**
   * Whether one more may come. In all, whoever comes takes the place of the connection that was not used for longest: a
   * bound that refused them would let anybody shut out everybody else by holding connections. Who holds as many as one
   * source may, is refused: the place of another would not be their own.
   */
  #hasRoomFor(source: string | null): boolean {
    const { inAll, ofSource } = this.#bounds.most;
    if (source !== null && (this.#ofSource.get(source) ?? 0) >= ofSource) return false;
    if (this.#all.size < inAll) return true;
    for (const [socket, connection] of this.#all) {
      if (connection.isUsed || !isIdle(socket, connection)) continue;
      this.#replaced += 1;
      this.#all.delete(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  #leave(source: string): void {
    const left = (this.#ofSource.get(source) ?? 1) - 1;
    if (left > 0) this.#ofSource.set(source, left);
    else this.#ofSource.delete(source);
  }

  #check(): void {
    const now = performance.now();
    for (const [socket, connection] of [...this.#all]) {
      if (connection.isUsed || connection.unanswered) this.#moveToEnd(socket, connection);
      const taken = bytesTaken(socket);
      if (taken === null || taken !== connection.taken) {
        connection.taken = taken ?? 0;
        connection.takenSince = now;
      } else if (now - connection.takenSince > UNREAD_MS) socket.destroy();
    }
    this.#tell(now);
  }

  #moveToEnd(socket: Socket, connection: OpenConnection): void {
    connection.isUsed = false;
    this.#all.delete(socket);
    this.#all.set(socket, connection);
  }

  /** Not each time: whoever comes too often must not fill the log as well. */
  #tell(now: number): void {
    if (this.#refused + this.#replaced === 0 || now - this.#toldAt < TELL_EVERY_MS) return;
    const { inAll, ofSource } = this.#bounds.most;
    this.#bounds.report(
      `too many connections: ${this.#refused} were refused and ${this.#replaced} that were idle ended; ${this.#all.size} are open, ` +
        `and VALETKEY_MAX_CONNECTIONS allows ${inAll}, VALETKEY_MAX_CONNECTIONS_PER_SOURCE ${ofSource}`,
    );
    [this.#refused, this.#replaced, this.#toldAt] = [0, 0, now];
  }
}

function newConnection(turnOf: unknown, isOfProxy: boolean): OpenConnection {
  return { turnOf, isOfProxy, unanswered: null, node: null, isUsed: false, taken: 0, takenSince: 0 };
}

/** Whether no request is unanswered, none has come that is not begun, and no answer is still being sent. */
function isIdle(socket: Socket, { unanswered }: OpenConnection): boolean {
  return !unanswered && socket.readableLength === 0 && socket.writableLength === 0;
}

/** What Node.js tells of a connection to the system, beside its documents. */
type Handle = { readonly bytesWritten: number; readonly writeQueueSize: number };

/**
 * How many bytes the system has taken of what was handed to it (`bytesWritten`); null when nothing waits. What is only
 * queued here, or in libuv (`writeQueueSize`), has not moved. Node.js judges its own timeouts by the same number.
 */
function bytesTaken(socket: Socket): number | null {
  const { _handle: handle } = socket as unknown as { _handle: Handle | null };
  return handle && handle.writeQueueSize > 0 ? handle.bytesWritten - handle.writeQueueSize : null;
}

class AnsweredByNode implements Unanswered {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  setLast(isLast: boolean): void {
    const response = this.#response;
    if (response.headersSent) return;
    const { complete, socket } = response.req;
    // What waits behind half a request is its own other half.
    if (isLast && !(complete && socket.readableLength)) response.setHeader('Connection', 'close');
    else if (response.hasHeader('Connection')) response.removeHeader('Connection');
  }
}
