/**
 * A service's standard error. It logs thousands of lines a second, so lines are gathered to save system calls, and
 * nothing waits for their reader. A full pipe takes nothing: the lines wait in a bounded buffer, and the write is
 * tried again. Lines that do not fit are dropped and counted.
 *
 * Why no asynchronous write: a thread that waits for a full pipe cannot be ended, and the process would hang at its
 * exit (pino's own asynchronous destination does, measured). Node.js makes a pipe non-blocking when `process.stderr`
 * is first used, so a synchronous write to a full one returns at once. A file has no reader to wait for. A terminal
 * is written to at its own pace: its user sees a stop.
 */
import { writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Maximum time that a line waits for others (ms), and number of characters at which lines are written at once. */
const WRITE_EVERY_MS = 250;
const WRITTEN_AT_ONCE = 32_768;

/** Maximum number of characters that wait for the reader: some 4,000 lines. */
const MAX_WAITING = 2 ** 20;

/** Minimum time before a full pipe is tried again (ms): short enough for any reader. */
const RETRY_MS = 4;

/** Maximum time that the exit waits for a reader that takes nothing (ms). */
const END_TIMEOUT_MS = 500;

/** A destination of bytes: returns the number of bytes taken, and throws if none could be. */
type Output = (bytes: Buffer) => number;

/** Standard error of a service. */
export class GatheredLines implements DestinationStream {
  readonly #output: Output;
  /** Waiting lines, and the bytes of a line that is partly written. */
  #lines = '';
  #begun: Buffer = Buffer.alloc(0);
  #retry: NodeJS.Timeout | null = null;
  #retryMs = RETRY_MS;
  /** Number of lines dropped since the buffer was full; 0 while all fit. */
  #missing = 0;
  /** Number of lines ever dropped. */
  dropped = 0;
  /** Called with the number of dropped lines when lines fit again; its log line stands in their place. */
  onGap: (lines: number) => void = () => {};

  constructor(output: Output = toStandardError()) {
    this.#output = output;
    setInterval(() => this.flushSync(), WRITE_EVERY_MS).unref();
    // The last lines matter most. They are lost only if the process is killed, or nobody reads.
    process.on('exit', () => this.#end());
  }

  write(line: string): void {
    if (this.#missing > 0 || this.#waiting + line.length > MAX_WAITING) {
      this.#missing += 1;
      this.dropped += 1;
      return;
    }
    this.#lines += line;
    if (this.#lines.length >= WRITTEN_AT_ONCE && this.#retry === null) this.flushSync();
  }

  /** Writes the gathered lines, as far as the reader takes them, for callers that cannot wait; pino's `flush` calls it. */
  flush(done?: () => void): void {
    this.flushSync();
    done?.();
  }

  /** Writes the gathered lines, as far as the reader takes them; pino calls it after a fatal line. */
  flushSync(): void {
    try {
      while (this.#waiting > 0) {
        if (this.#begun.length === 0) this.#begin();
        this.#begun = this.#begun.subarray(this.#output(this.#begun));
        this.#retryMs = RETRY_MS;
        this.#closeGap();
      }
    } catch {
      // A full pipe, a full disk or a missing reader may pass.
      this.#tryLater();
    }
  }

  get #waiting(): number {
    return this.#lines.length + this.#begun.length;
  }

  #begin(): void {
    this.#begun = Buffer.from(this.#lines);
    this.#lines = '';
  }

  #closeGap(): void {
    if (this.#missing === 0 || this.#waiting > MAX_WAITING / 2) return;
    const lines = this.#missing;
    this.#missing = 0;
    this.onGap(lines);
  }

  #tryLater(): void {
    if (this.#retry !== null) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.flushSync();
    }, this.#retryMs).unref();
    this.#retryMs = Math.min(2 * this.#retryMs, WRITE_EVERY_MS);
  }

  /** Writes what is left, as long as the reader takes some of it. */
  #end(): void {
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    for (let idle = 0; this.#waiting > 0 && idle < END_TIMEOUT_MS; ) {
      const before = this.#waiting;
      this.flushSync();
      idle = this.#waiting < before ? 0 : idle + RETRY_MS;
      if (this.#waiting > 0) Atomics.wait(sleeper, 0, 0, RETRY_MS);
    }
  }
}

function toStandardError(): Output {
  const { fd } = process.stderr;
  return (bytes) => writeSync(fd, bytes);
}
