/** Opens a PostgreSQL database as the store of the protocol and of accounts, for one of any number of instances. */
import type { Keyring } from '../../oauth/keyring.ts';
import type { Finding, Storage } from '../storage.ts';
import { accountStore } from './accounts.ts';
import { auditStore } from './audit.ts';
import { check } from './check.ts';
import { CleanUp } from './clean-up.ts';
import { clientStore } from './clients.ts';
import { DatabaseClock } from './clock.ts';
import { Connection, type Session } from './connection.ts';
import { sharedCounters } from './counters.ts';
import { Database, type Purpose, type Sizes } from './database.ts';
import { deviceRequestStore } from './device-requests.ts';
import { asStoreError } from './errors.ts';
import { grantStore, useMarks } from './grants.ts';
import { found, isFounded, needsFounding, requireFittingKeys } from './installation.ts';
import { KnownClients } from './known-clients.ts';
import { migrate, pending, requireUpToDate, underLock } from './migrate.ts';
import { asRefusal, reach } from './reach.ts';
import { resourceServerStore } from './resource-servers.ts';
import { scopeStore } from './scopes.ts';
import { requireFitServer } from './server-settings.ts';
import { sessionStore } from './sessions.ts';

/** How a database is opened. */
export type PostgresqlOptions = {
  /** `postgres://user:password@host:port/database`, of the primary itself: a pooler that shares sessions does not do. */
  readonly url: string;
  readonly keyring: Keyring;
  /** Answers ms since the epoch, for tests; without it the time is the database's. */
  readonly now?: () => number;
  /** A service has more connections. */
  readonly role: 'service' | 'command';
  /** Whether to apply migrations that are pending; else they are refused. */
  readonly migrate: boolean;
};

/** An open database. */
export type PostgresqlStorage = Storage & {
  readonly cleanUp: CleanUp;
  /** The time that all instances share, in ms since the epoch. */
  readonly now: () => number;
  check(): Promise<Finding[]>;
};

const SIZES: Readonly<Record<PostgresqlOptions['role'], Sizes>> = {
  service: { reads: 1, writes: 2, others: 4 },
  command: { reads: 1, writes: 1, others: 1 },
};

/** By key everything is quick, or somebody holds a lock that nobody should. */
const SESSIONS: Readonly<Record<Purpose, Session>> = {
  reads: { statementTimeout: 1500, lockTimeout: 1000, byKey: true },
  writes: { statementTimeout: 2500, lockTimeout: 1500, byKey: true },
  others: { statementTimeout: 5000, lockTimeout: 3000, byKey: false },
};

/** Another instance may be migrating for long, and a check takes its time. */
const PATIENT: Session = { statementTimeout: 0, lockTimeout: 60_000, byKey: false };

/** Opens a database. Throws `Refused`, whose sentence says what to do, when it cannot be used; it is then as it was before. */
export async function openPostgresql(options: PostgresqlOptions): Promise<PostgresqlStorage> {
  const connection = await reach(options.url, PATIENT);
  const clock = new DatabaseClock();
  const now = options.now ?? (() => clock.now());
  let applied: string[];
  try {
    await clock.set(connection);
    await refuseUnfit(connection, options);
    applied = await makeReady(connection, options.keyring, now());
  } catch (error) {
    throw asRefusal(error, options.url) ?? asStoreError(error);
  } finally {
    await connection.close();
  }
  return storage(options, applied, clock, now);
}

/** Only reads, and comes before everything that writes: what is refused stays as it is. */
async function refuseUnfit(connection: Connection, { keyring, migrate: mayMigrate }: PostgresqlOptions): Promise<void> {
  await requireFitServer(connection);
  await pending(connection);
  if (!mayMigrate) await requireUpToDate(connection);
  if (await isFounded(connection)) await requireFittingKeys(connection, keyring);
}

/** Migrates, and founds a new installation. Answers what was migrated. `now` in ms. */
async function makeReady(connection: Connection, keyring: Keyring, now: number): Promise<string[]> {
  const applied = await migrate(connection, now);
  if (await needsFounding(connection, keyring)) {
    await underLock(connection, async () => {
      // Again under the lock: another instance with other keys may have founded the installation meanwhile.
      await requireFittingKeys(connection, keyring);
      await found(connection, keyring, now);
    });
  }
  return applied;
}

function storage(
  { url, keyring, role }: PostgresqlOptions,
  applied: readonly string[],
  clock: DatabaseClock,
  now: () => number,
): PostgresqlStorage {
  const open = (purpose: Purpose) => Connection.open(url, SESSIONS[purpose]);
  const database = new Database(open, SIZES[role]);
  const known = new KnownClients(database.reads);
  const marks = useMarks(database);
  const cleanUp = new CleanUp(() => open('others'), now);
  clock.start(database);
  return {
    store: {
      ...grantStore(database, marks, known),
      ...clientStore(database, known),
      ...resourceServerStore(database),
      ...scopeStore(database),
      ...deviceRequestStore(database),
      ...auditStore(database),
      ...accountStore(database),
      ...sessionStore(database),
    },
    now,
    applied,
    counters: sharedCounters(database),
    cleanUp,
    check: () => checkPatiently(url, keyring),
    async close() {
      clock.stop();
      cleanUp.stop();
      await marks.close();
      await database.close();
    },
  };
}

async function checkPatiently(url: string, keyring: Keyring): Promise<Finding[]> {
  const connection = await reach(url, PATIENT);
  try {
    return await check(connection, keyring);
  } finally {
    await connection.close();
  }
}
