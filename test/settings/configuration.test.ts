/** The configuration: every mistake at once, each with its remedy. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { faultText, InstallationError } from '../../src/process/installation-error.ts';
import { type Configuration, configurationWarnings, readConfiguration } from '../../src/settings/configuration.ts';

test('Configuration: without any variable it is the documented default', () => {
  const configuration = readConfiguration({ HOME: '/root' });
  const { appUrl, apiUrl, appListen, apiListen, database, codeTtl, accessTokenTtl, tokenPrefix } = configuration;
  assert.deepEqual(
    { appUrl, apiUrl, appListen, apiListen, database, codeTtl, accessTokenTtl, tokenPrefix },
    {
      appUrl: 'http://localhost:3000',
      apiUrl: 'http://localhost:3001',
      appListen: { host: 'localhost', port: 3000 },
      apiListen: { host: 'localhost', port: 3001 },
      database: { kind: 'file', path: 'data/valetkey.db' },
      codeTtl: 60,
      accessTokenTtl: 1800,
      tokenPrefix: 'vk',
    },
  );
  assert.equal(configuration.refreshTokenIdleTtl, 30 * 86_400);
  assert.equal(configuration.refreshTokenMaxTtl, 365 * 86_400);
  assert.deepEqual([configuration.refreshOverlap, configuration.refreshRetryWindow], [10, 600]);
});

test('Configuration: the URL of the database may stand in a file that is for its owner alone', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'url');
  writeFileSync(path, 'postgres://valetkey:hush@db.example/valetkey\n', { mode: 0o600 });
  const given = { VALETKEY_DATABASE_URL_FILE: path };
  const url = 'postgres://valetkey:hush@db.example/valetkey';
  assert.deepEqual(readConfiguration(given).database, { kind: 'postgresql', url });
  const refused = (variables: Record<string, string>, words: RegExp) =>
    assert.throws(
      () => readConfiguration(variables),
      (error) => error instanceof InstallationError && words.test(error.message) && !error.message.includes('hush'),
    );
  refused({ ...given, VALETKEY_DATABASE_URL: 'sqlite::memory:' }, /both set: keep one of them/);
  refused({ VALETKEY_DATABASE_URL_FILE: join(folder, 'none') }, /none has no URL/);
  chmodSync(path, 0o644);
  refused(given, /others can read the file of the database URL .*chmod 600/);
  writeFileSync(path, 'postgres hush');
  chmodSync(path, 0o600);
  refused(given, /VALETKEY_DATABASE_URL: write sqlite:PATH/);
});

test('Configuration: values are read, with durations in words and addresses without a slash at the end', () => {
  const accepted: [Record<string, string>, (configuration: Configuration) => unknown, unknown][] = [
    [{ VALETKEY_APP_URL: 'https://auth.example.com/' }, ({ appUrl }) => appUrl, 'https://auth.example.com'],
    [{ VALETKEY_APP_URL: 'https://auth.example.com' }, ({ appListen }) => appListen, { host: '127.0.0.1', port: 3000 }],
    [{ VALETKEY_APP_URL: 'http://[::1]:80' }, ({ appListen }) => appListen, { host: '::1', port: 80 }],
    [{ VALETKEY_API_LISTEN: '[::]:9000' }, ({ apiListen }) => apiListen, { host: '::', port: 9000 }],
    [{}, ({ operatorUrl }) => operatorUrl, null],
    [
      { VALETKEY_OPERATOR_URL: 'https://ops.example' },
      (read) => read.operatorListen,
      { host: '127.0.0.1', port: 3002 },
    ],
    [
      { VALETKEY_OPERATOR_URL: 'http://localhost:4000' },
      (read) => read.operatorListen,
      { host: 'localhost', port: 4000 },
    ],
    [{ VALETKEY_ACCESS_TOKEN_TTL: '12h' }, ({ accessTokenTtl }) => accessTokenTtl, 43_200],
    [{ VALETKEY_DATABASE_URL: 'sqlite::memory:' }, ({ database }) => database, { kind: 'memory' }],
    [{ VALETKEY_PAGES_BASE_PATH: '/connect/v-2' }, ({ pagesBasePath }) => pagesBasePath, '/connect/v-2'],
    [{}, ({ pagesBasePath }) => pagesBasePath, ''],
    [{ VALETKEY_CODE_TTL: '' }, ({ codeTtl }) => codeTtl, 60],
    [{ VALETKEY_TRUSTED_PROXIES: '10.0.0.0/8, ::1' }, (read) => read.trustedProxies.check('10.1.2.3'), true],
    [{ VALETKEY_TRUSTED_PROXIES: '10.0.0.0/8, ::1' }, (read) => read.trustedProxies.check('::1', 'ipv6'), true],
    [{ VALETKEY_SUPPORT_ADDRESS: 'help@example.com' }, ({ supportAddress }) => supportAddress, 'help@example.com'],
  ];
  for (const [variables, read, expected] of accepted) {
    assert.deepEqual(read(readConfiguration(variables)), expected, JSON.stringify(variables));
  }
});

test('Configuration: each mistake names its variable and the remedy, and never the value', () => {
  const refused: [string, string, RegExp][] = [
    ['VALETKEY_APP_URL', 'https://auth.example.com/oauth', /without a path/],
    ['VALETKEY_APP_URL', 'http://localhost:0', /, not 0$/],
    ['VALETKEY_APP_URL', 'ftp://auth.example.com', /such as https/],
    ['VALETKEY_OPERATOR_URL', 'https://ops.example.com/console', /without a path/],
    ['VALETKEY_OPERATOR_LISTEN', '3002', /host:port/],
    ['VALETKEY_APP_LISTEN', '3000', /host:port/],
    ['VALETKEY_APP_LISTEN', 'localhost:70000', /host:port/],
    ...['connect', '/connect/', '//connect', '/', '/Connect', '/a.b', '/a/../b', '/%61', '/a b', '/a?b'].map(
      (base): [string, string, RegExp] => ['VALETKEY_PAGES_BASE_PATH', base, /write a path such as \/connect/],
    ),
    ...['auth', 'api', 'oauth2', 'v2', '.well-known', 'healthz', 'readyz'].map((first): [string, string, RegExp] => [
      'VALETKEY_PAGES_BASE_PATH',
      `/${first}/pages`,
      /is reserved for the interface: begin with/,
    ]),
    ['VALETKEY_PAGES_BASE_PATH', '/api', /is reserved for the interface/],
    ['VALETKEY_DATABASE_URL', 'mysql://user:hunter2@db/valetkey', /sqlite:PATH/],
    ['VALETKEY_SQLITE_SYNC', 'off', /awaited or full/],
    ['VALETKEY_ACCESS_TOKEN_TTL', '-5', /seconds from/],
    ['VALETKEY_TRUSTED_PROXIES', 'proxy.example', /10\.0\.0\.0\/8/],
    ['VALETKEY_TRUSTED_PROXIES', '10.0.0.0/33', /10\.0\.0\.0\/8/],
    ['VALETKEY_TOKEN_PREFIX', 'Acme_', /lower-case/],
    ['VALETKEY_PRODUCT_COLOR', 'teal', /#0f5c4d/],
    ['VALETKEY_SUPPORT_ADDRESS', 'javascript:alert(1)', /https address/],
    ['VALETKEY_SUPPORT_ADDRESS', 'https:help.example', /https address/],
    ['VALETKEY_CODE_TLL', '60', /unknown variable; did you mean VALETKEY_CODE_TTL\?/],
    ['VALETKEY_APPURL', 'https://auth.example', /unknown variable; did you mean VALETKEY_APP_URL\?/],
    ['VALETKEY_PRODUCTNAM', 'Acme', /unknown variable; did you mean VALETKEY_PRODUCT_NAME\?/],
    ['VALETKEY_WINDOW', 'Acme', /unknown variable; remove it/],
  ];
  for (const [variable, value, remedy] of refused) {
    assertMistake(variable, value, remedy);
    assert.ok(!mistakesOf({ [variable]: value }).includes('hunter2'));
  }
});

test('RFC 6749 §10.9, RFC 7662 §2, RFC 8414 §6.1: pages and endpoints have TLS, except on loopback', () => {
  for (const variable of ['VALETKEY_APP_URL', 'VALETKEY_OPERATOR_URL'])
    assertMistake(variable, 'http://auth.example.com', /use https/);
});

test('RFC 6750 §5.2, RFC 9728 §7.1, OAuth 2.1 §1.5: the API has TLS, except on loopback', () => {
  assertMistake('VALETKEY_API_URL', 'http://api.example.com', /use https/);
});

test('RFC 8414 §2: the issuer has neither query nor fragment', () => {
  for (const part of ['?a', '#a'])
    assertMistake('VALETKEY_APP_URL', `https://auth.example.com${part}`, /without a path/);
});

test('RFC 6749 §4.1.2: a code works for ten minutes at most', () => {
  for (const seconds of ['601', 'soon']) assertMistake('VALETKEY_CODE_TTL', seconds, /from 1 to 600/);
});

test('WebAuthn L3 §5.1.2: the operators’ address has a name as host, and no IP address', () => {
  const urls = [
    'https://192.0.2.7',
    'https://[2001:db8::7]',
    'http://127.0.0.1:3002',
    'http://[::1]:3002',
    'https://0x7f.1',
  ];
  for (const url of urls) assertMistake('VALETKEY_OPERATOR_URL', url, /not an IP address: write a name/);
});

test('Configuration: all mistakes are told at once, and so are settings that contradict each other', () => {
  const both = mistakesOf({ VALETKEY_CODE_TTL: '0', VALETKEY_TOKEN_PREFIX: '!' });
  assert.match(both, /^- VALETKEY_CODE_TTL: .*\n- VALETKEY_TOKEN_PREFIX: .*$/);
  assert.match(mistakesOf({ VALETKEY_KEYS: 'x', VALETKEY_KEYS_FILE: 'y' }), /keep one of them/);
  assert.match(mistakesOf({ VALETKEY_ACCESS_TOKEN_TTL: '2h', VALETKEY_REFRESH_TOKEN_IDLE_TTL: '1h' }), /shorter/);
  assert.match(mistakesOf({ VALETKEY_REFRESH_TOKEN_MAX_TTL: '1d' }), /shorter/);
  assert.match(mistakesOf({ VALETKEY_PRODUCT_LOGO_DARK: 'dark.svg' }), /name the logo of light pages too/);
  const same = { VALETKEY_API_URL: 'http://localhost:3000', VALETKEY_API_LISTEN: '127.0.0.1:9000' };
  assert.match(mistakesOf(same), /unset it/);
});

test('operators §1: the operators’ host is neither the app’s nor the API’s, since cookies know no ports', () => {
  const urls = { VALETKEY_APP_URL: 'https://auth.example.com', VALETKEY_API_URL: 'https://api.example.com' };
  const refused = [
    'https://auth.example.com',
    'https://auth.example.com:8443',
    'https://AUTH.example.com.:8443',
    'https://api.example.com:8443',
  ];
  for (const url of refused)
    assert.match(mistakesOf({ ...urls, VALETKEY_OPERATOR_URL: url }), /^VALETKEY_OPERATOR_URL .*: give it /, url);
  readConfiguration({ ...urls, VALETKEY_OPERATOR_URL: 'https://operators.example.com' });
  readConfiguration({ VALETKEY_OPERATOR_URL: 'http://localhost:3002' }); // On one's own machine the host may be shared.
  for (const port of [3000, 3001])
    assert.match(
      mistakesOf({ VALETKEY_OPERATOR_URL: `http://localhost:${port}` }),
      /another port/,
      'no address is shared',
    );
});

function assertMistake(variable: string, value: string, remedy: RegExp): void {
  const message = mistakesOf({ [variable]: value });
  assert.match(message, new RegExp(`^${variable}: `), value);
  assert.match(message, remedy, value);
}

function mistakesOf(variables: Record<string, string>): string {
  try {
    readConfiguration(variables);
  } catch (error) {
    assert.ok(error instanceof InstallationError);
    return error.message;
  }
  return assert.fail(`accepted: ${JSON.stringify(variables)}`);
}

test('Promise 6: https without a named proxy is warned of, since all visitors would share one address and its limits', () => {
  const warnings = (variables: Record<string, string>) =>
    configurationWarnings(readConfiguration(variables)).map(faultText);
  assert.deepEqual(warnings({}), []);
  assert.match(warnings({ VALETKEY_APP_URL: 'https://auth.example.com' }).join(), /VALETKEY_TRUSTED_PROXIES/);
  const named = { VALETKEY_APP_URL: 'https://auth.example.com', VALETKEY_TRUSTED_PROXIES: '10.0.0.1' };
  assert.deepEqual(warnings(named), []);
});
