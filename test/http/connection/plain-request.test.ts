/** What is read as a plain request, beside the parser of Node.js: whatever is plain is the same request to both. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { type PlainHead, readPlainHead } from '../../../src/http/connection/plain-request.ts';
import { rounds, SEED } from '../../instances/effort.ts';
import { sendRaw } from '../../support/raw-http.ts';

const LINES = ['POST /oauth2/token HTTP/1.1', 'GET /v2/me HTTP/1.1'];
const HOST = 'Host: x\r\n';
/** What follows a body: it is read as the next request only by those who end the body where it ends. */
const NEXT = 'GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const READ_HEADERS = ['authorization', 'origin', 'content-type', 'content-length', 'x-forwarded-for'] as const;

/** A request as somebody read it, with a digest of its body. */
type Reading = { line: string; headers: (string | undefined)[]; isLast: boolean; body: string };

const digest = (body: Buffer) => `${body.length} bytes, ${hash('sha256', body)}`;

/** All that Node.js made of what was sent last. */
let readings: Reading[] = [];
const server = http.createServer({ requestTimeout: 1000, headersTimeout: 1000, connectionsCheckingInterval: 100 });
server.on('request', async (request, response) => {
  const line = `${request.method} ${request.url} HTTP/${request.httpVersion}`;
  const headers = READ_HEADERS.map((name) => allValues(request, name));
  const reading = { line, headers, isLast: !response.shouldKeepAlive, body: 'not all of it' };
  readings.push(reading);
  reading.body = digest(await buffer(request));
  response.end();
});
await once(server.listen(0, '127.0.0.1'), 'listening');
after(() => void server.close());
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** A header's value; if it is there several times, all of them. */
function allValues({ headersDistinct }: IncomingMessage, name: string): string | undefined {
  return headersDistinct[name]?.join(' and ');
}

/** The head of a request for a direct endpoint if it is plain; those are told by the letters of their request line. */
function readKnown(bytes: Buffer): PlainHead | null {
  const head = readPlainHead(bytes);
  return head && LINES.includes(head.line) ? head : null;
}

/**
 * Sends a plain request to Node.js, with a body of `stuff` that is as long as its head says, and asserts that it was the
 * same there, and ended at the same byte.
 */
async function assertSame(bytes: Buffer, head: PlainHead, stuff = 'x'): Promise<void> {
  const { line, headers, bodyAt } = head;
  const body = Buffer.alloc(Number(headers['content-length'] ?? 0), stuff, 'latin1');
  const request = Buffer.concat([bytes.subarray(0, bodyAt), body]);
  assert.deepEqual(readKnown(request), head, 'the body makes no difference to the head');
  const same: Reading = {
    line,
    headers: READ_HEADERS.map((name) => headers[name]),
    isLast: headers.isLast,
    body: digest(body),
  };
  const none = READ_HEADERS.map(() => undefined);
  const next = { line: 'GET /next HTTP/1.1', headers: none, isLast: true, body: digest(Buffer.of()) };
  readings = [];
  const { text } = await sendRaw(url, headers.isLast ? request : Buffer.concat([request, Buffer.from(NEXT)]));
  assert.deepEqual(readings, headers.isLast ? [same] : [same, next], text);
}

/** Mostly from `usual`, one time in so many from `odd`. */
function mostly(usual: readonly string[], odd: readonly string[], weight: number): fc.Arbitrary<string> {
  return fc.oneof({ weight, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
}

const requestLine = mostly(
  LINES,
  [
    ...['POST  /oauth2/token HTTP/1.1', 'POST /oauth2/token  HTTP/1.1', ' GET /v2/me HTTP/1.1', 'GET /v2/me HTTP/1.1 '],
    ...['GET\t/v2/me HTTP/1.1', 'GET /v2/me HTTP/1.0', 'GET /v2/me HTTP/1.2', 'GET /v2/me HTTP/2.0', 'GET /v2/me'],
    ...['get /v2/me HTTP/1.1', 'GET /v2/me http/1.1', 'GET http://x/v2/me HTTP/1.1', 'GET /v2/me?x HTTP/1.1', ''],
    ...['\r\nGET /v2/me HTTP/1.1', '\nGET /v2/me HTTP/1.1', 'GET /v2/me\0 HTTP/1.1', 'GET /v2/mé HTTP/1.1'],
  ],
  30,
);
const USUAL_HEADERS = [
  ...['Authorization: Bearer x', 'authorization:Basic eDp5', 'Origin: https://app.test', 'ORIGIN: null'],
  ...['Content-Type: application/json', 'content-type: application/x-www-form-urlencoded; charset=UTF-8'],
  ...['X-Forwarded-For: 192.0.2.1, 10.0.0.1', 'x-forwarded-for:', 'Connection: keep-alive', 'connection: Close'],
  ...['Accept: */*', 'User-Agent: curl/8.0 (x; y)', 'Cookie: a=b; c="d"', 'Accept-Encoding: gzip, br', 'X-1: :'],
  ...['X-Content-Length: 9', 'Content-MD5: 4', 'Sec-Fetch-Mode: cors', 'Forwarded: for="[::1]"', 'A: a', 'Via: 1.1 x'],
];
const ODD_HEADERS = [
  ...[
    'Host: x',
    'host: y',
    'Host:',
    'Host : x',
    ' Host: x',
    'Authorization : x',
    'Authorization\t: x',
    'No colon',
    ':',
  ],
  ...[': x', 'Two names: x', 'X_Y: x', "X!#$%&'*+.^`|~: x", 'X"Y: x', 'X(): x', 'Xé: x', 'X: é', 'X: \0', 'X: \x7f'],
  ...[' folded', '\tfolded', 'X:\ty', 'X: y\t', 'X: a\rb', 'X: a\nb', 'X: a\n', 'X: a\r', 'X: a\n\nContent-Length: 3'],
  ...['Transfer-Encoding: chunked', 'transfer-encoding: identity', 'Transfer-Encoding : chunked'],
  ...['Transfer-Encoding:\x0bchunked', 'Transfer-Encoding: xchunked', 'Transfer-Encoding: gzip, chunked'],
  ...[
    'Transfer-Encoding:',
    'Transfer-Encoding: \tchunked',
    'Transfer_Encoding: chunked',
    'Transfer-Encoding\0: chunked',
  ],
  ...['Transfer-Encoding: "chunked"', 'X: y\rTransfer-Encoding: chunked', 'X: y\nTransfer-Encoding: chunked'],
  ...['Expect: 100-continue', 'Expect: x', 'Upgrade: h2c', 'Upgrade: websocket', 'HTTP2-Settings: x', 'TE: trailers'],
  ...[
    'Connection: upgrade',
    'Connection: close, keep-alive',
    'Connection: x',
    'Connection:',
    'Connection: keep-alive,',
  ],
  ...['Connection: Content-Length', 'Proxy-Connection: close', 'Keep-Alive: timeout=1', 'Trailer: X'],
  ...['Content-Encoding: gzip', 'Content-Encoding: identity'],
].concat(
  ...[
    '+1',
    '-1',
    '0x10',
    '1, 1',
    '01',
    '00',
    '1 2',
    '1_0',
    '1e1',
    '1.0',
    '',
    '1;',
    '"1"',
    '100000',
    '9'.repeat(20),
  ].map((length) => [`Content-Length: ${length}`, `content-length:${length} `]),
);
const lengths = fc
  .tuple(
    fc.constantFrom('Content-Length', 'content-length'),
    fc.constantFrom(':', ': ', ':   '),
    fc.constantFrom('0', '1', '9', '48', '49', '300', '65537', '99999'),
  )
  .map((parts) => parts.join(''));
const header = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom(...USUAL_HEADERS) },
  { weight: 8, arbitrary: lengths },
  { weight: 2, arbitrary: fc.constantFrom(...ODD_HEADERS) },
);
const line = fc.tuple(
  header,
  mostly(['', ' ', '   '], ['\t', '\0', '\x0b'], 120),
  mostly(['\r\n'], ['\n', '\r', '\r\r\n'], 240),
);
const host = mostly(
  [HOST, 'host:x:8080\r\n', 'HOST: [::1]:80\r\n'],
  ['', 'Host:\r\n', 'Host: a b\r\n', 'Host: x\n', 'Host : x\r\n', 'Hos t: x\r\n'],
  30,
);
/** A change of one byte, somewhere. */
const change = fc.record({
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  removed: fc.integer({ min: 0, max: 2 }),
  added: fc.constantFrom(
    '',
    ' ',
    'a',
    'Z',
    '0',
    ':',
    '-',
    '_',
    ',',
    '\t',
    '\r',
    '\n',
    '\r\n',
    '\0',
    '\x7f',
    '\x80',
    'ÿ',
  ),
});
const head = fc
  .record({
    requestLine,
    host,
    hostAt: fc.nat({ max: 6 }),
    lines: fc.array(line, { maxLength: 5 }),
    change: fc.option(change, { freq: 2 }),
  })
  .map(({ requestLine, host, hostAt, lines, change }) => {
    const headers = lines.map((parts) => parts.join(''));
    const text = [`${requestLine}\r\n`, ...headers.toSpliced(hostAt, 0, host), '\r\n'].join('');
    if (!change) return text;
    const at = Math.floor(change.at * text.length);
    return text.slice(0, at) + change.added + text.slice(at + change.removed);
  });
/** What bodies are made of: much of it looks as if it were read as a head. */
const stuff = fc.oneof(
  fc.constantFrom('x', NEXT, '\r\n', '0\r\n\r\n', 'Content-Length: 3\r\n\r\n'),
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), minLength: 1 }),
);

test('RFC 9112 §2.1: whatever is plain is the same request to Node.js, and ends at the same byte', {
  timeout: 300_000,
}, async () => {
  const count = { plain: 0, other: 0 };
  const isSame = fc.asyncProperty(head, stuff, async (text, stuff) => {
    const bytes = Buffer.from(text + stuff, 'latin1');
    const found = readKnown(bytes);
    count[found ? 'plain' : 'other'] += 1;
    if (found) await assertSame(bytes, found, stuff);
  });
  const numRuns = rounds(3000, 100);
  await fc.assert(isSame, { seed: SEED, numRuns });
  for (const [kind, times] of Object.entries(count)) assert.ok(times > numRuns / 5, `${kind}: ${times} of ${numRuns}`);
});

/** Heads as programs write them. */
const AS_WRITTEN: Readonly<Record<string, readonly string[]>> = {
  curl: [
    'GET /v2/me HTTP/1.1',
    'Host: 127.0.0.1:3000',
    'User-Agent: curl/8.14.1',
    'Accept: */*',
    'Authorization: Bearer x',
  ],
  'fetch of Node.js': [
    ...['POST /oauth2/token HTTP/1.1', 'host: 127.0.0.1:3000', 'connection: keep-alive', 'authorization: Basic eDp5'],
    ...['content-type: application/x-www-form-urlencoded;charset=UTF-8', 'accept: */*', 'accept-language: *'],
    ...['sec-fetch-mode: cors', 'user-agent: node', 'accept-encoding: gzip, deflate', 'content-length: 48'],
  ],
  'requests of Python': [
    ...['POST /oauth2/token HTTP/1.1', 'Host: auth.example', 'User-Agent: python-requests/2.32.3'],
    ...['Accept-Encoding: gzip, deflate', 'Accept: */*', 'Connection: keep-alive', 'Content-Length: 48'],
    'Content-Type: application/x-www-form-urlencoded',
  ],
  'net/http of Go': [
    ...['POST /oauth2/token HTTP/1.1', 'Host: auth.example', 'User-Agent: Go-http-client/1.1', 'Content-Length: 48'],
    ...['Content-Type: application/x-www-form-urlencoded', 'Accept-Encoding: gzip'],
  ],
  'nginx in front': [
    ...['GET /v2/me HTTP/1.1', 'X-Forwarded-For: 192.0.2.1, 2001:db8::1', 'X-Forwarded-Proto: https', 'Host: backend'],
    ...['Connection: close', 'Authorization: Bearer x', 'Origin: https://app.example'],
  ],
};

for (const [program, lines] of Object.entries(AS_WRITTEN))
  test(`RFC 9112 §3: the head that ${program} writes is plain, and not before all of it is there`, async () => {
    const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
    for (let length = 0; length < bytes.length; length++) assert.equal(readPlainHead(bytes.subarray(0, length)), null);
    await assertSame(bytes, readKnown(bytes) ?? assert.fail('it is not plain'));
  });

/** A head with further lines. */
function withLines(...lines: string[]): string {
  return [LINES[0], 'Host: x', ...lines, '', ''].join('\r\n');
}

/** Heads that are not plain, by what every plain one holds to. */
const NOT_PLAIN: Readonly<Record<string, readonly string[]>> = {
  'RFC 9112 §2.2: lines end with CR LF, not with one of the two': [
    `GET /v2/me HTTP/1.1\n${HOST}\r\n`,
    `GET /v2/me HTTP/1.1\r\nHost: x\n\r\n`,
    `GET /v2/me HTTP/1.1\nHost: x\n\n`,
    `GET /v2/me HTTP/1.1\r\nHost: x\n\nX: y\r\n\r\n`,
    withLines('X: a\rb'),
    withLines('X: a\r'),
    withLines('X: a\nb: c'),
    withLines('X: a\r\r\nY: b'),
  ],
  'RFC 9112 §2.2: nothing is before a request, not even an empty line': [
    `\r\n${withLines()}`,
    `\n${withLines()}`,
    ` ${withLines()}`,
    `\xef\xbb\xbf${withLines()}`,
    '\r\n\r\n',
  ],
  'RFC 9112 §2.2: no space is before the first header': [`GET /v2/me HTTP/1.1\r\n ${HOST}\r\n`],
  'RFC 9112 §3: a request line is one letter for letter': [
    ...['GET  /v2/me HTTP/1.1', 'GET /v2/me  HTTP/1.1', 'GET /v2/me HTTP/1.1 ', 'GET\t/v2/me\tHTTP/1.1'],
    ...['get /v2/me HTTP/1.1', 'GET /v2/me http/1.1', 'GET /v2/me HTTP/1.0', 'GET /v2/me HTTP/1.2', 'GET /v2/me'],
    ...['GET http://x/v2/me HTTP/1.1', 'GET //v2/me HTTP/1.1', 'GET /v2/%6de HTTP/1.1', 'GET /v2/me? HTTP/1.1'],
    ...['GET /v2/me# HTTP/1.1', 'GET /v2/me\0 HTTP/1.1', 'GET /v2/me HTTP/1.1\0', 'HEAD /v2/me HTTP/1.1', ''],
  ].map((line) => `${line}\r\n${HOST}\r\n`),
  'RFC 9112 §3.2: there is one host, which can be one': [
    'GET /v2/me HTTP/1.1\r\n\r\n',
    'GET /v2/me HTTP/1.1\r\nX: y\r\n\r\n',
    'GET /v2/me HTTP/1.1\r\nX-Host: x\r\n\r\n',
    withLines('Host: x'),
    withLines('HOST: y'),
    withLines('host:'),
    ...['', 'a b', 'x/y', 'ada@x', 'x, y', 'x?', '"x"', 'x\\y'].map((host) =>
      withLines().replace(HOST, `Host: ${host}\r\n`),
    ),
  ],
  'RFC 9112 §5.1: nothing is between a name and its colon': ['X : y', 'X\t: y', 'Host : y', 'Content-Length : 1'].map(
    (line) => withLines(line),
  ),
  'RFC 9110 §5.1: a name is of letters, digits and hyphens': [
    ...[
      'X_Y: z',
      'Content_Length: 1',
      'X Y: z',
      'X.Y: z',
      'X!: y',
      '"X": y',
      '(X): y',
      'Xé: y',
      'X\0: y',
      'X\x7f: y',
      'X\\: y',
    ],
    ...[': y', ':', 'no colon', 'GET /v2/me HTTP/1.1', '__proto__: x'],
  ].map((line) => withLines(line)),
  'RFC 9112 §5.2: no header goes on in the next line': [
    withLines('X: a\r\n b'),
    withLines('X: a\r\n\tb'),
    withLines('X: a\r\n : b'),
    withLines('X: a\r\n Content-Length: 1'),
    withLines('X: a\r\n '),
  ],
  'RFC 9110 §5.5: a value is of printable ASCII': [
    '\0',
    '\t',
    'a\tb',
    '\x0b',
    '\x1b',
    '\x7f',
    '\x80',
    '\xa0',
    'é',
    '\xff',
  ].map((value) => withLines(`X: ${value}`)),
  'RFC 9110 §5.3: what is read is there once': [
    ...[
      'Authorization: x',
      'Origin: x',
      'Content-Type: x',
      'X-Forwarded-For: x',
      'Content-Length: 1',
      'Connection: close',
    ],
    ...['Connection: keep-alive', 'Authorization:', 'X-Forwarded-For:'],
  ].map((line) => withLines(line, line.toLowerCase())),
  'RFC 9112 §6.1: no transfer coding, however it is written': [
    ...[
      'chunked',
      'Chunked',
      'identity',
      'gzip, chunked',
      'chunked, chunked',
      'chunked;q=1',
      '"chunked"',
      'xchunked',
      '',
    ],
  ].flatMap((value) => [
    withLines(`Transfer-Encoding: ${value}`),
    withLines('Content-Length: 1', `transfer-encoding:${value}`),
    withLines(`TRANSFER-ENCODING:  ${value} `, 'Content-Length: 1'),
  ]),
  'RFC 9112 §6.3: a length is a decimal number, and there is one': [
    ...[
      '',
      '+1',
      '-1',
      '0x10',
      '1, 1',
      '1,1',
      '01',
      '00',
      '1 2',
      '1_0',
      '1e1',
      '1.0',
      '1;',
      '"1"',

      'x',
    ],
    ...['100000', '9007199254740993', '18446744073709551617', '4294967297', 'Infinity', '1\t', '\t1', '1\x0b'],
  ].map((length) => withLines(`Content-Length: ${length}`)),
  'RFC 9112 §9: of the connection it says one of two things, once': [
    ...[
      '',
      'upgrade',
      'Upgrade',
      'close, keep-alive',
      'keep-alive, close',
      'close,',
      ', close',
      'close close',
      'x',
      'TE',
    ],
    ...['Content-Length', 'keep-alive, Upgrade'],
  ].map((value) => withLines(`Connection: ${value}`)),
  'RFC 9110 §7.8, §10.1: it asks for an answer, and for nothing else': [
    ...[
      'Upgrade: h2c',
      'Upgrade: websocket',
      'HTTP2-Settings: x',
      'Expect: 100-continue',
      'Expect: x',
      'TE: trailers',
      'TE:',
    ],
    ...['Trailer: X', 'Keep-Alive: timeout=1', 'Proxy-Connection: close'],
  ].map((line) => withLines(line)),
  'RFC 9110 §8.4: no content coding': [withLines('Content-Encoding: gzip'), withLines('content-encoding:')],
  'RFC 9110 §5.4: it has not more than 8 KiB': [withLines(`X: ${'x'.repeat(8192)}`)],
  'RFC 9110 §5.4: it has not more headers than Node.js reads': [withLines(...Array<string>(1100).fill('X:'))],
};

for (const [why, heads] of Object.entries(NOT_PLAIN))
  test(why, () => {
    for (const head of heads)
      assert.equal(readKnown(Buffer.from(head, 'latin1')), null, JSON.stringify(head).slice(0, 200));
  });
