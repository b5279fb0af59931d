import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ForeignFunction } from '../../src/accounts/people/foreign-function.ts';
import { SignInFloor } from '../../src/accounts/sign-in/sign-in-floor.ts';

const BCRYPT: ForeignFunction = { family: 'bcrypt', cost: 12, sha256: false, salt: 'AAAA' };

/** A floor over what a test says is there, with a stopwatch that moves when something is rehearsed. */
function floorOver(slowest: { now: ForeignFunction[] }, takes: (it: ForeignFunction) => number) {
  let time = 0;
  const rehearsed: ForeignFunction[] = [];
  const timers: { readonly act: () => void; readonly ms: number }[] = [];
  const floor = new SignInFloor({
    store: { listSlowestForeign: async () => slowest.now },
    hasher: {
      rehearse: async (it) => {
        rehearsed.push(it);
        time += takes(it);
      },
    },
    stopwatch: () => time,
    later: (act, ms) => {
      timers.push({ act, ms });
      return () => {};
    },
  });
  return { floor, rehearsed, timers };
}

test('where every hash is our own there is no floor', async () => {
  const { floor, rehearsed, timers } = floorOver({ now: [] }, () => 100);
  await (await floor.begin())();
  assert.deepEqual([rehearsed, timers], [[], []]);
});

test('the floor is twice what the slowest hash that is there takes, which is measured once; a timer ends it', async () => {
  const slowest: { now: ForeignFunction[] } = { now: [BCRYPT] };
  const { floor, rehearsed, timers } = floorOver(slowest, (it) => (it === BCRYPT ? 100 : 300));
  const isOver = (await Promise.all([floor.begin(), floor.begin()]))[0];
  assert.deepEqual(
    timers.map(({ ms }) => ms),
    [200, 200],
  );
  assert.equal(rehearsed.length, 1);
  let over = false;
  const waiting = isOver().then(() => {
    over = true;
  });
  await new Promise(setImmediate);
  assert.equal(over, false);
  timers[0]?.act();
  await waiting;
  slowest.now = [BCRYPT, { family: 'pbkdf2', iterations: 2_000_000, length: 32, salt: 'AAAA' }];
  await floor.begin();
  assert.equal(timers.at(-1)?.ms, 600, 'of several families the slowest counts');
  slowest.now = [{ ...BCRYPT, salt: 'BBBB' }];
  await floor.begin();
  assert.equal(timers.at(-1)?.ms, 200, 'its salt does not matter');
  assert.equal(rehearsed.length, 2);
});

test('a measurement that failed is made again', async () => {
  let fails = true;
  const { floor, timers } = floorOver({ now: [BCRYPT] }, () => {
    if (fails) throw new Error('no memory');
    return 100;
  });
  await assert.rejects(floor.begin(), /no memory/);
  fails = false;
  await floor.begin();
  assert.equal(timers.length, 1);
});
