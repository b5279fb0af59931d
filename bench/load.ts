/** The closed loop: every connection has one request under way, and sends the next when it is answered. */
import { type Call, Connection } from './connection.ts';

/** What a cell of the table runs. `next` answers null when there is nothing left to send. */
export type Cell = {
  readonly port: number;
  readonly connections: number;
  readonly next: () => Call | null;
  /** How long requests are begun. */
  readonly seconds: number;
  /** Minimum number to begin, even if it takes longer. */
  readonly least: number;
  /** Maximum number to begin. */
  readonly most: number;
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
/** Maximum number of errors in a cell. More of them end it: nothing of it can be used any more. */
const MAX_ERRORS = 100;

/** Runs one cell. Connections are open before the clock starts. */
export async function runCell(cell: Cell): Promise<Outcome> {
  const run = new Run(cell);
  const connections = await Connection.openAll(cell.connections, cell.port, (connection, latency, problem) => {
    run.answer(latency, problem);
    run.go(connection);
  });
  const patience = setInterval(() => run.giveUpIfStuck(), PATIENCE_MS);
  const cpu = process.cpuUsage();
  const start = performance.now();
  run.begin(start + cell.seconds * 1000);
  for (const connection of connections) run.go(connection);
  await run.ended.promise;
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(patience);
  for (const connection of connections) connection.end();
  return {
    seconds,
    latencies: Float64Array.from(run.latencies).sort(),
    errors: run.errors,
    firstError: run.firstError,
    generatorBusy: (user + system) / 1e6 / seconds,
  };
}

/** What the connections of a cell share. */
class Run {
  readonly #cell: Cell;
  readonly latencies: number[] = [];
  readonly ended = Promise.withResolvers<void>();
  errors = 0;
  firstError: string | null = null;
  #until = 0;
  #started = 0;
  #answeredAtLastLook = -1;

  constructor(cell: Cell) {
    this.#cell = cell;
  }

  /** `until` is when no more requests are begun, in ms as of `performance.now()`. */
  begin(until: number): void {
    this.#until = until;
  }

  /** Sends the next call, or ends the cell when there is none and all are answered. */
  go(connection: Connection): void {
    const now = performance.now();
    const call = this.#isOver(now) ? null : this.#cell.next();
    if (call) {
      this.#started += 1;
      connection.send(call, now);
    } else if (this.latencies.length === this.#started) {
      if (this.#started < this.#cell.least) this.fail('there is nothing left to send');
      this.ended.resolve();
    }
  }

  /** Counts an answer that took so many ms. */
  answer(latency: number, problem: string | null): void {
    this.latencies.push(latency);
    if (problem !== null) this.fail(problem);
  }

  fail(problem: string): void {
    this.errors += 1;
    this.firstError ??= problem;
  }

  giveUpIfStuck(): void {
    if (this.latencies.length === this.#answeredAtLastLook) {
      this.fail(`no answer for ${PATIENCE_MS / 1000} s`);
      this.ended.resolve();
    }
    this.#answeredAtLastLook = this.latencies.length;
  }

  #isOver(now: number): boolean {
    const { least, most } = this.#cell;
    return this.#started >= most || this.errors >= MAX_ERRORS || (now >= this.#until && this.#started >= least);
  }
}
