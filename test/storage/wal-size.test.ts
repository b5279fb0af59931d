/** The write-ahead log: it begins anew before it is long, and what a long reader made of it is given back. */
import assert from 'node:assert/strict';
import { closeSync, openSync, statSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { event, openAsService, saltOfLog, secondConnection, temporaryPath } from '../support/storage.ts';

const MB = 2 ** 20;
/** An act with a long detail takes four pages of the log, and more with its indexes; usual ones in a commit share theirs. */
const LONG = { detail: 'x'.repeat(12_000), together: 16 };
/** So much may be written until a log is cut back, with a pause after each: 500 rows, and what comes while all is copied. */
const SOON_MB = 100;
const PAUSE_MS = 20;
const USUAL = { detail: 'x'.repeat(100), together: 256 };

async function openLog(t: TestContext, path: string) {
  const reports: string[] = [];
  const { store, close } = await openAsService(path, { report: (sentence) => void reports.push(sentence) });
  t.after(close);
  const log = openSync(`${path}-wal`, 'r');
  t.after(() => closeSync(log));
  const salts = new Set<bigint>();
  /** Writes so many MB of details, some together in each commit; answers how long the log was (bytes). */
  const fill = async (mb: number, { detail, together } = LONG): Promise<number> => {
    let longest = 0;
    for (let written = 0; written < mb * MB; written += together * detail.length) {
      const acts = Array.from({ length: together }, () => store.recordDenial({ ...event('consent_denied'), detail }));
      await Promise.all(acts);
      longest = Math.max(longest, statSync(`${path}-wal`).size);
      salts.add(saltOfLog(log));
    }
    return longest;
  };
  return { fill, reports, logs: () => salts.size };
}

test('under lasting load the log stays at some MB', async (t) => {
  const path = temporaryPath(t);
  const { fill, reports, logs } = await openLog(t, path);
  const longest = await fill(40, USUAL);
  assert.ok(longest < 24 * MB, `${longest} bytes`);
  assert.ok(logs() > 1, 'it began anew');
  assert.deepEqual(reports, []);
});

test('however large rows are, the log begins anew while they come, and nobody is told of its growth', async (t) => {
  const path = temporaryPath(t);
  const { fill, reports, logs } = await openLog(t, path);
  const longest = await fill(500);
  // Some 70 MB, and more where the thread has little of a processor; one that did not begin anew would have more than 600.
  assert.ok(longest < 250 * MB, `${longest} bytes`);
  assert.ok(logs() > 1, 'it began anew');
  assert.deepEqual(reports, []);
});

test('the log grows while somebody reads for long, which is said once, and is cut back to 64 MB when that has ended', {
  timeout: 30_000,
}, async (t) => {
  const path = temporaryPath(t);
  const { fill, reports } = await openLog(t, path);
  const reader = secondConnection(t, path);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM audit_event').get();
  assert.ok((await fill(140)) > 140 * MB);
  while (reports.length === 0) await fill(1);
  assert.deepEqual(reports, [
    'the log of the database grows: another program has been reading for long; wait for it (a backup), or end it',
  ]);
  reader.exec('COMMIT');
  for (let mb = 0; mb < SOON_MB && statSync(`${path}-wal`).size > 64 * MB; mb += 1) {
    await fill(1);
    await sleep(PAUSE_MS);
  }
  assert.ok(statSync(`${path}-wal`).size <= 64 * MB);
});
