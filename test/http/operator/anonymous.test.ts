import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askAsNobody, startCounted } from './anonymous.ts';

// Each kind of request leaves none, so no number of them leaves any: the second group asks 100,000 times.
test('Promise 5: at the operators’ address, whatever nobody in particular asks for leaves no row', async (t) => {
  const { service, passkey, countRows } = await startCounted(t);
  const before = countRows();
  for (let time = 0; time < 20; time += 1) await askAsNobody(service, passkey);
  assert.deepEqual(countRows(), before);
});
