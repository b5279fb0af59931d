/** Our own reader on a connection that is none: the bytes come from memory, and what it made of them is noted. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { ConnectionContext } from '../../../../src/http/connection/context.ts';
import { DirectConnection } from '../../../../src/http/connection/direct-connection.ts';
import type { DirectRequest } from '../../../../src/http/connection/direct-request.ts';
import type { DirectRoutes } from '../../../../src/http/connection/direct-routes.ts';
import { OpenConnections } from '../../../../src/http/connection/open-connections.ts';
import type { PlainHeaders } from '../../../../src/http/connection/plain-request.ts';
import type { Endpoint } from '../../../../src/http/endpoint.ts';
import type { Parameters } from '../../../../src/oauth/parameters.ts';
import type { Lots } from '../../../instances/effort.ts';

/** A request that our reader took. */
export type OwnRequest = {
  readonly line: string;
  readonly headers: PlainHeaders;
  /** Its body as it was decoded, or null when it could not be; undefined when it has none. */
  readonly body: Parameters | null | undefined;
};

/** What our reader made of a connection: the requests that it took, and how it ended. */
export type OwnReading = {
  readonly requests: readonly OwnRequest[];
  /** What it gave to Node.js, or null when it gave nothing. */
  readonly rest: Buffer | null;
  /** Whether it has hung up. */
  readonly isOver: boolean;
};

/** As much of a socket as the reader uses. It tells what came only when it is asked to. */
class MemorySocket extends EventEmitter {
  #queue: Buffer[];
  #isPaused = false;
  isOver = false;
  readonly destroyed = false;

  constructor(chunks: readonly Buffer[]) {
    super();
    this.#queue = [...chunks];
  }

  get isReadable(): boolean {
    return !this.#isPaused && this.#queue.length > 0;
  }

  get readableLength(): number {
    return this.#queue.length;
  }

  /** What the reader did not take. */
  get rest(): Buffer {
    return Buffer.concat(this.#queue);
  }

  /** Tells the next piece. */
  tell(): void {
    this.emit('data', this.#queue.shift());
  }

  pause(): this {
    this.#isPaused = true;
    return this;
  }

  resume(): this {
    this.#isPaused = false;
    return this;
  }

  unshift(bytes: Buffer): void {
    this.#queue.unshift(bytes);
  }

  write(): boolean {
    return true;
  }

  end(): void {
    this.isOver = true;
  }

  destroySoon(): void {
    this.isOver = true;
  }
}

/** The reader with two endpoints, and the requests that came to them. */
export class OwnReader {
  readonly #open = new OpenConnections({
    max: { inAll: 1, ofSource: 1 },
    sourceOf: () => null,
    report: () => {},
  });
  readonly #routes: DirectRoutes;
  readonly #waiting: (() => void)[] = [];
  readonly #context: ConnectionContext;
  #requests: OwnRequest[] = [];

  constructor() {
    const answers: never = undefined as never;
    const route = (method: string, path: string) => {
      const line = `${method} ${path} HTTP/1.1`;
      const endpoint: Endpoint = async (request, reply) => {
        this.#note(line, request as DirectRequest, request.body as Parameters | undefined);
        return reply.send({});
      };
      return [line, { method, path, endpoint, answers }] as const;
    };
    this.#routes = new Map([
      route('GET', '/v2/me'),
      route('POST', '/oauth2/token'),
      route('POST', '/oauth2/introspect'),
    ]);
    const log = {
      sourceOf: () => '',
      end: () => {},
      // A body that cannot be decoded.
      answerError: (
        _error: unknown,
        request: DirectRequest,
        reply: { code(status: number): { send(value: object): void } },
      ) => {
        this.#note(`${request.method} ${request.route.path} HTTP/1.1`, request, null);
        reply.code(400).send({});
      },
    };
    this.#context = {
      batch: { add: (_source: unknown, begin: () => void) => void this.#waiting.push(begin) },
      log,
      open: this.#open,
      now: () => 0,
    } as unknown as ConnectionContext;
  }

  /** Reads what comes on a connection. By lot the answer to a request comes before or after the next piece. */
  read(chunks: readonly Buffer[], draw: Lots): OwnReading {
    this.#requests = [];
    const socket = new MemorySocket(chunks);
    let isGivenBack = false;
    new DirectConnection(socket as unknown as Socket, this.#routes, this.#context, () => {
      isGivenBack = true;
    });
    while (!isGivenBack && !socket.isOver) {
      if (this.#waiting.length > 0 && !(socket.isReadable && draw(2) === 0)) this.#waiting.shift()?.();
      else if (socket.isReadable) socket.tell();
      else break;
    }
    return { requests: this.#requests, rest: isGivenBack ? socket.rest : null, isOver: socket.isOver };
  }

  #note(line: string, { headers }: DirectRequest, body: Parameters | null | undefined): void {
    this.#requests.push({ line, headers, body });
  }

  /** Ends what it started. */
  close(): void {
    this.#open.stopChecks();
  }
}
