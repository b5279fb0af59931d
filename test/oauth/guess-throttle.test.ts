import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Throttle } from '../../src/accounts/guessing/throttle.ts';
import { invalidClient, type Refusal } from '../../src/oauth/error.ts';
import { GuardedChecks } from '../../src/oauth/guessing/guess-throttle.ts';
import { assertRefusal, NOW } from './samples.ts';

const LIMIT = 5;
const wrong = invalidClient('wrong');

/** A check that is under way until the test decides it. */
type Check = { readonly begun: () => boolean; readonly outcome: Promise<unknown>; decide(answer: unknown): void };

/** Checks of one key, on a clock that the test moves. */
function setUp(timeout?: number) {
  const clock = { now: NOW };
  const throttle = new Throttle({ count: LIMIT, seconds: 60 });
  const checks = new GuardedChecks(throttle, () => clock.now, timeout);
  const begin = (key = 'k'): Check => {
    const decided = Promise.withResolvers<unknown>();
    let begun = false;
    const outcome = checks.run(key, () => {
      begun = true;
      return decided.promise;
    });
    return {
      begun: () => begun,
      outcome: Promise.resolve(outcome),
      decide: (answer) => (answer instanceof Error ? decided.reject(answer) : decided.resolve(answer)),
    };
  };
  const fail = (times: number) => {
    for (let n = 0; n < times; n += 1) checks.run('k', () => wrong);
  };
  return { clock, checks, begin, fail };
}

const begun = (all: readonly Check[]) => all.filter((check) => check.begun()).length;
const many = (count: number, begin: () => Check) => Array.from({ length: count }, () => begin());

test('Promise 6: failures and checks under way are never more than the limit together, and the next one waits', async () => {
  const { begin, fail } = setUp();
  fail(3);
  const all = many(4, begin);
  assert.equal(begun(all), 2);
  all[0]?.decide('good');
  assert.equal(await all[0]?.outcome, 'good');
  assert.deepEqual(
    all.map((check) => check.begun()),
    [true, true, true, false],
    'first come, first',
  );
  all[1]?.decide(wrong);
  assert.equal(await all[1]?.outcome, wrong);
  assert.equal(begun(all), 3, 'one more has failed');
  for (const check of all.slice(2)) check.decide('good');
  assert.deepEqual(await Promise.all(all.slice(2).map(({ outcome }) => outcome)), ['good', 'good']);
});

test('Promise 6: being under way alone refuses nobody', async () => {
  const { begin } = setUp();
  const all = many(200, begin);
  assert.equal(begun(all), LIMIT);
  for (const check of all) check.decide('good');
  for (const { outcome } of all) assert.equal(await outcome, 'good');
});

test('Promise 6: of wrong ones no more are checked than the limit says, and the others are refused unchecked', async () => {
  const { begin, clock } = setUp();
  const all = many(200, begin);
  for (const check of all) check.decide(wrong);
  const outcomes = await Promise.all(all.map(({ outcome }) => outcome));
  assert.deepEqual([begun(all), outcomes.filter((outcome) => outcome === wrong).length], [LIMIT, LIMIT]);
  for (const outcome of outcomes.slice(LIMIT)) {
    assertRefusal(outcome as Refusal, 'temporarily_unavailable', /throttled/);
    assert.equal((outcome as Refusal).retryAfter, 12);
  }
  clock.now += 12_000;
  const later = many(2, begin);
  assert.equal(begun(later), 1);
  for (const check of later) check.decide('good');
  await Promise.all(later.map(({ outcome }) => outcome));
});

test('Promise 6: what is decided at once is counted at once, and waits for what is under way', async () => {
  const { checks, begin } = setUp();
  assert.equal(
    checks.run('k', () => 'good'),
    'good',
    'without a promise',
  );
  const all = many(LIMIT, begin);
  let isChecked = false;
  const guess = checks.run('k', () => {
    isChecked = true;
    return wrong;
  });
  assert.equal(isChecked, false);
  assert.equal(
    checks.run('another', () => wrong),
    wrong,
  );
  for (const check of all) check.decide(wrong);
  assertRefusal((await guess) as Refusal, 'temporarily_unavailable', /throttled/);
  assert.equal(isChecked, false);
});

test('Promise 6: a check that could not be decided gives its place to the next, and is no guess', async () => {
  const { begin, fail } = setUp();
  fail(LIMIT - 1);
  const [one, two] = [begin(), begin()];
  one.decide(new Error('the database is gone'));
  await assert.rejects(one.outcome, /gone/);
  assert.ok(two.begun());
  two.decide('good');
  assert.equal(await two.outcome, 'good');
});

test('Promise 5: whoever waits does not wait for ever, and takes nobody’s place then', async () => {
  const { begin, fail } = setUp(1);
  fail(LIMIT - 1);
  const [one, two] = [begin(), begin()];
  assert.equal(two.begun(), false);
  const refusal = (await two.outcome) as Refusal;
  assertRefusal(refusal, 'temporarily_unavailable', /under way/);
  assert.equal(refusal.retryAfter, 1);
  assert.equal(two.begun(), false);
  one.decide('good');
  await one.outcome;
  assert.equal(begin().begun(), true);
});

test('Promise 5: no more than a thousand wait where one failed', async () => {
  const { begin, fail } = setUp();
  fail(1);
  const all = many(LIMIT - 1 + 1000, begin);
  const beyond = begin();
  assert.deepEqual([begun(all), beyond.begun()], [LIMIT - 1, false]);
  assertRefusal((await beyond.outcome) as Refusal, 'temporarily_unavailable', /under way/);
  assert.equal(begin('another').begun(), true);
  for (const check of all) check.decide('good');
  for (const { outcome } of all) assert.equal(await outcome, 'good');
});

test('interface: being under way alone refuses nobody, however many come at once and however long they take', async () => {
  const { begin } = setUp(1);
  const all = many(LIMIT + 2000, begin);
  // Longer than the timeout, which is for those alone who come after a failure.
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const check of all) check.decide('good');
  for (const { outcome } of all) assert.equal(await outcome, 'good');
});
