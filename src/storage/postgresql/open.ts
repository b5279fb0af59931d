/** Opens a PostgreSQL database as the store of all ports, for one of any number of instances. */
import { randomBytes } from 'node:crypto';
import { newChain } from '../../oauth/trail/audit-chain.ts';
import type { CleanUp } from '../clean-up/clean-up.ts';
import { keptTime } from '../clean-up/clean-up-time.ts';
import { check } from '../opening/check.ts';
import { adoptSettings } from '../opening/installation-settings.ts';
import type { Storage } from '../opening/opened-storage.ts';
import { makeReady, type OpeningOptions, type Ready, refuseUnfit } from '../opening/opening.ts';
import { countKeyUses } from '../opening/root-key-uses.ts';
import { wholeStore } from '../tables/whole-store.ts';
import { ownChecks } from './check.ts';
import { DatabaseClock } from './clock.ts';
import type { Connection, Session } from './connection/connection.ts';
import { asStoreError } from './connection/errors.ts';
import { asRefusal, connectToPrimary, exposures } from './connection/reach.ts';
import { Servers } from './connection/servers.ts';
import { runningInstances, sessionName } from './instances.ts';
import { plainDatabase } from './plain-database.ts';
import { RECORD_PLACE, requireOwnPlace } from './served-elsewhere.ts';
import { requireFitServer, sizeOf } from './server-settings.ts';
import { Database, type Purpose, type Sizes } from './statements/database.ts';
import { runnerOn } from './statements/runner.ts';
import { trailFollowing } from './store/audit-trail.ts';
import { cleanUpOf } from './store/clean-up.ts';
import { assertionMarking } from './store/client-assertions.ts';
import { sharedCounters } from './store/counters.ts';
import { deviceRequestStore } from './store/device-requests.ts';
import { ownGrants, useMarks } from './store/grants.ts';

/** The options of opening a PostgreSQL database. */
export type PostgresqlOptions = OpeningOptions & {
  /** `postgres://user:password@host:port/database`; several hosts, separated by commas, of which one is the primary. */
  readonly url: string;
  /** Receives a sentence on each failover, and on each server that a failover left behind. */
  readonly warn?: (sentence: string) => void;
  /** Returns ms since the epoch, for tests; by default the time is the database's. */
  readonly now?: (() => number) | undefined;
  /** Maximum time that a request waits for a connection (ms), for tests on a busy machine. */
  readonly checkoutTimeout?: number | undefined;
  /** Maximum time that a request waits for locked rows (ms), and its only time limit; also for such tests. */
  readonly lockTimeout?: number | undefined;
};

/** An open PostgreSQL database. */
export type PostgresqlStorage = Storage & {
  readonly cleanUp: CleanUp;
  /** Returns the time that all instances share (ms since the epoch). */
  readonly now: () => number;
};

/** Numbers of connections: a service writes more; a command may end 64 grants at once, each in its own transaction. */
const SIZES: Readonly<Record<PostgresqlOptions['role'], Sizes>> = {
  service: { reads: 1, writes: 2, waits: 1, others: 4 },
  command: { reads: 1, writes: 1, waits: 1, others: 4 },
};

/**
 * Statements by key are fast, unless there is a fault, so their timeouts are short. A write waits 1.5 s for a lock in
 * all: the first part with the other requests of its statement, the rest apart from them. Instances that change one
 * busy row in turn, such as a counter, stay within the first part.
 */
const SESSIONS: Readonly<Record<Purpose, Session>> = {
  reads: { statementTimeout: 1500, lockTimeout: 1000, byKey: true },
  writes: { statementTimeout: 2500, lockTimeout: 100, byKey: true },
  waits: { statementTimeout: 2500, lockTimeout: 1400, byKey: true },
  others: { statementTimeout: 5000, lockTimeout: 3000, byKey: false },
};

/** Further statements of a restore, which reads every grant and may take long. */
const OWN_RESTORE = ['SET LOCAL statement_timeout = 0', 'DELETE FROM device_request', RECORD_PLACE];

/** For opening and checking: another instance may take long to migrate, and a check takes long too. */
const LONG_SESSION: Session = { statementTimeout: 0, lockTimeout: 60_000, byKey: false };

/** Opens a database. Throws `InstallationError` with the remedy if it is unusable, and leaves it unchanged. */
export async function openPostgresql(options: PostgresqlOptions): Promise<PostgresqlStorage> {
  const servers = new Servers(options.url, options.warn);
  const connection = await connectToPrimary(servers, LONG_SESSION);
  const clock = new DatabaseClock();
  const now = options.now ?? (() => clock.now());
  let ready: Ready;
  try {
    await clock.set(connection);
    await requireFitServer(connection);
    await refuseUnfit(plainDatabase(connection), options);
    ready = await makeReady(plainDatabase(connection), options, now());
    if (options.role === 'service') await requireOwnPlace(connection, options.warn ?? (() => {}));
  } catch (error) {
    throw asRefusal(error, servers.place) ?? asStoreError(error);
  } finally {
    await connection.close();
  }
  return assembleStorage(options, servers, ready, clock, now);
}

function assembleStorage(
  options: PostgresqlOptions,
  servers: Servers,
  ready: Ready,
  clock: DatabaseClock,
  now: () => number,
): PostgresqlStorage {
  const { role, keyring, checkoutTimeout, lockTimeout } = options;
  const ownId = randomBytes(8).toString('hex');
  const named = role === 'service' ? { name: sessionName(ownId) } : {};
  const patient = lockTimeout === undefined ? {} : { lockTimeout, statementTimeout: 0 };
  const open = (purpose: Purpose) => {
    const chain = purpose === 'reads' ? {} : { chain: newChain(keyring) };
    const brief = purpose === 'writes' ? { lockTimeout: SESSIONS.writes.lockTimeout } : {};
    return servers.connect({ ...SESSIONS[purpose], ...patient, ...brief, ...named, ...chain });
  };
  const isStale = ({ chainKeyId }: Connection) => chainKeyId !== null && chainKeyId !== keyring.currentKeyId;
  const waitTimeout = lockTimeout ?? SESSIONS.waits.lockTimeout;
  const database = new Database(open, SIZES[role], (purpose) => ({
    // A request behind the wait for another row may wait as long as for its own.
    checkoutTimeout: purpose === 'waits' ? waitTimeout : checkoutTimeout,
    isStale,
  }));
  const runner = runnerOn(database);
  const marks = useMarks(database);
  const { store, close: closeVerbs } = wholeStore(
    runner,
    ownGrants(database),
    marks,
    {
      useClientAssertion: assertionMarking(database),
      ...deviceRequestStore(database),
      ...trailFollowing(database),
    },
    OWN_RESTORE,
  );
  const cleanUp = cleanUpOf(() => open('others'), keptTime(runner), now);
  clock.start(database);
  return {
    store,
    now,
    ...ready,
    instances: { ownId, listRunning: () => runningInstances(database) },
    exposures: exposures(servers),
    counters: sharedCounters(database),
    cleanUp,
    figures: () => ({
      groups: { searches: database.reads.groups, writes: database.writes.groups },
      syncs: null,
      queued: 0,
      walBytes: null,
      pools: database.pools(),
      cleanUp: cleanUp.figures(),
    }),
    check: (how) =>
      onLongSession(servers, (connection) => check(plainDatabase(connection), options, ownChecks(connection), how)),
    sizes: async () => ({ database: await sizeOf(database), log: null, free: null }),
    countKeyUses: (liveAt) => onLongSession(servers, (connection) => countKeyUses(plainDatabase(connection), liveAt)),
    backUp: null,
    adoptSettings: async () => {
      await adoptSettings(runner, options.settings);
      await onLongSession(servers, (connection) => connection.script(RECORD_PLACE));
    },
    async close() {
      clock.stop();
      cleanUp.stop();
      await closeVerbs();
      await database.close();
    },
  };
}

async function onLongSession<T>(servers: Servers, run: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await connectToPrimary(servers, LONG_SESSION);
  try {
    return await run(connection);
  } finally {
    await connection.close();
  }
}
