/**
 * What stands in for curl where there is none: it sends what curl would for the options in the README, and refuses others,
 * since they would mean something else.
 */
import { writeSync } from 'node:fs';

const headers = new Headers({ Accept: '*/*' });
const data: string[] = [];
const urls: string[] = [];

const words = process.argv.slice(2);
const next = (option: string): string => words.shift() ?? refuse(`${option} without a value`);
for (let word = words.shift(); word !== undefined; word = words.shift()) {
  if (word === '-H') addHeader(next(word));
  else if (word === '-d') addData(next(word));
  else if (/^https?:\/\//.test(word)) urls.push(word);
  else if (word !== '-s') refuse(word);
}
const [url = refuse('no URL'), another] = urls;
if (another) refuse('a second URL');
const request: RequestInit = { headers, redirect: 'manual' };
if (data.length > 0) {
  if (!headers.has('Content-Type')) headers.set('Content-Type', 'application/x-www-form-urlencoded');
  Object.assign(request, { method: 'POST', body: data.join('&') });
}
writeSync(1, await (await fetch(url, request)).text());

function addHeader(line: string): void {
  const [, name, value] = /^([\w-]+): *(.+)$/.exec(line) ?? [];
  if (!name || !value) refuse(`-H ${line}`);
  else headers.append(name, value);
}

/** curl sends data as it is given; with an "@" before it, it is the name of a file. */
function addData(text: string): void {
  if (text.startsWith('@')) refuse(`-d ${text}`);
  else data.push(text);
}

function refuse(what: string): never {
  process.stderr.write(`the stand-in for curl does not know this: ${what}\n`);
  process.exit(2);
}
