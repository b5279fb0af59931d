/**
 * The power fails while the thread beside copies the log into the database file, or just after the log began anew. The long
 * version is `VALETKEY_ROUNDS=20 node --test test/power/checkpoint-cuts.test.ts`; `VALETKEY_SEED` draws other lots.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { recordedDisk, whyNoDisk } from '../../bench/disk/build.ts';
import { lots, pick, rounds, SEED } from '../instances/effort.ts';
import { openAsService, temporaryPath } from '../support/storage.ts';
import { type Contents, Disk, layOut } from './disk.ts';
import { readTrace, type TraceRecord } from './trace.ts';

/** Enough for some checkpoints. */
const TRANSITIONS = 30_000;
const CUTS = 40;
const FEWEST_COPIED = 200;
const SYNC_US = 300;
const CHILD = new URL('transitions.child.ts', import.meta.url).pathname;
const UNSYNCED = { fdatasync: async () => {}, fsync: async () => {} };

/** A transition that was answered when the recording was so long (bytes). */
type Answered = { readonly id: string; readonly generation: number; readonly position: number };

const needsDisk = { skip: whyNoDisk() ?? false, timeout: 300_000 };
const ROUNDS = rounds(1);

for (let seed = SEED; seed < SEED + ROUNDS; seed += 1)
  test(`Promise 1: a power cut while a checkpoint runs costs no answer (seed ${seed})`, needsDisk, async (t) => {
    const { records, answered } = await recordLife(t);
    const copied = copiesIn(records);
    assert.ok(copied.length > FEWEST_COPIED, `${copied.length} pages were copied`);
    assertSyncedBeforeCopied(records, copied);
    const draw = lots(seed);
    const moments = Array.from({ length: CUTS }, () => (draw(4) ? pick(draw, copied) : draw(records.length)) + draw(4));
    const cutsAt = Map.groupBy(moments, (moment) => Math.min(moment, records.length - 1));
    const disk = new Disk();
    for (const [moment, record] of records.entries()) {
      disk.play(record);
      for (const _ of cutsAt.get(moment) ?? []) {
        const faults = await judge(t, disk.cut(draw), answered, record.position);
        assert.deepEqual(faults, [], `power cut at record ${moment}`);
      }
    }
  });

/** Records a service's store at work, until it is killed. */
async function recordLife(t: TestContext): Promise<{ records: TraceRecord[]; answered: Answered[] }> {
  const path = temporaryPath(t);
  const folder = dirname(dirname(path));
  const trace = join(folder, 'trace');
  const answers = join(folder, 'answers');
  const disk = await recordedDisk({ watch: `${dirname(path)}/`, into: trace, killAfter: null }, SYNC_US);
  const args = ['--disable-warning=ExperimentalWarning', CHILD, path, trace, answers, String(TRANSITIONS)];
  await once(spawn(process.execPath, args, { env: { ...process.env, ...disk }, stdio: 'inherit' }), 'exit');
  const lines = readFileSync(answers, 'utf8').trimEnd().split('\n');
  const answered = lines.map((line) => {
    const [id = '', generation, position] = line.split(' ');
    return { id, generation: Number(generation), position: Number(position) };
  });
  return { records: [...readTrace(readFileSync(trace))], answered };
}

/** The number of the file that was opened last under a name. */
function fileOf(records: readonly TraceRecord[], wanted: string): bigint | undefined {
  return records.findLast(({ kind, name }) => kind === 'open' && name === wanted)?.file;
}

/**
 * Each page that was copied was in the log, and a sync of the log began behind it and ended before it was copied: or a power
 * cut could leave a newer page in the database file than the log has. And the log began anew, over what was copied.
 */
function assertSyncedBeforeCopied(records: readonly TraceRecord[], copied: readonly number[]): void {
  const log = fileOf(records, 'valetkey.db-wal');
  const writtenAt = new Map<string, number>();
  const begunAt = new Map<number, number>();
  let syncedUpTo = -1;
  let begins = 0;
  const copies = new Set(copied);
  for (const [number, { kind, file, value, data }] of records.entries()) {
    if (copies.has(number)) {
      const written = writtenAt.get(data.toString('latin1'));
      assert.ok(written !== undefined && written < syncedUpTo, `record ${number} is copied before the log is synced`);
    }
    if (file !== log) continue;
    if (kind === 'write') writtenAt.set(data.toString('latin1'), number);
    if (kind === 'write' && value === 0 && number > (copied[0] ?? 0)) begins += 1;
    if (kind === 'syncBegins') begunAt.set(value, number);
    if (kind === 'synced') syncedUpTo = Math.max(syncedUpTo, begunAt.get(value) ?? -1);
  }
  assert.ok(begins > 0, 'the log never began anew');
}

/** The numbers of the records by which pages reached the database file since there is a log. */
function copiesIn(records: readonly TraceRecord[]): number[] {
  const file = fileOf(records, 'valetkey.db');
  const began = records.findIndex(({ kind, name }) => kind === 'open' && name === 'valetkey.db-wal');
  return [...records.keys()].filter(
    (number) => number > began && records[number]?.kind === 'write' && records[number]?.file === file,
  );
}

/** What is not true of what a cut left, in words. */
async function judge(
  t: TestContext,
  left: Contents,
  answered: readonly Answered[],
  position: number,
): Promise<string[]> {
  const path = temporaryPath(t);
  layOut(dirname(path), left);
  const opened = await openAsService(path, { files: UNSYNCED });
  try {
    const wrong = (await opened.check()).filter(({ ok }) => !ok);
    if (wrong.length > 0) return [JSON.stringify(wrong)];
    const grants = await opened.store.listGrants({ limit: TRANSITIONS });
    const generations = new Map(grants.map(({ grant }) => [grant.id.toString('hex'), grant.generation]));
    return answered
      .filter((one) => one.position <= position && !(Number(generations.get(one.id)) >= one.generation))
      .map(({ id, generation }) => `grant ${id} is at ${generations.get(id)}, and ${generation} was answered`);
  } finally {
    await opened.close();
  }
}
