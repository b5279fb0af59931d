/** Builds the disk of `disk.c`, and says what makes a program use it. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What is recorded: the files whose absolute path begins with `watch`, into the file `into`. */
export type Recording = {
  readonly watch: string;
  readonly into: string;
  /** The process kills itself when it begins to sync after so many records of its own; null is never. */
  readonly killAfter: number | null;
};

const SOURCES = ['disk.c', 'record.c'].map((file) => join(import.meta.dirname, file));
const COMPILER = process.env['CC'] ?? 'cc';

/** Why there is no such disk here, in words; null where there is. */
export function whyNoDisk(): string | null {
  if (process.platform !== 'linux') return 'a slow or recorded disk needs Linux';
  const { status } = spawnSync(COMPILER, ['--version'], { stdio: 'ignore' });
  return status === 0
    ? null
    : `a slow or recorded disk needs a C compiler, and there is no "${COMPILER}": install one, or name it in CC`;
}

/** The variables with which a program finds every sync so much slower (µs). Throws where there is no C compiler. */
export async function slowDisk(delayMicroseconds: number): Promise<Record<string, string>> {
  built ??= build();
  // What the kernel did by itself on a ring, a library in between would not see.
  return { LD_PRELOAD: await built, UV_USE_IO_URING: '0', DISK_SYNC_DELAY_US: String(delayMicroseconds) };
}

/** The same for a disk that also records what reaches it. */
export async function recordedDisk(
  { watch, into, killAfter }: Recording,
  delayMicroseconds: number,
): Promise<Record<string, string>> {
  const recorded = { DISK_WATCH: watch, DISK_RECORD: into, DISK_KILL_AFTER: String(killAfter ?? -1) };
  return { ...(await slowDisk(delayMicroseconds)), ...recorded };
}

/**
 * When a disk fails: a file at `syncOnce` has one `fsync` fail, and goes with it; with one at `writes` all writes fail, and with
 * one at `full` for want of room.
 */
export type Faults = { readonly syncOnce: string; readonly writes: string; readonly full: string };

/** The same for a disk that fails for one file. */
export async function failingDisk(file: string, { syncOnce, writes, full }: Faults): Promise<Record<string, string>> {
  const failing = {
    DISK_FAILING_FILE: file,
    DISK_SYNC_FAILS_ONCE: syncOnce,
    DISK_WRITES_FAIL: writes,
    DISK_IS_FULL: full,
  };
  return { ...(await slowDisk(0)), ...failing };
}

let built: Promise<string> | undefined;

/** Answers the path of the library, which goes with this process. */
async function build(): Promise<string> {
  const reason = whyNoDisk();
  if (reason) throw new Error(reason);
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-disk-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const library = join(folder, 'disk.so');
  const flags = ['-std=gnu11', '-O2', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-fvisibility=hidden'];
  await promisify(execFile)(COMPILER, [...flags, '-o', library, ...SOURCES, '-ldl', '-pthread']);
  return library;
}
