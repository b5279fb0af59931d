/** Makes HTTP servers that take in connections in one place: each is admitted, and Node.js reads it piece by piece. */
import type { RequestListener, Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { type ConnectionContext, KEEP_ALIVE_SECONDS } from './context.ts';
import { allowHalfClose } from './node-internals.ts';
import { Pipeline } from './pipeline.ts';

/** Not imported: an import would load Node.js' WebSocket and `fetch`, 3 MB of an idle process. */
const { createServer } = process.getBuiltinModule('node:http');

const CHECK_EVERY_MS = 1000;
/** The maximum timer of Node.js (ms). */
const NEVER_MS = 2 ** 31 - 1 - KEEP_ALIVE_SECONDS * 1000;

/** Options that leave each timeout to `pipeline.ts`; clients are told that of idle connections. */
const TIMEOUTS_OF_NODE: ServerOptions = {
  keepAliveTimeout: KEEP_ALIVE_SECONDS * 1000,
  keepAliveTimeoutBuffer: NEVER_MS,
  headersTimeout: 0,
  requestTimeout: 0,
};

/**
 * Makes a server whose requests go to `handle`, in the turn of their source. `notePeer` notes the address of a new connection
 * while it has one; then the connection is admitted, and only then read.
 */
export function makeServer(
  options: ServerOptions,
  handle: RequestListener,
  context: ConnectionContext,
  notePeer: (socket: Socket) => void,
): Server {
  const server = createServer({ ...TIMEOUTS_OF_NODE, ...options });
  allowHalfClose(server);
  const pipelines = new Map<Socket, Pipeline>();
  // Before Node.js listens to the connection.
  server.prependListener('connection', (socket: Socket) => {
    notePeer(socket);
    if (context.open.admit(socket)) socket.pause();
  });
  // After Node.js listens to it, and before anything is read.
  server.on('connection', (socket: Socket) => {
    if (socket.destroyed) return;
    pipelines.set(socket, new Pipeline(socket, context));
    socket.once('close', () => pipelines.delete(socket)).resume();
  });
  server.on('request', (request, response) =>
    pipelines.get(request.socket)?.begin(request, response, () => handle(request, response)),
  );
  // An expectation other than `100-continue` may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  server.on('clientError', (_error, socket) => pipelines.get(socket as Socket)?.break());
  server.once('listening', () => checkTimeouts(server, pipelines));
  return server;
}

/** Checks the timeouts of a server's connections until it closes. */
function checkTimeouts(server: Server, pipelines: ReadonlyMap<Socket, Pipeline>): void {
  const check = () => {
    const now = performance.now();
    for (const pipeline of pipelines.values()) pipeline.checkTimeouts(now);
  };
  // Check after reading this turn's input: after a standstill of the machine, requests may have come that are not
  // read yet.
  const checking = setInterval(() => setImmediate(check), CHECK_EVERY_MS).unref();
  server.once('close', () => clearInterval(checking));
}
