/** Opens a PostgreSQL database as the store of the protocol and of accounts, for one of any number of instances. */
import type { Keyring } from '../../oauth/keyring.ts';
import { InstallationError } from '../../process/installation-error.ts';
import { type Beginning, differences, type InstallationRecord, requireSamePrefix } from '../installation-settings.ts';
import type { Finding, Storage } from '../storage.ts';
import { accountStore } from '../tables/accounts.ts';
import { trail } from '../tables/audit-events.ts';
import { clientStore } from '../tables/clients.ts';
import { resourceServerStore } from '../tables/resource-servers.ts';
import { scopeStore } from '../tables/scopes.ts';
import { sessionStore } from '../tables/sessions.ts';
import { trailFollowing } from './audit.ts';
import { check } from './check.ts';
import { CleanUp } from './clean-up.ts';
import { assertionMarking } from './client-assertions.ts';
import { DatabaseClock } from './clock.ts';
import { Connection, type Session } from './connection.ts';
import { sharedCounters } from './counters.ts';
import { Database, type Purpose, type Sizes } from './database.ts';
import { deviceRequestStore } from './device-requests.ts';
import { asStoreError } from './errors.ts';
import { grantStore, useMarks } from './grants.ts';
import { adopt, found, isFounded, needsFounding, recordOf, requireFittingKeys, setCurrentKey } from './installation.ts';
import { KnownClients } from './known-clients.ts';
import { migrate, pending, requireUpToDate, underLock } from './migrate.ts';
import { asRefusal, exposures, reach } from './reach.ts';
import { resourceServerSearch } from './resource-servers.ts';
import { runnerOn } from './runner.ts';
import { requireFitServer } from './server-settings.ts';

/** How a database is opened. */
export type PostgresqlOptions = Beginning & {
  /** `postgres://user:password@host:port/database` of the primary itself: a pooler that shares sessions does not work. */
  readonly url: string;
  readonly keyring: Keyring;
  /** Milliseconds since the epoch, for tests; without it the time is the database's. */
  readonly now?: () => number;
  /** A service has more connections. */
  readonly role: 'service' | 'command';
  /** Whether to apply pending migrations; without it they are refused. */
  readonly migrate: boolean;
};

/** An open database. */
export type PostgresqlStorage = Storage & {
  readonly cleanUp: CleanUp;
  /** The time of all instances (ms since the epoch). */
  readonly now: () => number;
  check(): Promise<Finding[]>;
};

const SIZES: Readonly<Record<PostgresqlOptions['role'], Sizes>> = {
  service: { reads: 1, writes: 2, others: 4 },
  command: { reads: 1, writes: 1, others: 1 },
};

/** Statements by key are quick, unless something is wrong. So their timeouts are short. */
const SESSIONS: Readonly<Record<Purpose, Session>> = {
  reads: { statementTimeout: 1500, lockTimeout: 1000, byKey: true },
  writes: { statementTimeout: 2500, lockTimeout: 1500, byKey: true },
  others: { statementTimeout: 5000, lockTimeout: 3000, byKey: false },
};

/** For opening and checking: another instance may need long to migrate, and a check takes long too. */
const LONG_SESSION: Session = { statementTimeout: 0, lockTimeout: 60_000, byKey: false };

/**
 * Opens a database. If it cannot be used, throws `InstallationError`, whose sentence has the remedy, and leaves the
 * database as it was.
 */
export async function openPostgresql(options: PostgresqlOptions): Promise<PostgresqlStorage> {
  const connection = await reach(options.url, LONG_SESSION);
  const clock = new DatabaseClock();
  const now = options.now ?? (() => clock.now());
  let ready: Ready;
  try {
    await clock.set(connection);
    await refuseUnfit(connection, options);
    ready = await makeReady(connection, options, now());
  } catch (error) {
    throw asRefusal(error, options.url) ?? asStoreError(error);
  } finally {
    await connection.close();
  }
  return storage(options, ready, clock, now);
}

/** Reads only, and runs before anything is written, so that a refused database stays as it was. */
async function refuseUnfit(connection: Connection, options: PostgresqlOptions): Promise<void> {
  await requireFitServer(connection);
  await pending(connection);
  const isThere = await isFounded(connection);
  if (!isThere && options.refuseNew !== null) throw new InstallationError([options.refuseNew]);
  if (!options.migrate) await requireUpToDate(connection);
  if (isThere) await requireFitting(connection, options);
}

async function requireFitting(connection: Connection, { keyring, settings }: PostgresqlOptions): Promise<void> {
  await requireFittingKeys(connection, keyring);
  const record = await recordOf(connection);
  if (record) requireSamePrefix(record, settings);
}

/** What opening a database changed, and found. */
type Ready = Pick<Storage, 'applied' | 'installation'>;

/** Migrates, and founds a new installation. `now` in ms. */
async function makeReady(connection: Connection, options: PostgresqlOptions, now: number): Promise<Ready> {
  const { keyring, settings, role } = options;
  const applied = await migrate(connection, now);
  const isNew =
    (await needsFounding(connection, keyring)) &&
    (await underLock(connection, async () => {
      // Again under the lock: another instance with other keys may have founded the installation meanwhile.
      await requireFitting(connection, options);
      return found(connection, keyring, settings, now);
    }));
  const record = (await recordOf(connection)) as InstallationRecord;
  requireSamePrefix(record, settings);
  if (role === 'service' && record.currentKeyId !== keyring.currentKeyId) await setCurrentKey(connection, keyring);
  const installation = { id: record.id.toString('hex'), isNew, differences: differences(record, settings) };
  return { applied, installation };
}

function storage(
  { url, keyring, settings, role }: PostgresqlOptions,
  ready: Ready,
  clock: DatabaseClock,
  now: () => number,
): PostgresqlStorage {
  const open = (purpose: Purpose) => Connection.open(url, SESSIONS[purpose]);
  const database = new Database(open, SIZES[role]);
  const known = new KnownClients(database.reads);
  const runner = runnerOn(database);
  const marks = useMarks(database);
  const cleanUp = new CleanUp(() => open('others'), now);
  clock.start(database);
  return {
    store: {
      ...grantStore(database, marks, known),
      ...clientStore(runner, { findClient: (id) => known.find(id), useClientAssertion: assertionMarking(database) }),
      ...resourceServerStore(runner, resourceServerSearch(database.reads)),
      ...scopeStore(runner),
      ...deviceRequestStore(database),
      ...trail(runner),
      ...trailFollowing(database),
      ...accountStore(runner),
      ...sessionStore(runner),
    },
    now,
    ...ready,
    exposures: exposures(url),
    counters: sharedCounters(database),
    cleanUp,
    check: () => onLongSession(url, (connection) => check(connection, { keyring, settings })),
    adoptSettings: () => onLongSession(url, (connection) => adopt(connection, settings)),
    async close() {
      clock.stop();
      cleanUp.stop();
      await marks.close();
      await database.close();
    },
  };
}

async function onLongSession<T>(url: string, run: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await reach(url, LONG_SESSION);
  try {
    return await run(connection);
  } finally {
    await connection.close();
  }
}
