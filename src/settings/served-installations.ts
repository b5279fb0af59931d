/**
 * Notes in the keys file the installations that its keys served. So a missing database is noticed, and no new
 * installation begins in its place.
 */
import { readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Fault } from '../process/installation-error.ts';
import { DRAFT, replaceKeysFile } from './keys-file.ts';
import type { KeysPlace } from './root-keys.ts';

const COMMENT = /^# Serves the installation ([0-9a-f]{32})\b/gm;
const OWNER_MAY_WRITE = 0o200;

/**
 * Returns the fault that refuses a new installation because these keys have served one. Null if they have not, or
 * are in no file. Existing installations may share keys. The file was read before.
 */
export function refusalOfNew(place: KeysPlace): Fault | null {
  if (!isInFile(place)) return null;
  const [id] = idsIn(readFileSync(place.keysFile, 'utf8'));
  if (id === undefined) return null;
  const where = place.database.kind === 'file' ? place.database.path : 'the database that VALETKEY_DATABASE_URL names';
  return {
    problem: `the keys in ${place.keysFile} have served the installation ${id}, and there is none in ${where}`,
    remedy:
      'restore its database, mount the volume that it is on, or check VALETKEY_DATABASE_URL; for a new installation name a new keys file in VALETKEY_KEYS_FILE',
  };
}

/**
 * Notes in the keys file that its keys serve an installation, unless it is noted already. Replaces the file
 * atomically, with its mode and owner. Returns a sentence if that fails, else null.
 */
export function noteServed(place: KeysPlace, installation: string): string | null {
  if (!isInFile(place)) return null;
  const why = note(place.keysFile, installation);
  return (
    why &&
    `the keys file ${place.keysFile} cannot record its installation (${why}): if the database is lost, the next start would begin a new installation`
  );
}

function isInFile({ keys, database }: KeysPlace): boolean {
  return keys === null && database.kind !== 'memory';
}

/** Returns the reason of a failure, or null. */
function note(keysFile: string, installation: string): string | null {
  try {
    const path = realpathSync(keysFile); // So that a link is not replaced by a file.
    const text = readFileSync(path, 'utf8');
    if (!idsIn(text).includes(installation)) {
      if ((statSync(path).mode & OWNER_MAY_WRITE) === 0) return 'its mode is read-only';
      const end = text.endsWith('\n') ? '' : '\n';
      replaceKeysFile(
        path,
        text,
        `${text}${end}# Serves the installation ${installation}: no other is begun with these keys.\n`,
      );
    }
    removeDrafts(path);
    return null;
  } catch (error) {
    return wasNoted(keysFile, installation) ? null : (error as Error).message;
  }
}

/** True if another start noted it, which was first or removed this one's draft. */
function wasNoted(keysFile: string, installation: string): boolean {
  try {
    return idsIn(readFileSync(keysFile, 'utf8')).includes(installation);
  } catch {
    return false;
  }
}

/** Removes drafts of killed starts, which hold keys. Only after the note is written: another start may need its draft. */
function removeDrafts(path: string): void {
  const folder = dirname(path);
  const name = basename(path);
  for (const other of readdirSync(folder))
    if (other.startsWith(name) && DRAFT.test(other.slice(name.length))) rmSync(join(folder, other), { force: true });
}

function idsIn(text: string): string[] {
  return [...text.matchAll(COMMENT)].map(([, id]) => id as string);
}
