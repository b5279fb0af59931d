/** The databases that are kept hold a row of every kind in every state: what no row is in, no later version is tested with. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { EMPTY_FOR_A_REASON, fill } from './fill.ts';
import { gapsIn } from './gaps.ts';

const folder = mkdtempSync(join(tmpdir(), 'valetkey-filled-'));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

test('upgrades: a database that is kept has a value in each column, and a row in each state', async () => {
  const path = join(folder, 'valetkey.db');
  await fill(`sqlite:${path}`);
  using database = new DatabaseSync(path);
  const expected = Object.keys(EMPTY_FOR_A_REASON).sort();
  assert.deepEqual(
    gapsIn(database).sort(),
    expected,
    'test/upgrades: have fill.ts make such a row, or give a reason there',
  );
});

test('upgrades: an empty table, a column without a value and a state without a row are found', () => {
  using database = new DatabaseSync(':memory:');
  database.exec(`
    CREATE TABLE none (id TEXT);
    CREATE TABLE some (id TEXT, list TEXT, state TEXT CHECK (state IN ('new', 'old')), told INTEGER CHECK (told IN (0, 1)));
    INSERT INTO some VALUES ('a', '[]', 'new', 0), ('b', NULL, 'new', 0);`);
  assert.deepEqual(gapsIn(database), ['none', 'some.list', "some.state = 'old'", 'some.told = 1']);
});
