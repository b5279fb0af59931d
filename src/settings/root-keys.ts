/** Reads and checks root keys from disk or the environment, and makes one for a new installation. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { withChecksum } from '../oauth/keys/credential.ts';
import { ROOT_KEY_BYTES } from '../oauth/keys/keyring.ts';
import { makeFolder, syncFolder } from '../process/folder.ts';
import { InstallationError } from '../process/installation-error.ts';
import { readSecretFile } from '../process/secret-file.ts';

/** Prefix of every root key, by which secret scanners and people recognize it. */
const PREFIX = 'vk_rk_';

/** Makes a new root key as text: 256 random bits with a prefix and a checksum. */
export function makeRootKey(): string {
  return withChecksum(PREFIX + randomBytes(ROOT_KEY_BYTES).toString('base64url'));
}

/**
 * Reads root keys from a text, newest first, separated by white space. A line that begins with # is a comment.
 * `place` names the text's origin. Throws `InstallationError`, which never quotes the text.
 */
export function parseRootKeys(text: string, place: string): Buffer[] {
  const words = text
    .replace(/^#.*$/gm, '')
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0)
    throw new InstallationError({
      problem: `${place} holds no root key`,
      remedy: 'make one with "valetkey keys generate"',
    });
  return words.map((word, index) => {
    const body = word.slice(PREFIX.length, -6);
    const bytes = Buffer.from(body, 'base64url');
    if (!word.startsWith(PREFIX) || withChecksum(PREFIX + body) !== word || bytes.length < ROOT_KEY_BYTES) {
      throw new InstallationError({
        problem: `root key ${index + 1} in ${place} is incomplete or damaged`,
        remedy: 'copy it again, or make one with "valetkey keys generate"',
      });
    }
    return bytes;
  });
}

/** The place of the keys: the environment, or a file. */
export type KeysPlace = {
  readonly keys: string | null;
  readonly keysFile: string;
  readonly database:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'memory' }
    | { readonly kind: 'postgresql' };
};

/**
 * Returns the root keys of an installation, newest first: from the environment, from the file, or new ones for a new
 * database. Throws `InstallationError`.
 */
export function loadRootKeys({ keys, keysFile: path, database }: KeysPlace, isNewDatabase: boolean): Buffer[] {
  if (keys !== null) return parseRootKeys(keys, 'VALETKEY_KEYS');
  if (database.kind === 'memory') return parseRootKeys(makeRootKey(), 'memory');
  const found = readKeysFile(path);
  if (found) return found;
  // All instances need the same keys, so none may make its own.
  if (database.kind === 'postgresql')
    throw new InstallationError({
      problem: `the keys file ${path} is missing, and all instances need the same keys`,
      remedy: `make it once with "valetkey keys generate --file ${path}", and give it to each`,
    });
  if (!isNewDatabase) {
    throw new InstallationError({
      problem: `the keys file ${path} is missing, but the database ${database.path} exists`,
      remedy: 'restore its keys, since the database is useless without them',
    });
  }
  makeKeysFile(path, makeRootKey());
  return readKeysFile(path) ?? [];
}

/** Reads the keys file; null if there is none. Throws `InstallationError` if others can read it, or this process cannot. */
export function readKeysFile(path: string): Buffer[] | null {
  const text = readSecretFile(path, 'the keys file');
  return text === null ? null : parseRootKeys(text, path);
}

/** Reads the keys file of a process that runs with it. Throws `InstallationError`, also if the file is gone. */
export function rereadKeysFile(path: string): Buffer[] {
  const found = readKeysFile(path);
  if (found) return found;
  throw new InstallationError({
    problem: `the keys file ${path} is gone`,
    remedy: 'restore it from its backup before this process ends, since the service cannot start without it',
  });
}

/**
 * Writes a new keys file with one key, mode 0600, atomically. It never replaces another: of two processes that start
 * at once, one makes it and the other reads it. Returns false if there is one already.
 */
export function makeKeysFile(path: string, key: string): boolean {
  const draft = `${path}.${process.pid}.new`;
  const descriptor = openDraft(path, draft);
  try {
    writeSync(
      descriptor,
      `# Root keys. Whoever has these and the database can act as every app: keep them apart in backups.\n${key}\n`,
    );
    fsyncSync(descriptor);
    linkSync(draft, path);
    syncFolder(dirname(path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cannotBeMade(path, error);
  } finally {
    closeSync(descriptor);
    rmSync(draft, { force: true });
  }
}

function openDraft(path: string, draft: string): number {
  try {
    makeFolder(dirname(path));
    return openSync(draft, 'wx', 0o600);
  } catch (error) {
    throw cannotBeMade(path, error);
  }
}

function cannotBeMade(path: string, error: unknown): InstallationError {
  const { code } = error as NodeJS.ErrnoException;
  return new InstallationError({
    problem: `the keys file ${path} cannot be made (${code})`,
    remedy: 'let the user who runs Valetkey write to its folder',
  });
}
