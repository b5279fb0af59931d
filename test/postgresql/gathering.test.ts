/** How long requests wait for others before they share a statement; times in ms. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gathering } from '../../src/storage/postgresql/gathering.ts';

/** Lets statements of these sizes go, one after the other; answers which of them waited for more than 32. */
function reunited(gathering: Gathering, sizes: readonly number[]): number[] {
  return sizes.flatMap((size, place) => {
    gathering.begin();
    const isReunited = gathering.enough > 32;
    gathering.went(size);
    return isReunited ? [place] : [];
  });
}

test('one client alone goes as soon as a turn brings nobody else, every time', () => {
  const gathering = new Gathering(true);
  for (let times = 0; times < 100; times += 1) {
    gathering.begin();
    assert.equal(gathering.isOver(1, 0, true), true);
    gathering.went(1);
  }
});

test('while others come nobody goes, but none waits longer than 3 ms', () => {
  const gathering = new Gathering(true);
  gathering.begin();
  assert.equal(gathering.isOver(10, 2.9, false), false);
  assert.equal(gathering.isOver(10, 3, false), true);
});

test('where many went together lately, fewer wait 1 ms for as many; when fewer come, that is soon over', () => {
  const gathering = new Gathering(false);
  gathering.went(32);
  gathering.begin();
  assert.equal(gathering.isOver(20, 0.9, true), false);
  assert.equal(gathering.isOver(32, 0, true), true);
  assert.equal(gathering.isOver(20, 1, true), true);
  for (let times = 0; times < 10; times += 1) gathering.went(2);
  assert.equal(gathering.isOver(2, 0, true), true);
});

test('groups that fell apart are waited for together every eighth time', () => {
  const sizes = Array.from({ length: 33 }, (_, place) => (place % 2 === 0 ? 32 : 20));
  const gathering = new Gathering(true);
  const found = reunited(gathering, sizes.slice(0, 7));
  gathering.begin();
  assert.deepEqual([found, gathering.enough], [[], 52]);
  assert.equal(gathering.isOver(51, 2.9, true), false);
  gathering.went(52);
  assert.deepEqual(reunited(gathering, sizes.slice(0, 7)), []);
  gathering.begin();
  assert.equal(gathering.enough, 52);
});

test('where there is one group all the time, it is waited for less and less often, and always at most 3 ms', () => {
  const gathering = new Gathering(true);
  const waited = reunited(gathering, Array(5000).fill(24));
  assert.deepEqual(waited.slice(0, 5), [7, 23, 55, 119, 247]);
  assert.ok(waited.length < 13, `${waited.length} of 5000`);
});

test('requests with which none begins wait for no reunion', () => {
  assert.deepEqual(reunited(new Gathering(false), Array(100).fill(30)), []);
});
