/** Backups in a folder of their own, named by when they were made, of which the newest are kept. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../process/folder.ts';

/** The names that are given here; no other file is ever removed. */
const NAME = /^valetkey-\d{8}T\d{9}Z\.db(\.gpg)?$/;

/** A file for a backup that is made at `madeAt` (ms), in a folder that is made if it is missing (mode 0700). */
export function copyIn(folder: string, madeAt: number, isEncrypted: boolean): string {
  makeFolder(folder);
  const time = new Date(madeAt).toISOString().replaceAll(/[-:.]/g, '');
  return join(folder, `valetkey-${time}.db${isEncrypted ? '.gpg' : ''}`);
}

/** Removes all but the newest copies, and returns those that went. */
export function removeOlder(folder: string, keep: number): string[] {
  const copies = readdirSync(folder).filter((name) => NAME.test(name));
  const older = copies
    .sort()
    .slice(0, -keep)
    .map((name) => join(folder, name));
  for (const file of older) rmSync(file);
  return older;
}
