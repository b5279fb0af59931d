/** Checkpoints beside the event loop: what they copy, how they end, and what their failure means. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { type Faults, failingDisk, slowDisk, whyNoDisk } from '../../bench/disk/build.ts';
import type { PassResult } from '../../src/storage/sqlite/file/checkpoint.ts';
import { addAdaAndOne, event, openAsService, saltOfLog, temporaryPath } from '../support/storage.ts';
import { until } from '../support/until.ts';

/** More rows than there are between two checkpoints. */
const ENOUGH = 5000;
const AT_ONCE = 250;
/** Longer than a service waits for anybody once it answers. */
const A_MOMENT_MS = 300;
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

/** What the log that a process left began with. */
function beginning(path: string): bigint {
  const log = openSync(`${path}-wal`, 'r');
  const salt = saltOfLog(log);
  closeSync(log);
  return salt;
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
    (await check()).filter(({ ok }) => !ok),
    [],
  );
  await close();
}

test('what was committed is copied by a thread while the service runs, which is asked for one checkpoint at a time', {
  timeout: 300_000,
}, async (t) => {
  const copied: PassResult[] = [];
  const watch = (thread: Worker) => thread.on('message', (answer) => copied.push(answer));
  process.on('worker', watch);
  t.after(() => process.off('worker', watch));
  const { path, act, close } = await openUsed(t);
  const before = statSync(path).size;
  await act(ENOUGH * 4);
  await until(() => copied.length > 0);
  assert.ok(statSync(path).size > before);
  await close();
  assert.ok(copied.length <= 10, `${copied.length} checkpoints`);
});

test('what is too little for a checkpoint is copied by whoever closes last', async (t) => {
  const { path, act, close } = await openUsed(t);
  const before = statSync(path).size;
  await act(AT_ONCE);
  assert.equal(statSync(path).size, before);
  await close();
  assert.ok(statSync(path).size > before && !existsSync(`${path}-wal`));
});

test('however much is committed, no commit copies the log: its sync could fail unseen, and requests would wait', async (t) => {
  const { store, path, close } = await openUsed(t);
  const before = statSync(path).size;
  const detail = 'x'.repeat(100_000);
  for (let act = 0; act < 100; act += 1) await store.recordDenial({ ...event('consent_denied'), detail });
  assert.ok(statSync(`${path}-wal`).size > 10 * MB);
  assert.equal(statSync(path).size, before);
  await close();
});

test('a process whose checkpoints had a thread closes its database and ends by itself', {
  timeout: 300_000,
}, async (t) => {
  const path = temporaryPath(t);
  const [program, ...args] = [...NODE, CHILD, path, String(ENOUGH)];
  const { code, acknowledged, complaints } = await outcome(spawn(program, args));
  assert.deepEqual([code, complaints], [0, '']);
  assert.ok(!existsSync(`${path}-wal`), 'it was closed');
  await assertKept(path, acknowledged);
});

const LIMITED = ['-c', 'ulimit -n 128 && exec "$0" "$@"', ...NODE] as const;

for (const how of ['exhausted', 'threadless'])
  test(`where no thread can begin (${how}), the log is copied all the same, and it is said once`, {
    timeout: 300_000,
  }, async (t) => {
    const path = temporaryPath(t);
    const child = spawn('sh', [...LIMITED, CHILD, path, String(ENOUGH * 8), how, 'stopped']);
    const ended = outcome(child);
    // Which takes several checkpoints.
    await until(() => sizeOf(path) > 2 * MB || child.exitCode !== null);
    assert.equal(child.exitCode, null, 'it was copied before the end');
    child.stdin.end();
    const { code, acknowledged, complaints } = await ended;
    assert.equal(code, 0, complaints);
    assert.match(complaints, /^requests wait while the log of the database is copied, .*\(.*\)\n$/);
    await assertKept(path, acknowledged);
  });

function faultsOf(path: string): Faults {
  return { syncOnce: `${path}-sync`, writes: `${path}-writes`, full: `${path}-full` };
}

/** Runs the child on a disk that fails for one file from its first acts on: while it acts, or at the latest when it closes. */
async function onFailingDisk(
  t: TestContext,
  { ending = '', fails = 'syncOnce' as keyof Faults, acts = ENOUGH * 20, how = [] as readonly string[] },
) {
  const path = temporaryPath(t);
  const faults = faultsOf(path);
  const env = { ...process.env, ...(await failingDisk(path + ending, faults)) };
  const child = spawn('sh', [...LIMITED, CHILD, path, String(acts), 'attended', ...how], { env });
  const ended = outcome(child);
  await once(child.stdout, 'data'); // Opening the database syncs as well.
  writeFileSync(faults[fails], '');
  child.stdin.on('error', () => {}).end(); // It may have ended already.
  return { path, ...(await ended) };
}

const needsDisk = { skip: whyNoDisk() ?? false, timeout: 300_000 };

for (const [where, by, how] of [
  // A commit with which the log begins anew syncs it as well.
  ['the log, in a thread', /(checkpoint|write-queue)\.ts/, { ending: '-wal' }],
  ['the database file, in a thread', /checkpoint\.ts/, {}],
  ['the database file, where no thread can begin', /checkpoint\.ts/, { how: ['exhausted'] }],
  ['the database file, while it is closed', /checkpoint\.ts/, { acts: AT_ONCE }],
] as const)
  test(`Promise 1: a sync of ${where}, that fails once ends the process`, needsDisk, async (t) => {
    const { path, code, acknowledged, complaints } = await onFailingDisk(t, how);
    assert.equal(code, 3, complaints);
    assert.match(complaints, /disk I\/O error\n/);
    assert.match(complaints, by);
    await assertKept(path, acknowledged);
  });

test(
  'as long as the database file cannot be written, all stays in its log, and it is said once',
  needsDisk,
  async (t) => {
    const outcome = await onFailingDisk(t, { fails: 'writes', acts: ENOUGH * 4 });
    assert.equal(outcome.code, 0);
    assert.equal(outcome.complaints.match(/stays in the log .* cannot be written \(disk I\/O error\)\n/g)?.length, 1);
    assert.ok(existsSync(`${outcome.path}-wal`));
    await assertKept(outcome.path, outcome.acknowledged);
  },
);

/** The path of a database as a process left it that was killed after some acts. */
async function leftBehind(t: TestContext): Promise<string> {
  const { path, act, close } = await openUsed(t);
  await act(AT_ONCE);
  const left = temporaryPath(t);
  mkdirSync(dirname(left));
  for (const ending of ['', '-wal']) copyFileSync(path + ending, left + ending);
  await close();
  return left;
}

test('Promise 1: what a killed process left is in the database file before anybody is answered', async (t) => {
  const left = await leftBehind(t);
  const before = statSync(left).size;
  const salt = beginning(left);
  const opened = await openAsService(left);
  assert.ok(statSync(left).size > before);
  assert.notEqual(beginning(left), salt, 'the log began anew');
  await opened.close();
  await assertKept(left, AT_ONCE);
});

test('Promise 1: a sync that fails once while a command closes the database is told, too', needsDisk, async (t) => {
  const left = await leftBehind(t);
  const { code, complaints } = await onFailedDisk(left, 'syncOnce', AT_ONCE, 'command');
  assert.equal(code, 3, complaints);
  assert.ok(statSync(`${left}-wal`).size > 0, 'and what was left is still there');
  await assertKept(left, AT_ONCE * 2);
});

test('what SQLite cannot copy for a command that only read, the next start copies', needsDisk, async (t) => {
  const left = await leftBehind(t);
  const { code, complaints } = await onFailedDisk(left, 'syncOnce', 0, 'command');
  assert.deepEqual([code, complaints], [0, '']);
  assert.ok(statSync(`${left}-wal`).size > 0, 'what was left is still there');
  const salt = beginning(left);
  const opened = await openAsService(left);
  assert.notEqual(beginning(left), salt, 'the log began anew');
  await opened.close();
  await assertKept(left, AT_ONCE);
});

test('a command that only read leaves the log to the service, and one that wrote does not', async (t) => {
  const { path, act, close } = await openUsed(t);
  await act(AT_ONCE);
  const before = statSync(path).size;
  const reading = await openAsService(path, { role: 'command', durability: 'full' });
  await reading.store.listClients(null, 10);
  await reading.close();
  assert.equal(statSync(path).size, before);
  const writing = await openAsService(path, { role: 'command', durability: 'full' });
  await writing.store.recordDenial(event('consent_denied'));
  await writing.close();
  assert.ok(statSync(path).size > before);
  await close();
});

test('whoever reads only for a moment while a service starts is waited for', async (t) => {
  const left = await leftBehind(t);
  const reading = `const reader = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM audit_event').get();
    process.stdout.write('reading');
    setTimeout(() => reader.exec('COMMIT'), ${A_MOMENT_MS});`;
  const reader = spawn(process.execPath, ['-e', reading, left]);
  await once(reader.stdout, 'data');
  const salt = beginning(left);
  const opened = await openAsService(left);
  assert.notEqual(beginning(left), salt, 'the log began anew');
  await opened.close();
});

test('whoever copies the log while a service starts is waited for', needsDisk, async (t) => {
  const left = await leftBehind(t);
  const copying = `const copier = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
    require('node:fs').writeSync(1, 'copying');
    copier.exec('PRAGMA wal_checkpoint');
    process.stdin.on('end', () => copier.close()).resume();`;
  const env = { ...process.env, ...(await slowDisk(A_MOMENT_MS * 1000)) };
  const copier = spawn(process.execPath, ['-e', copying, left], { env });
  t.after(() => copier.stdin.end());
  await once(copier.stdout, 'data');
  const salt = beginning(left);
  const opened = await openAsService(left);
  assert.notEqual(beginning(left), salt, 'the log began anew');
  await opened.close();
});

test('where somebody reads while a service starts, what was left stays in the log, and it is said', async (t) => {
  const left = await leftBehind(t);
  const reader = new DatabaseSync(left);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM audit_event').get();
  const reports: string[] = [];
  const opened = await openAsService(left, { report: (sentence) => void reports.push(sentence) });
  assert.match(
    String(reports),
    /^another program reads the database or copies its log, so that what was left there stays;/,
  );
  reader.close();
  await opened.close();
  await assertKept(left, AT_ONCE);
});

/** Runs the child on what was left behind, on a disk that fails from the beginning. */
async function onFailedDisk(left: string, fails: keyof Faults, acts = AT_ONCE, ...how: string[]) {
  const faults = faultsOf(left);
  writeFileSync(faults[fails], '');
  const env = { ...process.env, ...(await failingDisk(left, faults)) };
  const [program, ...args] = [...NODE, CHILD, left, String(acts), ...how];
  return outcome(spawn(program, args, { env }));
}

test('on a full disk what was left stays in the log, and it is said', needsDisk, async (t) => {
  const left = await leftBehind(t);
  const { code, acknowledged, complaints } = await onFailedDisk(left, 'full');
  assert.equal(code, 0, complaints);
  assert.match(complaints, /^the disk is full: what was left in the log of the database stays there\n/);
  await assertKept(left, AT_ONCE + acknowledged);
});

test('Promise 1: where what was left cannot be brought onto the disk, no service starts', needsDisk, async (t) => {
  const left = await leftBehind(t);
  const { code, complaints } = await onFailedDisk(left, 'syncOnce');
  assert.equal(code, 3, complaints);
  assert.match(complaints, /disk I\/O error\n.*checkpoint\.ts/s);
  assert.ok(statSync(`${left}-wal`).size > 0, 'and what was left is still there');
});

test('what a thread that ends was told to copy is copied by the event loop', { timeout: 300_000 }, async (t) => {
  const end = (thread: Worker) => void thread.terminate();
  process.on('worker', end);
  t.after(() => process.off('worker', end));
  const { path, act, close } = await openUsed(t);
  for (let size = statSync(path).size; statSync(path).size <= size; ) await act(ENOUGH);
  await close();
});
