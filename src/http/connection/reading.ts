/** Takes in connections, in one place: each is admitted, and Node.js reads it piece by piece. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionContext } from './context.ts';
import { allowHalfClose, takeListeners } from './node-internals.ts';
import { Pipeline } from './pipeline.ts';

const CHECK_EVERY_MS = 1000;

/**
 * Reads the connections of a server. `notePeer` notes the address of a new connection while it has one; then the
 * connection is admitted, and only then read. The server has its listeners already.
 */
export function readConnections(server: Server, context: ConnectionContext, notePeer: (socket: Socket) => void): void {
  const { read, handle } = takeListeners(server);
  allowHalfClose(server);
  // An expectation other than `100-continue` may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  const pipelines = new Map<Socket, Pipeline>();
  server.on('connection', (socket: Socket) => {
    notePeer(socket);
    if (!context.open.admit(socket)) return;
    socket.pause();
    read(socket);
    pipelines.set(socket, new Pipeline(socket, context));
    socket.once('close', () => pipelines.delete(socket)).resume();
  });
  server.on('request', (message: IncomingMessage, response: ServerResponse) =>
    pipelines.get(message.socket)?.begin(message, response, () => handle(message, response)),
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
