/** Marks of use are written behind, seldom, and only ever grow. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout as after } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Grant } from '../../src/oauth/grants/grant.ts';
import { StoreUnavailable } from '../../src/oauth/store.ts';
import { type Mark, UseMarks } from '../../src/storage/late-writes/use-marks.ts';
import { rowKey } from '../../src/storage/statements/row-key.ts';
import { addAdaAndOne, event, NOW, openAsService, sampleGrant, sampleUse, temporaryPath } from '../support/storage.ts';

/** A service, and beside it a reader that sees only what was written. */
async function openWithReader(t: TestContext) {
  const path = temporaryPath(t);
  const clock = { now: NOW };
  const service = await openAsService(path, { now: () => clock.now });
  await addAdaAndOne(service);
  const reader = await openAsService(path, { role: 'command' });
  t.after(() => reader.close());
  const grant = sampleGrant();
  await service.store.issueGrant(grant, event('consent_allowed'));
  const use = async (generation: number, at: number): Promise<void> => {
    clock.now = at;
    const found = await service.store.findGrant(grant.id);
    service.store.noteUse(found?.grant as Grant, sampleUse(generation, at));
  };
  const written = async () => {
    const found = await reader.store.findGrant(grant.id);
    return [found?.grant.usedGeneration, found?.grant.lastUsedAt];
  };
  return { service, use, written };
}

test('the first use of a generation is written within a second, the next ones every ten minutes', async (t) => {
  const { service, use, written } = await openWithReader(t);
  t.after(() => service.close());
  // Timers run on the test's time, and files on the machine's: how slow it is does not matter.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const inTime = () => t.mock.timers.tick(900);
  const becomes = async (expected: unknown[]) => {
    while (!isDeepStrictEqual(await written(), expected)) await after(5);
    // A reader sees them before their sync: what is noted meanwhile would have its turn on a timer that nobody moves on.
    await service.store.recordDenial(event('consent_denied'));
    await after(0);
  };
  await use(1, NOW);
  inTime();
  await becomes([1, NOW]);
  await use(1, NOW + 599_999);
  inTime();
  await after(100);
  assert.deepEqual(await written(), [1, NOW]);
  await use(1, NOW + 600_000);
  inTime();
  await becomes([1, NOW + 600_000]);
  await use(2, NOW + 600_001);
  inTime();
  await becomes([2, NOW + 600_001]);
});

test('closing writes what is still unwritten, and marks never shrink', async (t) => {
  const { service, use, written } = await openWithReader(t);
  await use(3, NOW + 5);
  await use(2, NOW + 3);
  await service.close();
  assert.deepEqual(await written(), [3, NOW + 5]);
});

/** Marks of some grants, one in each write, whose first write fails; and what was tried to be written by the end. */
async function triedWhenTheFirstFails(error: Error): Promise<string[][]> {
  const tried: string[][] = [];
  const write = async (uses: readonly Mark[]) => {
    tried.push(uses.map(({ key }) => key));
    if (tried.length === 1) throw error;
    return [];
  };
  const marks = new UseMarks({ write, maxPerWrite: 1 });
  for (const grant of [sampleGrant(), sampleGrant(), sampleGrant()]) marks.note(grant, sampleUse(1, NOW));
  await marks.close();
  return tried;
}

test('marks that cannot be written do not keep others unwritten', async () => {
  const tried = await triedWhenTheFirstFails(new Error('a constraint'));
  assert.equal(new Set(tried.flat()).size, 3);
});

test('while nothing can be written, marks of so many grants are kept as fit, and those of others left out', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] }); // It is not time meanwhile.
  let writes = 0;
  const write = async () => {
    writes += 1;
    throw new StoreUnavailable('gone');
  };
  const marks = new UseMarks({ write, maxPerWrite: 128 });
  const grant = sampleGrant();
  const noteOne = () => {
    const id = randomBytes(16);
    marks.note({ ...grant, id }, sampleUse(1, NOW));
    return marks.get(rowKey(id)) !== undefined;
  };
  for (let size = 1; size <= 8192; size += 1) noteOne();
  for (let more = 0; more < 8; more += 1) {
    await after(0);
    noteOne();
  }
  assert.equal(writes, 1, 'they are not all tried again with each that comes');
  for (let size = 8201; size <= 65_536; size += 1) assert.ok(noteOne());
  assert.ok(!noteOne());
  await marks.close();
});

test('marks are written in the order of their rows, so that statements of two instances cannot deadlock; so many at a time', async () => {
  const written: string[][] = [];
  const write = async (marks: readonly Mark[]) => {
    written.push(marks.map(({ key }) => key));
    return [];
  };
  const marks = new UseMarks({ write, maxPerWrite: 128 });
  const ids = Array.from({ length: 300 }, () => randomBytes(16));
  for (const id of ids) marks.note({ ...sampleGrant(), id }, sampleUse(1, NOW));
  await marks.close();
  const keys = ids.map(rowKey).sort();
  assert.deepEqual(written, [keys.slice(0, 128), keys.slice(128, 256), keys.slice(256)]);
});

test('while the store is unavailable no other marks are tried', async () => {
  assert.equal((await triedWhenTheFirstFails(new StoreUnavailable('gone'))).length, 1);
});

test('what a mark grew by while it was written is answered meanwhile and written after it, and it never shrinks', async () => {
  const written: [number, number][] = [];
  const grant = sampleGrant();
  const write = async (uses: readonly Mark[]) => {
    written.push(...uses.map(({ generation, usedAt }): [number, number] => [generation, usedAt]));
    if (written.length > 1) return [];
    marks.note(grant, sampleUse(2, NOW + 2));
    marks.note(grant, sampleUse(3, NOW + 1));
    marks.note(grant, sampleUse(1, NOW + 1));
    return [];
  };
  const marks = new UseMarks({ write, maxPerWrite: 1 });
  marks.note(grant, sampleUse(1, NOW));
  while (written.length === 0) await after(10);
  await after(0);
  const { usedGeneration, lastUsedAt } = marks.merge(grant);
  assert.deepEqual([usedGeneration, lastUsedAt], [3, NOW + 2]);
  await marks.close();
  assert.deepEqual(written, [
    [1, NOW],
    [3, NOW + 2],
  ]);
});
