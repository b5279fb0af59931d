/** How long requests wait for others before they share a statement; times in ms. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gathering } from '../../src/storage/postgresql/gathering.ts';

test('one client alone goes as soon as a turn brings nobody else, every time', () => {
  const gathering = new Gathering();
  for (let times = 0; times < 100; times += 1) {
    assert.equal(gathering.isOver(1, 0, true), true);
    gathering.sent(1);
  }
});

test('while others come nobody goes, but 32 go at once and none waits longer than 3 ms', () => {
  const gathering = new Gathering();
  assert.equal(gathering.isOver(31, 2.9, false), false);
  assert.equal(gathering.isOver(32, 0, false), true);
  assert.equal(gathering.isOver(10, 3, false), true);
});

test('where many shared a statement lately, fewer wait 1 ms for as many; when fewer come, that is soon over', () => {
  const gathering = new Gathering();
  gathering.sent(24);
  assert.equal(gathering.isOver(20, 0.9, true), false);
  assert.equal(gathering.isOver(24, 0, true), true);
  assert.equal(gathering.isOver(20, 1, true), true);
  for (let times = 0; times < 10; times += 1) gathering.sent(2);
  assert.equal(gathering.isOver(2, 0, true), true);
});
