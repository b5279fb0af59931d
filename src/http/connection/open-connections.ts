/** The open connections of servers: limits their number, and ends those whose client does not read. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { MaxConnections } from '../service/service.ts';
import { bytesTaken } from './node-internals.ts';

/** An open connection. */
export type OpenConnection = {
  /** The source, whose requests take turns with other sources'; for a trusted proxy, each connection counts alone. */
  readonly turnOf: unknown;
  /** True if a trusted proxy opened it. */
  readonly isOfProxy: boolean;
  /** The pending answer, until all of it is sent. */
  unanswered: ServerResponse | null;
  /** True if it had a request since the last check. */
  isUsed: boolean;
  /** Number of bytes that the system had taken at the last check, and the time since when it is the same (ms). */
  taken: number;
  takenSince: number;
};

/** Limits of connections. `sourceOf` returns null for a connection that only the limit in all applies to. */
export type Limits = {
  readonly max: MaxConnections;
  readonly sourceOf: (socket: Socket) => string | null;
  readonly report: (sentence: string) => void;
};

const CHECK_EVERY_MS = 1000;
/** Timeout of an answer whose client reads nothing (ms). */
const UNREAD_TIMEOUT_MS = 15_000;
/** Minimum time between two reports of refused connections (ms). */
const REPORT_EVERY_MS = 60_000;

/**
 * The open connections of servers. Node.js' own list counts a connection that never sent anything as busy, and one
 * whose answer is still being sent as idle.
 */
export class OpenConnections {
  /** True while a stop accepts the waiting connections; no request is handled meanwhile. */
  isAccepting = false;
  readonly #limits: Limits;
  /** Least recently used first, as of the last check. */
  readonly #all = new Map<Socket, OpenConnection>();
  readonly #ofSource = new Map<string, number>();
  readonly #checking = setInterval(() => this.#check(), CHECK_EVERY_MS).unref();
  #isEnding = false;
  #opened = 0;
  #refused = 0;
  #replaced = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Adds a new connection. If there is no room for it, ends it and returns false. */
  admit(socket: Socket): boolean {
    this.#opened += 1;
    if (socket.destroyed) return false;
    const source = this.#limits.sourceOf(socket);
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

  /** Number of open connections. */
  get size(): number {
    return this.#all.size;
  }

  /** Number of connections ever opened. */
  get opened(): number {
    return this.#opened;
  }

  /** Returns the connection of a socket; for a closed socket, a new one that is not counted. */
  of(socket: Socket): OpenConnection {
    return this.#all.get(socket) ?? newConnection(socket, false);
  }

  /** Notes that a request begins. `hasMore`: further input follows it. */
  begin(connection: OpenConnection, response: ServerResponse, hasMore: boolean): void {
    connection.unanswered = response;
    connection.isUsed = true;
    if (this.#isEnding) setLast(response, !hasMore);
  }

  /** Notes further input behind the pending request: its answer is not the last. */
  expectMore({ unanswered }: OpenConnection): void {
    if (this.#isEnding && unanswered) setLast(unanswered, false);
  }

  /** Notes that a request ended: its answer is sent completely, or the client is gone. */
  end(connection: OpenConnection, response: ServerResponse): void {
    if (connection.unanswered === response) connection.unanswered = null;
  }

  /** Marks each further answer as the last of its connection, so that no client sends into a closing connection. */
  endAll(): void {
    this.#isEnding = true;
    // If the request is incomplete, the waiting bytes belong to it.
    for (const [socket, { unanswered }] of this.#all)
      if (unanswered) setLast(unanswered, !(unanswered.req.complete && socket.readableLength > 0));
  }

  /** Closes idle connections; those of trusted proxies only with `all`. */
  closeIdle(whom: 'all' | 'all but proxies'): void {
    for (const [socket, connection] of this.#all)
      if (isIdle(socket, connection) && !(connection.isOfProxy && whom === 'all but proxies')) socket.destroy();
  }

  /** Closes all connections. */
  closeAll(): void {
    for (const socket of this.#all.keys()) socket.destroy();
  }

  /** Stops the checks; no further connection may come. */
  stopChecks(): void {
    clearInterval(this.#checking);
  }

  /**
   * True if there is room for another connection. At the limit in all, a new connection replaces the one that was
   * idle longest: if it were refused, idle connections could shut everybody out. At the limit of its source, it is
   * refused: it must not replace another source's.
   */
  #hasRoomFor(source: string | null): boolean {
    const { inAll, ofSource } = this.#limits.max;
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
      } else if (now - connection.takenSince > UNREAD_TIMEOUT_MS) socket.destroy();
    }
    this.#report(now);
  }

  #moveToEnd(socket: Socket, connection: OpenConnection): void {
    connection.isUsed = false;
    this.#all.delete(socket);
    this.#all.set(socket, connection);
  }

  /** Not for each connection: a flood of them must not fill the log, too. */
  #report(now: number): void {
    if (this.#refused + this.#replaced === 0 || now - this.#reportedAt < REPORT_EVERY_MS) return;
    const { inAll, ofSource } = this.#limits.max;
    this.#limits.report(
      `too many connections: ${this.#refused} were refused and ${this.#replaced} that were idle ended; ${this.#all.size} are open, ` +
        `and VALETKEY_MAX_CONNECTIONS allows ${inAll}, VALETKEY_MAX_CONNECTIONS_PER_SOURCE ${ofSource}`,
    );
    this.#refused = 0;
    this.#replaced = 0;
    this.#reportedAt = now;
  }
}

function newConnection(turnOf: unknown, isOfProxy: boolean): OpenConnection {
  return { turnOf, isOfProxy, unanswered: null, isUsed: false, taken: 0, takenSince: 0 };
}

/** True if no request is pending or waits to be read, and no answer is being sent. */
function isIdle(socket: Socket, { unanswered }: OpenConnection): boolean {
  return !unanswered && socket.readableLength === 0 && socket.writableLength === 0;
}

/** Makes an answer say whether it is the last of its connection. Has no effect once the answer is being sent. */
function setLast(response: ServerResponse, isLast: boolean): void {
  if (response.headersSent) return;
  if (isLast) response.setHeader('Connection', 'close');
  else if (response.hasHeader('Connection')) response.removeHeader('Connection');
}
