/** What comes on a connection, by lot: requests as programs write them, most of them changed where readers have differed. */
import { type Lots, pick } from '../../../instances/effort.ts';

/** What came on one connection: all of it, and the pieces in which it came. */
export type Stream = { readonly bytes: Buffer; readonly chunks: readonly Buffer[]; readonly heads: number };

/** The lines of a request, each with its end; the last piece is the body. */
type Pieces = string[];

const FORM = 'Content-Type: application/x-www-form-urlencoded';
const JSON_TYPE = 'content-type: application/json';
const NGINX = ['X-Forwarded-For: 192.0.2.1', 'X-Forwarded-Proto: https'];
const AS_WRITTEN: readonly (readonly string[])[] = [
  ['GET /v2/me HTTP/1.1', 'Host: 127.0.0.1:3000', 'User-Agent: curl/8.14.1', 'Accept: */*', 'Authorization: Bearer x'],
  ['GET /v2/me HTTP/1.1', 'host: x', 'connection: keep-alive', 'authorization: Bearer x', 'accept-encoding: br, gzip'],
  ['GET /v2/me HTTP/1.1', ...NGINX, 'Host: api', 'Connection: close', 'Origin: https://app.example'],
  ['POST /oauth2/token HTTP/1.1', ...NGINX, 'Host: auth', FORM, 'Authorization: Basic eDp5', 'Content-Length: 9'],
  ['POST /oauth2/token HTTP/1.1', 'host: x', 'connection: keep-alive', JSON_TYPE, 'content-length: 9'],
  [
    'POST /oauth2/introspect HTTP/1.1',
    'Host: auth.example',
    'User-Agent: Go-http-client/1.1',
    'Content-Length: 9',
    FORM,
  ],
];

const REQUEST_LINES = [
  ...['POST  /oauth2/token HTTP/1.1', 'GET /v2/me  HTTP/1.1', ' GET /v2/me HTTP/1.1', 'GET /v2/me HTTP/1.1 '],
  ...['GET\t/v2/me HTTP/1.1', 'GET /v2/me HTTP/1.0', 'GET /v2/me HTTP/1.2', 'GET /v2/me HTTP/2.0', 'GET /v2/me'],
  ...['get /v2/me HTTP/1.1', 'GET /v2/me http/1.1', 'GET http://x/v2/me HTTP/1.1', 'GET /v2/me?x HTTP/1.1', ''],
  ...['POST http://y/oauth2/token HTTP/1.1', 'OPTIONS * HTTP/1.1', 'CONNECT x:443 HTTP/1.1', 'GET //v2/me HTTP/1.1'],
  ...['POST /v2/me HTTP/1.1', 'GET /oauth2/token HTTP/1.1', 'HEAD /v2/me HTTP/1.1', 'GET /v2/me# HTTP/1.1'],
  ...['PRI * HTTP/2.0', 'GET /v2/me\0 HTTP/1.1', 'GET /v2/m\xe9 HTTP/1.1', 'DELETE /v2/me HTTP/1.1'],
];
const HEADERS = [
  ...[
    'Host: y',
    'Host:',
    'Host : x',
    ' Host: x',
    'Host: a b',
    'Host: x, y',
    'Authorization : x',
    'No colon',
    ':',
    ': x',
  ],
  ...[
    'Authorization: Basic eDp5',
    'Origin: https://evil.example',
    'ORIGIN: null',
    'Cookie: a=b; c="d"',
    'X-1: :',
    'Via: 1.1 x',
  ],
  ...[
    'Two names: x',
    'X_Y: x',
    "X!#$%&'*+.^`|~: x",
    'X"Y: x',
    'X(): x',
    'X\xe9: x',
    'X: \xe9',
    'X: \0',
    'X: \x7f',
    'X:\ty',
  ],
  ...['X: y\t', 'X: a\rb', 'X: a\nb', 'X: a\n', 'X: a\r', 'X: a\n\nContent-Length: 3', ' folded', '\tfolded', ''],
  ...['Transfer-Encoding: chunked', 'transfer-encoding: identity', 'Transfer-Encoding : chunked', 'Transfer-Encoding:'],
  ...['Transfer-Encoding:\x0bchunked', 'Transfer-Encoding: xchunked', 'Transfer-Encoding: gzip, chunked'],
  ...['Transfer-Encoding: chunked, identity', 'Transfer_Encoding: chunked', 'Transfer-Encoding\0: chunked'],
  ...['X: y\rTransfer-Encoding: chunked', 'X: y\nTransfer-Encoding: chunked', 'X: y\r\n Transfer-Encoding: chunked'],
  ...['Expect: 100-continue', 'Upgrade: h2c', 'Upgrade: websocket', 'HTTP2-Settings: x', 'TE: trailers', 'Trailer: X'],
  ...[
    'Connection: upgrade',
    'Connection: close',
    'Connection: keep-alive',
    'connection: Close',
    'Connection: Keep-Alive ',
  ],
  ...[
    'Connection: close, keep-alive',
    'Connection: keep-alive, Upgrade',
    'Connection: x',
    'Connection:',
    'Connection: TE',
  ],
  ...['Connection: Content-Length', 'Proxy-Connection: close', 'Proxy-Connection: keep-alive', 'Keep-Alive: timeout=1'],
  ...['Content-Encoding: gzip', 'Content-Type: text/plain', 'X-Forwarded-For: 10.0.0.1', 'X-Forwarded-Proto: http'],
  ...['X-Content-Length: 1', 'Content-Length-X: 1', 'Content-MD5: 4', 'Forwarded: for="[::1]"', '__proto__: x', 'A: a'],
];
const LENGTHS = [
  ...[
    '0',
    '1',
    '8',
    '10',
    '48',
    '300',
    '65536',
    '65537',
    '99999',
    '100000',
    '+9',
    '-1',
    '0x9',
    '9, 9',
    '9,9',
    '09',
    '00',
  ],
  ...[
    '9 9',
    '9_0',
    '1e1',
    '9.0',
    '',
    '9;',
    '"9"',
    'x',
    '9\t',
    '\t9',
    '9\x0b',
    '9'.repeat(20),
    '4294967305',
    '18446744073709551625',
  ],
];
const ENDS = ['\n', '\r', '\r\r\n', '\r\n\r\n', '\n\r', ' \r\n', '\t\r\n', '\0\r\n', '\r\n ', '\r\n\t', ''];
const BYTES = [
  ' ',
  'a',
  'Z',
  '0',
  ':',
  '-',
  '_',
  ',',
  ';',
  '/',
  '\t',
  '\r',
  '\n',
  '\r\n',
  '\0',
  '\x0b',
  '\x7f',
  '\x80',
  '\xff',
];
const BETWEEN = ['\r\n', '\r\n\r\n', '\n', '\r', ' ', '\0', 'x', '0\r\n\r\n'];
/** What bodies are made of: much of it looks as if it were to be read as a head, or as the end of a chunk. */
const STUFF = [
  ...[
    'x',
    '\r\n',
    '0\r\n\r\n',
    '\r\n\r\nGET /v2/me HTTP/1.1\r\nHost: x\r\n\r\n',
    '\xc3\xa9',
    '\xff',
    '\0',
    '{"b":"x"}',
  ],
];
const CHUNKED = [
  '9\r\nb=chunked\r\n0\r\n\r\n',
  '9;x=y\r\nb=chunked\r\n0\r\nX: y\r\n\r\n',
  '9\nb=chunked\n0\n\n',
  '0\r\n\r\n',
  '-1\r\n',
];

type Change = (draw: Lots, pieces: Pieces) => void;

/** The place of a line that begins with some letters, or 0. */
function lineOf(pieces: Pieces, name: string): number {
  return Math.max(
    0,
    pieces.findIndex((line) => line.toLowerCase().startsWith(name)),
  );
}

/** A line that is no body. */
function someLine(draw: Lots, { length }: Pieces): number {
  return draw(length - 1);
}

function insertLine(draw: Lots, pieces: Pieces, line: string): void {
  pieces.splice(1 + draw(pieces.length - 2), 0, `${line}\r\n`);
}

const changes: readonly Change[] = [
  function headerIsAdded(draw, pieces) {
    insertLine(draw, pieces, pick(draw, HEADERS));
  },
  function headerIsRepeated(draw, pieces) {
    const line = pieces[someLine(draw, pieces)] as string;
    insertLine(draw, pieces, draw(2) === 0 ? line.trim() : line.trim().toUpperCase());
  },
  function lineIsMissing(draw, pieces) {
    pieces.splice(someLine(draw, pieces), 1);
  },
  function lineMoves(draw, pieces) {
    const [line = ''] = pieces.splice(someLine(draw, pieces), 1);
    insertLine(draw, pieces, line.trim());
  },
  function lineEndsOtherwise(draw, pieces) {
    const at = someLine(draw, pieces);
    pieces[at] = (pieces[at] as string).replace(/\r\n$/, pick(draw, ENDS));
  },
  function nameIsWrittenOtherwise(draw, pieces) {
    const at = someLine(draw, pieces);
    const write = pick(draw, [
      (name: string) => name.toUpperCase(),
      (name: string) => name.toLowerCase(),
      (name: string) => `${name} `,
      (name: string) => ` ${name}`,
      (name: string) => name.replace('-', '_'),
    ]);
    pieces[at] = (pieces[at] as string).replace(/^[^:]+/, write);
  },
  function spaceIsAroundValue(draw, pieces) {
    const at = someLine(draw, pieces);
    pieces[at] = (pieces[at] as string).replace(
      /: ?/,
      pick(draw, [':', ':  ', ':\t', ': \t ', ':\r\n ', ' : ', ':\x0b']),
    );
  },
  function requestLineIsAnother(draw, pieces) {
    pieces[0] = `${pick(draw, REQUEST_LINES)}\r\n`;
  },
  function lengthIsAnother(draw, pieces) {
    const at = lineOf(pieces, 'content-length');
    const line = `Content-Length: ${pick(draw, LENGTHS)}\r\n`;
    if (at > 0 && draw(3) > 0) pieces[at] = line;
    else pieces.splice(1, 0, line);
  },
  function bodyIsChunked(draw, pieces) {
    const at = lineOf(pieces, 'content-length');
    const line = `${pick(draw, ['Transfer-Encoding', 'transfer-encoding'])}: chunked\r\n`;
    if (at > 0 && draw(2) === 0) pieces[at] = line;
    else insertLine(draw, pieces, line.trim());
    pieces[pieces.length - 1] = pick(draw, CHUNKED);
  },
  function byteIsAnother(draw, pieces) {
    const text = pieces.splice(0).join('');
    const at = draw(text.length);
    const byte = draw(4) > 0 ? pick(draw, BYTES) : String.fromCharCode(draw(256));
    pieces.push(text.slice(0, at) + (draw(5) > 0 ? byte : '') + text.slice(at + draw(3)), '');
  },
  function endIsMissing(draw, pieces) {
    const text = pieces.splice(0).join('');
    pieces.push(text.slice(0, draw(text.length)), '');
  },
  function headIsLong(draw, pieces) {
    // As likely as the others it would be most of the work.
    if (draw(20) > 0) return void insertLine(draw, pieces, `X-${'x'.repeat(draw(60))}: ${'y'.repeat(draw(200))}`);
    if (draw(2) === 0) insertLine(draw, pieces, `X: ${'x'.repeat(7900 + draw(400))}`);
    else for (let count = 50 + draw(20); count > 0; count -= 1) insertLine(draw, pieces, 'X-Y:z');
  },
];

/** Draws what comes on a connection: one to three requests, which may be broken in any way, in one or more pieces. */
export function drawStream(draw: Lots): Stream {
  const heads = 1 + draw(3);
  let text = '';
  for (let count = 0; count < heads; count += 1) {
    if (draw(12) === 0) text += pick(draw, BETWEEN);
    text += drawRequest(draw);
  }
  const bytes = Buffer.from(text, 'latin1');
  return { bytes, chunks: split(draw, bytes), heads };
}

function drawRequest(draw: Lots): string {
  const written = pick(draw, AS_WRITTEN);
  const pieces: Pieces = [...written.map((line) => `${line}\r\n`), '\r\n', ''];
  const at = lineOf(pieces, 'content-length');
  if (at > 0) {
    const body = `b=${draw(3) > 0 ? 'abcdefg' : drawStuff(draw)}`;
    pieces[at] = (pieces[at] as string).replace('9', String(body.length));
    pieces[pieces.length - 1] = body;
  }
  // Of five, two as they are written: a request behind a broken one is mostly not reached.
  for (let count = draw(5) >> 1; count > 0 && pieces.length > 3; count -= 1) pick(draw, changes)(draw, pieces);
  return pieces.join('');
}

function drawStuff(draw: Lots): string {
  let stuff = '';
  for (let count = 1 + draw(3); count > 0; count -= 1) stuff += pick(draw, STUFF);
  return stuff;
}

/** Two thirds in one piece: a head that does not come in one is not read here at all. */
function split(draw: Lots, bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  let rest = bytes;
  for (let count = Math.max(0, draw(6) - 3); count > 0 && rest.length > 1; count -= 1) {
    const at = 1 + draw(rest.length - 1);
    chunks.push(rest.subarray(0, at));
    rest = rest.subarray(at);
  }
  chunks.push(rest);
  return chunks;
}
