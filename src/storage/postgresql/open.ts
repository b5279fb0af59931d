/** Opens a PostgreSQL database as the store of the protocol and of accounts, for one of any number of instances. */
import type { Keyring } from '../../oauth/keyring.ts';
import { Refused } from '../../refused.ts';
import type { Finding, Storage } from '../storage.ts';
import { accountStore } from './accounts.ts';
import { auditStore } from './audit.ts';
import { check } from './check.ts';
import { CleanUp } from './clean-up.ts';
import { clientStore } from './clients.ts';
import { DatabaseClock } from './clock.ts';
import { Connection, type Session } from './connection.ts';
import { sharedCounters } from './counters.ts';
import { Database } from './database.ts';
import { deviceRequestStore } from './device-requests.ts';
import { asStoreError, SQLSTATE, sqlState } from './errors.ts';
import { grantStore } from './grants.ts';
import { found, isFounded, needsFounding, requireFittingKeys } from './installation.ts';
import { migrate, pending, requireUpToDate, underLock } from './migrate.ts';
import { resourceServerStore } from './resource-servers.ts';
import { scopeStore } from './scopes.ts';
import { requireFitServer } from './server-settings.ts';
import { sessionStore } from './sessions.ts';
import { UseMarks } from './use-marks.ts';

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

const SIZES = {
  service: { reads: 2, writes: 3, others: 4 },
  command: { reads: 1, writes: 1, others: 1 },
};

/** By key everything is quick, or somebody holds a lock that nobody should. Another instance may be migrating for long. */
const SESSIONS = {
  byKey: { statementTimeout: 2500, lockTimeout: 1500, byKey: true },
  other: { statementTimeout: 10_000, lockTimeout: 3000, byKey: false },
  patient: { statementTimeout: 0, lockTimeout: 60_000, byKey: false },
} as const satisfies Record<string, Session>;

/** Opens a database. Throws `Refused`, whose sentence says what to do, when it cannot be used; it is then as it was before. */
export async function openPostgresql(options: PostgresqlOptions): Promise<PostgresqlStorage> {
  const connection = await connect(options.url);
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

async function connect(url: string): Promise<Connection> {
  try {
    return await Connection.open(url, SESSIONS.patient);
  } catch (error) {
    const unreachable = `the database at ${placeOf(url)} cannot be reached (${(error as Error).message}): start it, or check the address`;
    throw asRefusal(error, url) ?? new Refused([unreachable]);
  }
}

/** What to do about an error of the server's while opening, if that is known. */
function asRefusal(error: unknown, url: string): Refused | undefined {
  if (error instanceof Refused) return error;
  const place = placeOf(url);
  const { message } = error as Error;
  switch (sqlState(error)) {
    case SQLSTATE.NO_SUCH_DATABASE:
      return new Refused([`there is no database at ${place}: make it with "createdb", or check the address`]);
    case SQLSTATE.INVALID_PASSWORD:
    case SQLSTATE.INVALID_AUTHORIZATION:
      return new Refused([`the database at ${place} lets nobody in (${message}): check user and password`]);
    case SQLSTATE.INSUFFICIENT_PRIVILEGE:
      return new Refused([`the user may not do at ${place} what it must (${message}): let it own the database`]);
    default:
      return undefined;
  }
}

/** An address without its user and password. */
function placeOf(url: string): string {
  const { host, pathname } = URL.parse(url) ?? { host: '', pathname: '' };
  return `${host || 'this machine'}${pathname}`;
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
  const open = (byKey: boolean) => Connection.open(url, byKey ? SESSIONS.byKey : SESSIONS.other);
  const database = new Database(open, SIZES[role]);
  const marks = new UseMarks(database, now);
  const cleanUp = new CleanUp(() => open(false), now);
  clock.start(database);
  return {
    store: {
      ...grantStore(database, marks),
      ...clientStore(database),
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
  const connection = await connect(url);
  try {
    return await check(connection, keyring);
  } finally {
    await connection.close();
  }
}
