/** The disks that tests and benches put under the program: the slow one, and the model of one whose power fails. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { recordedDisk, slowDisk, whyNoDisk } from '../../bench/disk/build.ts';
import { lots } from '../instances/effort.ts';
import { Disk } from './disk.ts';
import { FileOnDisk } from './file-on-disk.ts';
import { readTrace, type TraceRecord } from './trace.ts';

const DELAY_MS = 30;
const CUTS = 400;
const CHILD = fileURLToPath(new URL('./syncs.child.ts', import.meta.url));
const REUSED = fileURLToPath(new URL('./reused.child.ts', import.meta.url));

test('a slow disk takes its time at every sync, however it is asked', { skip: whyNoDisk() ?? false }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const env = { ...process.env, ...(await slowDisk(DELAY_MS * 1000)) };
  const args = ['--disable-warning=ExperimentalWarning', CHILD, folder];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  for (const [way, took] of Object.entries(JSON.parse(stdout) as Record<string, number>))
    assert.ok(took >= DELAY_MS, `${way} took ${took} ms`);
});

test('what is written where a recorded file was open before is not recorded', {
  skip: whyNoDisk() ?? false,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [watch, into] = [`${join(folder, 'recorded')}/`, join(folder, 'trace')];
  mkdirSync(watch);
  const env = { ...process.env, ...(await recordedDisk({ watch, into, killAfter: null }, 0)) };
  await promisify(execFile)(process.execPath, [REUSED, watch, join(folder, 'socket')], { env });
  const written = [...readTrace(readFileSync(into))].filter(({ kind }) => kind === 'write');
  assert.deepEqual(
    written.map(({ data }) => data.toString()),
    ['recorded'],
  );
});

/** What cuts leave of a file of three sectors of "a", with these changes after its last sync; each outcome once. */
function outcomes(...changes: { at: number; data: Buffer | null }[]): Set<string> {
  const file = new FileOnDisk(Buffer.alloc(1536, 'a'));
  for (const change of changes) file.change(change);
  const draw = lots(1);
  // One letter stands for a sector.
  const sectors = (held: Buffer) => Array.from({ length: held.length / 512 }, (_, n) => letter(held, n)).join('');
  return new Set(Array.from({ length: CUTS }, () => sectors(file.cut(draw))));
}

function letter(held: Buffer, sector: number): string {
  const bytes = new Set(held.subarray(sector * 512, sector * 512 + 512));
  assert.ok(bytes.size <= 3, 'a sector is old, new, or whatever was there');
  const [byte = 0] = bytes;
  return 'abc\0'.includes(String.fromCharCode(byte)) ? String.fromCharCode(byte || 48) : '?';
}

test('a write that is not synced is lost, there, or torn at a sector', () => {
  assert.deepEqual([...outcomes({ at: 0, data: Buffer.alloc(1024, 'b') })].sort(), ['aaa', 'aba', 'baa', 'bba']);
});

test('of two writes, the later one may be there without the earlier one', () => {
  const found = outcomes({ at: 0, data: Buffer.alloc(512, 'b') }, { at: 1024, data: Buffer.alloc(512, 'c') });
  assert.deepEqual([...found].sort(), ['aaa', 'aac', 'baa', 'bac']);
});

test('a file that grew has its old size, its new one, or one between, and what was not written is zeros or anything', () => {
  const found = outcomes({ at: 1536, data: Buffer.alloc(1024, 'b') });
  for (const possible of ['aaa', 'aaab', 'aaabb', 'aaa0b', 'aaa?b', 'aaab0']) assert.ok(found.has(possible), possible);
  for (const held of found) assert.match(held, /^aaa[b0?]{0,2}$/);
});

test('a file that was cut short is so, is not, or is on the way, which some file systems go from the end', () => {
  const found = outcomes({ at: 512, data: null });
  for (const possible of ['a', 'aa', 'aaa', 'a0a']) assert.ok(found.has(possible), possible);
  for (const held of found) assert.match(held, /^a[a0]{0,2}$/);
});

test('a sync covers what was written before it began, once it has ended, and a name when its folder was synced', () => {
  const disk = new Disk();
  const play = (kind: TraceRecord['kind'], some: Partial<TraceRecord> = {}) =>
    disk.play({ kind, position: 1, process: 1, file: 7n, value: 0, name: '', data: Buffer.alloc(0), ...some });
  const left = () => {
    const draw = lots(1);
    return new Set(Array.from({ length: CUTS }, () => disk.cut(draw).get('one')?.toString() ?? 'no file'));
  };
  play('open', { name: 'one', value: 1 });
  play('write', { data: Buffer.from('x') });
  play('syncBegins', { value: 1 });
  play('write', { data: Buffer.from('y') });
  assert.deepEqual(
    [...left()].map((held) => held.length <= 1 || held).filter((is) => is !== true),
    ['no file'],
  );
  play('synced', { value: 1 });
  assert.deepEqual([...left()].sort(), ['no file', 'x', 'y']);
  play('syncBegins', { file: 1n, value: 2 });
  play('synced', { file: 1n, value: 2 });
  assert.deepEqual([...left()].sort(), ['x', 'y']);
  play('unlink', { file: 0n, name: 'one' });
  assert.deepEqual([...left()].sort(), ['no file', 'x', 'y']);
});
