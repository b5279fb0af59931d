/** The variables of an installation: one table with a row for each. */
import { MAX_ACCESS_TOKEN_LIFETIME } from '../oauth/grants/grant.ts';
import {
  durationBetween,
  type Mistake,
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

/** A variable: the parser of its text (`Mistake` if wrong), its default as text, and a sentence for the documents. */
export type Setting<T> = {
  readonly variable: string;
  readonly initial: string;
  readonly read: (text: string) => T | Mistake;
  readonly sentence: string;
};

/** The variables, by the name of the setting in the code. */
export const SETTINGS = {
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

/** The settings, and what each is read as. */
export type Settings = typeof SETTINGS;

/** All settings as they were read. */
export type Values = { readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer T> ? T : never };

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
