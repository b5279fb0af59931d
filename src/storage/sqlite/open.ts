/** Opens a SQLite database as the store of all ports. */
import type { DatabaseSync } from 'node:sqlite';
import { InstallationError } from '../../process/installation-error.ts';
import type { CleanUp } from '../clean-up/clean-up.ts';
import { keptTime } from '../clean-up/clean-up-time.ts';
import { check, wrongColumns } from '../opening/check.ts';
import { adoptSettings } from '../opening/installation-settings.ts';
import type { Storage } from '../opening/opened-storage.ts';
import { makeReady, type OpeningOptions, type Ready, refuseUnfit } from '../opening/opening.ts';
import { countKeyUses } from '../opening/root-key-uses.ts';
import { TABLES } from '../tables/all-tables.ts';
import { wholeStore } from '../tables/whole-store.ts';
import { backUp } from './backup.ts';
import { ownChecks } from './check.ts';
import { copyLeftoverLog, type FailureHandlers } from './file/checkpoint.ts';
import { Checkpoints } from './file/checkpoints.ts';
import { type ConnectionUse, configure, connect, requiredPragmas } from './file/connection.ts';
import { exposures, isNothing, prepareDatabaseFile, requireOwnLog, sizesOf } from './file/database-file.ts';
import { resultCode, SQLITE } from './file/errors.ts';
import { FileStamp } from './file/file-stamp.ts';
import { FilesInPlace, statOf } from './file/files-in-place.ts';
import { isServed, lockForServing } from './file/serving-lock.ts';
import { type FileOperations, WalFile } from './file/wal-file.ts';
import { plainDatabase } from './plain-database.ts';
import { Tables } from './statements/prepared-statements.ts';
import { runnerOn } from './statements/runner.ts';
import { WriteQueue } from './statements/write-queue.ts';
import { trailFollowing } from './store/audit-trail.ts';
import { cleanUpOf } from './store/clean-up.ts';
import { assertionMarking } from './store/client-assertions.ts';
import { deviceRequestStore } from './store/device-requests.ts';
import { ownGrants, useMarks } from './store/grants.ts';

/** The options of opening a SQLite database. */
export type SqliteOptions = ConnectionUse &
  OpeningOptions &
  FailureHandlers & {
    /** The database file, or `:memory:`. */
    readonly path: string;
    /** Returns ms since the epoch. */
    readonly now: () => number;
    /** Replaced by tests only. */
    readonly files?: FileOperations;
  };

/** An open SQLite database. */
export type SqliteStorage = Storage & { readonly cleanUp: CleanUp; readonly counters: null };

/** Opens a database. Throws `InstallationError` with the remedy if it is unusable, and leaves it unchanged. */
export async function openSqlite(options: SqliteOptions): Promise<SqliteStorage> {
  const { path, role } = options;
  const inMemory = path === ':memory:';
  if (!inMemory) requireOwnLog(path);
  if (options.refuseNew !== null && !inMemory && isNothing(path)) throw new InstallationError(options.refuseNew);
  if (!inMemory) prepareDatabaseFile(path);
  const file = statOf(path);
  const database = connect(path);
  const held: { close(): void }[] = [database];
  try {
    await refuseUnfit(plainDatabase(database), options);
    if (role === 'service' && !inMemory) held.push(lockForServing(path));
    if (role === 'service' && !inMemory) copyLeftoverLog(database, options);
    configure(database, requiredPragmas(options, inMemory));
    const ready = await makeReady(plainDatabase(database), options, options.now());
    const wal = inMemory ? null : await WalFile.open(path, options.files);
    const stamp = role === 'service' && !inMemory ? new FileStamp(database, path) : null;
    if (stamp) held.push(stamp);
    stamp?.write(path);
    const files = wal && file ? { wal, inPlace: new FilesInPlace(path, file, stamp) } : null;
    return assembleStorage(database, files, ready, options, () => closeAll(held));
  } catch (error) {
    const reason = await reasonOf(error, database);
    closeAll(held);
    throw reason;
  }
}

/** Explains a statement that could not be prepared: its table, or a column of it, differs from the schema. */
async function reasonOf(error: unknown, database: DatabaseSync): Promise<unknown> {
  const wrong = resultCode(error) === SQLITE.ERROR ? await wrongColumns(plainDatabase(database)) : [];
  return wrong.length > 0 ? new InstallationError(...wrong) : error;
}

/** Closes in the order of opening: the stamp's descriptor must be closed after the database. */
function closeAll(held: readonly { close(): void }[]): void {
  for (const one of held) one.close();
}

/** Id of the only possible instance. */
const THE_SERVICE = 'service';

type OpenFiles = { readonly wal: WalFile; readonly inPlace: FilesInPlace };

function assembleStorage(
  database: DatabaseSync,
  files: OpenFiles | null,
  ready: Ready,
  options: SqliteOptions,
  disconnect: () => void,
): SqliteStorage {
  const { path, now, report, onFailure } = options;
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
  const tables = new Tables(database, writes, options.keyring);
  // A table that is gone or of another form ends the opening, and not a request later.
  for (const { name, columns } of TABLES)
    tables.prepare(`SELECT ${columns.map((column) => column.name).join(', ')} FROM ${name}`);
  const runner = runnerOn(tables);
  const marks = useMarks(tables);
  const { store, close: closeVerbs } = wholeStore(
    runner,
    ownGrants(tables, runner),
    marks,
    {
      useClientAssertion: assertionMarking(tables),
      ...deviceRequestStore(),
      ...trailFollowing(runner, () => requireInPlace()),
    },
    [],
  );
  const cleanUp = cleanUpOf(tables, keptTime(runner), now);
  return {
    store,
    ...ready,
    instances: { ownId: THE_SERVICE, listRunning: async () => (isServed(path) ? [THE_SERVICE] : []) },
    exposures: files ? exposures(path) : [],
    counters: null,
    cleanUp,
    figures: () => ({
      groups: { writes: writes.groups },
      syncs: files && writes.syncs,
      queued: writes.queued,
      walBytes: files?.wal.size ?? null,
      pools: [],
      cleanUp: cleanUp.figures(),
    }),
    check: (how) =>
      check(plainDatabase(database), options, ownChecks(database, requiredPragmas(options, files === null)), how),
    sizes: async () => sizesOf(path),
    countKeyUses: (liveAt) => countKeyUses(plainDatabase(database), liveAt),
    backUp: (to, madeAt, grows) => backUp(path, to, madeAt, options, grows),
    adoptSettings: () => adoptSettings(runner, options.settings),
    async close() {
      cleanUp.stop();
      files?.inPlace.stop();
      try {
        await closeVerbs();
        await writes.close();
      } finally {
        tables.endReads();
        await checkpoints?.close();
        files?.wal.close();
        disconnect();
      }
    },
  };
}
