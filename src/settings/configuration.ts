/**
 * The configuration: one table with a row for each variable. It is read in one place, and all mistakes are reported at
 * once. The table in `docs/reference/settings.md` is generated from it.
 */

import { isLoopback } from '../oauth/clients/loopback.ts';
import { type Lifetimes, MAX_ACCESS_TOKEN_LIFETIME } from '../oauth/grants/grant.ts';
import { type Fault, InstallationError } from '../process/installation-error.ts';
import { databaseUrlIn } from './database-url-file.ts';
import {
  type DatabaseLocation,
  durationBetween,
  type ListenAddress,
  Mistake,
  numberBetween,
  readAddresses,
  readBasePath,
  readBaseUrl,
  readChoice,
  readColor,
  readDatabaseUrl,
  readListenAddress,
  readName,
  readOperatorUrl,
  readPrefix,
  readSignInMethods,
  readSupportAddress,
  readText,
} from './setting-readers.ts';
import { similarName } from './similar-name.ts';

/** A variable: the parser of its text (`Mistake` if wrong), its default as text, and a sentence for the documents. */
type Setting<T> = {
  readonly variable: string;
  readonly initial: string;
  readonly read: (text: string) => T | Mistake;
  readonly sentence: string;
};

const SETTINGS = {
  appUrl: setting(
    'VALETKEY_APP_URL',
    'http://localhost:3000',
    readBaseUrl,
    'The address of the pages and the token endpoints, as browsers and apps reach it; https unless the host is loopback.',
  ),
  apiUrl: setting(
    'VALETKEY_API_URL',
    'http://localhost:3001',
    readBaseUrl,
    'The address of the API; may equal `VALETKEY_APP_URL`.',
  ),
  pagesBasePath: setting(
    'VALETKEY_PAGES_BASE_PATH',
    '',
    readBasePath,
    'A path before all pages except the published one, such as `/connect`, if Valetkey shares its host name with your product.',
  ),
  appListen: setting(
    'VALETKEY_APP_LISTEN',
    '',
    readListenAddress,
    'The `host:port` to bind for the app address. Default: the URL’s own on loopback, or 127.0.0.1:3000 behind a proxy (https).',
  ),
  apiListen: setting(
    'VALETKEY_API_LISTEN',
    '',
    readListenAddress,
    'The same for the API address; 127.0.0.1:3001 behind a proxy.',
  ),
  operatorUrl: setting(
    'VALETKEY_OPERATOR_URL',
    '',
    readOperatorUrl,
    'The address of the operators’ pages and API, off by default: https, or http on `localhost`; no IP address, no host of the two above.',
  ),
  operatorListen: setting(
    'VALETKEY_OPERATOR_LISTEN',
    '',
    readListenAddress,
    'The `host:port` to bind for the operators’ address; 127.0.0.1:3002 behind a proxy.',
  ),
  database: setting(
    'VALETKEY_DATABASE_URL',
    'sqlite:data/valetkey.db',
    readDatabaseUrl,
    'The database: `sqlite:PATH`, `sqlite::memory:` (ends with the process), or `postgres://user:password@host/database`, with several hosts (`@one:5432,two:5432/`) to find the primary among.',
  ),
  databaseFile: setting(
    'VALETKEY_DATABASE_URL_FILE',
    '',
    readText,
    'A file with the value of `VALETKEY_DATABASE_URL`, for a URL with a password: a systemd credential or a mounted secret.',
  ),
  durability: setting(
    'VALETKEY_SQLITE_SYNC',
    'awaited',
    readChoice('awaited', 'full'),
    'How a write reaches the disk before the response: `awaited` beside other requests, or `full` inside SQLite (`synchronous=FULL`).',
  ),
  keysFile: setting(
    'VALETKEY_KEYS_FILE',
    'data/keys',
    readName,
    'The file with the root keys, mode 0600; made together with a new database.',
  ),
  keys: setting('VALETKEY_KEYS', '', readText, 'The root keys themselves, separated by spaces, instead of a file.'),
  trustedProxies: setting(
    'VALETKEY_TRUSTED_PROXIES',
    '',
    readAddresses,
    'Addresses or networks (`10.0.0.0/8`), separated by commas, whose `X-Forwarded-For` and `X-Forwarded-Proto` count.',
  ),
  outboundPrivateNetworks: setting(
    'VALETKEY_OUTBOUND_PRIVATE_NETWORKS',
    '',
    readAddresses,
    'Private networks, such as `10.1.0.0/16`, that Valetkey may contact for agents’ documents and keys, and for `identity-provider test`. Default: public addresses only.',
  ),
  maxConnections: setting(
    'VALETKEY_MAX_CONNECTIONS',
    '4000',
    numberBetween(10, 1_000_000),
    'Maximum number of open connections; at the limit, a new one replaces the one idle for longest.',
  ),
  maxConnectionsPerSource: setting(
    'VALETKEY_MAX_CONNECTIONS_PER_SOURCE',
    '500',
    numberBetween(1, 1_000_000),
    'The same for one IPv4 address or IPv6 /64 that is not a trusted proxy; further ones are closed at once.',
  ),
  proxyIdleTimeout: setting(
    'VALETKEY_PROXY_IDLE_TIMEOUT',
    '0',
    durationBetween(0, 8),
    'Idle timeout of trusted proxies’ connections; a stop leaves them open for so long. At most 8; 0 if the proxies keep none.',
  ),
  metricsListen: setting(
    'VALETKEY_METRICS_LISTEN',
    '',
    readListenAddress,
    'The `host:port` at which Prometheus reads `/metrics`; without it nothing is measured. It needs no sign-in: keep it on loopback or a private network.',
  ),
  logLevel: setting(
    'VALETKEY_LOG_LEVEL',
    'info',
    readChoice('debug', 'info', 'warn', 'error', 'fatal'),
    'The lowest level in the log: `debug`, `info` (a line for each request), `warn`, `error` or `fatal`.',
  ),
  logFormat: setting(
    'VALETKEY_LOG_FORMAT',
    'auto',
    readChoice('auto', 'json', 'text'),
    'The form of a log line: `json`, `text`, or `auto` (text at a terminal, otherwise JSON).',
  ),
  auditRetention: setting(
    'VALETKEY_AUDIT_RETENTION',
    '',
    (text) => (text === '' ? null : durationBetween(30 * 86_400, 3_650 * 86_400)(text)),
    'Retention of events in the audit trail, at least 30 d; without it, events stay forever. The rest can still be verified.',
  ),
  codeTtl: setting(
    'VALETKEY_CODE_TTL',
    '60',
    durationBetween(1, 600),
    'Lifetime of an authorization code; at most 600.',
  ),
  accessTokenTtl: setting(
    'VALETKEY_ACCESS_TOKEN_TTL',
    '1800',
    durationBetween(10, MAX_ACCESS_TOKEN_LIFETIME),
    'Lifetime of an access token; at most a day.',
  ),
  refreshTokenIdleTtl: setting(
    'VALETKEY_REFRESH_TOKEN_IDLE_TTL',
    '30d',
    durationBetween(60, 3_650 * 86_400),
    'Lifetime of an unused refresh token.',
  ),
  refreshTokenMaxTtl: setting(
    'VALETKEY_REFRESH_TOKEN_MAX_TTL',
    '365d',
    durationBetween(60, 3_650 * 86_400),
    'Maximum lifetime of a grant, however often it is refreshed.',
  ),
  refreshOverlap: setting(
    'VALETKEY_REFRESH_OVERLAP',
    '10',
    durationBetween(0, 3600),
    'Time after a refresh in which the previous refresh token gets the same pair again; 0 is strict.',
  ),
  refreshRetryWindow: setting(
    'VALETKEY_REFRESH_RETRY_WINDOW',
    '600',
    durationBetween(0, 86_400),
    'The same while the new pair is unused, for lost responses; at most the lifetime of an access token; 0 is strict.',
  ),
  tokenPrefix: setting(
    'VALETKEY_TOKEN_PREFIX',
    'vk',
    readPrefix,
    'The brand at the front of every credential: 1 to 12 lower-case letters or digits.',
  ),
  productName: setting('VALETKEY_PRODUCT_NAME', 'Valetkey', readName, 'The name of your product on pages.'),
  productColor: setting(
    'VALETKEY_PRODUCT_COLOR',
    '#0f5c4d',
    readColor,
    'The color of your product, `#rrggbb`; pages derive readable shades from it.',
  ),
  signInMethods: setting(
    'VALETKEY_SIGN_IN_METHODS',
    'password',
    readSignInMethods,
    'The ways to sign in, in order: `password` and ids of identity providers, with commas. An omitted provider cannot sign in or manage users.',
  ),
  productLogo: setting(
    'VALETKEY_PRODUCT_LOGO',
    '',
    readText,
    'The path of a logo, an SVG or PNG file, shown 32 pixels high, and on white in dark pages.',
  ),
  productLogoDark: setting(
    'VALETKEY_PRODUCT_LOGO_DARK',
    '',
    readText,
    'The path of a logo for dark pages, an SVG or PNG file, shown there without the white.',
  ),
  supportAddress: setting(
    'VALETKEY_SUPPORT_ADDRESS',
    '',
    readSupportAddress,
    'An email address or an https address for help, shown on every page.',
  ),
} as const;

type Settings = typeof SETTINGS;
type Values = { readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer T> ? T : never };

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

/** Returns the table of variables in Markdown. */
export function configurationTable(): string {
  const rows = Object.values<Setting<unknown>>(SETTINGS).map(
    ({ variable, initial, sentence }) => `| \`${variable}\` | ${initial ? `\`${initial}\`` : 'none'} | ${sentence} |`,
  );
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n');
}

function setting<T>(
  variable: string,
  initial: string,
  read: (text: string) => T | Mistake,
  sentence: string,
): Setting<T> {
  return { variable, initial, read, sentence };
}

function contradictions(values: Values, variables: Readonly<Record<string, string | undefined>>): Fault[] {
  const mistakes: Fault[] = [];
  const add = (problem: string, remedy: string) => mistakes.push({ problem, remedy });
  if (values.keys !== null && variables['VALETKEY_KEYS_FILE'])
    add('VALETKEY_KEYS and VALETKEY_KEYS_FILE are both set', 'keep one of them');
  if (values.accessTokenTtl > values.refreshTokenIdleTtl)
    add('VALETKEY_ACCESS_TOKEN_TTL is longer than VALETKEY_REFRESH_TOKEN_IDLE_TTL', 'make it shorter');
  if (values.refreshTokenIdleTtl > values.refreshTokenMaxTtl)
    add('VALETKEY_REFRESH_TOKEN_IDLE_TTL is longer than VALETKEY_REFRESH_TOKEN_MAX_TTL', 'make it shorter');
  if (values.appUrl === values.apiUrl && variables['VALETKEY_API_LISTEN'])
    add('VALETKEY_API_LISTEN is set, but both URLs are the same and share VALETKEY_APP_LISTEN', 'unset it');
  if (values.productLogoDark !== null && values.productLogo === null)
    add('VALETKEY_PRODUCT_LOGO_DARK is set without VALETKEY_PRODUCT_LOGO', 'name the logo of light pages too');
  if (values.operatorUrl !== null) mistakes.push(...sharedHosts(values, values.operatorUrl));
  return mistakes;
}

/**
 * Returns the mistakes of an operators' address on a host of the users' addresses. Cookies know no ports (RFC 6265
 * §8.5), and neither do passkeys (WebAuthn L3 §5.1.2). On one's own machine, `localhost` may be shared.
 */
function sharedHosts({ appUrl, apiUrl }: Values, operatorUrl: string): Fault[] {
  if (operatorUrl === appUrl || operatorUrl === apiUrl)
    return [
      {
        problem: `VALETKEY_OPERATOR_URL is the same as ${operatorUrl === appUrl ? 'VALETKEY_APP_URL' : 'VALETKEY_API_URL'}`,
        remedy: 'give it another host, or on localhost another port',
      },
    ];
  const { hostname } = new URL(operatorUrl);
  const isShared = [appUrl, apiUrl].some((url) => hostOf(url) === hostOf(operatorUrl));
  return isShared && hostname !== 'localhost'
    ? [
        {
          problem:
            'VALETKEY_OPERATOR_URL has the host of VALETKEY_APP_URL or VALETKEY_API_URL, and cookies know no ports',
          remedy: 'give it a host of its own',
        },
      ]
    : [];
}

/** Returns a URL's host name without the dot that a full name may end with. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/\.$/, '');
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
