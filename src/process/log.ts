/** The log: a line of JSON each, and how a service writes many of them. */
import { type DestinationStream, type Logger, pino } from 'pino';

/** So long a line waits for others at most (ms), and so many characters are written at once. */
const WRITE_EVERY_MS = 250;
const WRITTEN_AT_ONCE = 32_768;

/** A logger that also writes a line of given members, as its own of level `info` are, for whoever writes thousands a second. */
export type Log = Logger & { line(members: object): void };

/** Structured logs. Nothing that is a secret is ever handed to it. `now` in ms since the epoch. */
export function makeLogger(destination: DestinationStream, now: () => number): Log {
  const timestamp = timesOfLines(now);
  const logger = pino({ base: null, timestamp, formatters: { level: (level) => ({ level }) } }, destination);
  const line = (members: object) => {
    if (!logger.isLevelEnabled('info')) return;
    destination.write(`{"level":"info"${timestamp()},${JSON.stringify(members).slice(1)}\n`);
  };
  return Object.assign(logger, { line });
}

/** The time as a line has it (RFC 3339), made once for all lines of a millisecond. */
function timesOfLines(now: () => number): () => string {
  let moment = Number.NaN;
  let text = '';
  return () => {
    const at = now();
    if (at !== moment) text = `,"time":"${new Date(at).toISOString()}"`;
    moment = at;
    return text;
  };
}

/** Standard error, where each line is written as it comes. */
export function lineByLine(): DestinationStream {
  return pino.destination({ fd: 2, sync: true });
}

/** Standard error for whoever logs thousands of lines a second: they are gathered, since each would be a system call. */
export class GatheredLines implements DestinationStream {
  // Written by this thread: a write that another thread has begun would be lost when the process ends.
  readonly #output = pino.destination({ fd: 2, sync: true });
  #lines = '';

  constructor() {
    setInterval(() => this.flushSync(), WRITE_EVERY_MS).unref();
    // The lines before its end are those that matter. Only those who are killed outright keep the last of them.
    process.on('exit', () => this.flushSync());
  }

  write(line: string): void {
    this.#lines += line;
    if (this.#lines.length >= WRITTEN_AT_ONCE) this.flushSync();
  }

  /** Writes what is there; pino calls it after a fatal line. */
  flushSync(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#output.write(lines);
  }
}
