/** Backups in a folder of their own, named by when they were made, of which the newest are kept. */
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../process/folder.ts';
import { removeIfLeft } from './named-file.ts';

/** The names that are given here; no other file is ever removed. */
const NAME = /^valetkey-\d{8}T\d{9}Z\.db(\.gpg)?$/;

/** A file for a backup that is made at `madeAt` (ms), in a folder that is made if it is missing (mode 0700). */
export function copyIn(folder: string, madeAt: number, isEncrypted: boolean): string {
  makeFolder(folder);
  const time = new Date(madeAt).toISOString().replaceAll(/[-:.]/g, '');
  return join(folder, `valetkey-${time}.db${isEncrypted ? '.gpg' : ''}`);
}

/**
 * Removes all copies but the one just made and the newest others, `keep` in all, and returns those that went. By its name the
 * one just made may be older: the clock may have stepped back. What killed runs left goes as well. `now` in ms.
 */
export function removeOlder(made: string, keep: number, now: number): string[] {
  const folder = dirname(made);
  const names = readdirSync(folder);
  const others = names.filter((name) => NAME.test(name) && name !== basename(made)).sort();
  const older = others.slice(0, Math.max(0, others.length - keep + 1)).map((name) => join(folder, name));
  for (const file of older) rmSync(file);
  for (const name of names) if (NAME.test(name.split('.part-', 1)[0] as string)) removeIfLeft(join(folder, name), now);
  return older;
}
