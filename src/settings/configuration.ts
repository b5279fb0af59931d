/**
 * The configuration, as it is read from the table in `variables.ts`: in one place, and all mistakes at once. The table in
 * `docs/reference/settings.md` is generated from it.
 */

import { isLoopback } from '../oauth/clients/loopback.ts';
import type { Lifetimes } from '../oauth/grants/grant.ts';
import { type Fault, InstallationError } from '../process/installation-error.ts';
import { contradictions } from './contradictions.ts';
import { databaseUrlIn } from './database-url-file.ts';
import { type DatabaseLocation, type ListenAddress, Mistake, readDatabaseUrl } from './setting-readers.ts';
import { similarName } from './similar-name.ts';
import { SETTINGS, type Setting, type Settings, type Values } from './variables.ts';

/** The configuration of an installation; durations in seconds. */
export type Configuration = Omit<Values, 'appListen' | 'apiListen' | 'operatorListen'> & {
  readonly appListen: ListenAddress;
  readonly apiListen: ListenAddress;
  /** Unused without an operators' address. */
  readonly operatorListen: ListenAddress;
};

/** Reads the configuration from variables. Throws `InstallationError` with every mistake at once. */
export function readConfiguration(given: Readonly<Record<string, string | undefined>>): Configuration {
  const mistakes: Fault[] = [...unknownVariables(given)];
  const variables: typeof given = { ...given, ...databaseUrlIn(given, mistakes) };
  const values: Record<string, unknown> = {};
  for (const [name, { variable, initial, read }] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const value = read(variables[variable]?.trim() || initial);
    if (value instanceof Mistake) mistakes.push(value.of(variable));
    else values[name] = value;
  }
  if (mistakes.length === 0) mistakes.push(...contradictions(values as Values, variables));
  if (mistakes.length > 0) throw new InstallationError(...mistakes);
  const read = values as Values;
  return {
    ...read,
    appListen: read.appListen ?? defaultListenAddress(read.appUrl, 3000),
    apiListen: read.apiListen ?? defaultListenAddress(read.apiUrl, 3001),
    operatorListen: read.operatorListen ?? defaultListenAddress(read.operatorUrl ?? 'https://localhost', 3002),
  };
}

/** Reads the location of a database. Throws `InstallationError`, which calls the text `name`. */
export function readDatabaseLocation(name: string, text: string): DatabaseLocation {
  const read = readDatabaseUrl(text);
  if (read instanceof Mistake) throw new InstallationError(read.of(name));
  return read;
}

/** Returns the addresses that this installation may request: only loopback if it is on loopback itself. */
export function outboundRules({ appUrl, outboundPrivateNetworks: privateNetworks }: Configuration) {
  return { isLocal: isLoopback(new URL(appUrl).hostname), privateNetworks };
}

const LIFETIMES = {
  code: 'codeTtl',
  accessToken: 'accessTokenTtl',
  refreshTokenIdle: 'refreshTokenIdleTtl',
  refreshTokenMax: 'refreshTokenMaxTtl',
  refreshOverlap: 'refreshOverlap',
  refreshRetryWindow: 'refreshRetryWindow',
} as const satisfies Record<keyof Lifetimes, keyof Settings>;

/** Returns lifetimes in the domain's form, in seconds. */
export function lifetimesOf(configuration: Configuration): Lifetimes {
  const lifetimes = Object.entries(LIFETIMES).map(([lifetime, setting]) => [lifetime, configuration[setting]]);
  return Object.fromEntries(lifetimes) as Lifetimes;
}

/**
 * Returns the settings that all instances must agree on, besides the token prefix: variables by name, as they were
 * read.
 */
export function sharedSettings(configuration: Configuration): Record<string, string> {
  const names = ['appUrl', 'pagesBasePath', ...Object.values(LIFETIMES)] as const;
  return Object.fromEntries(names.map((name) => [SETTINGS[name].variable, String(configuration[name])]));
}

/** Returns faults that do not prevent a start. */
export function configurationWarnings({ appUrl, trustedProxies }: Configuration): Fault[] {
  return appUrl.startsWith('https:') && trustedProxies.rules.length === 0
    ? [
        {
          problem: 'VALETKEY_APP_URL is https, so a proxy must end TLS, but VALETKEY_TRUSTED_PROXIES names none',
          remedy: 'all visitors seem to come from one address and share its limits. Name the proxy',
        },
      ]
    : [];
}

/** Returns the unknown variables with our prefix: a misspelled one would otherwise be ignored silently. */
function unknownVariables(variables: Readonly<Record<string, string | undefined>>): Fault[] {
  const known = Object.values<Setting<unknown>>(SETTINGS).map(({ variable }) => variable);
  return Object.keys(variables)
    .filter((name) => name.startsWith('VALETKEY_') && !known.includes(name))
    .map((name) => {
      const meant = similarName(name, known);
      const remedy = meant ? `did you mean ${meant}?` : 'remove it, or see "Settings" in the documentation';
      return { problem: name, remedy: `unknown variable; ${remedy}` };
    });
}

function defaultListenAddress(url: string, portBehindProxy: number): ListenAddress {
  const { protocol, hostname, port } = new URL(url);
  if (protocol === 'https:') return { host: '127.0.0.1', port: portBehindProxy };
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) };
}
