/**
 * Plain requests, as nearly all programs write them: every reader of HTTP understands them in the same way. A request
 * with anything rare, or that readers ever understood differently, is not plain and is left to the parser of Node.js.
 */

/** Maximum size of a plain head (bytes). */
const MAX_HEAD = 8 * 1024;
/** Anything but printable ASCII, and line ends other than CR LF. */
const NOT_PLAIN = /[^\x20-\x7e\r\n]|\r(?!\n)|(?<!\r)\n/;
const NAME = /^[a-z0-9-]+$/;
const HOST = /^[A-Za-z0-9.:[\]-]+$/;
/** Maximum number of headers of a plain request. */
const MAX_HEADERS = 64;
const LENGTH = /^(?:0|[1-9][0-9]{0,4})$/;

/** The head of a plain request. */
export type PlainHead = {
  /** The request line (RFC 9112 §3). */
  readonly line: string;
  readonly headers: PlainHeaders;
  /** Where the body begins (bytes). */
  readonly bodyAt: number;
};

/** Reads the head of a request from its first byte; null unless it is complete and plain. */
export function readPlainHead(bytes: Buffer): PlainHead | null {
  const text = bytes.toString('latin1', 0, MAX_HEAD);
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = text.slice(0, end);
  if (NOT_PLAIN.test(head)) return null;
  let lineEnd = head.indexOf('\r\n');
  if (lineEnd < 0) return null;
  const line = head.slice(0, lineEnd);
  const headers = new PlainHeaders();
  for (let count = 0; lineEnd < end; count += 1) {
    if (count === MAX_HEADERS) return null;
    const start = lineEnd + 2;
    lineEnd = head.indexOf('\r\n', start);
    if (lineEnd < 0) lineEnd = end;
    const colon = head.indexOf(':', start);
    if (colon < 0 || colon > lineEnd) return null;
    if (!headers.take(head.slice(start, colon).toLowerCase(), head.slice(colon + 1, lineEnd).trim())) return null;
  }
  return headers.hasHost ? { line, headers, bodyAt: end + 4 } : null;
}

/** The headers of a plain request that this program reads. */
export class PlainHeaders {
  authorization: string | undefined;
  origin: string | undefined;
  'content-type': string | undefined;
  'content-length': string | undefined;
  'x-forwarded-for': string | undefined;
  /** Whether the client says that it sends no other request (RFC 9112 §9.6). */
  isLast = false;
  hasHost = false;
  #hasConnection = false;

  /** Takes a header by its lower-case name. Returns false if with it the request is not plain. */
  take(name: string, value: string): boolean {
    switch (name) {
      case 'host':
        if (this.hasHost || !HOST.test(value)) return false;
        this.hasHost = true;
        return true;
      case 'authorization':
      case 'origin':
      case 'content-type':
      case 'x-forwarded-for':
        if (this[name] !== undefined) return false;
        this[name] = value;
        return true;
      case 'content-length':
        if (this[name] !== undefined || !LENGTH.test(value)) return false;
        this[name] = value;
        return true;
      case 'connection':
        return this.#takeConnection(value.toLowerCase());
      // A request that came by https is plain; any other value is left to Node.js and the hooks of `server.ts`.
      case 'x-forwarded-proto':
        return value === 'https';
      // These change how a body or the connection is read, or ask for more than an answer.
      case 'content-encoding':
      case 'expect':
      case 'http2-settings':
      case 'keep-alive':
      case 'proxy-connection':
      case 'te':
      case 'trailer':
      case 'transfer-encoding':
      case 'upgrade':
        return false;
      default:
        return NAME.test(name);
    }
  }

  #takeConnection(value: string): boolean {
    if (this.#hasConnection || (value !== 'keep-alive' && value !== 'close')) return false;
    this.#hasConnection = true;
    this.isLast = value === 'close';
    return true;
  }
}
