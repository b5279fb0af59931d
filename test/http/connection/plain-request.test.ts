/** What is read as a plain request, and what is not; `fuzz/` has both readers read what is drawn by lot. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { type PlainHead, readPlainHead } from '../../../src/http/connection/plain-request.ts';
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
 * Sends a plain request to Node.js, with a body that is as long as its head says, and asserts that it was the
 * same there, and ended at the same byte.
 */
async function assertSame(bytes: Buffer, head: PlainHead): Promise<void> {
  const { line, headers, bodyAt } = head;
  const body = Buffer.alloc(Number(headers['content-length'] ?? 0), 'x');
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
