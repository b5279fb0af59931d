/**
 * One keep-alive connection of the load generators, over a raw socket: cheaper than any HTTP client, so that the server
 * is what is measured. It still reads every answer to its end, and every answer is judged.
 */
import { connect, type Socket } from 'node:net';

/** One request: its bytes, and what judges the answer's body: null when it is right, else what is wrong with it. */
export type Call = { readonly text: string; readonly judge: (body: unknown) => string | null };

/** Told of each answer: how long it took since `since` (ms), and what is wrong with it, if anything. */
export type OnAnswer = (connection: Connection, latency: number, problem: string | null) => void;

/** A connection with at most one request under way. */
export class Connection {
  readonly #socket: Socket;
  readonly #onAnswer: OnAnswer;
  #received = '';
  #call: Call | null = null;
  #since = 0;

  private constructor(port: number, onAnswer: OnAnswer) {
    this.#onAnswer = onAnswer;
    const callback = (length: number, bytes: Uint8Array) => {
      this.#receive((bytes as Buffer).toString('latin1', 0, length));
      return true;
    };
    this.#socket = connect({ port, host: '127.0.0.1', onread: { buffer: Buffer.alloc(64 * 1024), callback } });
    this.#socket.setNoDelay(true);
  }

  /** Opens so many connections to a port of this machine. */
  static openAll(count: number, port: number, onAnswer: OnAnswer): Promise<Connection[]> {
    const open = () =>
      new Promise<Connection>((resolve, reject) => {
        const connection = new Connection(port, onAnswer);
        connection.#socket.once('connect', () => resolve(connection)).on('error', reject);
        connection.#socket.once('close', () => connection.#closed());
      });
    return Promise.all(Array.from({ length: count }, open));
  }

  /** Sends a call, whose latency counts from `since` (ms, as of `performance.now()`). */
  send(call: Call, since: number): void {
    this.#call = call;
    this.#since = since;
    this.#socket.write(call.text, 'latin1');
  }

  /** Hangs up. */
  end(): void {
    this.#call = null;
    this.#socket.destroy();
  }

  #receive(text: string): void {
    this.#received += text;
    const answer = readAnswer(this.#received);
    const call = this.#call;
    if (!answer || !call) return;
    const latency = performance.now() - this.#since;
    this.#received = '';
    this.#call = null;
    this.#onAnswer(this, latency, judge(call, answer));
  }

  #closed(): void {
    if (!this.#call) return;
    this.#call = null;
    this.#onAnswer(this, performance.now() - this.#since, 'the connection was closed');
  }
}

type Answer = { readonly status: string; readonly body: string };

/** A whole answer, or null while some of it is missing. */
function readAnswer(text: string): Answer | null {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const status = text.slice(9, 12);
  const rest = text.slice(headEnd + 4);
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  if (length !== undefined) return rest.length < Number(length) ? null : { status, body: rest };
  return rest.endsWith('0\r\n\r\n') ? { status, body: unchunked(rest) } : null;
}

function unchunked(text: string): string {
  let body = '';
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (!(size > 0)) return body;
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 4 + size;
  }
}

function judge(call: Call, { status, body }: Answer): string | null {
  if (status !== '200') return `status ${status}: ${body.slice(0, 200)}`;
  try {
    return call.judge(JSON.parse(body));
  } catch {
    return `not JSON: ${body.slice(0, 200)}`;
  }
}
