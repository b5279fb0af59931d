/** Opens a PostgreSQL database as the store of all ports, for one of any number of instances. */
import { randomBytes } from 'node:crypto';
import { newChain } from '../../oauth/trail/audit-chain.ts';
import { check } from '../check.ts';
import type { CleanUp } from '../clean-up.ts';
import { keptTime } from '../clean-up-time.ts';
import { adoptSettings } from '../installation-settings.ts';
import { countKeyUses } from '../key-uses.ts';
import { makeReady, type OpeningOptions, type Ready, refuseUnfit } from '../opening.ts';
import type { Storage } from '../storage.ts';
import { wholeStore } from '../tables/alike.ts';
import { trailFollowing } from './audit.ts';
import { ownChecks } from './check.ts';
import { cleanUpOf } from './clean-up.ts';
import { assertionMarking } from './client-assertions.ts';
import { DatabaseClock } from './clock.ts';
import type { Connection, Session } from './connection.ts';
import { sharedCounters } from './counters.ts';
import { Database, type Purpose, type Sizes } from './database.ts';
import { deviceRequestStore } from './device-requests.ts';
import { asStoreError } from './errors.ts';
import { ownGrants, useMarks } from './grants.ts';
import { runningInstances, sessionName } from './instances.ts';
import { RECORD_PLACE, requireOwnPlace } from './own-place.ts';
import { plain } from './plain-database.ts';
import { asRefusal, exposures, reach } from './reach.ts';
import { runnerOn } from './runner.ts';
import { requireFitServer, sizeOf } from './server-settings.ts';
import { Servers } from './servers.ts';

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
  const connection = await reach(servers, LONG_SESSION);
  const clock = new DatabaseClock();
  const now = options.now ?? (() => clock.now());
  let ready: Ready;
  try {
    await clock.set(connection);
    await requireFitServer(connection);
    await refuseUnfit(plain(connection), options);
    ready = await makeReady(plain(connection), options, now());
    if (options.role === 'service') await requireOwnPlace(connection, options.warn ?? (() => {}));
  } catch (error) {
    throw asRefusal(error, servers.place) ?? asStoreError(error);
  } finally {
    await connection.close();
  }
  return storage(options, servers, ready, clock, now);
}

function storage(
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
      onLongSession(servers, (connection) => check(plain(connection), options, ownChecks(connection), how)),
    sizes: async () => ({ database: await sizeOf(database), log: null, free: null }),
    countKeyUses: (liveAt) => onLongSession(servers, (connection) => countKeyUses(plain(connection), liveAt)),
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
  const connection = await reach(servers, LONG_SESSION);
  try {
    return await run(connection);
  } finally {
    await connection.close();
  }
}
