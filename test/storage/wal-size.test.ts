/** The write-ahead log: it begins anew before it is long, and what a long reader made of it is given back. */
import assert from 'node:assert/strict';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { event, openAsService, secondConnection, temporaryPath } from '../support/storage.ts';

const MB = 2 ** 20;
/** An act with a long detail takes four pages of the log, and more with its indexes; usual ones in a commit share theirs. */
const LONG = { detail: 'x'.repeat(12_000), together: 16 };
const USUAL = { detail: 'x'.repeat(100), together: 256 };
const TIMES = 3;

async function openLog(t: TestContext) {
  const path = temporaryPath(t);
  const reports: string[] = [];
  const { store, close } = await openAsService(path, { report: (sentence) => void reports.push(sentence) });
  t.after(close);
  const log = openSync(`${path}-wal`, 'r');
  t.after(() => closeSync(log));
  /** Writes a MB of details, some together in each commit. */
  const fill = async ({ detail, together } = LONG): Promise<void> => {
    for (let written = 0; written < MB; written += together * detail.length) {
      const acts = Array.from({ length: together }, () => store.recordDenial({ ...event('consent_denied'), detail }));
      await Promise.all(acts);
    }
  };
  return { path, fill, reports, size: () => statSync(`${path}-wal`).size, salt: () => saltOf(log) };
}

/** It is another one each time that a log begins anew (https://sqlite.org/fileformat2.html#walformat). */
function saltOf(log: number): bigint {
  const salt = Buffer.alloc(8);
  readSync(log, salt, 0, salt.length, 16);
  return salt.readBigUInt64BE();
}

// How long a log is until then, the disk and the processors decide: some MB, or 80 with large rows. The test's time limit ends it.
for (const [of, rows] of [
  ['usual', USUAL],
  ['large', LONG],
] as const)
  test(`under lasting load of ${of} rows the log begins anew, again and again, and nobody is told of its growth`, async (t) => {
    const { fill, reports, size, salt } = await openLog(t);
    let longest = 0;
    for (let times = 0; times < TIMES; times += 1) {
      for (const before = salt(); salt() === before; longest = Math.max(longest, size())) await fill(rows);
    }
    assert.deepEqual(reports, []);
    t.diagnostic(`${Math.round(longest / MB)} MB at most`);
  });

test('the log grows while somebody reads for long, which is said once, and is cut back to 64 MB when that has ended', async (t) => {
  const { path, fill, reports, size } = await openLog(t);
  const reader = secondConnection(t, path);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM audit_event').get();
  while (size() < 140 * MB || reports.length === 0) await fill();
  assert.deepEqual(reports, [
    'the log of the database grows: another program has been reading for long; wait for it (a backup), or end it',
  ]);
  reader.exec('COMMIT');
  while (size() > 64 * MB) await fill();
});
