/**
 * The connection to the authorization server's revocation stream: reports revocations, and whether all of them are
 * known.
 */
import { randomInt } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { EventStreamReader, type StreamEvent } from './event-stream.ts';
import { FRESH_MS, isFresh, moment } from './freshness.ts';

/** The revoked grants: those with all of these fields; without any field, every grant. */
export type Revocation = { readonly grant_id?: string; readonly client_id?: string; readonly sub?: string };

/** The parts of a stream. `timeout` is the maximum time until a connection is ready, in ms. */
export type StreamSettings = {
  readonly url: string;
  readonly authorization: string;
  readonly timeout: number;
  /** Called for a revocation. */
  readonly onRevoked: (revocation: Revocation) => void;
  /** Called when the stream is ready or lost: cached answers may have changed unnoticed. */
  readonly onBreak: () => void;
  /** Called when the stream is lost, with the reason. */
  readonly onProblem: (why: string) => void;
};

const SHORTEST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;

/** A stream that reconnects whenever it is lost. It never keeps the process alive. */
export class RevocationStream {
  readonly #settings: StreamSettings;
  #connection: http.ClientRequest | undefined;
  #timer: NodeJS.Timeout | undefined;
  #readyAt: number | undefined;
  #heardAt = moment();
  #failures = 0;

  constructor(settings: StreamSettings) {
    this.#settings = settings;
  }

  /** True if every revocation has arrived, except those of the last moment. */
  get isLive(): boolean {
    return this.#readyAt !== undefined && isFresh(this.#heardAt);
  }

  /** Connects, and stays connected from then on. */
  connect(): void {
    const { url, authorization, timeout } = this.#settings;
    const { request } = url.startsWith('https:') ? https : http;
    const headers = { Authorization: authorization, Accept: 'text/event-stream' };
    const connection = request(url, { agent: false, headers });
    this.#connection = connection;
    this.#loseAfter(timeout, connection);
    connection.on('socket', (socket) => socket.unref().once('connect', () => socket.unref()));
    connection.on('error', (error: NodeJS.ErrnoException) => this.#lose(connection, error.code ?? 'broken'));
    connection.on('close', () => this.#lose(connection, 'closed'));
    connection.on('response', (response) => this.#listen(connection, response));
    connection.end();
  }

  /** Ends the stream for good. */
  close(): void {
    clearTimeout(this.#timer);
    this.#forget();
  }

  #listen(connection: http.ClientRequest, response: http.IncomingMessage): void {
    const { statusCode, headers } = response;
    if (statusCode !== 200 || !/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) {
      this.#lose(connection, `HTTP ${statusCode}`);
      return;
    }
    const reader = new EventStreamReader();
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      if (connection !== this.#connection) return;
      // Data after a silence may be the first of many late notices.
      if (this.#readyAt !== undefined && !this.isLive) return this.#lose(connection, 'silent');
      this.#heardAt = moment();
      try {
        for (const event of reader.read(text)) this.#take(event);
      } catch {
        return this.#lose(connection, 'unreadable');
      }
      if (this.#readyAt !== undefined) this.#loseAfter(FRESH_MS, connection);
    });
  }

  #take(event: StreamEvent): void {
    if (event.name === 'ready') {
      this.#readyAt = performance.now();
      this.#settings.onBreak();
    } else this.#settings.onRevoked(readRevocation(event));
  }

  #loseAfter(milliseconds: number, connection: http.ClientRequest): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lose(connection, 'silent'), milliseconds).unref();
  }

  #lose(connection: http.ClientRequest, why: string): void {
    if (connection !== this.#connection) return;
    clearTimeout(this.#timer);
    const wasStable = this.#readyAt !== undefined && performance.now() - this.#readyAt > LONGEST_WAIT_MS;
    this.#failures = wasStable ? 0 : this.#failures + 1;
    this.#forget();
    const longest = Math.min(LONGEST_WAIT_MS, SHORTEST_WAIT_MS * 2 ** Math.min(this.#failures, 10));
    this.#timer = setTimeout(() => this.connect(), randomInt(SHORTEST_WAIT_MS, longest + 1)).unref();
    this.#settings.onProblem(why);
  }

  #forget(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#readyAt = undefined;
    connection?.destroy();
    this.#settings.onBreak();
  }
}

/** Reads an event; an unknown one revokes everything. */
function readRevocation({ name, data }: StreamEvent): Revocation {
  try {
    const value: Record<string, unknown> = JSON.parse(data);
    const isKnown = Object.entries(value).every(
      ([key, text]) => ['grant_id', 'client_id', 'sub'].includes(key) && typeof text === 'string' && text !== '',
    );
    return name === 'revoked' && isKnown ? value : {};
  } catch {
    return {};
  }
}
