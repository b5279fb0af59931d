/** An installation copied between databases: nothing is lost or bent, whatever cuts it off, and what is wrong is refused. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { failingDisk, whyNoDisk } from '../../bench/disk/build.ts';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { makeRootKey, parseRootKeys } from '../../src/settings/root-keys.ts';
import { openSource, openTarget } from '../../src/storage/copying/copy-side.ts';
import { sqliteSide } from '../../src/storage/sqlite/copy.ts';
import { TABLES } from '../../src/storage/tables/all-tables.ts';
import { INSTALLATION } from '../../src/storage/tables/installation/installation.ts';
import { runCommand } from '../support/command.ts';
import { COMPILED } from '../support/compiled.ts';
import { PATIENT, startPostgres } from '../support/postgres.ts';
import { type Lifetime, startTestService } from '../support/service.ts';
import { NO_CHAIN } from '../support/storage.ts';

const server = await startPostgres();
after(() => server.remove());

const KEY = makeRootKey();
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const MOST = Number.MAX_SAFE_INTEGER;
const MAX_INTEGER = 2 ** 31 - 1;

type Value = string | number | null | Uint8Array;

/** A new installation in a SQLite file, and commands in its environment. */
async function installation(t: Lifetime) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const path = join(folder, 'valetkey.db');
  const variables = { VALETKEY_KEYS: KEY, VALETKEY_DATABASE_URL: `sqlite:${path}` };
  const run = (command: string, more = {}) => runCommand(command.split(' '), { ...variables, ...more });
  assert.equal((await run('database migrate')).code, 0);
  return {
    path,
    variables,
    run,
    copy: (to: string, more = {}) => run(`database copy sqlite:${path} ${to}`, more),
    write(sql: string, ...values: Value[]) {
      const database = new DatabaseSync(path);
      database.prepare(sql).run(...values);
      database.close();
    },
  };
}

type Installation = Awaited<ReturnType<typeof installation>>;

/** Adds rows to a table; what is not said is null. */
function add({ write }: Installation, table: string, rows: readonly Readonly<Record<string, Value>>[]): void {
  for (const row of rows) {
    const names = Object.keys(row);
    const values = names.map(() => '?').join(', ');
    write(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${values})`, ...Object.values(row));
  }
}

/** The places of an event that is in no chain. */
const OF_NO_CHAIN = { chain_id: 'none', chain_number: 0, chain_mac: Buffer.alloc(32) };
const ODD_TEXT = 'line\nbreak\ttab "quoted" \\back\\N {a,b} NULL مثال 😀 \u0001\u007f\u2028';

/** One of each kind of row and of each odd value that can be in it. */
function addOddRows(installed: Installation): void {
  const key = { public_key: JSON.stringify({ kty: ODD_TEXT }), created_at: MOST };
  add(installed, 'signing_key', [
    { id: 'a', state: 'signing', ...key, sealed_key: ODD_TEXT, root_key_id: 2 ** 32 - 1, signs_since: MOST },
    { id: 'B', state: 'former', ...key, signs_since: 0, drop_at: MOST },
  ]);
  add(installed, 'scope', [{ name: 'mail', sentences: JSON.stringify({ en: ODD_TEXT }), created_at: 0 }]);
  const server = { name: ODD_TEXT, secrets: '[]', created_at: MOST, accepts_unbound: 0 };
  add(installed, 'resource_server', [
    { id: 'rs_a', ...server, resource: 'https://one.test/?a=1#b', scopes: '[]' },
    { id: 'rs_b', ...server },
  ]);
  const client = {
    type: 'confidential',
    name: ODD_TEXT,
    name_key: ODD_TEXT,
    publisher: ODD_TEXT,
    is_checked: 1,
    person_fields: '["name"]',
    created_at: 1,
    secrets: JSON.stringify([{ digest: randomBytes(32).toString('base64'), keyId: 2 ** 32 - 1, createdAt: MOST }]),
    redirect_uris: '["https://one.test/cb?x=%00"]',
    scopes: JSON.stringify([{ name: 'mail', sentence: ODD_TEXT, optional: true }]),
    keys: '[{"kty":"EC"}]',
    consent: 'ask',
    device_flow: 0,
    assertion_audience: 'any',
    sees_external_id: 0,
    sign_in: 0,
  };
  add(installed, 'client', [
    { id: 'app_a', epoch: MAX_INTEGER, status: 'paused', require_pkce: 1, ...client },
    {
      id: 'app_b',
      epoch: 0,
      status: 'active',
      require_pkce: 0,
      ...client,
      device_flow: 1,
      consent: 'skip',
      assertion_audience: 'issuer',
      sees_external_id: 1,
      sign_in: 1,
      default_resource: 'https://one.test/?a=1#b',
    },
    {
      id: 'app_B',
      epoch: 0,
      status: 'active',
      require_pkce: 0,
      refresh_overlap: 0,
      refresh_retry_window: 1,
      ...client,
    },
  ]);
  add(installed, 'client_assertion', [{ digest: randomBytes(32), client_id: 'app_a', expires_at: MOST }]);
  add(installed, 'client_assertion_total', [{ client_id: 'app_a', marks: 1, cleared_until: MOST }]);
  const account = {
    status: 'active',
    password: `{"sealedPhc":"$argon2id$v=19$","keyId":${2 ** 32 - 1}}`,
    email_verified: 0,
    email_set_here: 0,
    is_unwrapped: 0,
    password_set_at: MOST,
    must_change_password: 1,
    invitation: '{"digest":"x","expiresAt":1}',
    created_at: MOST,
  };
  const provider = { status: 'active', name: 'Photos', sign_in_url: 'https://app.test', secrets: '[]', keys: '[]' };
  const counts = Object.fromEntries(
    'allowed denied exchanges refreshes retries checks introspections invalid_client invalid_grant invalid_request limited other'
      .split(' ')
      .map((counter, n) => [counter, n === 0 ? MOST : n]),
  );
  add(installed, 'tally', [{ key: 'app_a hour 0', client_id: 'app_a', span: 'hour', bucket: MOST, ...counts }]);
  const failure = { client_id: 'app_a', at: MOST, request_id: 'r', endpoint: 'token', error: 'invalid_grant' };
  add(installed, 'app_failure', [
    { key: 'app_a f 0', ...failure, reason: 'é', network: '192.0.2.0/24', grant_id: null },
    { key: 'app_a f 1', ...failure, reason: '', network: '', grant_id: 'g' },
  ]);
  const digests = { digest: Buffer.alloc(32, 255), request: Buffer.alloc(32) };
  add(installed, 'idempotency_key', [{ ...digests, at: MOST, made: 'é' }]);
  add(installed, 'hand_over', [
    {
      ...{ digest: Buffer.alloc(32, 3), subject_kind: 'client', subject_id: '~', made_at: 0, made_by: 'é' },
      ...{ expires_at: MOST, fetched_at: null, fetched_from: '', ended_at: MOST, ended_why: 'replaced' },
    },
  ]);
  add(installed, 'operator', [
    { id: 'opr_a', name: 'Ann é', role: 'admin', status: 'active', epoch: MAX_INTEGER, created_at: MOST },
    { id: 'opr_~', name: '', role: 'read', status: 'disabled', epoch: 0, created_at: 0 },
  ]);
  const ofOperator = { operator_id: 'opr_a', created_at: MOST, expires_at: MOST };
  add(installed, 'operator_passkey', [
    {
      ...{ id: 'a_-', operator_id: 'opr_a', name: 'é', public_key: Buffer.alloc(0), counter: MOST, transports: '[]' },
      ...{ is_backed_up: 1, created_at: 0, last_used_at: null, suspected_at: MOST },
    },
  ]);
  add(installed, 'operator_session', [
    {
      ...{ digest: Buffer.alloc(32, 1), ...ofOperator, how: 'address', last_seen_at: 0, present_at: null },
      ...{ source: '', browser: 'é', begun_by: 'a_-', confirmed_by: null },
    },
  ]);
  add(installed, 'operator_key', [{ id: 'opk_a', ...ofOperator, name: '', digest: Buffer.alloc(32), rights: '[]' }]);
  add(installed, 'operator_one_time_address', [{ digest: Buffer.alloc(32, 2), ...ofOperator, purpose: 'enroll' }]);
  add(installed, 'operator_once', [{ digest: Buffer.alloc(32, 255), expires_at: MOST }]);
  add(installed, 'secret_use', [
    { digest: Buffer.alloc(32, 255), used_at: MOST },
    { digest: Buffer.alloc(32), used_at: 0 },
  ]);
  add(installed, 'identity_provider', [
    { id: 'product', ...provider, own_ids: 0, rights: '["sign-in"]', created_at: 0 },
    {
      id: 'a-z',
      ...provider,
      own_ids: 1,
      rights: '[]',
      home_page: 'https://app.test',
      session_lifetime: MAX_INTEGER,
      created_at: MOST,
    },
  ]);
  add(installed, 'former_account', [{ id: '~', epoch: MAX_INTEGER }]);
  add(installed, 'former_identity', [
    { id: 'product:~', provider_id: 'product', account_id: '~', created_at: 0, ended_at: MOST },
  ]);
  add(installed, 'account', [
    {
      id: 'usr_a',
      epoch: 3,
      email: 'Ada@Example.com',
      email_key: 'ada@example.com',
      name: '😀',
      ...account,
    },
    {
      id: 'usr_b',
      epoch: 0,
      email: 'b',
      email_key: 'b',
      username: 'b',
      name: 'é',
      ...account,
      avatar_url: '',
    },
    {
      id: 'usr_c',
      epoch: 0,
      email: 'c',
      email_key: 'c',
      username: 'B',
      name: 'e\u0301',
      ...account,
      status: 'disabled',
    },
  ]);
  add(installed, 'identity', [
    { id: 'product:a', provider_id: 'product', account_id: 'usr_a', created_at: MOST },
    { id: 'product:A', provider_id: 'product', account_id: 'usr_b', created_at: -1 },
  ]);
  add(installed, 'session', [
    { digest: Buffer.alloc(32), account_id: 'usr_a', created_at: -1, last_seen_at: MOST, expires_at: MOST },
    {
      digest: Buffer.alloc(32, 255),
      account_id: 'usr_c',
      created_at: 0,
      last_seen_at: 0,
      expires_at: 0,
      provider_id: 'product',
      external: '{"amr":["😀"]}',
    },
  ]);
  const signIn = { provider_id: 'product', browser: randomBytes(32), continue_to: '/device', requested_at: 0 };
  const expiry = { ticket_expires_at: MOST, expires_at: MOST };
  add(installed, 'external_sign_in', [
    {
      nonce: Buffer.alloc(16),
      ...signIn,
      profile: '{}',
      demands_login: 0,
      amr: '[]',
      ticket: Buffer.alloc(32),
      taken_at: MOST,
      ...expiry,
    },
    {
      nonce: Buffer.alloc(16, 255),
      ...signIn,
      identity_id: 'product:a',
      profile: '{"name":"😀"}',
      demands_login: 1,
      max_age: MAX_INTEGER,
      auth_time: MOST,
      amr: '["pwd"]',
      ticket: randomBytes(32),
      ...expiry,
    },
  ]);
  const times = { rotated_at: MOST, expires_at: MOST, granted_at: 0, absolute_expires_at: MOST, signed_in_at: MOST };
  const epochs = { epochs_installation: 0, epochs_client: MAX_INTEGER, epochs_resource_owner: 3 };
  const grant = { client_id: 'app_a', resource_owner_id: 'usr_a', ...epochs, key_id: 2 ** 32 - 1, ...times };
  const openid = '{"nonce":"\\" ~","auth_time":1800000000,"amr":["pwd"],"renews":true}';
  const texts = { scope: 'a b', left_out: 'c', person_fields: 'name', redirect_uri: 'https://one.test/cb', openid };
  const reasons = [
    null,
    'user',
    'operator',
    'client',
    'code_replay',
    'refresh_reuse',
    'refresh_conflict',
    'too_many_grants',
    'replaced',
    'restored',
  ];
  add(
    installed,
    'oauth_grant',
    reasons.map((reason, n) => ({
      ...grant,
      id: n === 0 ? Buffer.alloc(16) : n === 1 ? Buffer.alloc(16, 255) : randomBytes(16),
      generation: MAX_INTEGER - n,
      used_generation: n,
      access_token_expires_at: reason ? MOST : null,
      provider_id: reason,
      external_id: reason && '!~',
      last_used_at: reason ? 0 : null,
      revoked_at: reason ? MOST : null,
      revocation_reason: reason,
      seed: Buffer.alloc(16, n),
      ...texts,
      code_challenge: reason ? 'E9' : null,
      resource: reason ? 'urn:x' : null,
      resource_is_default: reason === 'user' ? 1 : 0,
    })),
  );
  const event = { action: 'consent_denied', actor_kind: 'user', actor_id: 'usr_a', ...OF_NO_CHAIN };
  add(installed, 'audit_event', [
    { sequence: 5, at: -1, ...event, detail: ODD_TEXT, ended_access: '[{"resource": null, "scope": "a"}]' },
    {
      sequence: 2 ** 40,
      at: MOST,
      ...event,
      actor_source: '::1',
      actor_request_id: 'r',
      client_id: 'app_gone',
      resource_owner_id: 'x',
      grant_id: 'y',
    },
  ]);
  // Places that were taken last may stay empty.
  installed.write("UPDATE sqlite_sequence SET seq = seq + 7 WHERE name = 'audit_event'");
}

/** Everything in a SQLite file, in words that are the same for all databases: independent of what copies. */
function contents(path: string): Record<string, string[]> {
  const database = new DatabaseSync(path);
  const all = (table: string) => database.prepare(`SELECT * FROM ${table}`).all() as Record<string, unknown>[];
  const tables = all('sqlite_schema').filter(
    ({ type, name }) => type === 'table' && !/^sqlite_|^(migration|serving_instance)$/.test(String(name)),
  );
  const found = tables.map(({ name }) => [String(name), inWords(all(String(name)))] as const);
  database.close();
  return Object.fromEntries(found);
}

/** The same of a PostgreSQL database. */
async function contentsOf(url: string): Promise<Record<string, string[]>> {
  const found = [INSTALLATION, ...TABLES].map(
    async ({ name }) => [name, inWords(await server.query(url, `SELECT * FROM ${name}`))] as const,
  );
  return Object.fromEntries(await Promise.all(found));
}

function inWords(rows: readonly Record<string, unknown>[]): string[] {
  const word = (name: string, value: unknown) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
    return name === 'id' ? String(value).replaceAll('-', '') : value === null ? null : String(Number(value) || value);
  };
  const flags = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value);
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== 'attempt' && name !== 'version');
  names.sort();
  return rows.map((row) => names.map((name) => `${name}=${word(name, flags(row[name]))}`).join(' ')).sort();
}

/** What is wrong with a database, but for the settings of a server that is thrown away. */
async function findings({ run }: Installation, variables: Record<string, string>) {
  const found = JSON.parse((await run('database check --json', variables)).stdout) as { name: string; ok: boolean }[];
  return found.filter(({ name, ok }) => !ok && name !== 'settings');
}

/** Makes many grants and events, and half as many accounts. */
function fill({ write }: Installation, rows: number): void {
  const counted = `WITH RECURSIVE counter (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < ${rows})`;
  write(`${counted} INSERT INTO account SELECT printf('usr_%08d', n), 0, 'active', n, n, 0, 0, NULL, 'n', NULL, '{}', NULL, 0, n, 0, NULL, n
    FROM counter WHERE n % 2 = 0`);
  write(`${counted} INSERT INTO oauth_grant (id, client_id, resource_owner_id, epochs_installation, epochs_client, epochs_resource_owner,
      generation, key_id, rotated_at, access_token_expires_at, expires_at, used_generation, granted_at, absolute_expires_at, seed,
      scope, left_out, person_fields, redirect_uri, resource_is_default, signed_in_at)
    SELECT unhex(printf('%016x%016x', n, random())), 'app_one', 'usr_ada', 0, 0, 0, n, 1, n, n, n, n, n, n, randomblob(16), 'read', '', '',
      'https://one.test/cb', 0, n FROM counter`);
  write(
    `${counted} INSERT INTO audit_event (at, action, actor_kind, actor_id, ${NO_CHAIN.columns})
     SELECT n, 'signed_in', 'user', 'x', ${NO_CHAIN.sqlite} FROM counter`,
  );
}

test('operating: every kind of row and every odd value is the same in the copy, and in the copy of the copy', async (t) => {
  const installed = await installation(t);
  addOddRows(installed);
  const url = await server.createDatabase();
  const there = await installed.copy(`${url} --json`);
  assert.deepEqual([there.code, there.stderr], [0, '']);
  assert.deepEqual(await contentsOf(url), contents(installed.path));
  const { from, to, copied, tables } = JSON.parse(there.stdout);
  assert.deepEqual([from, to, copied], [installed.path, new URL(url).host + new URL(url).pathname, true]);
  assert.deepEqual(
    tables.map(({ table, rows }: { table: string; rows: number }) => [table, rows]),
    Object.entries({
      root_key: 1,
      signing_key: 2,
      scope: 1,
      resource_server: 2,
      client: 3,
      client_assertion: 1,
      client_assertion_total: 1,
      identity_provider: 2,
      secret_use: 2,
      tally: 1,
      app_failure: 2,
      idempotency_key: 1,
      account: 3,
      identity: 2,
      former_account: 1,
      former_identity: 1,
      session: 2,
      external_sign_in: 2,
      oauth_grant: 10,
      audit_event: 2,
      hand_over: 1,
      operator: 2,
      operator_passkey: 1,
      operator_session: 1,
      operator_key: 1,
      operator_one_time_address: 1,
      operator_once: 1,
      installation: 1,
    }),
  );
  const back = await installed.run(`database copy ${url} sqlite:${installed.path}.back --json`);
  assert.deepEqual(JSON.parse(back.stdout).tables, tables, 'the sums rest on what is stored, wherever it is');
  assert.deepEqual(contents(`${installed.path}.back`), contents(installed.path));
  for (const database of [url, `sqlite:${installed.path}.back`]) {
    const variables = { VALETKEY_DATABASE_URL: database };
    assert.deepEqual(await findings(installed, variables), []);
    assert.equal((await installed.run('grant revoke --all --yes', variables)).code, 0);
    const [next] = JSON.parse((await installed.run('audit list --limit 1 --json', variables)).stdout);
    assert.equal(next.sequence, 2 ** 40 + 8, 'the trail goes on after the last place that was taken');
  }
});

test('every table that survives a crash of its server is copied', async (t) => {
  const installed = await installation(t);
  const url = await server.createDatabase();
  await installed.copy(url);
  const logged =
    "SELECT relname FROM pg_class WHERE relkind = 'r' AND relpersistence = 'p' AND relnamespace = 'public'::regnamespace";
  const names = (await server.query<{ relname: string }>(url, logged)).map(({ relname }) => relname);
  assert.deepEqual(names.sort(), ['migration', ...[INSTALLATION, ...TABLES].map(({ name }) => name)].sort());
});

test('operating: NUL and halves of characters, of which not every database knows, become what the store makes of them', async (t) => {
  const installed = await installation(t);
  add(installed, 'audit_event', [
    { at: 0, action: 'x', actor_kind: 'user', actor_id: 'a\0b', detail: '\ud800', ...OF_NO_CHAIN },
  ]);
  const url = await server.createDatabase();
  assert.equal((await installed.copy(url)).code, 0);
  const [row] = await server.query(url, 'SELECT actor_id, detail FROM audit_event');
  assert.deepEqual(row, { actor_id: 'a\ufffdb', detail: '\ufffd' });
});

test('operating: killed again and again, the copy is refused by everything until a last run has finished it', async (t) => {
  const installed = await installation(t);
  fill(installed, 12_000);
  const url = await server.createDatabase();
  // One connection that watches: as many as there are looks would cost more than the copy.
  const watch = new pg.Client({ connectionString: url });
  watch.on('error', () => {}); // The server crashes.
  await watch.connect();
  const copied = async () => {
    const count = 'SELECT (SELECT count(*) FROM account) + (SELECT count(*) FROM oauth_grant) AS rows';
    const { rows } = await watch.query<{ rows: string }>(count).catch(() => ({ rows: [] }));
    return Number(rows[0]?.rows ?? 0);
  };
  /** Starts a copy, and answers it as soon as it has copied more than there was. */
  const underWay = async () => {
    const before = await copied();
    const child = startCopy(installed, `sqlite:${installed.path}`, url);
    const ended = once(child, 'exit');
    while (child.exitCode === null && (await copied()) <= before) await sleep(5);
    return { child, ended };
  };
  const first = await underWay();
  first.child.kill('SIGKILL');
  assert.deepEqual(await first.ended, [null, 'SIGKILL'], 'it was killed, and had not come to its end');
  for (const command of ['serve', 'client list', 'database migrate', 'database check']) {
    const { code, stderr } = await installed.run(command, { VALETKEY_DATABASE_URL: url });
    assert.equal(code, 1);
    assert.match(stderr, /^valetkey: an installation is being copied into this database, .*"database copy" .*\n$/);
  }
  const second = await underWay();
  second.child.kill('SIGKILL');
  await second.ended;
  // However quick the machine is, it comes no further than to where it writes again.
  const locks = async (which: string) =>
    (await watch.query(`SELECT 1 FROM pg_locks WHERE locktype = 'relation' AND ${which}`)).rowCount !== 0;
  const lock = 'BEGIN; LOCK TABLE oauth_grant, audit_event, installation IN SHARE MODE; SELECT pg_sleep(60)';
  const locked = assert.rejects(server.query(url, lock));
  while (!(await locks("granted AND mode = 'ShareLock'"))) await sleep(5);
  const third = startCopy(installed, `sqlite:${installed.path}`, url);
  const [said, ended] = [text(third.stderr), once(third, 'exit')];
  while (third.exitCode === null && !(await locks('NOT granted'))) await sleep(5);
  await server.crash();
  await Promise.all([ended, locked]);
  assert.match(await said, /^valetkey: the copy stopped at the table .* \(.*\): .* run the same command again.*$/m);
  const comparing = startCopy(installed, `sqlite:${installed.path}`, url);
  await new Promise<void>((resolve) =>
    comparing.stderr.on('data', (chunk) => String(chunk).includes('comparing') && resolve()),
  );
  comparing.kill('SIGKILL');
  await once(comparing, 'exit');
  const last = await installed.copy(url);
  assert.equal(last.code, 0, last.stderr);
  assert.deepEqual(await contentsOf(url), contents(installed.path));
  const again = await installed.copy(url);
  assert.equal(again.code, 0);
  assert.match(again.stdout, /^.* holds this installation already, from an earlier copy: nothing was copied\.\n/);
  assert.equal(JSON.parse((await installed.copy(`${url} --json`)).stdout).copied, false);
});

/** A copy as a process of its own. */
function startCopy({ variables }: Installation, from: string, to: string, more: Record<string, string> = {}) {
  const env = { PATH: process.env['PATH'], ...COMPILED, ...variables, ...more };
  return spawn(process.execPath, [MAIN, 'database', 'copy', from, to], { env, stdio: ['ignore', 'ignore', 'pipe'] });
}

test('operating: the way back is refused as well until it is finished, after a kill too', async (t) => {
  const installed = await installation(t);
  fill(installed, 6000);
  const url = await server.createDatabase();
  assert.equal((await installed.copy(url)).code, 0);
  const back = `${installed.path}.back`;
  const child = startCopy(installed, url, `sqlite:${back}`);
  const ended = once(child, 'exit');
  const hasRows = () => {
    using database = new DatabaseSync(back, { readOnly: true });
    return database.prepare('SELECT 1 FROM oauth_grant').get() !== undefined;
  };
  for (let begun = false; !begun && child.exitCode === null; await sleep(1)) {
    try {
      begun = hasRows();
    } catch {
      // Neither the file nor its table need be there yet.
    }
  }
  child.kill('SIGKILL');
  assert.deepEqual(await ended, [null, 'SIGKILL'], 'it was killed, and had not come to its end');
  const { code, stderr } = await installed.run('serve', { VALETKEY_DATABASE_URL: `sqlite:${back}` });
  assert.equal(code, 1);
  assert.match(stderr, /^valetkey: an installation is being copied into this database, .*\n$/);
  assert.equal((await installed.run(`database copy ${url} sqlite:${back}`)).code, 0);
  assert.deepEqual(contents(back), contents(installed.path));
  assert.match((await installed.run(`database copy ${url} sqlite:${back}`)).stdout, /holds this installation already/);
});

test('operating: a copy into a file that cannot be written stops and says so, and goes on when it can', {
  skip: whyNoDisk() ?? false,
}, async (t) => {
  const installed = await installation(t);
  fill(installed, 6000);
  const url = await server.createDatabase();
  assert.equal((await installed.copy(url)).code, 0);
  const back = `${installed.path}.back`;
  const faults = { syncOnce: `${back}-sync`, writes: `${back}-writes`, full: `${back}-full` };
  const child = startCopy(installed, url, `sqlite:${back}`, await failingDisk(back, faults));
  const [ended, said] = [once(child, 'exit'), text(child.stderr)];
  while (!existsSync(`${back}-wal`) && child.exitCode === null) await sleep(1);
  writeFileSync(faults.writes, '');
  assert.deepEqual(await ended, [1, null]);
  assert.match(
    await said,
    /^(?:copying \d+ %, .*\n)*valetkey: the copy stopped at the table \w+ \(disk I\/O error\): see to that, and run /,
  );
  assert.equal((await installed.run(`database copy ${url} sqlite:${back}`)).code, 0);
  assert.deepEqual(contents(back), contents(installed.path));
});

test('operating: what changed in the source or in the copy since it was cut off is copied anew', async (t) => {
  const installed = await installation(t);
  const url = await server.createDatabase();
  await cutOff(installed, url);
  installed.write("UPDATE oauth_grant SET revoked_at = 1, revocation_reason = 'user' WHERE generation = 500");
  installed.write("DELETE FROM account WHERE id = 'usr_00000002'");
  installed.write("UPDATE account SET email = '2', email_key = '2' WHERE id = 'usr_00000004'");
  await server.query(url, "INSERT INTO scope (name, sentences, created_at) VALUES ('zzz', '{}', 0)");
  const { code, stderr } = await installed.copy(url);
  assert.equal(code, 0, stderr);
  assert.deepEqual(await contentsOf(url), contents(installed.path));
});

test('operating: a copy that is not what was copied is found in the end and named, and stays unused until it is', async (t) => {
  const installed = await installation(t);
  const url = await server.createDatabase();
  await cutOff(installed, url);
  await server.query(
    url,
    `CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN IF NEW.generation = 2500 THEN NEW.scope = 'all'; END IF; RETURN NEW; END $$;
     CREATE TRIGGER meddle BEFORE INSERT ON oauth_grant FOR EACH ROW EXECUTE FUNCTION meddle()`,
  );
  for (const _ of ['the rest', 'all of it anew']) {
    const { code, stdout, stderr } = await installed.copy(url);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(
      stderr,
      /\nvaletkey: the copy in .* is not what is in .*: oauth_grant \(3000 rows, copied 3000\)\. .* run the same command again.*\n$/,
    );
    assert.equal((await installed.run('client list', { VALETKEY_DATABASE_URL: url })).code, 1);
  }
  await server.query(url, 'DROP FUNCTION meddle CASCADE');
  assert.equal((await installed.copy(url)).code, 0);
  assert.deepEqual(await contentsOf(url), contents(installed.path));
});

/** Fills an installation with 3000 grants, and begins to copy it; it stops at a row that does not fit, which then goes. */
async function cutOff(installed: Installation, url: string): Promise<void> {
  fill(installed, 3000);
  installed.write('UPDATE oauth_grant SET used_generation = ? WHERE generation = 3000', 2 ** 31);
  const { code, stderr } = await installed.copy(url);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^valetkey: the copy stopped at the table oauth_grant \(.*out of range.*\): .* run the same command again.*$/m,
  );
  installed.write('UPDATE oauth_grant SET used_generation = 0 WHERE generation = 3000');
}

describe('operating: what cannot be copied is refused in a sentence, and stays as it was', () => {
  const refused = async (ended: ReturnType<Installation['run']>, sentence: RegExp) => {
    const { code, stdout, stderr } = await ended;
    assert.deepEqual([code, stdout], [1, ''], stderr);
    assert.match(stderr, sentence);
    assert.match(stderr, /^valetkey: .+\n$/, 'one sentence');
  };

  test('a source that is served, and one that is being copied; meanwhile nothing else can write to it', async (t) => {
    const installed = await installation(t);
    const url = await server.createDatabase();
    const service = await startTestService(t, installed.variables);
    const inUse = /^valetkey: a service or another copy has the database .*: stop it first/;
    await refused(installed.copy(url), inUse);
    await service.stop();
    const source = await openSource(
      sqliteSide(installed.path, 'source'),
      createKeyring(parseRootKeys(KEY, 'the test')),
    );
    await refused(installed.copy(url), inUse);
    const beside = new DatabaseSync(installed.path, { timeout: 0 });
    assert.throws(() => beside.exec('UPDATE installation SET epoch = 1'), /locked/);
    await source.close();
    beside.exec('UPDATE installation SET epoch = 1');
    beside.close();
    assert.equal((await installed.copy(url)).code, 0);
  });

  test('a PostgreSQL database that instances are connected to', async (t) => {
    const installed = await installation(t);
    const url = await server.createDatabase();
    assert.equal((await installed.copy(url)).code, 0);
    const service = await startTestService(
      t,
      { ...installed.variables, VALETKEY_DATABASE_URL: url },
      undefined,
      PATIENT,
    );
    assert.equal((await fetch(`${service.appUrl}/readyz`)).status, 200);
    const back = `database copy ${url} sqlite:${installed.path}.back`;
    await refused(installed.run(back), /^valetkey: instances are connected to 127.*: stop them first/);
    await service.stop();
    assert.equal((await installed.run(back)).code, 0);
  });

  test("a target with another installation, a half copied one, or what is another program's", async (t) => {
    const [installed, other] = [await installation(t), await installation(t)];
    const [founded, half, foreign] = [
      await server.createDatabase(),
      await server.createDatabase(),
      await server.createDatabase(),
    ];
    assert.equal((await other.copy(founded)).code, 0);
    await cutOff(other, half);
    await server.query(foreign, 'CREATE TABLE letter (id integer)');
    const before = await contentsOf(founded);
    const another = /^valetkey: .* holds another installation: make an empty database with "createdb"/;
    await refused(installed.copy(founded), another);
    await refused(
      installed.copy(half),
      /^valetkey: another installation is being copied into this database: give an empty/,
    );
    await refused(installed.copy(foreign), /^valetkey: the database has tables of another program: /);
    assert.deepEqual(await contentsOf(founded), before);
    assert.deepEqual(await findings(other, { VALETKEY_DATABASE_URL: founded }), []);
    await refused(
      installed.run(`database copy ${founded} sqlite:${installed.path}`),
      /^valetkey: .* holds another installation: name a file that is not there yet\n$/,
    );
  });

  test('keys that do not fit, and a source that is not there, not whole or not ours', async (t) => {
    const installed = await installation(t);
    const [url, empty] = [await server.createDatabase(), await server.createDatabase()];
    await refused(
      installed.copy(url, { VALETKEY_KEYS: makeRootKey() }),
      /^valetkey: this database was made with other keys \([0-9a-f]{8}\): /,
    );
    await refused(
      installed.run(`database copy sqlite:nowhere.db ${url}`),
      /^valetkey: there is no database at nowhere\.db/,
    );
    await refused(
      installed.run(`database copy sqlite:package.json ${url}`),
      /^valetkey: package\.json is not a database/,
    );
    await refused(installed.run(`database copy ${empty} sqlite:${installed.path}.new`), / holds no installation: /);
    await cutOff(installed, url);
    await refused(
      installed.run(`database copy ${url} sqlite:${installed.path}.new`),
      /^valetkey: an installation is being/,
    );
    assert.deepEqual(await server.query(empty, "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace"), []);
  });

  test('what is no place for it', async (t) => {
    const { run, copy } = await installation(t);
    const oneOfEach = /^valetkey: a copy goes from a SQLite file to PostgreSQL or back: name one of each/;
    await refused(copy('sqlite:other.db'), oneOfEach);
    await refused(copy('sqlite::memory:'), oneOfEach);
    await refused(run('database copy sqlite::memory: postgres://x@127.0.0.1:1/x'), oneOfEach);
    await refused(copy('mysql://x'), /^valetkey: TO: write sqlite:PATH, /);
    await refused(run('database copy valetkey.db postgres://x'), /^valetkey: FROM: write sqlite:PATH, /);
    const unreachable = /^valetkey: the database at 127\.0\.0\.1:1\/x cannot be reached \(.*\): start it, or check/;
    await refused(copy('postgres://someone:hush@127.0.0.1:1/x'), unreachable);
    await refused(copy(server.url('nothing')), /^valetkey: there is no database at .*: make it with "createdb"/);
    assert.equal((await run('database copy sqlite:one')).code, 2);
  });
});

test('a copy into a file keeps the log of the file short', async (t) => {
  const installed = await installation(t);
  installed.write(
    `WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 40000)
     INSERT INTO audit_event (at, action, actor_kind, actor_id, detail, ${NO_CHAIN.columns})
     SELECT n, 'consent_denied', 'operator', 'root', hex(zeroblob(200)), ${NO_CHAIN.sqlite} FROM number`,
  );
  const keyring = createKeyring(parseRootKeys(KEY, 'VALETKEY_KEYS'));
  const source = await openSource(sqliteSide(installed.path, 'source'), keyring);
  const path = `${installed.path}-copy`;
  const target = await openTarget(sqliteSide(path, 'target'), '00'.repeat(16), 0);
  const events = TABLES.find(({ name }) => name === 'audit_event');
  assert.ok(events);
  let longest = 0;
  let rows = await source.read(events, null, 1000);
  for (; rows.length > 0; rows = await source.read(events, rows.at(-1)?.[0] ?? null, 1000)) {
    await target.write(events, rows);
    longest = Math.max(longest, statSync(`${path}-wal`).size);
  }
  assert.ok(statSync(path).size > 16 * 2 ** 20 && longest < 4 * 2 ** 20, `${longest} bytes`);
  await source.close();
  await target.close();
});
