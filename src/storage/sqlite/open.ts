/** Opens a SQLite database as the store of the protocol and of accounts. */
import type { DatabaseSync } from 'node:sqlite';
import type { AccountStore } from '../../accounts/store.ts';
import type { Keyring } from '../../oauth/keyring.ts';
import type { Store } from '../../oauth/store.ts';
import { InstallationError } from '../../process/installation-error.ts';
import { type Beginning, differences, type InstallationRecord, requireSamePrefix } from '../installation-settings.ts';
import type { OpenInstallation } from '../storage.ts';
import { accountStore } from '../tables/accounts.ts';
import { trail } from '../tables/audit-events.ts';
import { CLIENT, clientStore } from '../tables/clients.ts';
import { RESOURCE_SERVER, resourceServerStore } from '../tables/resource-servers.ts';
import { scopeStore } from '../tables/scopes.ts';
import { sessionStore } from '../tables/sessions.ts';
import { trailFollowing } from './audit.ts';
import { check, type Finding } from './check.ts';
import { copyWhatWasLeft, type FailureHandlers } from './checkpoint.ts';
import { Checkpoints } from './checkpoints.ts';
import { CleanUp } from './clean-up.ts';
import { assertionMarking } from './client-assertions.ts';
import { type ConnectionUse, configure, connect, type Pragmas, requiredPragmas } from './connection.ts';
import { exposures, isNothing, prepareDatabaseFile } from './database-file.ts';
import { deviceRequestStore } from './device-requests.ts';
import { FileStamp } from './file-stamp.ts';
import { FilesInPlace, statOf } from './files-in-place.ts';
import { grantStore, useMarks } from './grants.ts';
import { adopt, found, isFounded, needsFounding, recordOf, requireFittingKeys, setCurrentKey } from './installation.ts';
import { inTransaction, migrate, pending, requireUpToDate } from './migrate.ts';
import { runnerOn } from './runner.ts';
import { lockForServing } from './serving-lock.ts';
import { Tables } from './tables.ts';
import { type FileOperations, WalFile } from './wal-file.ts';
import { WriteQueue } from './write-queue.ts';

/** How a database is opened. */
export type SqliteOptions = ConnectionUse &
  Beginning &
  FailureHandlers & {
    /** The database file, or `:memory:`. */
    readonly path: string;
    readonly keyring: Keyring;
    /** Milliseconds since the epoch. */
    readonly now: () => number;
    /** Whether to create the database and to apply pending migrations; without it both are refused. */
    readonly migrate: boolean;
    /** Replaced by tests only. */
    readonly files?: FileOperations;
  };

/** An open database. */
export type SqliteStorage = {
  readonly store: Store & AccountStore;
  readonly cleanUp: CleanUp;
  readonly counters: null;
  /** The names of the migrations that were applied. */
  readonly applied: readonly string[];
  readonly installation: OpenInstallation;
  readonly exposures: readonly string[];
  adoptSettings(): Promise<void>;
  /** Checks all that can be wrong with a database; slow on a large one. */
  check(): Finding[];
  /** Writes what waits, and closes the database. */
  close(): Promise<void>;
};

/**
 * Opens a database. If it cannot be used, throws `InstallationError`, whose sentence has the remedy, and leaves the
 * database as it was.
 */
export async function openSqlite(options: SqliteOptions): Promise<SqliteStorage> {
  const { path, role } = options;
  const inMemory = path === ':memory:';
  if (options.refuseNew !== null && options.migrate && !inMemory && isNothing(path))
    throw new InstallationError([options.refuseNew]);
  if (!inMemory) prepareDatabaseFile(path, options.migrate);
  const file = statOf(path);
  const database = connect(path);
  const held: { close(): void }[] = [database];
  try {
    refuseUnfit(database, options);
    if (role === 'service' && !inMemory) held.push(lockForServing(path));
    if (role === 'service' && !inMemory) copyWhatWasLeft(database, options);
    const ready = makeReady(database, options, requiredPragmas(options, inMemory));
    const wal = inMemory ? null : await WalFile.open(path, options.files);
    const stamp = role === 'service' && !inMemory ? new FileStamp(database, path) : null;
    if (stamp) held.push(stamp);
    stamp?.write(path);
    const files = wal && file ? { wal, inPlace: new FilesInPlace(path, file, stamp) } : null;
    return storage(database, files, ready, options, () => closeAll(held));
  } catch (error) {
    closeAll(held);
    throw error;
  }
}

/** Reads only, and runs before anything is written, so that a refused database stays as it was. */
function refuseUnfit(database: DatabaseSync, options: SqliteOptions): void {
  pending(database);
  const isThere = isFounded(database);
  if (!isThere && options.refuseNew !== null) throw new InstallationError([options.refuseNew]);
  if (!options.migrate) requireUpToDate(database);
  if (isThere) requireFitting(database, options);
}

function requireFitting(database: DatabaseSync, { keyring, settings }: SqliteOptions): void {
  requireFittingKeys(database, keyring);
  const record = recordOf(database);
  if (record) requireSamePrefix(record, settings);
}

/** What opening a database changed, and found. */
type Ready = Pick<SqliteStorage, 'applied' | 'installation'>;

/** Sets the connection up, migrates, and founds a new installation. */
function makeReady(database: DatabaseSync, options: SqliteOptions, required: Pragmas): Ready {
  const { keyring, settings, now, role } = options;
  configure(database, required);
  const missing = pending(database);
  migrate(database, now());
  const isNew =
    needsFounding(database, keyring) &&
    inTransaction(database, () => {
      // Again under the lock: another process with other keys may have founded the installation meanwhile.
      requireFitting(database, options);
      return found(database, keyring, settings, now());
    });
  const record = recordOf(database) as InstallationRecord;
  requireSamePrefix(record, settings);
  if (role === 'service' && record.currentKeyId !== keyring.currentKeyId) setCurrentKey(database, keyring);
  const installation = { id: record.id.toString('hex'), isNew, differences: differences(record, settings) };
  return { applied: missing.map(({ name }) => name), installation };
}

/** In the order of opening: the stamp's descriptor must be closed after the database. */
function closeAll(held: readonly { close(): void }[]): void {
  for (const one of held) one.close();
}

type OpenFiles = { readonly wal: WalFile; readonly inPlace: FilesInPlace };

function storage(
  database: DatabaseSync,
  files: OpenFiles | null,
  ready: Ready,
  options: SqliteOptions,
  disconnect: () => void,
): SqliteStorage {
  const { path, keyring, settings, now, report, onFailure } = options;
  const requireInPlace = () => files?.inPlace.require();
  const checkpoints = files && new Checkpoints({ database, path, requireInPlace, report, onFailure });
  const writes = new WriteQueue({
    database,
    sync: files && (() => files.wal.sync()),
    requireInPlace,
    commitSyncs: options.role === 'command' || options.durability === 'full',
    onCommit: () => checkpoints?.committed(),
    onFailure,
  });
  if (options.role === 'service') files?.inPlace.watch(() => writes.checkFiles());
  const tables = new Tables(database, writes);
  const runner = runnerOn(tables);
  const clients = tables.cacheOf(CLIENT);
  const resourceServers = tables.cacheOf(RESOURCE_SERVER);
  const marks = useMarks(tables);
  const cleanUp = new CleanUp(tables, now);
  return {
    store: {
      ...grantStore(tables, clients, marks),
      ...clientStore(runner, {
        findClient: async (id) => tables.onDisk([id], clients.find(id)),
        useClientAssertion: assertionMarking(tables),
      }),
      ...resourceServerStore(runner, async (id) => tables.onDisk([id], resourceServers.find(id))),
      ...scopeStore(runner),
      ...deviceRequestStore(),
      ...trail(runner),
      ...trailFollowing(tables),
      ...accountStore(runner),
      ...sessionStore(runner),
    },
    ...ready,
    exposures: files ? exposures(path) : [],
    counters: null,
    cleanUp,
    check: () => check(database, { keyring, settings, pragmas: requiredPragmas(options, files === null) }),
    adoptSettings: () => writes.write([], () => adopt(database, settings)),
    async close() {
      cleanUp.stop();
      files?.inPlace.stop();
      try {
        await marks.close();
        await writes.close();
      } finally {
        await checkpoints?.close();
        files?.wal.close();
        disconnect();
      }
    },
  };
}
