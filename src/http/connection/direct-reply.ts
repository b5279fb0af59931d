/** Answers as bytes (RFC 9112 §4). */
import type { EndpointReply } from '../endpoint.ts';

/**
 * Keep-alive timeout: the maximum silence of a connection between two requests (s). Longer than the usual 60 s of load
 * balancers, so that they close first: they cannot repeat a POST that meets our close.
 */
export const KEEP_ALIVE_SECONDS = 75;

/** Not imported: with an import Node.js would load its WebSocket and `fetch`, 3 MB of an idle process. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** The characters of a header's value, without line ends. */
const VALUE = /^[\x20-\x7e]*$/;
const LAST = 'Connection: close\r\n';
const NOT_LAST = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_SECONDS}\r\n`;

/** Cached lines of headers that never change. */
const constants = new WeakMap<object, string>();

/** A reply; it is sent once. */
export class DirectReply implements EndpointReply {
  readonly #send: (status: number, headers: string, body: string) => void;
  #status = 200;
  #headers: string;
  #serialize: (value: object) => string = JSON.stringify;

  /** `send` gets what `answerText` takes. */
  constructor(requestId: string, send: (status: number, headers: string, body: string) => void) {
    this.#headers = `X-Request-Id: ${requestId}\r\n`;
    this.#send = send;
  }

  code(status: number): this {
    this.#status = status;
    return this;
  }

  header(name: string, value: string): this {
    this.#headers += headerLine(name, value);
    return this;
  }

  headers(values: Readonly<Record<string, string>>): this {
    this.#headers += constants.get(values) ?? cachedLines(values);
    return this;
  }

  serializer(serialize: (value: object) => string): this {
    this.#serialize = serialize;
    return this;
  }

  send(value: object): this {
    this.#send(this.#status, this.#headers, this.#serialize(value));
    return this;
  }
}

function cachedLines(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values)
    .map(([name, value]) => headerLine(name, value))
    .join('');
  constants.set(values, lines);
  return lines;
}

function headerLine(name: string, value: string): string {
  if (!VALUE.test(value)) throw new Error(`the header ${name} cannot be sent`);
  return `${name}: ${value}\r\n`;
}

/** An answer as text. `isLast`: it is the last on its connection. `now` in ms since the epoch. */
export function answerText(status: number, headers: string, body: string, isLast: boolean, now: number): string {
  const about = `Date: ${dateOf(now)}\r\n${isLast ? LAST : NOT_LAST}Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}${about}\r\n${body}`;
}

let second = 0;
let date = '';

/** The value of the `Date` header (RFC 9110 §6.6.1), made once a second. */
function dateOf(now: number): string {
  const seconds = Math.floor(now / 1000);
  if (seconds !== second) {
    second = seconds;
    date = new Date(now).toUTCString();
  }
  return date;
}
