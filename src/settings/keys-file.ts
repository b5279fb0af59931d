/** Changes the keys file: adds a root key, or removes one. Concurrent readers always read a complete file. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { keyIdOf } from '../oauth/keys/keyring.ts';
import { syncFolder } from '../process/folder.ts';
import { InstallationError } from '../process/installation-error.ts';
import { parseRootKeys } from './root-keys.ts';

/** Suffix of a draft; its name is the keys file's with this suffix. */
export const DRAFT = /^\.[0-9a-f]{16}\.new$/;

/** Adds a root key (its text) above the present ones. Throws `InstallationError`. */
export function addRootKey(keysFile: string, key: string): void {
  change(keysFile, (text) => {
    const lines = text.split('\n');
    const first = lines.findIndex((line) => line.trim() !== '' && !line.startsWith('#'));
    return lines.toSpliced(Math.max(first, 0), 0, key).join('\n');
  });
}

/** Removes a root key by its id; false if it is not there. Throws `InstallationError`. */
export function removeRootKey(keysFile: string, keyId: number): boolean {
  return change(keysFile, (text) => {
    const isOther = (word: string) =>
      word === '' || parseRootKeys(word, keysFile).every((rootKey) => keyIdOf(rootKey) !== keyId);
    const lines = text.split('\n').map((line) => {
      if (line.startsWith('#')) return line;
      const kept = line.split(/\s+/).filter(isOther).join(' ');
      return kept === '' && line !== '' ? null : kept;
    });
    return lines.filter((line) => line !== null).join('\n');
  });
}

/** Replaces the file if its text changes; returns true if it did. */
function change(keysFile: string, changed: (text: string) => string): boolean {
  try {
    const path = realpathSync(keysFile); // So that a link is not replaced by a file.
    const before = readFileSync(path, 'utf8');
    const after = changed(before);
    if (after === before) return false;
    replaceKeysFile(path, before, after);
    return true;
  } catch (error) {
    if (error instanceof InstallationError) throw error;
    throw new InstallationError({
      problem: `the keys file ${keysFile} cannot be changed (${(error as Error).message})`,
      remedy: 'let the user who runs this command write it and its folder, and run it again',
    });
  }
}

/**
 * Replaces a keys file atomically, with its mode and owner, if it is unchanged since the read. If two processes
 * replace it at once, the later one may win. The other one's key is then missing, and that process or its next start
 * adds it again.
 */
export function replaceKeysFile(path: string, before: string, after: string): void {
  const draft = `${path}.${randomBytes(8).toString('hex')}.new`;
  const { mode, uid, gid } = statSync(path);
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, after);
    // Root may run the command, but the service's user must be able to read the file.
    fchownSync(descriptor, uid, gid);
    fchmodSync(descriptor, mode & 0o777);
    fsyncSync(descriptor);
    if (readFileSync(path, 'utf8') !== before) throw new Error('another process is changing it');
    renameSync(draft, path);
    syncFolder(dirname(path));
  } finally {
    closeSync(descriptor);
    rmSync(draft, { force: true });
  }
}
