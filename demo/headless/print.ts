/** The walk on a terminal: every step as a command that anybody can run, and what came back. */
import { styleText } from 'node:util';
import { headingOf } from './browser.ts';
import type { Step } from './walker.ts';

const INTERESTING = ['location', 'set-cookie', 'content-type', 'cache-control', 'www-authenticate', 'retry-after'];

/** One step as a block of text. */
export function printStep(
  { name, request, response, missing = [] }: Step,
  number: number,
  stream: NodeJS.WritableStream,
) {
  const dim = (text: string) => styleText('dim', text, { stream });
  const title = styleText('bold', `${number}. ${name}`, { stream });
  const headers = INTERESTING.flatMap((header) => {
    const value = response.headers[header];
    return value === undefined ? [] : [`${header}: ${value}`];
  });
  const expected = missing.map((what) => styleText('red', `expected: ${what}`, { stream }));
  const lines = [`HTTP ${response.status}`, ...headers.map(dim), ...bodyLines(response.body), ...expected];
  return `${title}\n\n${indented(asCurl(request))}\n\n${indented(lines.join('\n'))}\n\n`;
}

/** The last line: how many steps were taken, and how long that took. */
export function printSummary(steps: readonly Step[], seconds: number, stream: NodeJS.WritableStream): string {
  const took = `in ${seconds.toFixed(1)} s, with the start of the service and its database.`;
  const last = steps.at(-1);
  return last?.ok
    ? `${styleText('green', `All ${steps.length} steps went as expected`, { stream })} ${took}\n`
    : `${styleText('red', `Step ${steps.length} did not go as expected`, { stream })} ${took}\n`;
}

/** The request as a command for a POSIX shell. */
export function asCurl({ method, url, headers, body }: Step['request']): string {
  const options = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  if (body !== '') options.push(`-d ${quoted(body)}`);
  const target = method === (body === '' ? 'GET' : 'POST') ? quoted(url) : `-X ${method} ${quoted(url)}`;
  return [`curl -i ${target}`, ...options].join(' \\\n  ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function bodyLines(body: unknown): string[] {
  if (body === '') return [];
  if (typeof body !== 'string') return [JSON.stringify(body, null, 2)];
  return [`a page: ${headingOf(body)}`];
}

function indented(text: string): string {
  return text.replace(/^/gm, '   ');
}
