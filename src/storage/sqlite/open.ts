/** Opens a SQLite database as the store of the protocol and of accounts. */
import type { DatabaseSync } from 'node:sqlite';
import type { AccountStore } from '../../accounts/store.ts';
import type { Keyring } from '../../oauth/keyring.ts';
import type { Store } from '../../oauth/store.ts';
import { accountStore } from './accounts.ts';
import { auditStore } from './audit.ts';
import { check, type Finding } from './check.ts';
import { copyWhatWasLeft, type Told } from './checkpoint.ts';
import { Checkpoints } from './checkpoints.ts';
import { CleanUp } from './clean-up.ts';
import { clientCache, clientStore } from './clients.ts';
import { type ConnectionUse, configure, connect, type Pragmas, requiredPragmas } from './connection.ts';
import { prepareDatabaseFile } from './database-file.ts';
import { deviceRequestStore } from './device-requests.ts';
import { grantStore, useMarks } from './grants.ts';
import { found, isFounded, needsFounding, requireFittingKeys } from './installation.ts';
import { inTransaction, migrate, pending, requireUpToDate } from './migrate.ts';
import { resourceServerStore } from './resource-servers.ts';
import { scopeStore } from './scopes.ts';
import { lockForServing } from './serving-lock.ts';
import { Tables } from './tables.ts';
import { type FileOperations, WalFile } from './wal-file.ts';
import { WriteQueue } from './write-queue.ts';

/** How a database is opened. */
export type SqliteOptions = ConnectionUse &
  Told & {
    /** The database file, or `:memory:`. */
    readonly path: string;
    readonly keyring: Keyring;
    /** Answers ms since the epoch. */
    readonly now: () => number;
    /** Whether to make the database, and to apply migrations that are pending; else both are refused. */
    readonly migrate: boolean;
    /** Only tests put others in the place of the system's. */
    readonly files?: FileOperations;
  };

/** An open database. */
export type SqliteStorage = {
  readonly store: Store & AccountStore;
  readonly cleanUp: CleanUp;
  readonly counters: null;
  /** The names of the migrations that opening it applied. */
  readonly applied: readonly string[];
  /** Everything that can be wrong with a database; takes long on a large one. */
  check(): Finding[];
  /** Writes what is still to be written and closes the database. */
  close(): Promise<void>;
};

/**
 * Opens a database. Throws `Refused`, whose sentence says what to do, when it cannot be used; it is then as it
 * was before.
 */
export async function openSqlite(options: SqliteOptions): Promise<SqliteStorage> {
  const { path, role } = options;
  const inMemory = path === ':memory:';
  if (!inMemory) prepareDatabaseFile(path, options.migrate);
  const database = connect(path);
  const held = [database];
  try {
    refuseUnfit(database, options);
    if (role === 'service' && !inMemory) held.push(lockForServing(path));
    if (role === 'service' && !inMemory) copyWhatWasLeft(database, options);
    const applied = makeReady(database, options, requiredPragmas(options, inMemory));
    const wal = inMemory ? null : await WalFile.open(path, options.files);
    return storage(database, wal, applied, options, () => closeAll(held));
  } catch (error) {
    closeAll(held);
    throw error;
  }
}

/** Only reads, and comes before everything that writes: what is refused stays as it is. */
function refuseUnfit(database: DatabaseSync, { keyring, migrate: mayMigrate }: SqliteOptions): void {
  pending(database);
  if (!mayMigrate) requireUpToDate(database);
  if (isFounded(database)) requireFittingKeys(database, keyring);
}

/** Sets the connection up, migrates, and founds a new installation. Answers what was migrated. */
function makeReady(database: DatabaseSync, { keyring, now }: SqliteOptions, required: Pragmas): string[] {
  configure(database, required);
  const missing = pending(database);
  migrate(database, now());
  if (needsFounding(database, keyring)) {
    inTransaction(database, () => {
      // Again under the lock: another process with other keys may have founded the installation meanwhile.
      requireFittingKeys(database, keyring);
      found(database, keyring, now());
    });
  }
  return missing.map(({ name }) => name);
}

function closeAll(connections: readonly DatabaseSync[]): void {
  for (const connection of connections) connection.close();
}

function storage(
  database: DatabaseSync,
  wal: WalFile | null,
  applied: readonly string[],
  options: SqliteOptions,
  disconnect: () => void,
): SqliteStorage {
  const { path, keyring, now, report, onFailure } = options;
  const checkpoints = wal && new Checkpoints({ database, path, report, onFailure });
  const writes = new WriteQueue({
    database,
    sync: wal && (() => wal.sync()),
    commitSyncs: options.role === 'command' || options.durability === 'full',
    onCommit: () => checkpoints?.committed(),
    onFailure,
  });
  const tables = new Tables(database, writes);
  const clients = clientCache(tables);
  const marks = useMarks(tables);
  const cleanUp = new CleanUp(tables, now);
  return {
    store: {
      ...grantStore(tables, clients, marks),
      ...clientStore(tables, clients),
      ...resourceServerStore(tables),
      ...scopeStore(tables),
      ...deviceRequestStore(),
      ...auditStore(tables),
      ...accountStore(tables),
    },
    applied,
    counters: null,
    cleanUp,
    check: () => check(database, keyring, requiredPragmas(options, wal === null)),
    async close() {
      cleanUp.stop();
      try {
        await marks.close();
        await writes.close();
      } finally {
        await checkpoints?.close();
        wal?.close();
        disconnect();
      }
    },
  };
}
