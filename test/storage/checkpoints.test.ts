/** Checkpoints beside the event loop: what they copy, how they end, and what their failure means. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { failingDisk, whyNoDisk } from '../../bench/disk/build.ts';
import type { Passed } from '../../src/storage/sqlite/checkpoint.ts';
import { addAdaAndOne, event, openAsService, temporaryPath } from '../support/storage.ts';

/** More rows than there are between two checkpoints. */
const ENOUGH = 5000;
const AT_ONCE = 250;
const MB = 2 ** 20;
const CHILD = new URL('acts.child.ts', import.meta.url).pathname;
const NODE = [process.execPath, '--disable-warning=ExperimentalWarning'] as const;

async function openUsed(t: TestContext) {
  const path = temporaryPath(t);
  const opened = await openAsService(path);
  await addAdaAndOne(opened);
  const act = async (times: number) => {
    for (let done = 0; done < times; done += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, () => opened.store.recordDenial(event('consent_denied'))));
  };
  return { ...opened, path, act };
}

/** The size of a file in bytes, 0 while there is none. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Waits until it holds; the test's own time limit ends it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** How a process ended, and what it printed. */
async function outcome(child: ChildProcess) {
  const said = [child.stdout, child.stderr].map((stream) => text(stream as NonNullable<typeof stream>));
  const [code] = await once(child, 'close');
  const [printed = '', complaints = ''] = await Promise.all(said);
  return { code, acknowledged: Number(printed.trimEnd().split('\n').at(-1)), complaints };
}

/** Everything that was acknowledged is there, and the database is whole. */
async function assertKept(path: string, acknowledged: number): Promise<void> {
  const { store, check, close } = await openAsService(path);
  const events = await store.listAuditEvents({ action: 'consent_denied', limit: 1_000_000 });
  assert.ok(events.length >= acknowledged, `${events.length} of ${acknowledged}`);
  assert.deepEqual(
    check().filter(({ ok }) => !ok),
    [],
  );
  await close();
}

test('what was committed is copied by a thread while the service runs', { timeout: 20_000 }, async (t) => {
  const copied: Passed[] = [];
  const watch = (thread: Worker) => thread.on('message', (answer) => answer?.pages && copied.push(answer));
  process.on('worker', watch);
  t.after(() => process.off('worker', watch));
  const { path, act, close } = await openUsed(t);
  const before = statSync(path).size;
  await act(ENOUGH);
  await until(() => copied.length > 0);
  assert.ok(statSync(path).size > before);
  await close();
});

test('what is too little for a checkpoint is copied by whoever closes last', async (t) => {
  const { path, act, close } = await openUsed(t);
  const before = statSync(path).size;
  await act(AT_ONCE);
  assert.equal(statSync(path).size, before);
  await close();
  assert.ok(statSync(path).size > before && !existsSync(`${path}-wal`));
});

test('a process whose checkpoints had a thread closes its database and ends by itself', {
  timeout: 30_000,
}, async (t) => {
  const path = temporaryPath(t);
  const [program, ...args] = [...NODE, CHILD, path, String(ENOUGH)];
  const { code, acknowledged, complaints } = await outcome(spawn(program, args));
  assert.deepEqual([code, complaints], [0, '']);
  assert.ok(!existsSync(`${path}-wal`), 'it was closed');
  await assertKept(path, acknowledged);
});

test('where no thread can begin, the log is copied all the same', { timeout: 30_000 }, async (t) => {
  const path = temporaryPath(t);
  const limited = ['-c', 'ulimit -n 128 && exec "$0" "$@"', ...NODE, CHILD, path, String(ENOUGH * 8), 'exhausted'];
  const child = spawn('sh', limited);
  const ended = outcome(child);
  await until(() => sizeOf(path) > MB || child.exitCode !== null);
  assert.equal(child.exitCode, null, 'it was copied before the end');
  const { code, acknowledged, complaints } = await ended;
  assert.deepEqual([code, complaints], [0, '']);
  await assertKept(path, acknowledged);
});

for (const [which, isNow] of [
  ['the first checkpoint', (path: string) => sizeOf(`${path}-wal`) > 0],
  ['a later checkpoint', (path: string) => sizeOf(path) > MB],
] as const)
  test(`Promise 1: a sync that fails once, in ${which}, ends the process, and nothing that was acknowledged is lost`, {
    skip: whyNoDisk() ?? false,
    timeout: 30_000,
  }, async (t) => {
    const path = temporaryPath(t);
    const fault = `${path}-fault`;
    const env = { ...process.env, ...(await failingDisk(fault)) };
    const [program, ...args] = [...NODE, CHILD, path, String(ENOUGH * 20)];
    const child = spawn(program, args, { env });
    const ended = outcome(child);
    await once(child.stdout, 'data'); // Opening the database syncs beside as well.
    await until(() => isNow(path) || child.exitCode !== null);
    writeFileSync(fault, '');
    const { code, acknowledged, complaints } = await ended;
    assert.equal(code, 3, complaints);
    assert.match(complaints, /disk I\/O error\n.*checkpoint\.ts/s);
    await assertKept(path, acknowledged);
  });
