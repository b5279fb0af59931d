/** The stamp by which a service notices that its database file was overwritten in place. */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { FileStamp } from '../../src/storage/sqlite/file/file-stamp.ts';
import { openAsService, temporaryPath } from '../support/storage.ts';

/** A database as a service that ended left it, and a stamp of the next one on it, written at its start. */
async function stamped(t: TestContext) {
  const path = temporaryPath(t);
  await (await openAsService(path)).close();
  const before = readFileSync(path);
  const database = new DatabaseSync(path);
  const stamp = new FileStamp(database, path);
  t.after(() => {
    stamp.close();
    database.close();
  });
  stamp.write(path);
  return { path, before, database, stamp };
}

test('Promise 1: a copy from before the start is noticed, also when nothing was looked at since', async (t) => {
  const { path, before, stamp } = await stamped(t);
  writeFileSync(path, before);
  assert.equal(stamp.isThere(), false);
});

test('Promise 1: the file that the service and others wrote is its own', async (t) => {
  const { database, stamp } = await stamped(t);
  assert.equal(stamp.isThere(), true);
  database.exec('CREATE TABLE other (id INTEGER); DROP TABLE other; PRAGMA wal_checkpoint(TRUNCATE)');
  assert.equal(stamp.isThere(), true);
});

test("Promise 1: a backup that was made meanwhile is noticed, and a file without SQLite's header", async (t) => {
  const { path, database, stamp } = await stamped(t);
  database.exec(`VACUUM INTO '${path}.copy'`);
  copyFileSync(`${path}.copy`, path);
  assert.equal(stamp.isThere(), false);
  writeFileSync(path, '');
  assert.equal(stamp.isThere(), false);
});
