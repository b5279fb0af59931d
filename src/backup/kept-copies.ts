/** Manages a folder of backups, named by the time they were made; keeps the newest. */
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../process/folder.ts';
import { removeIfLeft } from './file-named-when-complete.ts';

/** Names given here; no other file is ever removed. */
const NAME = /^valetkey-\d{8}T\d{9}Z\.db(\.gpg)?$/;

/** Returns the name of a backup made at `madeAt` (ms), in a folder that is created if missing (mode 0700). */
export function copyIn(folder: string, madeAt: number, isEncrypted: boolean): string {
  makeFolder(folder);
  const time = new Date(madeAt).toISOString().replaceAll(/[-:.]/g, '');
  return join(folder, `valetkey-${time}.db${isEncrypted ? '.gpg' : ''}`);
}

/**
 * Removes all copies except the new one and the newest others, `keep` in all, and returns the removed ones. The new
 * one may have an older name, after the clock stepped back. Removes the leftovers of killed runs, too. `now` in ms.
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
