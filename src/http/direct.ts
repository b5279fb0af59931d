/**
 * Endpoints of programs, answered on the connection itself: what Node.js and Fastify make of each request would cost more
 * than those of them do that are asked thousands of times a second. A connection is here as long as its requests are plain and for
 * such endpoints. With the first other one it goes to Node.js and Fastify for good, which know the same endpoints.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Around, DirectConnection } from './direct-connection.ts';
import type { Route } from './direct-request.ts';
import { NodeConnection } from './node-connection.ts';

const LOOK_EVERY_MS = 1000;

/** The direct endpoints of one server, and the connections that ask for them. */
export class DirectEndpoints {
  readonly #around: Around;
  /** By request line. */
  readonly #routes = new Map<string, Route>();
  readonly #connections = new Set<DirectConnection | NodeConnection>();

  constructor(around: Around) {
    this.#around = around;
  }

  /** Notes the endpoints that are added from now on. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url: path, method, config }) => {
      if (config?.direct && typeof method === 'string')
        this.#routes.set(`${method} ${path} HTTP/1.1`, { method, path, ...config.direct });
    });
  }

  /** Takes the connections of a server, and gives back to it those that do not belong here. */
  serve(server: Server): void {
    const [others] = server.listeners('connection');
    if (!others) throw new Error('the server listens to no connection');
    server.removeListener('connection', others as () => void);
    // As here: whoever sends no more, and says so by half-closing, still hears the answers (RFC 9112 §9.6).
    Object.assign(server, { httpAllowHalfOpen: true });
    server.prependListener('connection', (socket: Socket) => {
      const connection = new DirectConnection(socket, this.#routes, this.#around, (since) => {
        this.#connections.delete(connection);
        if (since === null) return;
        others.call(server, socket);
        this.#addNode(socket, since);
      });
      this.#connections.add(connection);
    });
    const looking = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    server.once('close', () => clearInterval(looking));
  }

  #addNode(socket: Socket, since: number): void {
    const connection = new NodeConnection(socket, since, this.#around);
    this.#connections.add(connection);
    socket.once('close', () => this.#connections.delete(connection));
  }

  #look(): void {
    const now = performance.now();
    for (const connection of this.#connections) connection.look(now);
  }
}
