/** The log: one line of JSON for each entry, or of text for people, and how a service writes many of them. */
import { type DestinationStream, type Logger, pino } from 'pino';
import { readableLines } from './readable-lines.ts';

/** Maximum time that a line waits for others (ms), and the number of characters at which lines are written at once. */
const WRITE_EVERY_MS = 250;
const WRITTEN_AT_ONCE = 32_768;

/** A logger with a cheap `line` of level `info`, for what is logged thousands of times a second. */
export type Log = Logger & { line(members: object): void };

/** How the lines of a log look: `auto` is text at a terminal, and else JSON. */
export type LogStyle = { readonly logFormat: 'auto' | 'json' | 'text' };

/** Where lines go, in this style; `isTerminal`: whether people see them as they come. */
export function inStyle(
  destination: DestinationStream,
  { logFormat }: LogStyle,
  isTerminal: boolean,
): DestinationStream {
  return logFormat === 'text' || (logFormat === 'auto' && isTerminal) ? readableLines(destination) : destination;
}

/** Makes the log, of entries of a level or above. It never gets a secret. `now` in ms since the epoch. */
export function makeLogger(destination: DestinationStream, now: () => number, level = 'info'): Log {
  const timestamp = timesOfLines(now);
  const logger = pino({ base: null, level, timestamp, formatters: { level: (level) => ({ level }) } }, destination);
  const line = (members: object) => {
    if (!logger.isLevelEnabled('info')) return;
    destination.write(`{"level":"info"${timestamp()},${JSON.stringify(members).slice(1)}\n`);
  };
  return Object.assign(logger, { line });
}

/** The time in a line (RFC 3339), made once for all lines of a millisecond. */
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

/** Standard error, with each line written at once. */
export function lineByLine(): DestinationStream {
  return pino.destination({ fd: 2, sync: true });
}

/** Standard error for a service, which logs thousands of lines a second: they are gathered, to save system calls. */
export class GatheredLines implements DestinationStream {
  // Written by this thread: a write on another thread would be lost when the process ends.
  readonly #output = pino.destination({ fd: 2, sync: true });
  #lines = '';

  constructor() {
    setInterval(() => this.flushSync(), WRITE_EVERY_MS).unref();
    // The last lines matter most. They are lost only when the process is killed.
    process.on('exit', () => this.flushSync());
  }

  write(line: string): void {
    this.#lines += line;
    if (this.#lines.length >= WRITTEN_AT_ONCE) this.flushSync();
  }

  /** Writes the gathered lines, for who cannot wait; pino's `flush` calls it. */
  flush(done?: () => void): void {
    this.flushSync();
    done?.();
  }

  /** Writes the gathered lines; pino calls it after a fatal line. */
  flushSync(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#output.write(lines);
  }
}
