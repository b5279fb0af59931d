/** Takes in connections, in one place: each is admitted, and Node.js reads it piece by piece. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionContext } from './context.ts';
import { Pipeline } from './pipeline.ts';

const CHECK_EVERY_MS = 1000;

/**
 * Reads the connections of a server. `notePeer` notes the address of a new connection while it has one; then the
 * connection is admitted, and only then read. The server has a listener of Node.js for connections and one of Fastify for
 * requests already; both are removed here and called by hand.
 */
export function readConnections(server: Server, context: ConnectionContext, notePeer: (socket: Socket) => void): void {
  const [readByNode] = server.listeners('connection');
  const [handle] = server.listeners('request');
  if (!readByNode || !handle) throw new Error('the server listens to no connection');
  server.removeListener('connection', readByNode as () => void).removeListener('request', handle as () => void);
  // A client that half-closes its connection still gets its answers (RFC 9112 §9.6).
  Object.assign(server, { httpAllowHalfOpen: true });
  // An expectation other than `100-continue` may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  const pipelines = new Map<Socket, Pipeline>();
  server.on('connection', (socket: Socket) => {
    notePeer(socket);
    if (!context.open.admit(socket)) return;
    socket.pause();
    readByNode.call(server, socket);
    pipelines.set(socket, new Pipeline(socket, context));
    socket.once('close', () => pipelines.delete(socket)).resume();
  });
  server.on('request', (message: IncomingMessage, response: ServerResponse) =>
    pipelines.get(message.socket)?.begin(message, response, () => handle.call(server, message, response)),
  );
  server.on('clientError', (_error, socket) => pipelines.get(socket as Socket)?.break());
  const check = () => {
    const now = performance.now();
    for (const pipeline of pipelines.values()) pipeline.checkTimeouts(now);
  };
  // Check after reading this turn's input: after a standstill of the machine, requests may have come that are not
  // read yet.
  const checking = setInterval(() => setImmediate(check), CHECK_EVERY_MS).unref();
  server.once('close', () => clearInterval(checking));
}
