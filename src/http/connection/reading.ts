/**
 * The one door through which requests come in. The endpoints for programs have a reader of their own, and a connection
 * stays with it as long as all its requests are plain and for them; with the first other one it goes to Node.js for good.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Service } from '../service.ts';
import type { ConnectionContext } from './context.ts';
import { DirectConnection } from './direct-connection.ts';
import type { DirectRoutes } from './direct-routes.ts';
import { NodeConnection } from './node-connection.ts';

const CHECK_EVERY_MS = 1000;

/** What reads the connections of a server. `notePeer` remembers who is at the other end of one, while that can be asked. */
export type Reading = {
  readonly reader: Service['httpReader'];
  readonly routes: DirectRoutes;
  readonly context: ConnectionContext;
  readonly notePeer: (socket: Socket) => void;
};

/**
 * Reads the connections of a server. What a server listens to must come in this order: who is there, whether there is room,
 * and only then who reads. Fastify has had Node.js listen to connections already, and that listener is called by hand.
 */
export function readConnections(server: Server, { reader, routes, context, notePeer }: Reading): void {
  const [readByNode] = server.listeners('connection');
  if (!readByNode) throw new Error('the server listens to no connection');
  server.removeListener('connection', readByNode as () => void);
  // As our own reader does: whoever sends no more, and says so by half-closing, still hears the answers (RFC 9112 §9.6).
  Object.assign(server, { httpAllowHalfOpen: true });
  // What a client expects beside `100-continue` may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  context.open.watchRequests(server);
  const connections = new Set<DirectConnection | NodeConnection>();

  const giveToNode = (socket: Socket, since: number): void => {
    readByNode.call(server, socket);
    const connection = new NodeConnection(socket, since, context);
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
  };
  server.on('connection', (socket: Socket) => {
    notePeer(socket);
    if (!context.open.admit(socket)) return;
    if (reader === 'node') {
      socket.pause();
      giveToNode(socket, performance.now());
      return void socket.resume();
    }
    const connection = new DirectConnection(socket, routes, context, (since) => {
      connections.delete(connection);
      if (since !== null) giveToNode(socket, since);
    });
    connections.add(connection);
  });
  const checking = setInterval(() => {
    const now = performance.now();
    for (const connection of connections) connection.checkTimeouts(now);
  }, CHECK_EVERY_MS).unref();
  server.once('close', () => clearInterval(checking));
}
