/** Makes a backup of a database file: copies, checks, encrypts and names it, and removes the oldest of a folder. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { encrypt, requirePassphrase } from './encryption.ts';
import { digestOf, withPart, writeNamed } from './file-named-when-complete.ts';
import { copyIn, removeOlder } from './kept-copies.ts';

/** The options of a backup. */
export type BackupAsked = {
  /** A file, or a folder where each has a name of its own and the newest are kept. */
  readonly to: { readonly file: string } | { readonly folder: string; readonly keep: number };
  /** True if it may replace a file. */
  readonly replace: boolean;
  /** The file of a passphrase to encrypt it with; null for none. */
  readonly passphraseFile: string | null;
};

/** A backup that was made and checked. Times in ms. */
export type BackupMade = {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly madeAt: number;
  /** By how many bytes the write-ahead log of the service grew meanwhile. */
  readonly logGrowth: number;
  readonly seconds: number;
  readonly isEncrypted: boolean;
  /** Older backups that were removed from the folder. */
  readonly removed: readonly string[];
};

/** The parts that make a backup. */
export type BackupParts = {
  /** The database file. */
  readonly path: string;
  /** Copies the database to a file and checks the copy, which is to become `backup`; returns the growth of the log (bytes). */
  readonly copy: (to: string, backup: string) => Promise<number>;
  /** Notes that a backup was made at a path, before older ones go. */
  readonly note: (path: string) => Promise<unknown>;
  /** Ms since the epoch. */
  readonly now: number;
};

/** Makes a backup; nothing of that name is there before it is whole. */
export async function makeBackup(
  { to, replace, passphraseFile }: BackupAsked,
  { path, copy, note, now }: BackupParts,
): Promise<BackupMade> {
  const began = performance.now();
  if (passphraseFile !== null) requirePassphrase(passphraseFile);
  const file = 'file' in to ? to.file : copyIn(to.folder, now, passphraseFile !== null);
  const logGrowth = await writeNamed(file, replace, now, (part) =>
    // The clear copy stays beside the database: where backups go, others may read.
    passphraseFile === null
      ? copy(part, file)
      : withPart(`${path}.clear`, now, async (clear) => {
          const grown = await copy(clear, file);
          await encrypt(clear, part, passphraseFile);
          return grown;
        }),
  );
  await note(resolve(file));
  const removed = 'folder' in to ? removeOlder(file, to.keep, now) : [];
  const seconds = (performance.now() - began) / 1000;
  const made = { file, bytes: statSync(file).size, sha256: await digestOf(file), madeAt: now };
  return { ...made, logGrowth, seconds, isEncrypted: passphraseFile !== null, removed };
}
