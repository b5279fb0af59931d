/**
 * A closed-loop load generator over raw sockets: every connection has one request under way. It is cheaper than any HTTP
 * client, so that the server is what is measured; it still reads every answer to its end, and every answer is judged.
 */
import { connect, type Socket } from 'node:net';

/** One request: its bytes, and what judges the answer's body: null when it is right, else what is wrong with it. */
export type Call = { readonly text: string; readonly judge: (body: unknown) => string | null };

/** What a cell of the table runs: so many calls over so many connections. `next` answers null when it has run out. */
export type Cell = {
  readonly port: number;
  readonly connections: number;
  readonly requests: number;
  readonly next: () => Call | null;
};

/** What came of a cell; latencies in ms, sorted. */
export type Outcome = {
  readonly seconds: number;
  readonly latencies: Float64Array;
  readonly errors: number;
  /** What was wrong first, in words. */
  readonly firstError: string | null;
  /** The share of the time that the generator itself computed: near 1 it is what limits the figures. */
  readonly generatorBusy: number;
};

/** A cell that makes no progress for so long has failed. */
const PATIENCE_MS = 20_000;
/** So many errors end a cell: nothing of it can be used any more. */
const MOST_ERRORS = 100;

/** Runs one cell. Connections are open before the clock starts. */
export async function runCell(cell: Cell): Promise<Outcome> {
  const run = new Run(cell);
  const connections = await Promise.all(Array.from({ length: cell.connections }, () => open(cell.port, run)));
  const patience = setInterval(() => run.giveUpIfStuck(), PATIENCE_MS);
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (const connection of connections) connection.go();
  await run.ended.promise;
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(patience);
  for (const connection of connections) connection.end();
  return {
    seconds,
    latencies: run.latencies.subarray(0, run.answered).sort(),
    errors: run.errors,
    firstError: run.firstError,
    generatorBusy: (user + system) / 1e6 / seconds,
  };
}

/** What the connections of a cell share. */
class Run {
  readonly #cell: Cell;
  readonly latencies: Float64Array;
  readonly ended = Promise.withResolvers<void>();
  answered = 0;
  errors = 0;
  firstError: string | null = null;
  #started = 0;
  #answeredAtLastLook = -1;

  constructor(cell: Cell) {
    this.#cell = cell;
    this.latencies = new Float64Array(cell.requests);
  }

  /** The next call, or null when all are under way or the cell has failed. */
  take(): Call | null {
    if (this.#started >= this.#cell.requests || this.errors >= MOST_ERRORS) return null;
    const call = this.#cell.next();
    if (!call) {
      this.fail('there is nothing left to send');
      this.ended.resolve();
      return null;
    }
    this.#started += 1;
    return call;
  }

  /** Counts an answer that took so many ms. */
  answer(latency: number, problem: string | null): void {
    this.latencies[this.answered] = latency;
    this.answered += 1;
    if (problem !== null) this.fail(problem);
    if (this.answered >= this.#cell.requests || this.errors >= MOST_ERRORS) this.ended.resolve();
  }

  fail(problem: string): void {
    this.errors += 1;
    this.firstError ??= problem;
  }

  giveUpIfStuck(): void {
    if (this.answered === this.#answeredAtLastLook) {
      this.fail(`no answer for ${PATIENCE_MS / 1000} s`);
      this.ended.resolve();
    }
    this.#answeredAtLastLook = this.answered;
  }
}

/** One keep-alive connection. */
class Connection {
  readonly #socket: Socket;
  readonly #run: Run;
  #received = '';
  #call: Call | null = null;
  #sentAt = 0;

  constructor(socket: Socket, run: Run) {
    this.#socket = socket;
    this.#run = run;
  }

  /** Sends the next call, if there is one. */
  go(): void {
    this.#call = this.#run.take();
    if (!this.#call) return;
    this.#sentAt = performance.now();
    this.#socket.write(this.#call.text, 'latin1');
  }

  /** Takes bytes of an answer; at its end judges it and goes on. */
  receive(text: string): void {
    this.#received += text;
    const answer = readAnswer(this.#received);
    if (!answer || !this.#call) return;
    const latency = performance.now() - this.#sentAt;
    const call = this.#call;
    this.#received = '';
    this.#run.answer(latency, judge(call, answer));
    this.go();
  }

  closed(): void {
    if (this.#call) this.#run.answer(performance.now() - this.#sentAt, 'the connection was closed');
    this.#call = null;
  }

  end(): void {
    this.#call = null;
    this.#socket.destroy();
  }
}

function open(port: number, run: Run): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const callback = (length: number, bytes: Uint8Array) => {
      connection.receive((bytes as Buffer).toString('latin1', 0, length));
      return true;
    };
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer: Buffer.alloc(64 * 1024), callback } });
    const connection = new Connection(socket, run);
    socket.setNoDelay(true);
    socket.once('connect', () => resolve(connection));
    socket.on('error', reject);
    socket.once('close', () => connection.closed());
  });
}

/** A whole answer, or null while some of it is missing. Both kinds of server send `Content-Length`. */
function readAnswer(text: string): { status: string; body: string } | null {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1]);
  const body = text.slice(headEnd + 4);
  if (body.length < length) return null;
  return { status: text.slice(9, 12), body };
}

function judge(call: Call, { status, body }: { status: string; body: string }): string | null {
  if (status !== '200') return `status ${status}: ${body.slice(0, 200)}`;
  try {
    return call.judge(JSON.parse(body));
  } catch {
    return `not JSON: ${body.slice(0, 200)}`;
  }
}
