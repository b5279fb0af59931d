import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EventStreamReader } from '../../packages/verify/src/event-stream.ts';

/** Reads pieces one after the other. */
function readAll(pieces: readonly string[]) {
  const reader = new EventStreamReader();
  return pieces.flatMap((piece) => reader.read(piece)).map(({ name, data }) => `${name}|${data}`);
}

test('WHATWG HTML §9.2.6: fields, comments and line ends are read as browsers do', () => {
  const cases: [string, string[]][] = [
    ['event: ready\ndata: {}\n\n', ['ready|{}']],
    ['event: ready\r\ndata: {}\r\n\r\n', ['ready|{}']],
    ['event: ready\rdata: {}\r\r', ['ready|{}']],
    [':\n\n: comment: with colons\n\nevent:a\ndata:b\n\n', ['a|b']],
    ['data: one\ndata: two\n\ndata\n\n', ['|one\ntwo', '|']],
    ['data:  two spaces\nid: 1\nretry: 1\nunknown: x\n\n', ['| two spaces']],
    ['event: a\nevent: b\ndata: 1\n\ndata: 2\n\n', ['b|1', '|2']],
    ['event: a\n\n', ['a|']],
    ['event: a\ndata: not over\n', []],
    ['\n\n\n', []],
  ];
  for (const [stream, events] of cases) assert.deepEqual(readAll([stream]), events, JSON.stringify(stream));
});

test('WHATWG HTML §9.2: a stream means the same wherever it is split', () => {
  const line = fc.constantFrom('event: revoked', 'data: {"sub":"ü"}', 'data', ':', ': x', '', '', 'id: 1');
  const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 20 });
  fc.assert(
    fc.property(stream, fc.array(fc.nat(200), { maxLength: 12 }), (lines, cuts) => {
      const whole = lines.map(([text, end]) => text + end).join('');
      const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
      const pieces = places.slice(1).map((place, at) => whole.slice(places[at], place));
      assert.deepEqual(readAll(pieces), readAll([whole]));
    }),
  );
});

test('a line and an event have a longest length, however they come', () => {
  const long = 'x'.repeat(16 * 1024);
  for (const pieces of [
    [`data: ${long}\n`],
    [`data: ${long}`],
    [`: ${long}\n`],
    [
      'data: ',
      ...(long.match(/.{100}/g) as string[]),
      'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    ],
    Array.from({ length: 400 }, () => `data: ${'x'.repeat(50)}\n`),
    Array.from({ length: 20_000 }, () => 'data\n'),
  ])
    assert.throws(() => readAll(pieces), RangeError);
  assert.deepEqual(readAll([`data: ${long.slice(0, 8000)}\n\n`.repeat(10)]).length, 10);
});
