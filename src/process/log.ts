/** The log: one line of JSON for each entry, or of text for people. */
import { type DestinationStream, type Logger, pino } from 'pino';
import { readableLines } from './readable-lines.ts';

/**
 * A logger with a cheap `line`, for what is logged thousands of times a second, of level `info` if none is given; and `always`
 * for what is logged at every level.
 */
export type Log = Logger & { line(members: object, level?: 'info' | 'warn'): void; always(members: object): void };

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
  const write = (members: object, level: 'info' | 'warn') =>
    void destination.write(`{"level":"${level}"${timestamp()},${JSON.stringify(members).slice(1)}\n`);
  return Object.assign(logger, {
    line: (members: object, level: 'info' | 'warn' = 'info') => {
      if (logger.isLevelEnabled(level)) write(members, level);
    },
    always: (members: object) => write(members, 'info'),
  });
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
