/** The log of a service whose reader stands still: a buffer that is bounded, and nobody who waits. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { GatheredLines } from '../../src/process/gathered-lines.ts';

const LINE = `${'x'.repeat(199)}\n`;
const FULL = Object.assign(new Error('full'), { code: 'EAGAIN' });

/** Lines whose reader takes `room` bytes, and then nothing until it is given more. */
function read(t: TestContext, room = 0) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const state = { room, written: '' };
  const lines = new GatheredLines((bytes) => {
    if (state.room === 0) throw FULL;
    const taken = bytes.subarray(0, state.room);
    state.room -= taken.length;
    state.written += taken.toString();
    return taken.length;
  });
  t.after(() => {
    state.room = Number.POSITIVE_INFINITY;
    lines.flushSync();
  });
  return { lines, state };
}

test('operating: lines that nobody reads wait in a bounded buffer, the rest is dropped, and both are told when it flows again', (t) => {
  const { lines, state } = read(t, 1000);
  const gaps: number[] = [];
  lines.onGap = (missing) => {
    gaps.push(missing);
    lines.write(`${missing} are missing\n`);
  };
  for (let n = 0; n < 10_000; n += 1) lines.write(LINE);
  assert.equal(state.written.length, 1000, 'what the reader took, in part of a line too');
  const kept = 10_000 - lines.dropped;
  assert.ok(kept * LINE.length <= 2 ** 20 + 1000 && kept * LINE.length > 2 ** 20, `${kept} lines are kept`);
  assert.deepEqual(gaps, []);
  state.room = 4000;
  t.mock.timers.tick(250);
  const before = lines.dropped;
  lines.write('between\n');
  assert.equal(lines.dropped, before + 1, 'no line comes before the one that says what is missing');
  assert.deepEqual(gaps, []);
  state.room = Number.POSITIVE_INFINITY;
  t.mock.timers.tick(250);
  assert.deepEqual(gaps, [lines.dropped]);
  lines.write('after\n');
  t.mock.timers.tick(250);
  assert.equal(state.written, `${LINE.repeat(kept)}${lines.dropped} are missing\nafter\n`, 'in their order');
});

test('operating: a reader that is slow and reads gets every line', (t) => {
  const { lines, state } = read(t);
  for (let n = 0; n < 2000; n += 1) {
    lines.write(LINE);
    if (n % 200 === 0) state.room += 65_536;
    t.mock.timers.tick(1);
  }
  state.room = Number.POSITIVE_INFINITY;
  t.mock.timers.tick(250);
  assert.equal(lines.dropped, 0);
  assert.equal(state.written, LINE.repeat(2000));
});
