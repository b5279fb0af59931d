/**
 * Connections from one address that send requests as fast as they are taken, one behind the other, and never read an
 * answer. A worker of its own, so that what it does is not charged to those who are measured.
 */
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** What a flood does. `bytes` is a chunk of whole requests. */
export type Flood = {
  readonly port: number;
  readonly localAddress: string;
  readonly sockets: number;
  readonly bytes: string;
  /** How long a connection that was ended is left before another one takes its place (ms). */
  readonly reopenAfterMs: number;
};

/** How it stands: connections that are open, and that were opened and ended so far. */
export type Standing = { readonly open: number; readonly opened: number; readonly ended: number };

const flood = workerData as Flood;
const chunk = Buffer.from(flood.bytes, 'latin1');
let [open, opened, ended, isOver] = [0, 0, 0, false];

function begin(): void {
  if (isOver) return;
  const { port, localAddress } = flood;
  const socket: Socket = connect({ port, host: '127.0.0.1', localAddress });
  const write = () => {
    while (!isOver && socket.writable && socket.write(chunk));
  };
  socket.pause();
  socket.once('connect', () => {
    open += 1;
    opened += 1;
    socket.once('close', () => {
      open -= 1;
      ended += 1;
    });
    write();
  });
  socket.on('drain', write).on('error', () => {});
  socket.once('close', () => setTimeout(begin, flood.reopenAfterMs));
}

parentPort?.on('message', (message: 'stand' | 'over') => {
  if (message === 'over') isOver = true;
  parentPort?.postMessage({ open, opened, ended } satisfies Standing);
});
for (let count = 0; count < flood.sockets; count += 1) begin();
