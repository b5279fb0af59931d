/** What cannot be used is refused with a remedy; what can is made ready by any number of instances at once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { StoreUnavailable } from '../../src/oauth/store.ts';
import { openPostgresql, type PostgresqlOptions } from '../../src/storage/postgresql/open.ts';
import { MIGRATIONS } from '../../src/storage/postgresql/plain-database.ts';
import { lots } from '../instances/effort.ts';
import { PATIENT, startPostgres } from '../support/postgres.ts';
import { addAdaAndOne, beginning, event, sampleGeneration, sampleGrant } from '../support/storage.ts';
import { instance, openInstance } from './instance.ts';

const server = await startPostgres();
after(() => server.remove());

const key = (text: string) => Buffer.alloc(32, text);
const rotated = createKeyring([key('a new key'), key('a key')]);
const onlyNew = createKeyring([key('a new key')]);

async function makeDatabase(): Promise<string> {
  const url = await server.createDatabase();
  const opened = await openInstance(url);
  await addAdaAndOne(opened);
  await opened.close();
  return url;
}

/** Opening is refused in these words, and the tables and what the installation rests on are as before. */
async function assertRefused(url: string, words: RegExp, options: Partial<PostgresqlOptions> = {}): Promise<void> {
  const state = async () => [
    await server.query(url, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"),
    await server.query(url, 'SELECT * FROM root_key').catch(() => []),
  ];
  const before = await state();
  await assert.rejects(openInstance(url, options), (error: Error) => {
    assert.equal(error.name, 'InstallationError', error.stack);
    assert.match(error.message, words);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
  assert.deepEqual(await state(), before);
}

test('a database of a newer version, and one from before 0.1.0-rc.1, are refused', async () => {
  const url = await makeDatabase();
  await server.query(url, "UPDATE migration SET checksum = 'other' WHERE number = 1");
  await assertRefused(url, /made before 0\.1\.0-rc\.1, .* are not kept: begin again/);
  await server.query(url, "INSERT INTO migration VALUES (9999, 'future', 'x', 0)");
  await server.query(url, 'DELETE FROM migration WHERE number = 1');
  await assertRefused(url, /newer version of Valetkey.*install/);
});

test("another program's database is refused, also when it has a table of migrations", async () => {
  const url = await server.createDatabase();
  await server.query(url, 'CREATE TABLE theirs (x int)');
  await assertRefused(url, /another program/);
  await server.query(url, 'CREATE TABLE migration (number int, name text)');
  await assertRefused(url, /another program/);
});

test('a database or a server that is not there, and a user that is not let in, are refused without telling secrets', async () => {
  const words = {
    [server.url('nowhere')]: /no database at 127.0.0.1:\d+\/nowhere: make it/,
    'postgres://ada:secret@127.0.0.1:1/valetkey': /127.0.0.1:1\/valetkey cannot be reached.*ECONNREFUSED.*start it/,
    [`postgres://nobody:secret@127.0.0.1:${server.port}/postgres`]: /lets nobody in.*check user and password/,
  };
  for (const [url, expected] of Object.entries(words))
    await assert.rejects(openInstance(url), (error: Error) => {
      assert.equal(error.name, 'InstallationError');
      assert.match(error.message, expected);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
});

test('a user who may not make tables is refused', async () => {
  const url = await server.createDatabase();
  await server.query(url, 'CREATE ROLE guest LOGIN');
  await assert.rejects(openInstance(url.replace('postgres@', 'guest@')), /guest|may not do.*let it own the database/);
});

test('a command refuses a database that is not up to date, and says what makes it so', async () => {
  const command = { role: 'command', migrate: false } as const;
  await assertRefused(await server.createDatabase(), /^there is none/, {
    ...command,
    refuseNew: { problem: 'there is none', remedy: null },
  });
  const url = await makeDatabase();
  await server.query(url, 'DELETE FROM migration');
  await assertRefused(url, /needs \d+ migration.*database migrate/, command);
});

test('a database whose commits do not wait for the disk is refused', async () => {
  const url = await makeDatabase();
  await server.query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
  await assertRefused(url, /synchronous_commit is off.*set it to on/);
});

test('a server that is set to be read only, or a replica, is refused, though there is nothing to write', async () => {
  const url = await makeDatabase();
  await server.query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
  await assertRefused(url, /the server is a replica, or set to be read only/);
});

test('a database in another encoding is refused', async () => {
  await server.query(
    server.url('postgres'),
    "CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0",
  );
  await assertRefused(server.url('ascii'), /encoding SQL_ASCII/);
});

test('keys that the database was not made with are refused', async () => {
  await assertRefused(await makeDatabase(), /made with other keys/, { keyring: onlyNew });
});

test('a key joins the ring, and may leave it when nothing needs it any more', async (t) => {
  const url = await makeDatabase();
  const second = await instance(t, url, { keyring: rotated });
  await second.store.prepareRootKey(rotated.currentKeyId);
  assert.equal(await second.store.useRootKey(rotated.currentKeyId, event('root_key_used')), true);
  const grant = sampleGrant();
  await second.store.issueGrant(grant, event('consent_allowed'));
  const refused = () => assertRefused(url, /made with other keys \([0-9a-f]{8}\)/, { keyring: onlyNew });
  await refused();
  await second.store.revokeGrant(grant.id, 'user', event('grant_revoked'));
  await instance(t, url, { keyring: onlyNew });
});

test('instances that open a new database at the same time make one installation', async (t) => {
  const url = await server.createDatabase();
  const all = await Promise.all(Array.from({ length: 5 }, () => instance(t, url)));
  assert.deepEqual(
    all.flatMap(({ applied }) => applied),
    MIGRATIONS.map(({ name }) => name),
  );
  assert.equal((await server.query(url, 'SELECT 1 FROM installation')).length, 1);
  assert.equal((await server.query(url, 'SELECT 1 FROM root_key')).length, 1);
});

test('of instances with different keys that open a new database at the same time, one founds it', async () => {
  const url = await server.createDatabase();
  const keyrings = Array.from({ length: 5 }, (_, index) => createKeyring([key(`key ${index}`)]));
  const outcomes = await Promise.allSettled(keyrings.map((keyring) => openInstance(url, { keyring })));
  const opened = outcomes.filter((outcome) => outcome.status === 'fulfilled');
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  for (const { value } of opened) await value.close();
  assert.equal(opened.length, 1);
  for (const { reason } of refused) assert.match(String(reason), /made with other keys/);
});

test('of instances with different prefixes that open a new database at the same time, one decides it', async () => {
  const url = await server.createDatabase();
  const prefixes = ['one', 'two', 'three', 'four'];
  const starts = prefixes.map((tokenPrefix) => openInstance(url, { settings: { tokenPrefix, shared: {} } }));
  const outcomes = await Promise.allSettled(starts);
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') await outcome.value.close();
    else assert.match(String(outcome.reason), /VALETKEY_TOKEN_PREFIX is \w+: set it to \w+/);
  }
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
});

const SEED = 20_260_102;

test(`killed inside a migration, a database is as before it or as after it, and migrating goes on (seed ${SEED})`, async (t) => {
  const url = await server.createDatabase();
  const random = lots(SEED);
  for (let round = 0; round < 4; round += 1) {
    const program = new URL('migrate.child.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [program, url], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'close');
    await once(child.stdout, 'data');
    await Promise.race([pause(random(60)), ended]);
    child.kill('SIGKILL');
    await ended;
    const applied = await server.query<{ name: string }>(url, 'SELECT name FROM migration').catch(() => []);
    const filled = await server
      .query<{ rows: number }>(url, 'SELECT count(*)::int AS rows FROM filled')
      .catch(() => []);
    if (!applied.some(({ name }) => name === 'fill')) continue;
    assert.deepEqual(filled, [{ rows: 200_000 }]);
    await server.query(url, "DROP TABLE filled; DELETE FROM migration WHERE name = 'fill'");
  }
  const opened = await instance(t, url);
  assert.deepEqual((await opened.check()).at(-1), { name: 'migrations', ok: true, detail: 'as it must be' });
});

test('a check names what is wrong', async (t) => {
  const url = await makeDatabase();
  const opened = await instance(t, url);
  const wrong = async () => (await opened.check()).filter(({ ok }) => !ok);
  const [settings, ...more] = await wrong();
  assert.match(settings?.detail ?? '', /^fsync is off and must be on; full_page_writes is off/);
  assert.deepEqual(more, []);
  await server.query(
    url,
    `SET session_replication_role = replica; INSERT INTO session VALUES ('\\x00', 'usr_none', 0, 0, 1);
     UPDATE root_key SET canary = decode(repeat('00', 32), 'hex'); UPDATE migration SET checksum = 'other';
     UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'grant_by_client'::regclass;
     ALTER TABLE audit_event DISABLE TRIGGER chain_audit_event`,
  );
  const found = await wrong();
  assert.deepEqual(
    found.map(({ name }) => name),
    ['settings', 'integrity', 'references', 'objects', 'keys', 'migrations'],
  );
  assert.match(found[1]?.detail ?? '', /index grant_by_client/);
  assert.match(found[2]?.detail ?? '', /session of usr_none/);
  assert.match(found[3]?.detail ?? '', /^trigger chain_audit_event of audit_event is not there, or is another one/);
});

test('every session waits for the disk, and for nothing else without end', async (t) => {
  const url = await makeDatabase();
  const opened = await instance(t, url);
  await server.query(
    url,
    `CREATE FUNCTION settings() RETURNS text LANGUAGE sql AS $$
       SELECT string_agg(current_setting(name), ' ') FROM unnest(ARRAY['synchronous_commit',
         'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) AS name $$;
     CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.detail := settings(); RETURN NEW; END $$;
     CREATE TRIGGER tell BEFORE INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION tell();
     CREATE FUNCTION present() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       NEW.presented_from := settings(); RETURN NEW; END $$;
     CREATE TRIGGER present BEFORE UPDATE ON oauth_grant FOR EACH ROW EXECUTE FUNCTION present()`,
  );
  const grant = sampleGrant();
  await opened.store.issueGrant(grant, event('consent_allowed'));
  await opened.store.redeemAuthorizationCode(sampleGeneration(grant, 1));
  const [other] = await opened.store.listAuditEvents({ limit: 1 });
  const byKey = await opened.store.findPresentation(grant.id);
  assert.equal(byKey?.source, 'on 2500ms 100ms 5s');
  assert.equal(other?.detail, 'on 5s 3s 5s');
});

test("without a clock of its own, an instance has the database's time", async (t) => {
  const url = await makeDatabase();
  const keyring = createKeyring([key('a key')]);
  const opened = await openPostgresql({ ...beginning, url, keyring, role: 'command', migrate: false });
  t.after(() => opened.close());
  const [asked] = await server.query<{ ms: number }>(
    url,
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
  );
  assert.ok(Math.abs(opened.now() - (asked?.ms ?? 0)) < 1000);
});

test('after closing nothing is written, and closing waits for what was asked before', async (t) => {
  const url = await makeDatabase();
  const opened = await openInstance(url);
  const grant = sampleGrant();
  const before = [
    opened.store.recordDenial(event('consent_denied')),
    opened.store.issueGrant(grant, event('consent_allowed')),
  ];
  const closed = opened.close();
  await Promise.all(before);
  await assert.rejects(opened.store.recordDenial(event('consent_denied')), StoreUnavailable);
  await assert.rejects(opened.store.findGrant(grant.id), StoreUnavailable);
  await closed;
  const again = await instance(t, url);
  assert.ok(await again.store.findGrant(grant.id));
  assert.equal((await again.store.listAuditEvents({ action: 'consent_denied', limit: 2 })).length, 1);
});

test('a command that ends many grants at once has several connections for it, so that a slow disk does not fail it', async (t) => {
  const url = await makeDatabase();
  const opened = await openInstance(url, { ...PATIENT, role: 'command' });
  t.after(() => opened.close());
  const grants = Array.from({ length: 64 }, () => sampleGrant());
  await Promise.all(grants.map((grant) => opened.store.issueGrant(grant, event('consent_allowed'))));
  await Promise.all(grants.map(({ id }) => opened.store.revokeGrant(id, 'operator', event('grant_revoked'))));
  assert.equal(opened.figures().pools.find(({ purpose }) => purpose === 'others')?.open, 4);
});
