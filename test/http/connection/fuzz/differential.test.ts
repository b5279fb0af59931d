import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SEED } from '../../../instances/effort.ts';
import { compareReaders } from './differential.ts';

test('RFC 9112 §2.1: what our reader takes of a connection means the same to Node.js, and so does what it leaves', async () => {
  const { heads, taken, given, refused, connections } = await compareReaders(SEED, 60_000);
  for (const some of [taken / heads, given / connections, refused / connections]) assert.ok(some > 0.1, `${some}`);
});
