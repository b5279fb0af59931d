/**
 * Turns the log's JSON lines into text for people. Only a terminal gets it, where nobody logs thousands of lines a
 * second.
 */
import type { DestinationStream } from 'pino';

/** Members with a fixed place in the line, or without one. */
const PLACED = ['level', 'time', 'msg', 'request_id', 'method', 'route', 'status', 'ms', 'source', 'err'];

/** Turns each written line into text. */
export function readableLines(destination: DestinationStream): DestinationStream {
  const { flushSync } = destination as { flushSync?: () => void };
  return {
    write: (line) => void destination.write(readable(JSON.parse(line) as Line)),
    ...(flushSync && { flushSync: () => flushSync.call(destination) }),
  };
}

type Line = Readonly<Record<string, unknown>> & {
  readonly err?: { readonly stack?: string; readonly message?: string };
};

/** `12:00:00.123 INFO  GET /v2/me 200 in 0.4 ms from 127.0.0.1  client_id=app_…` */
function readable(line: Line): string {
  const time = String(line['time']).slice(11, 23);
  const level = String(line['level']).toUpperCase().padEnd(5);
  const others = Object.entries(line)
    .filter(([name]) => !PLACED.includes(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const error = line.err?.stack ?? line.err?.message;
  const text = [time, level, sentenceOf(line), ...others].join(' ');
  return `${visible(text)}${error === undefined ? '' : `\n${error.split('\n').map(visible).join('\n')}`}\n`;
}

function sentenceOf(line: Line): string {
  if (line['msg'] !== 'request') return [line['msg'], line['request_id']].filter(Boolean).join(' ');
  const { method, route, status, ms, source, request_id: id } = line;
  return `${method || 'unreadable'} ${route ?? 'unknown address'} ${status} in ${ms} ms from ${source} ${id}`;
}

/** Removes characters that would move a terminal's cursor or change its colors. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd');
}
