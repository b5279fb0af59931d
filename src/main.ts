/**
 * The only wiring: configuration → keys → store → domain → servers, or one command. All other files are given what they
 * need; only this one uses the environment, the clock and the process.
 */
import './process/required-node.ts';

import { existsSync, statSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { userInfo } from 'node:os';
import { relative } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { callerOf } from './cli/caller.ts';
import type { CommandContext } from './cli/context.ts';
import { nextSteps } from './cli/next-steps.ts';
import { runProgram } from './cli/program.ts';
import type { Service } from './http/service.ts';
import { makeInstallation, type WiredInstallation } from './installation.ts';
import { createKeyring, type Keyring } from './oauth/keyring.ts';
import { pagePaths } from './pages/page-paths.ts';
import { InstallationError } from './process/installation-error.ts';
import { GatheredLines, type Log, lineByLine, makeLogger } from './process/log.ts';
import { requestOnce } from './process/one-request.ts';
import { stopSignal } from './process/stop-signal.ts';
import {
  type Configuration,
  configurationWarnings,
  lifetimesOf,
  readConfiguration,
  readDatabaseLocation,
  sharedSettings,
} from './settings/configuration.ts';
import { readLogo } from './settings/logo.ts';
import { loadRootKeys, makeKeysFile, makeRootKey } from './settings/root-keys.ts';
import { noteServed, refusalOfNew } from './settings/served-installations.ts';
import { toldDifferences } from './storage/installation-settings.ts';
import { openSqlite } from './storage/sqlite/open.ts';
import type { Storage } from './storage/storage.ts';

/** What a start needs of the world. A test gives a clock of its own (ms since the epoch), and how `PostgresqlOptions` wait. */
export type World = {
  readonly now?: () => number;
  readonly logger: Log;
  readonly checkoutTimeout?: number;
};

/** An open database, and the one clock of its instances. */
type OpenDatabase = { readonly storage: Storage; readonly now: () => number };

/** A service that runs: its addresses, the domain, and how to stop it. */
export type RunningService = {
  readonly appUrl: string;
  readonly apiUrl: string;
  readonly installation: WiredInstallation;
  /** Answers the requests under way, for at most 10 seconds, and closes the store. */
  stop(): Promise<void>;
};

/**
 * Maximum time of a stop (ms): connections are cut after 10 seconds, and a database that does not answer is left. Only
 * a sync or a checkpoint that is under way can make it longer, since nothing can interrupt them.
 */
const STOP_TIMEOUT_MS = 12_000;

/** Time between two checks for an hour that is over, whose wrong sign-ins are then written to the audit trail (ms). */
const WRONG_SIGN_INS_EVERY_MS = 1000;

/** Opens the database, makes the domain and starts the servers; resolves when both addresses answer. Throws `InstallationError`. */
export async function startService(configuration: Configuration, world: World): Promise<RunningService> {
  const { logger } = world;
  const logo = readLogo(configuration.productLogo);
  const paths = pagePaths(configuration.pagesBasePath);
  const keyring = createKeyring(loadRootKeys(configuration, isNew(configuration.database)));
  const { storage, now } = await openDatabase(configuration, keyring, world, 'service', true);
  const installation = makeInstallation(configuration, keyring, storage, {
    now,
    stopwatch,
    later,
    operator: userName(),
    get: requestOnce,
  });
  await refuseUnknownMethods(configuration, storage);
  const stopping = new AbortController();
  const service: Service = {
    authorizationServer: installation.authorizationServer,
    deviceFlow: installation.deviceFlow,
    introspection: installation.introspection,
    accounts: installation.accounts,
    grants: installation.grants,
    externalSignIns: installation.externalSignIns,
    providers: installation.providers,
    providerUsers: installation.providerUsers,
    clients: storage.store,
    scopes: storage.store,
    resourceServers: storage.store,
    identities: storage.store,
    audit: storage.store,
    keyring,
    brand: {
      productName: configuration.productName,
      colour: configuration.productColour,
      logoHref: logo ? paths.logo : null,
      supportAddress: configuration.supportAddress,
    },
    logo,
    appUrl: configuration.appUrl,
    apiUrl: configuration.apiUrl,
    paths,
    lifetimes: lifetimesOf(configuration),
    throttles: installation.throttles,
    maxConnections: { inAll: configuration.maxConnections, ofSource: configuration.maxConnectionsPerSource },
    httpReader: configuration.httpReader,
    isTrustedProxy: (address) => configuration.trustedProxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'),
    isReady: async () => !stopping.signal.aborted && (await canServe(storage)),
    stopping: stopping.signal,
    now,
  };
  // Imported here, so that commands start faster without it.
  const { startServers } = await import('./http/connection/servers.ts');
  const servers = await startServers(service, configuration, logger).catch(async (error: unknown) => {
    await storage.close();
    throw error;
  });
  storage.cleanUp.start((sentence) => logger.warn(sentence));
  const differences = toldDifferences(storage.installation.differences);
  for (const sentence of [...configurationWarnings(configuration), ...differences, ...storage.exposures])
    logger.warn(sentence);
  const { wrongSignIns } = installation;
  const untold = (error: Error) => logger.warn(`wrong sign-ins are not in the audit trail yet: ${error.message}`);
  const checking = setInterval(() => void wrongSignIns.writeEnded().catch(untold), WRONG_SIGN_INS_EVERY_MS).unref();
  const unwrapped = (error: Error) => logger.warn(`imported passwords are not all wrapped yet: ${error.message}`);
  const wrapping = installation.startWrapping(unwrapped);
  const stop = async (): Promise<void> => {
    stopping.abort();
    installation.accounts.turnStrangersAway();
    await servers.drain();
    clearInterval(checking);
    await Promise.all([wrongSignIns.close().catch(untold), wrapping.stop()]);
    await storage.close();
  };
  let stopped: Promise<void> | undefined;
  return { appUrl: configuration.appUrl, apiUrl: configuration.apiUrl, installation, stop: () => (stopped ??= stop()) };
}

/** Throws an `InstallationError` unless each way to sign in is the password or a registered identity provider. */
async function refuseUnknownMethods({ signInMethods }: Configuration, { store, close }: Storage): Promise<void> {
  const providers = await store.listIdentityProviders();
  const unknown = signInMethods.filter((id) => id !== 'password' && !providers.some((provider) => provider.id === id));
  const alone = providers.find(({ ownIds }) => ownIds);
  const problems = unknown.map(
    (id) =>
      `VALETKEY_SIGN_IN_METHODS names ${id}, which is not registered: "valetkey identity-provider register --id ${id}"`,
  );
  if (alone && signInMethods.includes('password'))
    problems.push(
      `VALETKEY_SIGN_IN_METHODS holds password, but ${alone.id} was registered with --own-ids: set it to ${alone.id} alone`,
    );
  if (problems.length === 0) return;
  await close();
  throw new InstallationError(problems);
}

/** Serves until a signal comes; prints where, and what to do next on an empty installation. */
async function serve(configuration: Configuration, json: boolean, programName: string): Promise<never> {
  // Under load an object of a request survives a garbage collection or two. V8 may then allocate its kind in the old
  // generation, where a dead object keeps alive what it points to: decision 0027.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // On one core a full collection blocks requests for some 40 ms. So it runs when the heap is twice as large as the live
  // objects, and not at 1.4 times.
  setFlagsFromString('--heap-growing-percent=100');
  const logger = makeLogger(new GatheredLines(), Date.now);
  const told = stopSignal(); // From the beginning: an early signal would kill the process.
  const running = await Promise.race([startService(configuration, { logger }), told]);
  // Ends at once: opening the database may wait long for others, and what a start writes is atomic.
  if (!running) process.exit(0);
  void announce(running, configuration.signInMethods, json, programName);
  await told;
  logger.info('stopping');
  const isWhole = await Promise.race([running.stop().then(() => true), after(STOP_TIMEOUT_MS, false, { ref: false })]);
  if (!isWhole) logger.error('the database could not be closed in time: ending all the same');
  process.exit(isWhole ? 0 : 1); // Does not wait for a connection that the database never answered.
}

async function announce(
  { appUrl, apiUrl, installation }: RunningService,
  signInMethods: readonly string[],
  json: boolean,
  programName: string,
): Promise<void> {
  if (json) process.stdout.write(`${JSON.stringify({ app_url: appUrl, api_url: apiUrl })}\n`);
  // The service runs already, so a database that cannot say what is missing must not end it.
  else {
    const next = await nextSteps(installation, signInMethods, programName).catch(() => '');
    process.stdout.write(`app ${appUrl}\napi ${apiUrl}\n${next}`);
  }
}

/** Opens the database, and notes in the keys file which installation its keys serve. Throws `InstallationError`. */
async function openDatabase(
  configuration: Configuration,
  keyring: Keyring,
  world: World,
  role: 'service' | 'command',
  migrate: boolean,
): Promise<OpenDatabase> {
  const opened = await openStorage(configuration, keyring, world, role, migrate);
  const { id, isNew: begins } = opened.storage.installation;
  if (begins && configuration.database.kind !== 'memory')
    world.logger.info(`a new installation begins (${id}): if there was one, its database is missing here`);
  const unnoted = role === 'service' || begins ? noteServed(configuration, id) : null;
  if (unnoted) world.logger.info(unnoted);
  return opened;
}

/** Opens the database of the configuration, and returns it with its clock. Throws `InstallationError`. */
async function openStorage(
  configuration: Configuration,
  keyring: Keyring,
  { now, logger, checkoutTimeout }: World,
  role: 'service' | 'command',
  migrate: boolean,
): Promise<OpenDatabase> {
  const { database, durability, tokenPrefix } = configuration;
  const beginning = {
    settings: { tokenPrefix, shared: sharedSettings(configuration) },
    refuseNew: refusalOfNew(configuration),
  };
  if (database.kind === 'postgresql') {
    // Imported here, so that SQLite alone starts without the client of PostgreSQL.
    const { openPostgresql } = await import('./storage/postgresql/open.ts');
    const storage = await openPostgresql({
      ...beginning,
      url: database.url,
      keyring,
      role,
      migrate,
      checkoutTimeout,
      ...(now ? { now } : {}),
    });
    return { storage, now: storage.now };
  }
  const clock = now ?? Date.now;
  const storage = await openSqlite({
    ...beginning,
    path: database.kind === 'memory' ? ':memory:' : database.path,
    keyring,
    now: clock,
    role,
    migrate,
    durability: role === 'service' ? durability : 'full',
    report: (sentence) => logger.warn(sentence),
    onFailure: (error) => {
      // After a failed sync nobody knows what is on disk, and a second try would not tell.
      if (role === 'command') process.stderr.write(`valetkey: ${error.message}: whether this was done is not known\n`);
      else if (error.name === 'DatabaseMoved') logger.fatal(error.message);
      else logger.fatal({ err: error }, 'the disk failed: ending');
      process.exit(1);
    },
  });
  return { storage, now: clock };
}

/** Whether there is no database file yet: then the service or the first command creates it, with its keys. */
function isNew(database: Configuration['database']): database is Configuration['database'] & { kind: 'file' } {
  return database.kind === 'file' && (!existsSync(database.path) || statSync(database.path).size === 0);
}

/** Ms from any beginning, which no step of the clock changes. */
function stopwatch(): number {
  return performance.now();
}

/** Acts after `ms`; the returned function cancels that. */
function later(act: () => void, ms: number): () => void {
  const timer = setTimeout(act, ms).unref();
  return () => clearTimeout(timer);
}

/** The system user who runs the command; in a container it may be a number without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

/** Whether the store can read. */
function canServe({ store }: Storage): Promise<boolean> {
  return store.findClient('').then(
    () => true,
    () => false,
  );
}

/** The context of commands. Nothing is read or opened before a command asks for it. */
export function makeCommandContext(environment: Readonly<Record<string, string | undefined>>): CommandContext {
  const configuration = () => readConfiguration(environment);
  const caller = callerOf(environment, import.meta.main ? relative(process.cwd(), import.meta.filename) : null);
  const world: World = { logger: makeLogger(lineByLine(), Date.now) };
  const openForCommand = async ({ mayCreate = false, migrate = false, read = configuration() }) => {
    if (read.database.kind === 'memory') {
      throw new InstallationError([
        'VALETKEY_DATABASE_URL is sqlite::memory:, which only the service itself can reach: name a file',
      ]);
    }
    if (!mayCreate && isNew(read.database)) {
      throw new InstallationError([
        `there is no database at ${read.database.path}: "serve" makes one, or check VALETKEY_DATABASE_URL`,
      ]);
    }
    const keyring = createKeyring(loadRootKeys(read, isNew(read.database)));
    const opened = await openDatabase(read, keyring, world, 'command', migrate || isNew(read.database));
    return { ...opened, read, keyring };
  };
  const openInstallation = async (mayCreate: boolean, from = configuration()) => {
    const { read, keyring, storage, now } = await openForCommand({ mayCreate, read: from });
    return makeInstallation(read, keyring, storage, { now, stopwatch, later, operator: userName(), get: requestOnce });
  };
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    now: Date.now,
    caller,
    open: (mayCreate) => openInstallation(mayCreate),
    serve: ({ json }) => serve(configuration(), json, caller.programName),
    demo: async (options) => {
      const { runDemo } = await import('../demo/demo.ts');
      // The log would disturb the demo's own output.
      world.logger.level = 'warn';
      const start = (variables: Record<string, string>) => startService(readConfiguration(variables), world);
      const open = (variables: Record<string, string>) => openInstallation(true, readConfiguration(variables));
      const { stdout, stderr } = process;
      return runDemo({ ...options, stdout, stderr, start, open, stopSignal });
    },
    database: {
      migrate: async () => {
        const { storage } = await openForCommand({ mayCreate: true, migrate: true });
        await storage.close();
        return { applied: storage.applied };
      },
      check: async () => {
        const { storage } = await openForCommand({});
        try {
          return await storage.check();
        } finally {
          await storage.close();
        }
      },
      adoptSettings: async () => {
        const { storage } = await openForCommand({});
        try {
          await storage.adoptSettings();
          return storage.installation.differences;
        } finally {
          await storage.close();
        }
      },
      copy: async (from, to, report) => {
        const read = configuration();
        const source = readDatabaseLocation('FROM', from);
        const target = readDatabaseLocation('TO', to);
        if (isNew(source)) throw new InstallationError([`there is no database at ${source.path}: check the path`]);
        const keyring = createKeyring(loadRootKeys({ ...read, database: source }, false));
        const { copyDatabase } = await import('./storage/copy.ts');
        return copyDatabase({ from: source, to: target, keyring, now: Date.now, report });
      },
    },
    keys: {
      generate: async (file) => {
        const key = makeRootKey();
        if (file !== null && !makeKeysFile(file, key))
          throw new InstallationError([`${file} is there already: choose another name, or move it away`]);
        return { key, file };
      },
    },
  };
}

if (import.meta.main) {
  // The reader of our output may close the pipe early (`valetkey client list | head`).
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(
      `valetkey: the output could not be written (${error.code}): what was done stays done, and a secret in it is lost\n`,
    );
    process.exit(1);
  });
  process.exitCode = await runProgram(process.argv.slice(2), makeCommandContext(process.env));
}
