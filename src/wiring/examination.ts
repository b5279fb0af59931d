/**
 * The wiring of the doctor: examines an installation from its configuration to its public addresses, and changes
 * nothing.
 */
import manifest from '../../package.json' with { type: 'json' };
import { ofKeysPlace, ofNothing, ofUnusable, ofVariables, readOr } from '../doctor/checks-before-opening.ts';
import { type Finding, Findings } from '../doctor/finding.ts';
import {
  examineOpened,
  examineServed,
  keyDueAt,
  type Opened,
  type Served,
} from '../doctor/open-installation-checks.ts';
import { type AddressParts, examineAddress } from '../doctor/public-address.ts';
import { isLoopback } from '../oauth/clients/loopback.ts';
import { doctorPass } from '../oauth/keys/doctor-pass.ts';
import { createKeyring, type LiveKeyring } from '../oauth/keys/keyring.ts';
import { rootKeyName } from '../oauth/keys/root-key.ts';
import { listSigningKeys } from '../oauth/openid/signing-keys.ts';
import type { Status } from '../operator/installation/installation-status.ts';
import { unlistedProviders } from '../operator/installation/sign-in-method-check.ts';
import { unexplainedScopes } from '../operator/products-and-apis/unexplained-scopes.ts';
import { lostDefaults } from '../operator/registration/default-resource.ts';
import type { Log } from '../process/log.ts';
import { Outbound } from '../process/outbound.ts';
import { userName } from '../process/process-names.ts';
import { ask } from '../process/request-to-configured-address.ts';
import { later, stopwatch, wait } from '../process/timers.ts';
import {
  type Configuration,
  configurationWarnings,
  outboundRules,
  readConfiguration,
} from '../settings/configuration.ts';
import { loadRootKeys } from '../settings/root-keys.ts';
import { checkDamaged } from '../storage/sqlite/check.ts';
import { isNew } from '../storage/sqlite/file/database-file.ts';
import { makeInstallation } from './installation.ts';
import { type OpenDatabase, openDatabase } from './open-database.ts';
import { servedMethods } from './served-settings.ts';

/** Returns the findings of every check. `now` returns ms since the epoch by the clock of this machine. */
export async function examine(
  environment: Readonly<Record<string, string | undefined>>,
  logger: Log,
  now: () => number,
): Promise<Finding[]> {
  const found = new Findings('configuration');
  const configuration = readOr(found, 'variables', () => readConfiguration(environment));
  if (!configuration) return found.all;
  ofVariables(found, Object.keys(environment), configurationWarnings(configuration));
  return [...found.all, ...(await examineInstallation(configuration, logger, now))];
}

async function examineInstallation(
  configuration: Configuration,
  logger: Log,
  now: () => number,
): Promise<readonly Finding[]> {
  const { database, keysFile } = configuration;
  const nothing = ofNothing(database, isNew(database));
  if (nothing) return nothing;
  const keys = new Findings('keys');
  const keyring = readOr(keys, 'read', () => createKeyring(loadRootKeys(configuration, false)));
  if (!keyring) return keys.all;
  ofKeysPlace(keys, configuration.keys === null ? keysFile : null);
  let opened: OpenDatabase | null = null;
  try {
    const world = { logger, wallClock: now };
    opened = await openDatabase(configuration, keyring, world, { role: 'command', migrate: false, mayFound: false });
    const facts = await factsOf(configuration, keyring, opened, now);
    const addresses = await ofAddresses(configuration, keyring, opened, facts.running, now);
    return [...keys.all, ...examineOpened(facts), ...addresses];
  } catch (error) {
    const damage = database.kind === 'file' ? checkDamaged(database.path, error) : null;
    return [...keys.all, ...ofUnusable(damage, error)];
  } finally {
    await opened?.storage.close();
  }
}

/** Returns the state of the installation that a service serves. `now` returns ms by the clock of this machine. */
export async function statusOf(
  configuration: Pick<Configuration, 'database'>,
  keyring: LiveKeyring,
  opened: Pick<OpenDatabase, 'storage' | 'now'>,
  now: () => number,
): Promise<Status> {
  const { store, instances } = opened.storage;
  // In memory there is no other instance, and nobody is asked.
  const running = new Set([instances.ownId, ...(await instances.listRunning())]);
  const facts: Served = {
    ...(await foundFacts(configuration, keyring, opened, running.size, now)),
    examiner: 'service',
  };
  const { keys, currentKeyId } = facts.keys;
  const createdAt = keys.find(({ keyId }) => keyId === currentKeyId)?.createdAt ?? opened.now();
  const noted = await store.listInstances();
  return {
    at: opened.now(),
    version: manifest.version,
    instances: noted.filter(({ id }) => running.has(id)).map(({ name }) => name),
    ...facts.backups,
    rootKey: { name: rootKeyName(currentKeyId), createdAt, dueAt: keyDueAt(createdAt) },
    findings: examineServed(facts),
  };
}

async function foundFacts(
  { database }: Pick<Configuration, 'database'>,
  keyring: LiveKeyring,
  { storage, now: storeNow }: Pick<OpenDatabase, 'storage' | 'now'>,
  running: number,
  now: () => number,
): Promise<Omit<Served, 'examiner'>> {
  const [newest] = await storage.store.listAuditEvents({ limit: 1 });
  return {
    checks: await storage.check('quick'),
    exposures: storage.exposures,
    keys: await storage.store.findRootKeys(),
    ownKeyIds: keyring.keyIds,
    signingKeys: await listSigningKeys({ store: storage.store, keyring, now: storeNow }),
    serverNow: database.kind === 'postgresql' ? storeNow() : null,
    now: now(),
    newestEventAt: newest?.at ?? null,
    sizes: await storage.sizes(),
    backups: await storage.store.findBackups(),
    running,
    suspected: await storage.store.listSuspectedPasskeys(),
  };
}

async function factsOf(
  configuration: Configuration,
  keyring: LiveKeyring,
  { storage, now: storeNow }: OpenDatabase,
  now: () => number,
): Promise<Opened> {
  const installation = makeInstallation(configuration, keyring, storage, {
    now: storeNow,
    stopwatch,
    later,
    wait,
    outbound: new Outbound(outboundRules(configuration), { now: storeNow }),
    operator: userName(),
    service: userName(),
    report: () => {}, // The doctor serves no requests.
    askMethods: (appUrl) => servedMethods(appUrl, keyring, storeNow),
  });
  const running = (await storage.instances.listRunning()).length;
  const { methods } = await installation.signInSettings();
  return {
    ...(await foundFacts(configuration, keyring, { storage, now: storeNow }, running, now)),
    examiner: 'command',
    methods,
    providers: await installation.testMethods(),
    lacksSupport: configuration.supportAddress === null && !isLoopback(new URL(configuration.appUrl).hostname),
    lostDefaults: await lostDefaults(storage.store),
    unexplained: await unexplainedScopes(storage.store),
    publishers: await installation.clientDocuments.publishers(),
    leftOut: unlistedProviders(methods, await storage.store.listIdentityProviders()),
  };
}

/** Examines each public address, and the operators'; an address that is both the app's and the API's is examined as the app's. */
async function ofAddresses(
  { appUrl, apiUrl, operatorUrl, proxyIdleTimeout }: Configuration,
  keyring: LiveKeyring,
  { now: storeNow }: OpenDatabase,
  running: number,
  now: () => number,
): Promise<Finding[]> {
  const wanted: { is: AddressParts['is']; url: string }[] = [{ is: 'app', url: appUrl }];
  if (apiUrl !== appUrl) wanted.push({ is: 'api', url: apiUrl });
  if (operatorUrl !== null) wanted.push({ is: 'operator', url: operatorUrl });
  const findings = wanted.map(({ is, url }) =>
    examineAddress({
      url,
      is,
      ask: (url, question) => ask(url, question, now),
      pass: () => doctorPass(keyring, storeNow()),
      isServed: running > 0,
      proxyIdleTimeout,
    }),
  );
  return (await Promise.all(findings)).flat();
}
