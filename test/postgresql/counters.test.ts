import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type SharedCounters, Throttle } from '../../src/accounts/throttle.ts';
import { startPostgres } from '../support/postgres.ts';
import { NOW } from '../support/storage.ts';
import { openInstance } from './instance.ts';

const server = await startPostgres();
after(() => server.remove());
const url = await server.createDatabase();
const [one, other] = [await openInstance(url), await openInstance(url)];
after(() => Promise.all([one.close(), other.close()]));

const LIMIT = { count: 10, seconds: 300 };
/** What was moved, and is not answered yet. */
const moving: Promise<number>[] = [];
const throttles = () =>
  [one, other].map(({ counters }) => new Throttle(LIMIT, 'guesses', noted(counters ?? assert.fail()))) as [
    Throttle,
    Throttle,
  ];

/** The same counters, of which a test knows when they have answered. */
function noted(counters: SharedCounters): SharedCounters {
  return {
    move(...parameters) {
      const answer = counters.move(...parameters);
      moving.push(answer);
      return answer;
    },
  };
}

/** Guesses once, if that may be, and waits until the database has counted it. */
async function guess(throttle: Throttle, key: string): Promise<boolean> {
  if (throttle.wait([key], NOW) > 0) return false;
  throttle.count([key], NOW);
  await Promise.all(moving.splice(0));
  return true;
}

test('Promise 6: guesses at two instances count together, but for the one that an instance has not heard of', async () => {
  const [here, there] = throttles();
  let through = 0;
  for (let turn = 0; turn < 20; turn += 1) if (await guess(turn % 2 === 0 ? here : there, 'ada')) through += 1;
  assert.ok(through === LIMIT.count || through === LIMIT.count + 1, String(through));
  assert.equal(await guess(here, 'somebody else'), true);
});

test('Promise 6: a success at one instance forgets what was guessed at all of them', async () => {
  const [here, there] = throttles();
  for (let turn = 0; turn < LIMIT.count; turn += 1) await guess(here, 'forgetful');
  assert.ok(here.wait(['forgetful'], NOW) > 0);
  here.reset('forgetful', NOW);
  await Promise.all(moving.splice(0));
  for (let turn = 0; turn < LIMIT.count; turn += 1) assert.equal(await guess(there, 'forgetful'), true, String(turn));
});

test('a counter never reaches further ahead than its window, however many count at once', async () => {
  const moves = Array.from({ length: 100 }, () => one.counters?.move('flood', 30_000, 300_000, NOW));
  const arrivals = await Promise.all(moves);
  assert.equal(Math.max(...arrivals.map(Number)), NOW + 300_000);
  assert.equal(await one.counters?.move('flood', -300_000, 300_000, NOW), NOW);
});
