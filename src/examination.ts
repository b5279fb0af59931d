/** The wiring of the doctor: looks at an installation from its configuration to what a visitor meets, and changes nothing. */

import { type Finding, Findings } from './doctor/finding.ts';
import { examineOpened, type Opened } from './doctor/opened.ts';
import { examineAddress } from './doctor/public-address.ts';
import { makeInstallation, type WiredInstallation } from './installation.ts';
import type { Client } from './oauth/clients/client.ts';
import { doctorPass } from './oauth/keys/doctor-pass.ts';
import type { LiveKeyring } from './oauth/keys/keyring.ts';
import { createKeyring } from './oauth/keys/keyring.ts';
import { StoreUnavailable } from './oauth/store.ts';
import { isNew, later, type OpenDatabase, openDatabase, stopwatch, userName, wait } from './open-database.ts';
import { lostDefaults } from './operator/default-resource.ts';
import { InstallationError } from './process/installation-error.ts';
import type { Log } from './process/log.ts';
import { ask } from './process/one-request.ts';
import { Outbound } from './process/outbound.ts';
import {
  type Configuration,
  configurationWarnings,
  outboundRules,
  readConfiguration,
} from './settings/configuration.ts';
import { loadRootKeys } from './settings/root-keys.ts';
import { checkDamaged } from './storage/sqlite/check.ts';

/** Looks at everything. `now` returns ms since the epoch by the clock of this machine. */
export async function examine(
  environment: Readonly<Record<string, string | undefined>>,
  logger: Log,
  now: () => number,
): Promise<Finding[]> {
  const found = new Findings('configuration');
  let configuration: Configuration;
  try {
    configuration = readConfiguration(environment);
  } catch (error) {
    refusal(found, 'variables', error);
    return found.all;
  }
  const set = Object.keys(environment).filter((name) => name.startsWith('VALETKEY_')).length;
  found.good('variables', set === 0 ? 'none is set: this is a trial on this machine' : `${set} are set, and readable`);
  for (const sentence of configurationWarnings(configuration)) found.told('proxies', 'wrong', sentence);
  return [...found.all, ...(await examineInstallation(configuration, logger, now))];
}

async function examineInstallation(
  configuration: Configuration,
  logger: Log,
  now: () => number,
): Promise<readonly Finding[]> {
  const found = new Findings('database');
  const { database } = configuration;
  if (database.kind === 'memory') {
    found.wrong(
      'opened',
      'it is in the memory of the service',
      'name a file in VALETKEY_DATABASE_URL, such as sqlite:data/valetkey.db',
    );
    return found.all;
  }
  if (isNew(database)) {
    found.wrong(
      'opened',
      `there is no database at ${database.path}`,
      '"valetkey serve" makes one, or check VALETKEY_DATABASE_URL',
    );
    return found.all;
  }
  const keys = new Findings('keys');
  let keyring: LiveKeyring;
  try {
    keyring = createKeyring(loadRootKeys(configuration, false));
  } catch (error) {
    refusal(keys, 'read', error);
    return keys.all;
  }
  keys.good(
    'read',
    configuration.keys === null
      ? `from ${configuration.keysFile}, whose owner and mode are as they should be`
      : 'from VALETKEY_KEYS',
  );
  let opened: OpenDatabase;
  try {
    opened = await openDatabase(
      configuration,
      keyring,
      { logger, wallClock: now },
      { role: 'command', migrate: false, mayFound: false },
    );
  } catch (error) {
    unusable(found, configuration, error);
    return [...keys.all, ...found.all];
  }
  try {
    const facts = await factsOf(configuration, keyring, opened, now);
    return [
      ...keys.all,
      ...examineOpened(facts),
      ...(await ofAddresses(configuration, keyring, opened, facts.running, now)),
    ];
  } catch (error) {
    unusable(found, configuration, error);
    return [...keys.all, ...found.all];
  } finally {
    await opened.storage.close();
  }
}

/** Makes a finding of what cannot be opened or read: a damaged file, or a store that does not answer. */
function unusable(found: Findings, { database }: Configuration, error: unknown): void {
  const damage = database.kind === 'file' ? checkDamaged(database.path, error) : null;
  for (const { name, detail } of damage ?? []) found.told(name, 'wrong', detail);
  if (damage) return;
  if (error instanceof StoreUnavailable)
    found.wrong(
      'opened',
      `the database does not answer now (${error.message})`,
      'look at its disk or server, and try again',
    );
  else refusal(found, 'opened', error);
}

/** A refusal of an installation is a finding; anything else is a bug of ours, or of the machine. */
function refusal(found: Findings, name: string, error: unknown): void {
  if (!(error instanceof InstallationError)) throw error;
  for (const sentence of error.message.split('\n')) found.told(name, 'wrong', sentence.replace(/^- /, ''));
}

async function factsOf(
  configuration: Configuration,
  keyring: LiveKeyring,
  { storage, now: storeNow }: OpenDatabase,
  now: () => number,
): Promise<Opened> {
  const installation = makeInstallation(configuration, keyring, storage, {
    ...{
      now: storeNow,
      stopwatch,
      later,
      wait,
      outbound: new Outbound(outboundRules(configuration), { now: storeNow }),
    },
    operator: userName(),
    service: userName(),
    report: () => {}, // It serves nobody.
  });
  const [newest] = await storage.store.listAuditEvents({ limit: 1 });
  const registered = await storage.store.listIdentityProviders();
  const tested = configuration.signInMethods
    .filter((id) => id !== 'password')
    .map(async (id) => {
      const isThere = registered.some((provider) => provider.id === id);
      return [id, isThere ? await installation.testProvider(id) : null] as const;
    });
  return {
    checks: await storage.check('quick'),
    exposures: storage.exposures,
    keys: await storage.store.findRootKeys(),
    ownKeyIds: keyring.keyIds,
    serverNow: configuration.database.kind === 'postgresql' ? storeNow() : null,
    now: now(),
    newestEventAt: newest?.at ?? null,
    sizes: await storage.sizes(),
    backups: await storage.store.findBackups(),
    running: (await storage.instances.listRunning()).length,
    methods: configuration.signInMethods,
    providers: new Map(await Promise.all(tested)),
    lostDefaults: await lostDefaults(storage.store),
    publishers: await publishersOf(installation),
    leftOut: registered
      .filter(({ id, status }) => status === 'active' && !configuration.signInMethods.includes(id))
      .map(({ id }) => id),
  };
}

/** The active clients that publish their keys. */
async function publishersOf({ clientDocuments }: WiredInstallation): Promise<Client[]> {
  const found: Client[] = [];
  for await (const client of clientDocuments.all())
    if (client.status === 'active' && client.jwksUri !== null) found.push(client);
  return found;
}

/** Each public address; one that both are is looked at as the app's. */
async function ofAddresses(
  { appUrl, apiUrl, proxyIdleTimeout }: Configuration,
  keyring: LiveKeyring,
  { now: storeNow }: OpenDatabase,
  running: number,
  now: () => number,
): Promise<Finding[]> {
  const both = { appUrl, apiUrl } as const;
  const wanted = appUrl === apiUrl ? (['app'] as const) : (['app', 'api'] as const);
  const findings = wanted.map((is) =>
    examineAddress({
      url: both[`${is}Url`],
      is,
      ask: (url, question) => ask(url, question, now),
      pass: () => doctorPass(keyring, storeNow()),
      isServed: running > 0,
      proxyIdleTimeout,
    }),
  );
  return (await Promise.all(findings)).flat();
}
