/** The connection to the authorization server's revocation stream: what was revoked, and whether that is known right now. */
import { randomInt } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { EventStreamReader, type StreamEvent } from './event-stream.ts';
import { FRESH_MS, isFresh, moment } from './freshness.ts';

/** What was revoked: every grant that has all of these; with none of them, every grant. */
export type Revocation = { readonly grant_id?: string; readonly client_id?: string; readonly sub?: string };

/** What a stream is made of. `timeout` is how long a connection may take until it is ready, in ms. */
export type StreamSettings = {
  readonly url: string;
  readonly authorization: string;
  readonly timeout: number;
  /** Something was revoked. */
  readonly onRevoked: (revocation: Revocation) => void;
  /** The stream is ready, or it is lost: whatever was known before may have changed unseen. */
  readonly onBreak: () => void;
  /** The stream is lost, and why. */
  readonly onProblem: (why: string) => void;
};

const [SHORTEST_WAIT_MS, LONGEST_WAIT_MS] = [250, 5000];

/** One stream, which connects again whenever it is lost. It never keeps the process alive. */
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

  /** Whether every revocation has arrived but for those of the last moment. */
  get isLive(): boolean {
    return this.#readyAt !== undefined && isFresh(this.#heardAt);
  }

  /** Connects, and from then on keeps connected. */
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
      // What comes after a silence may be the first of much that is late.
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

/** Reads an event; one that is not understood revokes everything. */
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
