/** The write-ahead log: it begins anew before it is long, and what a long reader made of it is given back. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { slowDisk, whyNoDisk } from '../../bench/disk/build.ts';
import { diskFolder } from '../support/memory.ts';
import { secondConnection, temporaryPath } from '../support/storage.ts';
import { MB, openLog } from './filled-log.ts';

/** An act with a long detail takes four pages of the log, and more with its indexes; usual ones in a commit share theirs. */
const LONG = { length: 12_000, together: 16 };
const USUAL = { length: 1000, together: 32 };
/** At 32 MB a log has to begin anew, however busy the disk is; so much may come until all of it is copied. */
const GUARDED_MB = 48;
/** What may be written until a log is cut back, with a pause after each: 500 rows, and what comes while all is copied. */
const SOON_MB = 100;
const PAUSE_MS = 20;

test('under lasting load the log stays at some MB', async (t) => {
  const { fill, reports, logs } = await openLog(t, temporaryPath(t, diskFolder()));
  const longest = await fill(60, USUAL); // One that did not begin anew would have 120 MB.
  assert.ok(longest < GUARDED_MB * MB, `${longest} bytes`);
  assert.ok(logs() > 1, 'it began anew');
  assert.deepEqual(reports, []);
});

// Here there is always a page or two that the thread has not copied yet; without a guard the log grows to 130 MB.
test('a log of 32 MB has to begin anew, where syncs are so slow that commits never find all of it copied', {
  skip: whyNoDisk() ?? false,
}, async (t) => {
  const fillLog = fileURLToPath(new URL('fill-log.child.ts', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', fillLog, temporaryPath(t, diskFolder())];
  const env = { ...process.env, ...(await slowDisk(2000)) };
  const { longest, logs, reports } = JSON.parse((await promisify(execFile)(process.execPath, args, { env })).stdout);
  assert.ok(longest < GUARDED_MB * MB, `${longest} bytes`);
  assert.ok(logs > 1, 'it began anew');
  assert.deepEqual(reports, []);
});

test('however large rows are, the log begins anew while they come, and nobody is told of its growth', async (t) => {
  const { fill, reports, logs } = await openLog(t, temporaryPath(t, diskFolder()));
  const longest = await fill(300, LONG);
  // Some 70 MB, and more where the thread has little of a processor; one that did not begin anew would have some 350.
  assert.ok(longest < 250 * MB, `${longest} bytes`);
  assert.ok(logs() > 1, 'it began anew');
  assert.deepEqual(reports, []);
});

test('the log grows while somebody reads for long, which is said once, and is cut back to 64 MB when that has ended', {
  timeout: 300_000,
}, async (t) => {
  const path = temporaryPath(t, diskFolder());
  const { fill, reports } = await openLog(t, path);
  const reader = secondConnection(t, path);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM audit_event').get();
  assert.ok((await fill(140, LONG)) > 140 * MB);
  while (reports.length === 0) await fill(1, LONG);
  assert.deepEqual(reports, [
    'the log of the database grows: another program has been reading for long; wait for it (a backup), or end it',
  ]);
  reader.exec('COMMIT');
  for (let mb = 0; mb < SOON_MB && statSync(`${path}-wal`).size > 64 * MB; mb += 1) {
    await fill(1, LONG);
    await sleep(PAUSE_MS);
  }
  assert.ok(statSync(`${path}-wal`).size <= 64 * MB);
});
