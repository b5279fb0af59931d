import { Agent } from 'node:http';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import type { Answer, Exchange } from '../exchange.ts';

/** An agent for one HTTP call, and what went over its wire: the bytes themselves, whatever the caller says it sends. */
export type WireTap = { readonly agent: Agent; readonly exchange: () => Exchange };

/** Makes an agent that keeps what passes through it. */
export function tapWire(): WireTap {
  const sent: Buffer[] = [];
  const received: Buffer[] = [];
  const agent = new Agent();
  // Not a subclass: the OAuth library deep-copies its options, and a copy would keep its own buffers.
  agent.createConnection = (options) => tapped(connect(options as TcpNetConnectOpts), sent, received);
  return { agent, exchange: () => readExchange(Buffer.concat(sent), Buffer.concat(received)) };
}

function tapped(socket: Socket, sent: Buffer[], received: Buffer[]): Socket {
  socket.on('data', (chunk) => received.push(chunk));
  const write: (data: string | Uint8Array, encoding?: BufferEncoding, done?: () => void) => boolean =
    socket.write.bind(socket);
  socket.write = (data: string | Uint8Array, ...[encoding, done]: unknown[]) => {
    sent.push(typeof data === 'string' ? Buffer.from(data, encoding as BufferEncoding) : Buffer.from(data));
    return write(data, encoding as BufferEncoding, done as () => void);
  };
  return socket;
}

function readExchange(sent: Buffer, received: Buffer): Exchange {
  const { line, headers, body } = readMessage(sent);
  const [method = '', path = ''] = line.split(' ');
  return {
    request: { method, url: `http://${headers['host']}${path}`, headers, body },
    response: received.length > 0 ? readAnswer(received) : null,
  };
}

function readAnswer(bytes: Buffer): Answer {
  const { line, headers, body } = readMessage(bytes);
  return { status: Number(line.split(' ')[1]), headers, body };
}

/** An HTTP/1.1 message as text. Both sides here state the length of a body, so none comes in chunks. */
function readMessage(bytes: Buffer): { line: string; headers: Record<string, string>; body: string } {
  const [head = '', ...body] = bytes.toString().split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = fields.map((field) => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
  });
  return { line, headers: Object.fromEntries(headers), body: body.join('\r\n\r\n') };
}
