/**
 * The one place where requests come in. The endpoints for programs have a reader of their own. A connection stays with
 * it as long as all its requests are plain and for these endpoints; with the first other request it goes to Node.js for
 * good.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Service } from '../service.ts';
import type { ConnectionContext } from './context.ts';
import { DirectConnection } from './direct-connection.ts';
import type { DirectRoutes } from './direct-routes.ts';
import { NodeConnection } from './node-connection.ts';

const CHECK_EVERY_MS = 1000;

/** How the connections of a server are read. `notePeer` remembers the address of a new connection while it has one. */
export type Reading = {
  readonly reader: Service['httpReader'];
  readonly routes: DirectRoutes;
  readonly context: ConnectionContext;
  readonly notePeer: (socket: Socket) => void;
};

/**
 * Reads the connections of a server. A new connection is handled in this order: its address is noted, it is admitted,
 * and only then it is read. Fastify has added the listener of Node.js already; it is removed here and called by hand.
 */
export function readConnections(server: Server, { reader, routes, context, notePeer }: Reading): void {
  const [readByNode] = server.listeners('connection');
  if (!readByNode) throw new Error('the server listens to no connection');
  server.removeListener('connection', readByNode as () => void);
  // As our own reader does: a client that half-closes its connection still gets its answers (RFC 9112 §9.6).
  Object.assign(server, { httpAllowHalfOpen: true });
  // An expectation other than `100-continue` may be ignored (RFC 9110 §10.1.1).
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
  const check = () => {
    const now = performance.now();
    for (const connection of connections) connection.checkTimeouts(now);
  };
  // After the input of this turn is read: while the machine stood still, requests may have come that are not seen yet.
  const checking = setInterval(() => setImmediate(check), CHECK_EVERY_MS).unref();
  server.once('close', () => clearInterval(checking));
}
