/** Writes files that get their name only when they are complete and on disk; until then they have another name. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncFolder } from '../process/folder.ts';
import { type Fault, InstallationError } from '../process/installation-error.ts';

/** Time without writes after which a killed run's file is deleted (ms): before the next nightly run. */
const LEFT_AFTER_MS = 12 * 3_600_000;
/** Suffix of such a file, after its future name; SQLite may have a journal beside it. */
const PART = /\.part-\d+(-journal)?$/;

/**
 * Lets `make` write a file under a temporary name, and then renames it. Refuses an existing file unless `replace`,
 * and replaces it in one step. `now` in ms. Throws `InstallationError`.
 */
export async function writeNamed<T>(
  path: string,
  replace: boolean,
  now: number,
  make: (part: string) => Promise<T>,
): Promise<T> {
  requireRoom(path, replace);
  return withPart(path, now, async (part) => {
    const made = await make(part);
    syncFile(part);
    takeName(part, path, replace);
    syncFolder(dirname(resolve(path)));
    return made;
  });
}

/** Lets `act` work with a file that is removed afterwards; a killed run's file is removed after half a day. `now` in ms. */
export async function withPart<T>(path: string, now: number, act: (part: string) => Promise<T>): Promise<T> {
  removeLeftParts(path, now);
  const part = `${path}.part-${process.pid}`;
  try {
    return await act(part);
  } finally {
    removePart(part);
  }
}

function requireRoom(path: string, replace: boolean): void {
  if (!statSync(dirname(resolve(path)), { throwIfNoEntry: false })?.isDirectory())
    throw new InstallationError({
      problem: `there is no folder ${dirname(resolve(path))}`,
      remedy: 'make it, or name another file',
    });
  const there = statSync(path, { throwIfNoEntry: false });
  if (there && !there.isFile())
    throw new InstallationError({ problem: `${path} is not a file`, remedy: 'name a file' });
  if (there && !replace) throw new InstallationError(isThere(path));
}

/** A link, unlike renaming, never replaces a file. */
function takeName(part: string, path: string, replace: boolean): void {
  try {
    if (replace) renameSync(part, path);
    else linkSync(part, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (replace) throw error;
    if (code === 'EEXIST' || existsSync(path)) throw new InstallationError(isThere(path));
    // Some file systems have no links.
    renameSync(part, path);
  }
}

function isThere(path: string): Fault {
  return { problem: `${path} exists`, remedy: 'name another file, or use --replace' };
}

/** Removes the file, and SQLite's files beside it. */
function removePart(part: string): void {
  for (const file of [part, `${part}-journal`]) rmSync(file, { force: true });
}

function removeLeftParts(path: string, now: number): void {
  const folder = dirname(resolve(path));
  for (const name of readdirSync(folder))
    if (name.startsWith(`${basename(path)}.part-`)) removeIfLeft(join(folder, name), now);
}

/** Removes a file that a killed run left before it got its name, and no other. `now` in ms. */
export function removeIfLeft(file: string, now: number): void {
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now;
  if (PART.test(file) && now - written > LEFT_AFTER_MS) rmSync(file, { force: true });
}

/** Waits until a file is on disk. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the SHA-256 of a file, in hexadecimal. */
export async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), digest);
  return digest.digest('hex');
}
