/** The write-ahead log: it begins anew before it is long, and what a long reader made of it is given back. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { event, openAsService, secondConnection, temporaryPath } from '../support/storage.ts';

const MB = 2 ** 20;
/** An act with this takes four pages of the log, and more with its indexes. */
const DETAIL = 'x'.repeat(12_000);

async function openLog(path: string) {
  const { store, close } = await openAsService(path);
  /** Writes so many MB of rows, a few in each commit. */
  const fill = async (mb: number): Promise<number> => {
    let longest = 0;
    for (let written = 0; written < mb * MB; written += 16 * DETAIL.length) {
      const acts = Array.from({ length: 16 }, () => store.recordDenial({ ...event('consent_denied'), detail: DETAIL }));
      await Promise.all(acts);
      longest = Math.max(longest, statSync(`${path}-wal`).size);
    }
    return longest;
  };
  return { fill, close };
}

test('under lasting load the log stays at a few MB', async (t) => {
  const path = temporaryPath(t);
  const { fill, close } = await openLog(path);
  t.after(close);
  const longest = await fill(40);
  assert.ok(longest < 8 * MB, `${longest} bytes`);
});

test('the log grows while another process reads for long, and is cut back to 64 MB when that has ended', async (t) => {
  const path = temporaryPath(t);
  const { fill, close } = await openLog(path);
  t.after(close);
  const reader = secondConnection(t, path);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM audit_event').get();
  assert.ok((await fill(70)) > 70 * MB);
  reader.exec('COMMIT');
  await fill(1);
  assert.ok(statSync(`${path}-wal`).size <= 64 * MB);
});
