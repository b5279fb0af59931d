/**
 * The entry point: configuration → keys → store → domain → servers, or one command. Only this file reads the
 * environment, the clock and the process; all other files receive them.
 */
import './process/required-node.ts';
import './process/no-debugger.ts';

import { isIPv6 } from 'node:net';
import { relative } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { callerOf } from './cli/command/caller.ts';
import type { CommandContext } from './cli/command/context.ts';
import { runProgram } from './cli/program.ts';
import { nextSteps } from './cli/service/next-steps.ts';
import { servedAddresses } from './cli/service/served-addresses.ts';
import { RequestTally } from './http/service/request-tally.ts';
import type { Service } from './http/service/service.ts';
import { createKeyring } from './oauth/keys/keyring.ts';
import { keptStatus } from './operator/installation/installation-status.ts';
import { scanRules } from './operator/leaks/scan-rules.ts';
import { TrailCheckpoints } from './operator/trail/trail-checkpoints.ts';
import { pagePaths } from './pages/layout/page-paths.ts';
import { GatheredLines } from './process/gathered-lines.ts';
import { faultText } from './process/installation-error.ts';
import { inStyle, lineByLine, makeLogger } from './process/log.ts';
import { instanceName } from './process/process-names.ts';
import { stopSignal } from './process/stop-signal.ts';
import { later } from './process/timers.ts';
import { type Configuration, configurationWarnings, lifetimesOf, readConfiguration } from './settings/configuration.ts';
import { readLogo } from './settings/logo.ts';
import { loadRootKeys } from './settings/root-keys.ts';
import { differenceFaults } from './storage/opening/installation-settings.ts';
import type { Storage } from './storage/opening/opened-storage.ts';
import { isNew } from './storage/sqlite/file/database-file.ts';
import { databaseCommands } from './wiring/database-commands.ts';
import { makeInstallation } from './wiring/installation.ts';
import { keyCommands } from './wiring/key-commands.ts';
import { followKeys, refuseUnknownMethods } from './wiring/may-serve.ts';
import { openDatabase, type World } from './wiring/open-database.ts';
import { openForCommand } from './wiring/open-for-command.ts';
import { wiringWorld } from './wiring/process-surroundings.ts';
import type { RunningService } from './wiring/running-service.ts';
import { startMetrics } from './wiring/start-metrics.ts';

/**
 * Maximum time of a stop (ms): connections are cut after 10 seconds, and an unresponsive database is abandoned. Only a
 * sync or a checkpoint in progress can take longer, since nothing can interrupt it.
 */
const STOP_TIMEOUT_MS = 12_000;

/** Time between two checks for ended hours, whose wrong sign-ins are then written to the audit trail (ms). */
const WRONG_SIGN_INS_EVERY_MS = 1000;

/** Time between two checks whether the keys for ID tokens must turn, or be sealed under another root key (ms). */
const SIGNING_KEYS_EVERY_MS = 60_000;

/**
 * Opens the database, wires the domain and starts the servers; resolves when both addresses answer. Throws
 * `InstallationError`.
 */
export async function startService(configuration: Configuration, world: World): Promise<RunningService> {
  const { logger } = world;
  const logo = readLogo('VALETKEY_PRODUCT_LOGO', configuration.productLogo);
  const logoDark = readLogo('VALETKEY_PRODUCT_LOGO_DARK', configuration.productLogoDark);
  const paths = pagePaths(configuration.pagesBasePath);
  const keyring = createKeyring(loadRootKeys(configuration, isNew(configuration.database)));
  const { storage, now } = await openDatabase(
    configuration,
    keyring,
    { ...world, wallClock: Date.now },
    { role: 'service', migrate: true, mayFound: true },
  );
  const installation = makeInstallation(configuration, keyring, storage, wiringWorld(configuration, now, logger, null));
  await refuseUnknownMethods(configuration, storage);
  const keyWatch = await followKeys(configuration, keyring, storage, logger);
  const stopping = new AbortController();
  const service: Service = {
    ...installation,
    clients: storage.store,
    scopes: storage.store,
    resourceServers: storage.store,
    audit: storage.store,
    keyring,
    operatorApi: {
      ...installation,
      store: storage.store,
      status: keptStatus(async () => {
        const { statusOf } = await import('./wiring/examination.ts');
        return statusOf(configuration, keyring, { storage, now }, world.now ?? Date.now);
      }, now),
    },
    brand: {
      productName: configuration.productName,
      color: configuration.productColor,
      logoHref: logo ? paths.logo : null,
      logoDarkHref: logoDark ? paths.logoDark : null,
      supportAddress: configuration.supportAddress,
    },
    logos: [
      { path: paths.logo, logo },
      { path: paths.logoDark, logo: logoDark },
    ],
    appUrl: configuration.appUrl,
    apiUrl: configuration.apiUrl,
    operatorUrl: configuration.operatorUrl,
    signInMethods: configuration.signInMethods,
    paths,
    lifetimes: lifetimesOf(configuration),
    maxConnections: { inAll: configuration.maxConnections, ofSource: configuration.maxConnectionsPerSource },
    tally: configuration.metricsListen && new RequestTally(),
    isTrustedProxy: (address) => configuration.trustedProxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'),
    isReady: async () => !stopping.signal.aborted && (await canServe(storage)),
    stopping: stopping.signal,
    now,
  };
  // Imported here, so that commands start faster without it.
  const { startServers } = await import('./http/servers.ts');
  const servers = await startServers(service, configuration, logger).catch(async (error: unknown) => {
    await storage.close();
    throw error;
  });
  const checkpoints = new TrailCheckpoints({
    trail: installation.auditTrail,
    later,
    now,
    cleanUpTime: () => storage.cleanUp.time(),
    retention: configuration.auditRetention && configuration.auditRetention * 1000,
    actor: { kind: 'service', id: instanceName(), source: null, requestId: null },
    told: (checkpoint) =>
      logger.always({ checkpoint, msg: 'the audit trail has a checkpoint: whoever keeps it notices a cut' }),
    failed: (error) => logger.warn(`the audit trail has no new checkpoint: ${error.message}`),
  });
  const trailVerifiedAt = () => checkpoints.verifiedAt;
  const { droppedLines = () => 0 } = world;
  const metrics = await startMetrics(configuration, service, installation, storage, {
    connections: () => servers.connections(),
    trailVerifiedAt,
    droppedLines,
  }).catch(async (error: unknown) => {
    await servers.drain();
    await storage.close();
    throw error;
  });
  if (metrics) logger.info(`figures for Prometheus at ${metrics.url}`);
  storage.cleanUp.start((sentence) => logger.warn(sentence));
  const differences = differenceFaults(storage.installation.differences);
  for (const fault of [...configurationWarnings(configuration), ...differences, ...storage.exposures])
    logger.warn(faultText(fault));
  const { wrongSignIns } = installation;
  const onAuditWriteFailed = (error: Error) =>
    logger.warn(`wrong sign-ins are not in the audit trail yet: ${error.message}`);
  const checking = setInterval(
    () => void wrongSignIns.writeEnded().catch(onAuditWriteFailed),
    WRONG_SIGN_INS_EVERY_MS,
  ).unref();
  const onKeepFailed = (error: Error) => logger.warn(`the keys for ID tokens are not kept yet: ${error.message}`);
  const keeping = setInterval(
    () => void installation.signingKeys.keep().catch(onKeepFailed),
    SIGNING_KEYS_EVERY_MS,
  ).unref();
  const onRehashFailed = (error: Error) => logger.warn(`imported passwords are not all wrapped yet: ${error.message}`);
  const wrapping = installation.startWrapping(onRehashFailed);
  const onResealFailed = (error: Error) =>
    logger.warn(`passwords are not all sealed with the current key yet: ${error.message}`);
  const resealing = installation.startResealing(onResealFailed);
  const stop = async (): Promise<void> => {
    stopping.abort();
    installation.accounts.turnStrangersAway();
    await servers.drain();
    clearInterval(checking);
    clearInterval(keeping);
    keyWatch.stop();
    await Promise.all([
      installation.activity.close(),
      wrongSignIns.close().catch(onAuditWriteFailed),
      wrapping.stop(),
      resealing.stop(),
    ]);
    await installation.signingThread.close();
    await checkpoints.stop(); // After the last event is recorded.
    await metrics?.close(); // After the requests, so that metrics show the stop.
    await storage.close();
  };
  let stopped: Promise<void> | undefined;
  const { appUrl, apiUrl, operatorUrl } = configuration;
  return { appUrl, apiUrl, operatorUrl, installation, stop: () => (stopped ??= stop()) };
}

/** Serves until a stop signal; prints the addresses and, for an empty installation, the next steps. */
async function serve(configuration: Configuration, json: boolean, programName: string): Promise<never> {
  // Under load an object of a request survives one or two garbage collections. V8 may then allocate its kind in the old
  // generation, where a dead object keeps everything it references alive: decision 0027.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // On one core a full collection blocks requests for about 40 ms. So a collection runs when the heap is twice as large
  // as the live objects, instead of 1.4 times.
  setFlagsFromString('--heap-growing-percent=100');
  const gathered = new GatheredLines();
  const lines = inStyle(gathered, configuration, process.stderr.isTTY);
  const logger = makeLogger(lines, Date.now, configuration.logLevel);
  gathered.onGap = (dropped) => logger.warn({ dropped }, `${dropped} lines are missing here: nobody read the log`);
  const stopRequest = stopSignal(); // Installed first: without a handler an early signal would kill the process.
  const running = await Promise.race([
    startService(configuration, { logger, droppedLines: () => gathered.dropped }),
    stopRequest,
  ]);
  // Exits immediately: opening the database may wait long for other processes, and everything that a start writes is
  // atomic.
  if (!running) process.exit(0);
  void announce(running, configuration.signInMethods, json, programName);
  await stopRequest;
  logger.info('stopping');
  const isWhole = await Promise.race([running.stop().then(() => true), after(STOP_TIMEOUT_MS, false, { ref: false })]);
  if (!isWhole) logger.error('the database could not be closed in time: ending all the same');
  process.exit(isWhole ? 0 : 1); // Without waiting for a connection that the database never answered.
}

async function announce(
  running: RunningService,
  signInMethods: readonly string[],
  json: boolean,
  programName: string,
): Promise<void> {
  // The service already runs, so a database that fails here must not stop it.
  const next = json ? '' : await nextSteps(running.installation, signInMethods, programName).catch(() => '');
  process.stdout.write(servedAddresses(running, json) + next);
}

/** Returns true if the store can read. */
function canServe({ store }: Storage): Promise<boolean> {
  return store.findClient('').then(
    () => true,
    () => false,
  );
}

/**
 * Returns the path of this file as a user types it. Returns null if this file is not the program, or if a wrapper
 * started it: only wrappers give Node.js options.
 */
function typedPath(): string | null {
  if (!import.meta.main || process.execArgv.length > 0) return null;
  return relative(process.cwd(), import.meta.filename);
}

/** Makes the context of commands. Reads and opens nothing before a command asks for it. */
export function makeCommandContext(environment: Readonly<Record<string, string | undefined>>): CommandContext {
  const configuration = () => readConfiguration(environment);
  const caller = callerOf(environment, typedPath());
  const world = { logger: makeLogger(lineByLine(), Date.now), clock: Date.now };
  const openInstallation = async (mayCreate: boolean, read = configuration(), wallClock = Date.now) =>
    (await openForCommand(read, world, { mayCreate, wallClock })).installation;
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
      const openAt = (variables: Record<string, string>, now: () => number) =>
        openInstallation(true, readConfiguration(variables), now);
      const { stdout, stderr } = process;
      return runDemo({ ...options, stdout, stderr, start, open, openAt, stopSignal });
    },
    database: databaseCommands({
      configuration,
      now: Date.now,
      open: (read, how) => openForCommand(read, world, how),
    }),
    doctor: async () => {
      const { examine } = await import('./wiring/examination.ts');
      return examine(environment, makeLogger(lineByLine(), Date.now, 'error'), Date.now);
    },
    scanRules: () => scanRules(configuration().tokenPrefix),
    keys: keyCommands(configuration, () => openInstallation(false)),
  };
}

/** Runs the program on this process: also for the package's command, which first looks at the version of Node.js. */
export async function main(): Promise<void> {
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

if (import.meta.main) await main();
