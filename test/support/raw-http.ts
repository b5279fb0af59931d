/** HTTP as bytes on a socket, for requests that no client library would send. */
import { subscribe } from 'node:diagnostics_channel';
import net from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** What came back. `text` is all of it; `ms` is how long the server kept the connection. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly text: string;
  readonly ms: number;
};

/** A request line and headers, with those that every request needs; `Host` is the address unless another is given. */
export function requestHead(url: string, line: string, headers: Record<string, string> = {}): string {
  const all = { Host: new URL(url).host, Connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${line} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

/** Sends bytes as they are, then `trickle` every half second, and returns when the server closes the connection. */
export function sendRaw(url: string, bytes: string | Buffer, trickle?: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const start = performance.now();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let timer: NodeJS.Timeout | undefined;
    const socket = net.connect(Number(port), hostname, () => {
      socket.write(bytes);
      timer = setInterval(() => trickle && socket.write(trickle), 500);
    });
    socket.on('data', (chunk) => void chunks.push(chunk));
    socket.on('error', () => {}); // A reset is an end like any other; `close` follows.
    socket.on('close', () => {
      clearInterval(timer);
      resolve({ ...parse(Buffer.concat(chunks).toString('latin1')), ms: performance.now() - start });
    });
  });
}

/** The ports that servers of this process listen at; and their ends of connections, by the client's port, until they close. */
const listening = new Set<number>();
const accepted = new Map<number, net.Socket | 'closed'>();
subscribe('tracing:net.server.listen:asyncEnd', (message) => {
  const { server } = message as { server: net.Server };
  const address = server.address();
  if (address === null || typeof address === 'string') return;
  listening.add(address.port);
  // Another process may listen there next: a test that looks for a free port closes it for the program that it starts.
  server.once('close', () => void listening.delete(address.port));
});
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: net.Socket };
  const port = socket.remotePort ?? 0;
  accepted.set(port, socket);
  socket.once('close', () => void accepted.set(port, 'closed'));
});

/**
 * Waits until a server of this process has read so many bytes on a connection, or all that was sent, or has closed it. A server
 * of another process has a moment.
 */
export async function untilRead(socket: net.Socket, bytes = socket.bytesWritten): Promise<void> {
  if (!listening.has(socket.remotePort ?? 0)) return void (await sleep(50));
  const port = socket.localPort ?? 0;
  for (;;) {
    const other = accepted.get(port);
    if (socket.destroyed || other === 'closed' || (other && other.bytesRead >= bytes)) break;
    await nextTurn();
  }
  await nextTurn(); // What was read is handled in the turn in which it is read.
}

/** Opens a connection and sends a request's beginning, or nothing; a server of this process has begun to read it then. */
export async function hold(url: string, text = ''): Promise<net.Socket> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname.replace(/^\[|\]$/g, '')).on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(text);
  await untilRead(socket, Math.min(1, text.length));
  return socket;
}

function parse(text: string): Omit<RawAnswer, 'ms'> {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, body: rest.join('\r\n\r\n'), text };
}
