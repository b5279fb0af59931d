// Keys that were right within the hour: how long and how many are remembered.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentKeys } from '../../../src/operator/access/recent-keys.ts';
import { HOUR, NOW } from '../../support/storage.ts';

const digest = (n: number) => {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32BE(n);
  return bytes;
};

test('Promise 6: a key is remembered for an hour after its last use, unless it turns out wrong', () => {
  const keys = new RecentKeys();
  assert.equal(keys.has(digest(1), NOW), false);
  keys.add(digest(1), NOW);
  keys.add(digest(2), NOW);
  assert.equal(keys.has(digest(1), NOW + HOUR - 1), true);
  assert.equal(keys.has(digest(1), NOW + HOUR), false);
  keys.add(digest(1), NOW + HOUR - 1);
  assert.equal(keys.has(digest(1), NOW + HOUR), true, 'used again');
  keys.delete(digest(1));
  assert.deepEqual([keys.has(digest(1), NOW + HOUR), keys.has(digest(2), NOW)], [false, true]);
});

test('Promise 5: no more than 10,000 keys are remembered: the least recently used one makes room', () => {
  const keys = new RecentKeys();
  for (let n = 0; n < 10_000; n += 1) keys.add(digest(n), NOW);
  keys.add(digest(0), NOW);
  keys.add(digest(10_000), NOW);
  const known = [0, 1, 2, 10_000].map((n) => keys.has(digest(n), NOW));
  assert.deepEqual(known, [true, false, true, true]);
});
