/** The wiring of the commands of `database`: which database, which files, and what becomes of them. */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { encrypt, requirePassphrase } from './backup/encryption.ts';
import { exchange, removeDatabase, stage } from './backup/in-place.ts';
import { copyIn, removeOlder } from './backup/kept-copies.ts';
import { digestOf, withPart, writeNamed } from './backup/named-file.ts';
import type { BackupAsked, BackupMade, CommandContext, RestoreAsked, Restored } from './cli/context.ts';
import type { WiredInstallation } from './installation.ts';
import { createKeyring } from './oauth/keys/keyring.ts';
import { isNew, nothingThere } from './open-database.ts';
import { makeFolder } from './process/folder.ts';
import { InstallationError } from './process/installation-error.ts';
import { type Configuration, readDatabaseLocation } from './settings/configuration.ts';
import { loadRootKeys } from './settings/root-keys.ts';
import { checkDamaged } from './storage/sqlite/check.ts';
import { withoutLog } from './storage/sqlite/checkpoint.ts';
import { restoreMark } from './storage/sqlite/database-file.ts';
import { lockForServing } from './storage/sqlite/serving-lock.ts';
import type { Finding, Storage } from './storage/storage.ts';

type Opened = { readonly storage: Storage; readonly installation: WiredInstallation };

/** What the commands are made with. */
export type DatabaseParts = {
  readonly configuration: () => Configuration;
  /** Opens the database that a configuration names, as a command; `migrate` brings it up to date. */
  readonly open: (
    read: Configuration,
    how: { readonly mayCreate?: boolean; readonly migrate?: boolean },
  ) => Promise<Opened>;
  /** Ms since the epoch, for the names of files. */
  readonly now: () => number;
};

/** The commands of `database`. */
export function databaseCommands({ configuration, open, now }: DatabaseParts): CommandContext['database'] {
  /** Opens the database for one act, and closes it after that. */
  const within = async <T>(how: Parameters<typeof open>[1], act: (opened: Opened) => T | Promise<T>): Promise<T> => {
    const opened = await open(configuration(), how);
    try {
      return await act(opened);
    } finally {
      await opened.installation.close();
    }
  };
  return {
    migrate: () => within({ mayCreate: true, migrate: true }, ({ storage: { applied } }) => ({ applied })),
    async check() {
      try {
        return await within({}, ({ storage }) => storage.check());
      } catch (error) {
        const { database } = configuration();
        const damage = database.kind === 'file' && existsSync(database.path) && checkDamaged(database.path, error);
        if (damage) return damage;
        throw error;
      }
    },
    adoptSettings: () =>
      within({}, async ({ storage }) => {
        await storage.adoptSettings();
        return storage.installation.differences;
      }),
    async copy(from, to, report) {
      const read = configuration();
      const source = readDatabaseLocation('FROM', from);
      const target = readDatabaseLocation('TO', to);
      if (isNew(source)) throw new InstallationError([`there is no database at ${source.path}: check the path`]);
      const keyring = createKeyring(loadRootKeys({ ...read, database: source }, false));
      const { copyDatabase } = await import('./storage/copy.ts');
      return copyDatabase({ from: source, to: target, keyring, now, report });
    },
    backUp: (asked, grows) =>
      within({}, ({ storage, installation }) =>
        backUp(storage, installation, configuration().database, asked, now(), grows),
      ),
    noteBackup: () =>
      within({}, ({ installation }) =>
        installation.backups.note('by other means than "database backup"', installation.operator),
      ),
    async restore(asked) {
      const read = configuration();
      const { database } = read;
      if (database.kind === 'memory') throw new InstallationError([IN_MEMORY]);
      if (asked.file === null && isNew(database)) throw new InstallationError([nothingThere(read)]);
      if (database.kind === 'file')
        return restoreFile(asked, database.path, (path) => open(at(read, path), { migrate: true }), now());
      if (asked.file !== null) throw new InstallationError([ON_POSTGRESQL]);
      return restoreInPlace(asked, await open(read, { migrate: true }), 'the database as it was put in place');
    },
  };
}

const IN_MEMORY = 'VALETKEY_DATABASE_URL is sqlite::memory:, which is gone when the service stops: name a file';
const ON_POSTGRESQL =
  'a backup of PostgreSQL is put in place with pg_restore, or with a base backup and its log: do that, and then run "database restore" without a file';
const HAS_OWN_WAYS =
  'PostgreSQL has its own ways to make backups: use pg_dump, or a base backup with archived log, and then "database note-backup"; docs/operating/backup.md has the commands';

function at(read: Configuration, path: string): Configuration {
  return { ...read, database: { kind: 'file', path } };
}

async function backUp(
  { backUp: copy }: Storage,
  { backups, operator }: WiredInstallation,
  database: Configuration['database'],
  { to, replace, passphraseFile }: BackupAsked,
  now: number,
  grows: (bytes: number) => void,
): Promise<BackupMade> {
  if (copy === null || database.kind !== 'file') throw new InstallationError([HAS_OWN_WAYS]);
  const began = performance.now();
  if (passphraseFile !== null) requirePassphrase(passphraseFile);
  const file = 'file' in to ? to.file : copyIn(to.folder, now, passphraseFile !== null);
  const checked = async (part: string): Promise<number> => {
    const { findings, logGrowth } = await copy(part, now, grows);
    requireSound(findings, `the copy was not sound, so there is no ${file}`);
    return logGrowth;
  };
  const logGrowth = await writeNamed(file, replace, now, (part) =>
    // The clear copy stays beside the database: where backups go, others may read.
    passphraseFile === null
      ? checked(part)
      : withPart(`${database.path}.clear`, now, async (clear) => {
          const grown = await checked(clear);
          await encrypt(clear, part, passphraseFile);
          return grown;
        }),
  );
  await backups.note(resolve(file), operator);
  const removed = 'folder' in to ? removeOlder(file, to.keep, now) : [];
  const seconds = (performance.now() - began) / 1000;
  const made = { file, bytes: statSync(file).size, sha256: await digestOf(file), madeAt: now };
  return { ...made, logGrowth, seconds, isEncrypted: passphraseFile !== null, removed };
}

/** A service cannot begin meanwhile: it would have the file that goes. */
async function restoreFile(
  asked: RestoreAsked,
  path: string,
  open: (path: string) => Promise<Opened>,
  now: number,
): Promise<Restored> {
  const { file } = asked;
  makeFolder(dirname(path));
  const lock = lockForServing(path);
  try {
    if (file === null) return await restoreInPlace(asked, await open(path), 'the file as it was put in place');
    const staged = stage(file, path);
    try {
      const restored = await restoreInPlace(asked, await open(staged), `backup ${resolve(file)}`);
      withoutLog(staged);
      const mark = restoreMark(path);
      if (!existsSync(mark)) withoutLog(path);
      return { ...restored, kept: exchange(staged, path, mark, now) };
    } finally {
      removeDatabase(staged);
    }
  } finally {
    lock.close();
  }
}

async function restoreInPlace(
  { file, keepTokens, audit, checkpoints, acceptTrail, endRevived }: RestoreAsked,
  { storage, installation }: Opened,
  from: string,
): Promise<Restored> {
  try {
    const running = await storage.instances.listRunning();
    if (storage.backUp === null && running.length > 0) throw new InstallationError([IS_SERVED]);
    requireSound(await storage.check(), 'the backup is not sound, and was not restored');
    // What is in place by other means may be a later state than the last backup that it knows of.
    const madeAt = file === null ? null : (await installation.backups.find()).backedUpAt;
    const trail = audit === null ? null : { lines: linesOf(audit), checkpoints, isAccepted: acceptTrail };
    const outcome = await installation.backups.restore(
      { keepGrants: keepTokens, from, trail, endRevived },
      installation.operator,
    );
    const unused = (await installation.rootKeys.announced()).at(-1);
    const earlierKey = unused === undefined ? null : { keyId: storage.installation.currentKeyId, newer: unused };
    return { madeAt, kept: null, ...outcome, hasEndedRevived: endRevived, earlierKey };
  } finally {
    await installation.close();
  }
}

/** The lines of a file. Throws an `InstallationError` if there is none. */
function linesOf(path: string): AsyncIterable<string> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new InstallationError([`there is no audit trail at ${path}: check the path`]);
  return readLines(path);
}

/** Opens the file when the first line is asked for: lines that are read before that are lost. */
async function* readLines(path: string): AsyncIterable<string> {
  yield* createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
}

const IS_SERVED = 'an instance of the service is connected to the database: stop all of them first';

/** How a server is set, and variables that are set otherwise than they are recorded, are no fault of a copy. */
const NOT_OF_COPY: readonly string[] = ['settings', 'variables'];

/** Refuses a copy that is not whole. Throws `InstallationError`. */
function requireSound(findings: readonly Finding[], sentence: string): void {
  const wrong = findings.filter(({ name, ok }) => !ok && !NOT_OF_COPY.includes(name));
  if (wrong.length === 0) return;
  throw new InstallationError([`${sentence}: ${wrong.map(({ name, detail }) => `${name}: ${detail}`).join('; ')}`]);
}
