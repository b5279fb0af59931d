/** Which installations the keys of a file have served: comments in it, so that none is begun anew while a database is away. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../process/folder.ts';
import type { KeysPlace } from './root-keys.ts';

const COMMENT = /^# Serves the installation ([0-9a-f]{32})\b/gm;
const OWNER_MAY_WRITE = 0o200;
/** What a draft's name has behind that of the keys file. */
const DRAFT = /^\.[0-9a-f]{16}\.new$/;

/**
 * The sentence that refuses to begin a new installation, since the keys have served one: of two that share keys each is
 * served, and none is begun. Null for keys that never served, or are in no file. The file was read before.
 */
export function refusalOfNew(place: KeysPlace): string | null {
  if (!isInFile(place)) return null;
  const [id] = idsIn(readFileSync(place.keysFile, 'utf8'));
  if (id === undefined) return null;
  const where = place.database.kind === 'file' ? place.database.path : 'the database that VALETKEY_DATABASE_URL names';
  return `the keys in ${place.keysFile} have served the installation ${id}, and there is none in ${where}: restore its database, mount the volume that it is on, or check VALETKEY_DATABASE_URL; for a new installation name a new keys file in VALETKEY_KEYS_FILE`;
}

/**
 * Notes in the keys file that its keys serve an installation, unless that is there already. The file appears whole or not at
 * all, with its mode and owner. Answers a sentence when it cannot be noted, else null.
 */
export function noteServed(place: KeysPlace, installation: string): string | null {
  if (!isInFile(place)) return null;
  const why = note(place.keysFile, installation);
  return (
    why &&
    `the keys file ${place.keysFile} cannot say whom it serves (${why}): without its database a start would begin a new installation`
  );
}

function isInFile({ keys, database }: KeysPlace): boolean {
  return keys === null && database.kind !== 'memory';
}

/** Answers why not, or null. */
function note(keysFile: string, installation: string): string | null {
  try {
    const path = realpathSync(keysFile); // Or a link would be replaced by a file.
    const text = readFileSync(path, 'utf8');
    if (!idsIn(text).includes(installation)) {
      if ((statSync(path).mode & OWNER_MAY_WRITE) === 0) return 'its mode is read-only';
      const end = text.endsWith('\n') ? '' : '\n';
      replace(
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

/** By another start, which had this one's draft removed or was first. */
function wasNoted(keysFile: string, installation: string): boolean {
  try {
    return idsIn(readFileSync(keysFile, 'utf8')).includes(installation);
  } catch {
    return false;
  }
}

/** A start that was killed left its draft, with the keys in it. Only once the note is there: another start may be at it. */
function removeDrafts(path: string): void {
  const [folder, name] = [dirname(path), basename(path)];
  for (const other of readdirSync(folder))
    if (other.startsWith(name) && DRAFT.test(other.slice(name.length))) rmSync(join(folder, other), { force: true });
}

/** Of two starts at once the later wins; both write the same, unless their installations differ: the next start adds what is missing. */
function replace(path: string, before: string, after: string): void {
  const draft = `${path}.${randomBytes(8).toString('hex')}.new`;
  const { mode, uid, gid } = statSync(path);
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, after);
    // A command may be root's, and the service's user has to read the file afterwards.
    fchownSync(descriptor, uid, gid);
    fchmodSync(descriptor, mode & 0o777);
    fsyncSync(descriptor);
    if (readFileSync(path, 'utf8') !== before) throw new Error('somebody else is changing it');
    renameSync(draft, path);
    syncFolder(dirname(path));
  } finally {
    closeSync(descriptor);
    rmSync(draft, { force: true });
  }
}

function idsIn(text: string): string[] {
  return [...text.matchAll(COMMENT)].map(([, id]) => id as string);
}
