/** `doctor` on installations with one thing wrong, on both stores: each fault for real, through the program. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, type TestContext, test } from 'node:test';
import { examineOpened, type Opened } from '../../src/doctor/open-installation-checks.ts';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { runCommand } from '../support/command.ts';
import { PATIENT, startPostgres } from '../support/postgres.ts';
import { addUser, Clock, freePort, startTestService } from '../support/service.ts';
import { assertionFields, makeKey, post } from '../support/standard.ts';
import { storesOfRun } from '../support/stores.ts';

const DAY = 86_400;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DURABLE = { fsync: 'on', full_page_writes: 'on', autovacuum: 'on' };
const server = await startPostgres(DURABLE);
after(() => server.remove());

type Variables = Record<string, string>;

/** An installation that was founded so many days ago, and is stopped. */
async function found(t: TestContext, database: (folder: string) => Promise<string>, daysAgo = 1) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-doctor-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const keysFile = join(folder, 'keys');
  writeFileSync(keysFile, `${makeRootKey()}\n`, { mode: 0o600 });
  const variables: Variables = { VALETKEY_DATABASE_URL: await database(folder), VALETKEY_KEYS_FILE: keysFile };
  const clock = new Clock();
  clock.advance((Date.now() - clock.now()) / 1000 - daysAgo * DAY);
  const addresses = await unusedAddresses();
  const service = await startTestService(t, { ...variables, ...addresses }, clock, PATIENT);
  await addUser(service);
  await service.installation.backups.note('by a test', service.installation.operator);
  await service.stop();
  return { folder, variables: { ...variables, ...addresses }, keysFile };
}

async function unusedAddresses(): Promise<Variables> {
  const [app, api] = [await freePort(), await freePort()];
  return { VALETKEY_APP_URL: `http://127.0.0.1:${app}`, VALETKEY_API_URL: `http://127.0.0.1:${api}` };
}

type Line = { area: string; name: string; verdict: string; detail: string; remedy: string | null };

/** What the doctor finds wrong, and what it warns of; each has a remedy. That no service runs is left out. */
async function doctor(variables: Variables) {
  const { code, stdout } = await runCommand(['doctor', '--json'], variables);
  const bad = (JSON.parse(stdout) as Line[]).filter(({ verdict }) => verdict !== 'ok');
  for (const finding of bad) assert.ok(finding.remedy, JSON.stringify(finding));
  const isAboutServing = ({ name, detail }: Line) => name === 'service' || /no service runs/.test(detail);
  const lines = bad.filter((finding) => !isAboutServing(finding));
  assert.equal(code, lines.some(({ verdict }) => verdict === 'wrong') ? 1 : 0);
  return lines.map(({ area, name, verdict, detail, remedy }) => `${verdict} ${area}, ${name}: ${detail}: ${remedy}`);
}

function assertOne(lines: readonly string[], expected: RegExp): void {
  assert.equal(lines.length, 1, lines.join('\n'));
  assert.match(lines[0] ?? '', expected);
}

const STORES = {
  SQLite: async (folder: string) => `sqlite:${join(folder, 'valetkey.db')}`,
  PostgreSQL: () => server.createDatabase(),
};

for (const [store, database] of storesOfRun<(folder: string) => Promise<string>>(STORES))
  describe(store, () => {
    test('a sound installation that nobody serves is in order, and stays as it was', async (t) => {
      const { variables } = await found(t, database);
      assert.deepEqual(await doctor(variables), []);
    });

    test('keys that others can read, that are missing, or that are another installation’s are found', async (t) => {
      const { variables, keysFile, folder } = await found(t, database);
      chmodSync(keysFile, 0o644);
      assertOne(await doctor(variables), /^wrong keys, read: others can read .*: run "chmod 600 /);
      chmodSync(keysFile, 0o620);
      assertOne(await doctor(variables), /^wrong keys, read: its group can change .*: run "chmod 600 /);
      rmSync(keysFile);
      assertOne(await doctor(variables), /^wrong keys, read: the keys file .* is missing, .*: (restore|make) /);
      const others = join(folder, 'others');
      writeFileSync(others, `${makeRootKey()}\n`, { mode: 0o600 });
      assertOne(await doctor({ ...variables, VALETKEY_KEYS_FILE: others }), /^wrong database, opened: .*keys/);
    });

    test('wrong and unlike variables, and a proxy that is not named, are found', async (t) => {
      const { variables, folder } = await found(t, database);
      assertOne(
        await doctor({ ...variables, VALETKEY_CODE_TTL: '601' }),
        /^wrong configuration, variables: .*CODE_TTL/,
      );
      assertOne(await doctor({ ...variables, VALETKEY_CODE_TTL: '30' }), /^wrong database, variables: .*CODE_TTL/);
      const url = join(folder, 'url');
      writeFileSync(url, variables['VALETKEY_DATABASE_URL'] ?? '', { mode: 0o644 });
      const { VALETKEY_DATABASE_URL: _, ...others } = variables;
      assertOne(
        await doctor({ ...others, VALETKEY_DATABASE_URL_FILE: url }),
        /^wrong configuration, variables: VALETKEY_DATABASE_URL_FILE: others can read .*: run "chmod 600 /,
      );
      const https = { VALETKEY_APP_URL: 'https://localhost:1', VALETKEY_API_URL: 'https://localhost:2' };
      const lines = await doctor({ ...variables, ...https });
      assert.match(lines[0] ?? '', /^wrong configuration, proxies: .*VALETKEY_TRUSTED_PROXIES.*: all visitors/);
    });

    test('a public installation that names nobody who helps is found, and one on this machine is not', async (t) => {
      const { variables } = await found(t, database);
      const isHelp = (line: string) => line.includes('sign-in, help');
      const named = { ...variables, VALETKEY_APP_URL: 'https://valetkey.invalid' };
      const help = (await doctor(named)).filter(isHelp);
      assertOne(help, /^wrong sign-in, help: pages name nobody .*: set VALETKEY_SUPPORT_ADDRESS/);
      assert.deepEqual((await doctor({ ...named, VALETKEY_SUPPORT_ADDRESS: 'help@a.test' })).filter(isHelp), []);
      assert.deepEqual(await doctor(variables), []);
    });

    test('scopes without a sentence or an effect are named until they have both', async (t) => {
      const { variables } = await found(t, database);
      const scopes = ['--scope', 'mail', 'files=Read your files'];
      const registration = ['client', 'register', '--name', 'A', '--redirect-uri', 'https://a.test/cb', ...scopes];
      assert.equal((await runCommand(registration, variables)).code, 0);
      const [sentences, effects, ...others] = await doctor(variables);
      assert.match(String(sentences), /^warning apps, scope sentences: consent shows only the names of mail: /);
      assert.match(
        String(effects),
        /^warning apps, scope effects: nobody said what files, mail can do, .*: "valetkey /,
      );
      assert.deepEqual(others, []);
      const define = (name: string, ...more: string[]) => runCommand(['scope', 'define', name, ...more], variables);
      assert.equal((await define('mail', '--sentence', 'Read your mail', '--effect', 'sensitive')).code, 0);
      assert.equal((await define('files', '--sentence', 'Read your files', '--effect', 'reads')).code, 0);
      assert.deepEqual(await doctor(variables), []);
    });

    test('an agent whose keys cannot be fetched any more is found', async (t) => {
      const { variables } = await found(t, database);
      const host = http.createServer((_, response) => void response.writeHead(500).end());
      await once(host.listen(0, '127.0.0.1'), 'listening');
      t.after(() => host.close().closeAllConnections());
      const service = await startTestService(t, variables, undefined, PATIENT);
      const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
      const key = makeKey();
      const document = { address: `${origin}/client.json`, sha256: '', jwksUri: `${origin}/keys.json`, fetchedAt: 0 };
      const settings = { name: 'Agent', redirectUris: ['https://agent.example/cb'], keys: [key.jwk] };
      const { row: client } = await service.installation.clients.register(
        'confidential',
        settings,
        service.installation.operator,
        document,
      );
      const fields = await assertionFields(service, { clientId: client.id, clientSecret: '' }, key, {}, { kid: 'new' });
      await post(service, 'token', { grant_type: 'refresh_token', refresh_token: 'x', ...fields });
      await service.stop();
      const expected =
        /^warning agents, http.*client.json: its keys could not be fetched .* ago and .*: .*client refresh http/;
      const lines = await doctor(variables);
      assert.match(lines.find((line) => line.includes('agents')) ?? lines.join('\n'), expected);
    });

    test('a provider that is not registered, one whose address does not answer, and one that the settings leave out, are found', async (t) => {
      const { variables } = await found(t, database);
      const methods = { ...variables, VALETKEY_SIGN_IN_METHODS: 'password,product' };
      assertOne(
        await doctor(methods),
        /^wrong sign-in, product: .* not registered: register it with "valetkey identity-provider register/,
      );
      const address = `http://127.0.0.1:${await freePort()}/sign-in`;
      const registration = ['--id', 'product', '--name', 'Product', '--sign-in-url', address];
      assert.equal((await runCommand(['identity-provider', 'register', ...registration], methods)).code, 0);
      assertOne(await doctor(methods), /^wrong sign-in, product: sign-in address: nothing listens there: see that /);
      assertOne(
        await doctor(variables),
        /^warning sign-in, product: VALETKEY_SIGN_IN_METHODS omits it: .*: add product/,
      );
    });

    test('an old backup, a key that is due for a rotation, and one whose rotation was not finished, are told', async (t) => {
      const { variables, keysFile } = await found(t, database, 500);
      assert.match(
        (await doctor(variables))[1] ?? '',
        /^wrong backup, last: 500 days old \(limit: 48 h\): "valetkey database backup FILE"/,
      );
      assert.equal((await runCommand(['database', 'note-backup'], variables)).code, 0);
      assertOne(
        await doctor(variables),
        /^warning keys, current key: .* 500 days old \(limit: 400 days\): .*"valetkey keys rotate"/,
      );
      writeFileSync(keysFile, `${makeRootKey()}\n`, { flag: 'a' });
      await runCommand(['user', 'list'], variables);
      const lines = await doctor(variables);
      assert.match(lines[1] ?? '', /^warning keys, announced key: .*: finish with "valetkey keys rotate"/);
    });

    test('a clock that is behind what was recorded is found', async (t) => {
      const { variables } = await found(t, database, -3);
      assertOne(await doctor(variables), /^wrong clock, audit trail: the newest event is \d+ h in the future.*: set /);
    });
  });

test('an installation on which another process holds the lock of writers is looked at, and found in order', async (t) => {
  const { folder, variables } = await found(t, STORES.SQLite);
  const writer = new DatabaseSync(join(folder, 'valetkey.db'));
  writer.exec('BEGIN IMMEDIATE');
  assert.deepEqual(await doctor(variables), []);
  writer.close();
});

test('a path with ": " in it moves nothing of a problem into its remedy', async (t) => {
  const { variables, folder } = await found(t, STORES.SQLite);
  const keysFile = join(folder, 'the keys: mine');
  writeFileSync(keysFile, `${makeRootKey()}\n`, { mode: 0o644 });
  const { stdout } = await runCommand(['doctor', '--json'], { ...variables, VALETKEY_KEYS_FILE: keysFile });
  const { detail, remedy } = (JSON.parse(stdout) as Line[]).find(({ area }) => area === 'keys') ?? assert.fail(stdout);
  assert.equal(detail, `others can read the keys file ${keysFile}`);
  assert.match(remedy ?? '', /^run "chmod 600 .*: mine", and consider it leaked/);
});

test('a database that others can read, that is not there, or that is in memory is found', async (t) => {
  const { variables, folder } = await found(t, STORES.SQLite);
  chmodSync(join(folder, 'valetkey.db'), 0o644);
  assertOne(await doctor(variables), /^wrong permissions, reach: others can read .*: run "chmod 600 /);
  const elsewhere = { ...variables, VALETKEY_DATABASE_URL: `sqlite:${join(folder, 'none.db')}` };
  assertOne(await doctor(elsewhere), /^wrong database, opened: there is no database at .*: "valetkey serve" makes one/);
  assertOne(
    await doctor({ ...variables, VALETKEY_DATABASE_URL: 'sqlite::memory:' }),
    /^wrong database, opened: .*: name/,
  );
});

test('a server that may lose what was confirmed, and one that does not answer, are found', async (t) => {
  const careless = await startPostgres({ full_page_writes: 'off' });
  t.after(() => careless.remove());
  const { variables } = await found(t, () => careless.createDatabase());
  assertOne(await doctor(variables), /^wrong database, settings: fsync is off and must be on.*: correct the server/);
  const nowhere = `postgres://valetkey@127.0.0.1:${await freePort()}/valetkey`;
  const lines = await doctor({ ...variables, VALETKEY_DATABASE_URL: nowhere });
  assertOne(lines, /^wrong database, opened: the database at .* cannot be reached.*: start it, or check the address/);
});

/** What cannot be had in a test: other clocks, a full disk, a log that nobody copies. */
const SOUND: Opened = {
  checks: [],
  exposures: [],
  keys: { currentKeyId: 1, nextKeyId: null, keys: [{ keyId: 1, createdAt: 0, supersededAt: null, retiredAt: null }] },
  ownKeyIds: [1],
  signingKeys: [],
  examiner: 'command',
  serverNow: null,
  now: 1000,
  newestEventAt: null,
  sizes: { database: 1, log: 1, free: 2 ** 40 },
  backups: { backedUpAt: 0, restoredAt: null },
  running: 1,
  methods: ['password'],
  providers: new Map(),
  leftOut: [],
  lacksSupport: false,
  lostDefaults: [],
  unexplained: { withoutSentence: [], withoutEffect: [] },
  publishers: [],
  suspected: [],
};
const AGENT = {
  id: 'https://agent.example/client.json',
  jwksUri: 'https://agent.example/keys.json',
  jwksFetchedAt: HOUR_MS,
  jwksAskedAt: HOUR_MS,
};
const UNOPENED: Opened['signingKeys'][number] = {
  ...{ id: 'kid', state: 'signing', publicKey: { kty: 'RSA', n: 'n', e: 'AQAB' }, sealedKey: 'sealed', rootKeyId: 2 },
  ...{ createdAt: 0, signsSince: 0, dropAt: null, opens: false },
};
const BACKED_UP = { backups: { backedUpAt: 401 * DAY_MS, restoredAt: null } };
const SICK: Readonly<Record<string, [changed: Partial<Opened>, finding: string]>> = {
  'the server’s clock a little ahead': [{ serverNow: 4000 }, 'warning database'],
  'the server’s clock behind': [{ serverNow: -60_000 }, 'wrong database'],
  'a long log': [{ sizes: { database: 1, log: 2 ** 28, free: 2 ** 40 } }, 'warning log'],
  'a disk that is nearly full': [{ sizes: { database: 1, log: 1, free: 2 ** 20 } }, 'wrong free space'],
  'a log that is longer than what is free': [
    { sizes: { database: 1, log: 2 ** 26, free: 2 ** 26 } },
    'wrong free space',
  ],
  'an installation without a backup': [{ backups: { backedUpAt: null, restoredAt: null } }, 'warning last'],
  'a provider that no sign-in reaches': [{ leftOut: ['product'] }, 'warning product'],
  'an app whose default resource no API has': [{ lostDefaults: ['https://letters.test'] }, 'warning default resource'],
  'a public installation that names nobody who helps': [{ lacksSupport: true }, 'wrong help'],
  'a scope that nobody explains': [
    { unexplained: { withoutSentence: ['mail'], withoutEffect: [] } },
    'warning scope sentences',
  ],
  'a scope without an effect': [
    { unexplained: { withoutSentence: [], withoutEffect: ['mail'] } },
    'warning scope effects',
  ],
  'an agent whose keys could not be fetched': [
    { now: 3 * HOUR_MS, publishers: [{ ...AGENT, jwksAskedAt: 2 * HOUR_MS }] },
    'warning https://agent.example/client.json',
  ],
  'a key for ID tokens that no root key here opens': [{ signingKeys: [UNOPENED] }, 'wrong ID token key'],
  'a key that is 370 days old': [{ now: 370 * DAY_MS, ...BACKED_UP }, 'warning current key'],
  'a key that is older than 400 days': [{ now: 401 * DAY_MS, ...BACKED_UP }, 'warning current key'],
  'a passkey that may have been copied': [
    { suspected: [{ passkey: { name: 'phone' }, operator: { id: 'opr_ann', name: 'Ann' } }] },
    'warning passkey',
  ],
  'a key that this command lacks': [{ ownKeyIds: [] }, 'warning missing key'],
};

test('a key within 30 days of its limit is due soon, on a day, and keeps the remedy', () => {
  const aged = (now: number) =>
    examineOpened({ ...SOUND, ...BACKED_UP, now }).find(({ name }) => name === 'current key') ?? assert.fail();
  const remedy =
    'rotate once a year: "valetkey keys rotate" (users notice nothing; no restart if Valetkey can write its keys file)';
  const old = (days: number) => `root key 00000001 is in use and ${days} days old`;
  const ages: readonly (readonly [now: number, verdict: string, detail: string])[] = [
    [370 * DAY_MS - 1, 'ok', `${old(369)} (limit: 400 days)`],
    [370 * DAY_MS, 'warning', `${old(370)}: due soon, on 1971-02-05 (limit: 400 days)`],
    [400 * DAY_MS, 'warning', `${old(400)}: due soon, on 1971-02-05 (limit: 400 days)`],
    [400 * DAY_MS + 1, 'warning', `${old(400)} (limit: 400 days)`],
  ];
  for (const [now, verdict, detail] of ages) {
    const found = aged(now);
    assert.deepEqual([found.verdict, found.detail], [verdict, detail]);
    assert.equal(found.remedy, verdict === 'ok' ? null : remedy);
  }
});

test('a service that examines itself speaks of itself, and a command of the command', () => {
  for (const examiner of ['service', 'command'] as const) {
    const text = JSON.stringify(examineOpened({ ...SOUND, examiner, ownKeyIds: [] }));
    assert.match(text, new RegExp(`this ${examiner} does not have it`));
    assert.equal(text.includes('command can see'), examiner === 'command');
  }
});

test('an agent whose keys are being fetched, or were at the last try, is in order', () => {
  for (const jwksAskedAt of [HOUR_MS, 2 * HOUR_MS]) {
    const opened = { ...SOUND, now: 2 * HOUR_MS + 59_999, publishers: [{ ...AGENT, jwksAskedAt }] };
    const found = examineOpened(opened).filter(({ area }) => area === 'agents');
    assert.deepEqual(
      found.map(({ verdict }) => verdict),
      ['ok'],
    );
  }
});

for (const [what, [changed, expected]] of Object.entries(SICK))
  test(`${what} is ${expected}`, () => {
    const bad = examineOpened({ ...SOUND, ...changed }).filter(({ verdict }) => verdict !== 'ok');
    assert.deepEqual(
      bad.map(({ verdict, name }) => `${verdict} ${name}`),
      [expected],
    );
  });
