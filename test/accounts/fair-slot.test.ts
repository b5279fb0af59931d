import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TurnedAway } from '../../src/accounts/guessing/fair-line.ts';
import { FairSlot } from '../../src/accounts/guessing/fair-slot.ts';

/** A slot, with what ran in it: work ends when `end` says so. */
function slotWith(bounds = { ofOneShare: 50, inAll: 500 }) {
  const slot = new FairSlot(bounds);
  const began: string[] = [];
  const busy: string[] = [];
  const ends: (() => void)[] = [];
  const come = (share: string, name = share, signal?: AbortSignal) =>
    slot
      .run(
        share,
        () => {
          began.push(name);
          return new Promise<void>((end) => ends.push(end));
        },
        signal,
      )
      .catch((error: unknown) => {
        assert.ok(error instanceof TurnedAway);
        busy.push(name);
      });
  /** Ends what runs, so many times, and lets the next ones begin. */
  const end = async (times: number) => {
    await new Promise(setImmediate);
    for (let n = 0; n < times; n += 1) {
      ends.shift()?.();
      await new Promise(setImmediate);
    }
  };
  return { slot, come, end, began, busy };
}

test('design: shares have their turn one after the other, so that a flood from one keeps each of the others waiting for one', async () => {
  const { come, end, began } = slotWith();
  for (let n = 0; n < 40; n += 1) void come('flood', `flood ${n}`);
  for (const share of ['one', 'two', 'one']) void come(share);
  await end(6);
  assert.deepEqual(began, ['flood 0', 'flood 1', 'one', 'two', 'flood 2', 'one', 'flood 3']);
});

test('design: of one share a bounded number waits, and who comes then is told so at once', async () => {
  const { come, end, began, busy } = slotWith({ ofOneShare: 2, inAll: 500 });
  for (let n = 0; n < 5; n += 1) void come('flood', `flood ${n}`);
  void come('other');
  await end(4);
  assert.deepEqual(busy, ['flood 3', 'flood 4']);
  assert.deepEqual(began, ['flood 0', 'flood 1', 'other', 'flood 2']);
});

test('design: where there is no room, the share with most loses who came last; where all are equal, one by lot', async () => {
  const { come, end, began, busy } = slotWith({ ofOneShare: 50, inAll: 4 });
  void come('runs');
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'd1']) void come(name.slice(0, 1), name);
  await end(0);
  for (let n = 0; n < 100; n += 1) void come(`share ${n}`);
  await end(105);
  assert.deepEqual(busy.slice(0, 2), ['a3', 'a2']);
  assert.equal(began.length, 5);
  assert.notDeepEqual(began, ['runs', 'a1', 'b1', 'c1', 'd1'], 'not always who comes now');
});

test('Promise 6: a crowd of 700 shares that come again and again keeps out nobody who comes for the first time', async () => {
  const { come, end, began, busy } = slotWith({ ofOneShare: 50, inAll: 500 });
  const crowd = (share: number) => void come(`crowd ${share}`);
  for (let share = 0; share < 700; share += 1) crowd(share);
  for (let turn = 0; turn < 1000; turn += 1) {
    await end(1);
    for (let n = 0; n < 2; n += 1) crowd((turn * 2 + n) % 700);
  }
  const owners = Array.from({ length: 10 }, (_, n) => `owner ${n}`);
  for (const owner of owners) void come(owner);
  for (let turn = 0; turn < 520; turn += 1) {
    await end(1);
    for (let n = 0; n < 2; n += 1) crowd((turn * 2 + n) % 700);
  }
  assert.deepEqual(
    began.filter((name) => owners.includes(name)),
    owners,
  );
  assert.ok(busy.length > 500, 'while many lose their place');
});

test('Promise 5: who hangs up while they wait has no turn, and leaves no place behind', async () => {
  const { come, end, began, busy } = slotWith({ ofOneShare: 2, inAll: 2 });
  const clients = Array.from({ length: 3 }, () => new AbortController());
  for (const { signal } of clients) void come('a', 'gone', signal);
  for (const client of clients.slice(1)) client.abort();
  void come('a', 'gone before', AbortSignal.abort());
  for (const name of ['honest', 'patient']) void come('a', name);
  await end(4);
  assert.deepEqual(began, ['gone', 'honest', 'patient']);
  assert.deepEqual(busy, ['gone', 'gone', 'gone before']);
});

test('design: at a stop whoever waits is turned away, and who comes then waits no more', async () => {
  const { slot, come, end, began, busy } = slotWith();
  for (const share of ['a', 'b', 'c']) void come(share);
  slot.stop();
  void come('d');
  await end(1);
  assert.deepEqual([began, busy.sort()], [['a'], ['b', 'c', 'd']]);
  void come('e');
  await end(1);
  assert.deepEqual(began, ['a', 'e'], 'who need not wait is let in');
});

test('design: whoever comes, each is let in once or turned away, and nobody waits behind more of another share than of their own', async () => {
  const crowd = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(crowd, async (shares) => {
      const { come, end, began, busy } = slotWith({ ofOneShare: 5, inAll: 12 });
      shares.forEach((share, n) => void come(String(share), `${share} ${n}`));
      await end(shares.length + 1);
      assert.deepEqual([...began, ...busy].sort(), shares.map((share, n) => `${share} ${n}`).sort());
      const turns = began.slice(1).map((name) => name.split(' ')[0]);
      for (const [at, share] of turns.entries()) {
        const before = turns.slice(0, at);
        const own = before.filter((other) => other === share).length;
        for (const other of new Set(before))
          assert.ok(before.filter((each) => each === other).length <= own + 1, `${other} before ${share}: ${turns}`);
      }
    }),
    { numRuns: 50 },
  );
});

test('work that throws hands its turn on', async () => {
  const slot = new FairSlot({ ofOneShare: 1, inAll: 1 });
  const failing = slot.run('a', () => Promise.reject(new Error('broken')));
  const next = slot.run('b', async () => 'done');
  await assert.rejects(failing, /broken/);
  assert.equal(await next, 'done');
});
