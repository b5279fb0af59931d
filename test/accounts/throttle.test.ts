import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Throttle } from '../../src/accounts/guessing/throttle.ts';

const NOW = Date.UTC(2026, 0, 2);
/** Five at once, then one each 12 seconds. */
const limit = { count: 5, seconds: 60 };

/** Guesses as a caller does: only where it need not wait. Answers how many were let through. */
function guess(throttle: Throttle, key: string, times: number, now: number): number {
  let through = 0;
  for (let n = 0; n < times; n += 1) {
    if (throttle.wait([key], now) > 0) continue;
    throttle.count([key], now);
    through += 1;
  }
  return through;
}

/** How many guesses are let through from now on, which is what it says before. */
function left(throttle: Throttle, key: string, now: number): number {
  const said = throttle.left(key, now);
  const through = guess(throttle, key, 1000, now);
  assert.equal(said, through);
  return through;
}

/** Guesses that came before, and the seconds to wait after some time. */
const table: [guesses: number, afterSeconds: number, wait: number, remaining: number][] = [
  [0, 0, 0, 5],
  [1, 0, 0, 4],
  [4, 0, 0, 1],
  [5, 0, 12, 0],
  [5, 1, 11, 0],
  [5, 11, 1, 0],
  [5, 11.999, 1, 0],
  [5, 12, 0, 1],
  [5, 24, 0, 2],
  [5, 59, 0, 4],
  [5, 60, 0, 5],
  [5, 3600, 0, 5],
  [50, 0, 12, 0],
  [50, 12, 0, 1],
];
for (const [guesses, after, wait, remaining] of table) {
  test(`after ${guesses} guesses at once and ${after} s one waits ${wait} s and has ${remaining} left`, () => {
    const throttle = new Throttle(limit);
    assert.equal(guess(throttle, 'k', guesses, NOW), Math.min(guesses, 5));
    assert.equal(throttle.wait(['k'], NOW + after * 1000), wait);
    assert.equal(left(throttle, 'k', NOW + after * 1000), remaining);
  });
}

test('exactly as many come through at once as the limit says, whatever it is and whenever', () => {
  const someLimit = fc.record({ count: fc.integer({ min: 1, max: 100 }), seconds: fc.integer({ min: 1, max: 3600 }) });
  fc.assert(
    fc.property(someLimit, fc.integer({ min: 0, max: 1e12 }), (itsLimit, later) => {
      const throttle = new Throttle(itsLimit);
      assert.equal(guess(throttle, 'k', 2 * itsLimit.count, NOW + later), itsLimit.count);
      assert.equal(left(throttle, 'k', NOW + later), 0);
    }),
  );
});

test('in the long run no more than the limit comes through', () => {
  const throttle = new Throttle(limit);
  let through = 0;
  for (let second = 0; second < 3600; second += 1) through += guess(throttle, 'k', 3, NOW + second * 1000);
  assert.ok(through <= 5 + 300, String(through));
  assert.ok(through >= 300, String(through));
});

test('keys are apart, and one that must wait makes all wait', () => {
  const throttle = new Throttle(limit);
  guess(throttle, 'a', 5, NOW);
  assert.equal(throttle.wait(['b'], NOW), 0);
  assert.equal(throttle.wait(['b', 'a'], NOW), 12);
  assert.equal(throttle.wait([], NOW), 0);
});

test('guesses that were counted at the same time, beyond the limit, never make the wait longer than the window', () => {
  const throttle = new Throttle(limit);
  for (let n = 0; n < 10_000; n += 1) throttle.count(['k'], NOW);
  assert.ok(throttle.wait(['k'], NOW) <= limit.seconds);
  assert.equal(left(throttle, 'k', NOW), 0);
  assert.equal(throttle.wait(['k'], NOW + limit.seconds * 1000), 0);
});

test('where one guess is allowed, many at once are forgotten after one window', () => {
  const throttle = new Throttle({ count: 1, seconds: 60 });
  for (let n = 0; n < 10; n += 1) throttle.count(['k'], NOW);
  assert.equal(throttle.wait(['k'], NOW), 60);
  assert.equal(throttle.wait(['k'], NOW + 60_000), 0);
});

test('promise 6: whatever was counted and however the clock stepped, nobody waits longer than the window', () => {
  const someStep = fc.record({
    act: fc.constantFrom('count', 'guess', 'refund', 'reset'),
    now: fc.oneof(fc.integer({ min: 0, max: 10_000_000 }), fc.integer({ min: -1e9, max: 1e9 })),
  });
  fc.assert(
    fc.property(fc.array(someStep, { maxLength: 60 }), fc.integer({ min: -1e9, max: 1e9 }), (steps, last) => {
      const throttle = new Throttle(limit);
      for (const { act, now } of steps) {
        if (act === 'count') throttle.count(['k'], NOW + now);
        if (act === 'guess') guess(throttle, 'k', 1, NOW + now);
        if (act === 'refund') throttle.refund(['k'], NOW);
        if (act === 'reset') throttle.reset('k', NOW);
      }
      const wait = throttle.wait(['k'], NOW + last);
      assert.ok(Number.isInteger(wait) && wait >= 0 && wait <= limit.seconds, String(wait));
      const through = left(throttle, 'k', NOW + last);
      assert.ok(through >= 0 && through <= limit.count, String(through));
    }),
    { numRuns: 500 },
  );
});

test('promise 6: a clock that stepped back a day locks nobody for a day', () => {
  const throttle = new Throttle(limit);
  guess(throttle, 'k', 5, NOW);
  const back = NOW - 24 * 3_600_000;
  assert.ok(throttle.wait(['k'], back) <= limit.seconds);
  assert.equal(throttle.wait(['k'], back + 2 * limit.seconds * 1000), 0);
  throttle.count(['k'], back);
  assert.equal(throttle.wait(['k'], back), 0);
});

test('a clock that stepped back a little gives no new guesses', () => {
  const throttle = new Throttle(limit);
  guess(throttle, 'k', 5, NOW);
  for (const step of [1, 50, 1000, 30_000]) assert.equal(throttle.wait(['k'], NOW - step), 12);
});

test('a guess that turned out to be none is taken back, and only that one', () => {
  const throttle = new Throttle(limit);
  guess(throttle, 'k', 5, NOW);
  throttle.refund(['k'], NOW);
  assert.equal(guess(throttle, 'k', 5, NOW), 1);
  throttle.refund(['other'], NOW);
  assert.equal(left(throttle, 'other', NOW), 5);
});

test('refunds never let more through than was counted', () => {
  const throttle = new Throttle(limit);
  throttle.count(['k'], NOW);
  for (let n = 0; n < 100; n += 1) throttle.refund(['k'], NOW);
  assert.equal(guess(throttle, 'k', 50, NOW), 5);
});

test('a reset forgets a key and no other', () => {
  const throttle = new Throttle(limit);
  guess(throttle, 'a', 5, NOW);
  guess(throttle, 'b', 5, NOW);
  throttle.reset('a', NOW);
  assert.equal(throttle.wait(['a'], NOW), 0);
  assert.equal(throttle.wait(['b'], NOW), 12);
});

test('promise 5: keys are bounded; the one that was counted longest ago goes first', () => {
  const throttle = new Throttle({ count: 1, seconds: 60 }, '', null, 3);
  for (const key of ['a', 'b', 'c']) throttle.count([key], NOW);
  throttle.count(['a'], NOW + 1);
  throttle.count(['d'], NOW + 2);
  const known = ['a', 'b', 'c', 'd'].filter((key) => throttle.wait([key], NOW + 3) > 0);
  assert.deepEqual(known, ['a', 'c', 'd']);
  throttle.count(
    Array.from({ length: 1000 }, (_, n) => `made up ${n}`),
    NOW + 3,
  );
  const left = Array.from({ length: 1000 }, (_, n) => throttle.wait([`made up ${n}`], NOW + 3)).filter(
    (wait) => wait > 0,
  );
  assert.equal(left.length, 3);
});

test('design: a network has so many times the budget, exactly, and the narrowest that is over makes all wait', () => {
  for (const itsLimit of [
    limit,
    { count: 10, seconds: 300 },
    { count: 100, seconds: 600 },
    { count: 20, seconds: 600 },
  ])
    for (const weight of [1, 4, 32]) {
      const throttle = new Throttle(itsLimit);
      const key = { key: 'network', weight };
      let through = 0;
      for (let n = 0; n < 40 * itsLimit.count; n += 1) {
        if (throttle.wait([key], NOW) > 0) continue;
        throttle.count([key], NOW);
        through += 1;
      }
      assert.equal(through, weight * itsLimit.count);
      assert.equal(throttle.wait([key, 'another'], NOW), throttle.wait([key], NOW));
      assert.equal(throttle.wait([key], NOW + itsLimit.seconds * 1000), 0);
      throttle.refund([key], NOW);
      assert.equal(throttle.wait([key], NOW), 0);
      throttle.reset(key, NOW);
      assert.equal(throttle.wait([key], NOW), 0);
    }
});
