/**
 * The power fails while a service starts, and copies into the database file what a killed one left in the log. The long version
 * is `VALETKEY_ROUNDS=20 node --test test/power/start-cuts.test.ts`; `VALETKEY_SEED` draws other lots.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { recordedDisk, whyNoDisk } from '../../bench/disk/build.ts';
import { lots, rounds, SEED } from '../instances/effort.ts';
import { addAdaAndOne, event, openAsService, sampleGrant } from '../support/storage.ts';
import { type Contents, Disk, layOut } from './disk.ts';
import { folderInMemory } from './remains.ts';
import { readTrace, type TraceRecord } from './trace.ts';

/** Each is a commit, so that a part of the log would be another, older database. */
const GRANTS = 40;
/** Cuts behind each page that was written, of which there are many, and behind anything else. */
const [CUTS_BEHIND_PAGE, CUTS_BEHIND_OTHER] = [2, 8];
const CHILD = new URL('start.child.ts', import.meta.url).pathname;
const UNSYNCED = { fdatasync: async () => {}, fsync: async () => {} };

const needsDisk = { skip: whyNoDisk() ?? false, timeout: 300_000 };
const ROUNDS = rounds(1);

for (let seed = SEED; seed < SEED + ROUNDS; seed += 1)
  test(
    `Promise 1: a power cut while a start copies what was left costs no answer (seed ${seed})`,
    needsDisk,
    async (t) => {
      const left = await whatIsLeftByAKill(t);
      const records = await recordStart(t, left);
      const copied = firstCopy(records);
      assert.ok(copied > 0, 'nothing was copied');
      const draw = lots(seed);
      const path = databasePath(t);
      const disk = new Disk(left);
      for (const [moment, record] of records.entries()) {
        disk.play(record);
        const cuts = moment < copied ? 0 : record.kind === 'write' ? CUTS_BEHIND_PAGE : CUTS_BEHIND_OTHER;
        for (let cut = 0; cut < cuts; cut += 1)
          assert.equal(await judge(path, disk.cut(draw)), 'whole', `power cut at record ${moment}, ${record.kind}`);
      }
    },
  );

function databasePath(t: TestContext): string {
  return join(folderInMemory(t), 'data', 'valetkey.db');
}

/** What is on disk, safely, when a service with so many commits in its log is killed. */
async function whatIsLeftByAKill(t: TestContext): Promise<Contents> {
  const path = databasePath(t);
  const opened = await openAsService(path);
  await addAdaAndOne(opened);
  for (let grants = 0; grants < GRANTS; grants += 1)
    await opened.store.issueGrant(sampleGrant(), event('consent_allowed'));
  const folder = dirname(path);
  const names = readdirSync(folder).filter((name) => !name.endsWith('-shm'));
  const left = new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
  await opened.close();
  return left;
}

/** Records a service that starts on it, and is killed when it is ready. */
async function recordStart(t: TestContext, left: Contents): Promise<TraceRecord[]> {
  const path = databasePath(t);
  const trace = join(dirname(dirname(path)), 'trace');
  layOut(dirname(path), left);
  const disk = await recordedDisk({ watch: `${dirname(path)}/`, into: trace, killAfter: null }, 0);
  const args = ['--disable-warning=ExperimentalWarning', CHILD, path];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...disk }, stdio: 'inherit' });
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
  return [...readTrace(readFileSync(trace))];
}

/** The number of the record by which the first page reached the database file; the log is another file. */
function firstCopy(records: readonly TraceRecord[]): number {
  const file = records.find(({ kind, name }) => kind === 'open' && name === 'valetkey.db')?.file;
  return records.findIndex((record) => record.kind === 'write' && record.file === file);
}

/** "whole" if what a cut left is a whole database with every grant, or what is wrong with it. */
async function judge(path: string, left: Contents): Promise<string> {
  layOut(dirname(path), left);
  try {
    const opened = await openAsService(path, { files: UNSYNCED });
    try {
      const wrong = (await opened.check()).filter(({ ok }) => !ok);
      const grants = await opened.store.listGrants({ limit: 2 * GRANTS });
      return wrong.length > 0 ? JSON.stringify(wrong) : grants.length === GRANTS ? 'whole' : `${grants.length} grants`;
    } finally {
      await opened.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}
