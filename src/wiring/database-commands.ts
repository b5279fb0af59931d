/** The wiring of the `database` commands: the database and the files that each of them works on. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeBackup } from '../backup/backup.ts';
import { exchange, removeDatabase, requireBackup, stage } from '../backup/put-backup-in-place.ts';
import type { CommandContext, RestoreAsked, Restored } from '../cli/command/context.ts';
import { createKeyring } from '../oauth/keys/keyring.ts';
import { linesOf } from '../process/file-lines.ts';
import { makeFolder } from '../process/folder.ts';
import { InstallationError } from '../process/installation-error.ts';
import { type Configuration, readDatabaseLocation } from '../settings/configuration.ts';
import { requireRestorable } from '../settings/database-place.ts';
import { loadRootKeys } from '../settings/root-keys.ts';
import { requireSound } from '../storage/opening/check.ts';
import type { Storage } from '../storage/opening/opened-storage.ts';
import { checkDamaged } from '../storage/sqlite/check.ts';
import { withoutLog } from '../storage/sqlite/file/checkpoint.ts';
import { isNew, restoreMark } from '../storage/sqlite/file/database-file.ts';
import { lockForServing } from '../storage/sqlite/file/serving-lock.ts';
import type { WiredInstallation } from './installation.ts';

type Opened = { readonly storage: Storage; readonly installation: WiredInstallation };

/** The dependencies of the `database` commands. */
export type DatabaseParts = {
  readonly configuration: () => Configuration;
  /** Opens the database that a configuration names, as a command; `migrate` applies pending migrations. */
  readonly open: (
    read: Configuration,
    how: { readonly mayCreate?: boolean; readonly migrate?: boolean },
  ) => Promise<Opened>;
  /** Returns ms since the epoch, for the names of files. */
  readonly now: () => number;
};

/** Makes the `database` commands. */
export function databaseCommands({ configuration, open, now }: DatabaseParts): CommandContext['database'] {
  /** Opens the database, runs `act`, and closes the database again. */
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
      if (isNew(source))
        throw new InstallationError({ problem: `there is no database at ${source.path}`, remedy: 'check the path' });
      const keyring = createKeyring(loadRootKeys({ ...read, database: source }, false));
      const { copyDatabase } = await import('../storage/copy-database.ts');
      return copyDatabase({ from: source, to: target, keyring, now, report });
    },
    backUp: (asked, grows) =>
      within({}, ({ storage: { backUp }, installation: { backups, operator } }) => {
        const { database } = configuration();
        if (backUp === null || database.kind !== 'file') throw new InstallationError(HAS_OWN_WAYS);
        const madeAt = now();
        const copy = async (to: string, backup: string) => {
          const { findings, logGrowth } = await backUp(to, madeAt, grows);
          requireSound(findings, `the copy was not sound, so there is no ${backup}`);
          return logGrowth;
        };
        const note = (path: string) => backups.note(path, operator);
        return makeBackup(asked, { path: database.path, copy, note, now: madeAt });
      }),
    noteBackup: () =>
      within({}, ({ installation }) =>
        installation.backups.note('by other means than "database backup"', installation.operator),
      ),
    async restore(asked, confirm) {
      const read = configuration();
      const { database } = read;
      requireRestorable(database, asked.file, () => isNew(database));
      if (database.kind === 'file' && asked.file !== null) requireBackup(asked.file, database.path);
      await confirm();
      if (database.kind === 'file')
        return restoreFile(asked, database.path, (path) => open(at(read, path), { migrate: true }), now());
      return restoreInPlace(asked, await open(read, { migrate: true }), 'the database as it was put in place');
    },
  };
}

const HAS_OWN_WAYS = {
  problem: 'PostgreSQL has its own ways to make backups',
  remedy:
    'use pg_dump, or a base backup with archived log, and then "database note-backup"; "Backups of PostgreSQL" in the documentation has the commands',
};

function at(read: Configuration, path: string): Configuration {
  return { ...read, database: { kind: 'file', path } };
}

/** Holds the serving lock throughout: a service that started meanwhile would serve the replaced file. */
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
    if (storage.backUp === null && running.length > 0) throw new InstallationError(IS_SERVED);
    requireSound(await storage.check(), 'the backup is not sound, and was not restored');
    // A database that other means put in place may be newer than the last backup it records, so its age is unknown.
    const madeAt = file === null ? null : (await installation.backups.find()).backedUpAt;
    const trail =
      audit === null ? null : { lines: linesOf(audit, 'audit trail'), checkpoints, isAccepted: acceptTrail };
    const outcome = await installation.backups.restore(
      { keepGrants: keepTokens, from, trail, endRevived },
      installation.operator,
    );
    await installation.signingKeys.ensure();
    const unused = (await installation.rootKeys.announced()).at(-1);
    const earlierKey = unused === undefined ? null : { keyId: storage.installation.currentKeyId, newer: unused };
    return { madeAt, kept: null, ...outcome, hasEndedRevived: endRevived, earlierKey };
  } finally {
    await installation.close();
  }
}

const IS_SERVED = {
  problem: 'an instance of the service is connected to the database',
  remedy: 'stop all of them first',
};
