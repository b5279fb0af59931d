/** The log: one line per entry, in JSON or as text for people. */
import { type DestinationStream, type Logger, pino } from 'pino';
import { readableLines } from './readable-lines.ts';

/**
 * A logger with a cheap `line`, for lines that are logged thousands of times a second (level `info` by default); and
 * `always`, which logs at every level.
 */
export type Log = Logger & { line(members: object, level?: 'info' | 'warn'): void; always(members: object): void };

/** Format of the log: `auto` is text at a terminal, and JSON otherwise. */
export type LogStyle = { readonly logFormat: 'auto' | 'json' | 'text' };

/** Returns the destination of lines in this style; `isTerminal` if people watch them. */
export function inStyle(
  destination: DestinationStream,
  { logFormat }: LogStyle,
  isTerminal: boolean,
): DestinationStream {
  return logFormat === 'text' || (logFormat === 'auto' && isTerminal) ? readableLines(destination) : destination;
}

/** Makes the log, for entries of a level or above. It must never get a secret. `now` in ms since the epoch. */
export function makeLogger(destination: DestinationStream, now: () => number, level = 'info'): Log {
  const timestamp = timesOfLines(now);
  const logger = pino({ base: null, level, timestamp, formatters: { level: (level) => ({ level }) } }, destination);
  const write = (members: object, level: 'info' | 'warn') =>
    void destination.write(`{"level":"${level}"${timestamp()},${JSON.stringify(members).slice(1)}\n`);
  return Object.assign(logger, {
    line: (members: object, level: 'info' | 'warn' = 'info') => {
      if (logger.isLevelEnabled(level)) write(members, level);
    },
    always: (members: object) => write(members, 'info'),
  });
}

/** Formats a line's time (RFC 3339), once for all lines of a millisecond. */
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
