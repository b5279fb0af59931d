/**
 * All that this folder takes from undocumented parts of Node.js. Two promises need it. A connection has one request in
 * progress, and sources take turns (decision 0025): so our code reads each connection, and Node.js' parser gets one piece
 * at a time. An answer of which the client takes nothing for 15 seconds ends its connection: with `server.setTimeout`,
 * Node.js looks once in each period, and ends it after two. The options for the other timeouts stay off, because Node.js
 * checks them before it reads input that came in time; and `closeIdleConnections` closes a connection whose answer is
 * still being sent.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Lets a client that half-closes its connection still get its answers (RFC 9112 §9.6). */
export function allowHalfClose(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/**
 * Puts `onData` in the place of Node.js' parser on a connection that Node.js reads already, and returns the parser. Throws
 * if this version of Node.js has none.
 */
export function replaceParser(socket: Socket, onData: (bytes: Buffer) => void): (bytes: Buffer) => void {
  const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
  if (!parse) throw new Error('Node.js does not listen to what comes on a connection');
  // Add our listener first: with a second listener, the parser of Node.js leaves the reading to the socket.
  socket.on('data', onData);
  socket.off('data', parse);
  return parse;
}

/** Node.js' internal counts of a connection. */
type Handle = { readonly bytesWritten: number; readonly writeQueueSize: number };

/**
 * Returns the number of bytes that the system has taken; null if none wait. `bytesWritten` includes libuv's queue
 * (`writeQueueSize`), which the system has not taken yet. Node.js uses the same number for its own timeouts.
 */
export function bytesTaken(socket: Socket): number | null {
  const { _handle: handle } = socket as unknown as { _handle: Handle | null };
  return handle && handle.writeQueueSize > 0 ? handle.bytesWritten - handle.writeQueueSize : null;
}
