/** What cannot be used is refused with a remedy, and is left as it was. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { configure, requiredPragmas, requireSoundSqlite } from '../../src/storage/sqlite/file/connection.ts';
import type { SqliteOptions } from '../../src/storage/sqlite/open.ts';
import { plainDatabase } from '../../src/storage/sqlite/plain-database.ts';
import { addAdaAndOne, event, HOUR, NOW, openAsService, sampleGrant, temporaryPath } from '../support/storage.ts';

/** The program that founds an installation. */
const FOUNDING = new URL('found.child.ts', import.meta.url).pathname;

/** Whom file modes bind, unlike root. */
const NOBODY = 65_534;

const key = (text: string) => Buffer.alloc(32, text);
const ROTATED = ['a new key', 'a key'];
const rotated = createKeyring(ROTATED.map(key));
const onlyNew = createKeyring([key('a new key')]);

async function makeDatabase(t: TestContext): Promise<string> {
  const path = temporaryPath(t);
  const opened = await openAsService(path);
  await addAdaAndOne(opened);
  await opened.close();
  return path;
}

function alter(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

/** Opening is refused in these words, and no byte of the folder changes. */
async function assertRefused(path: string, words: RegExp, options: Partial<SqliteOptions> = {}): Promise<void> {
  const bytes = () =>
    statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()
      ? readdirSync(dirname(path)).map((name) => {
          const file = join(dirname(path), name);
          return [name, statSync(file).isFile() && hash('sha256', readFileSync(file))];
        })
      : null;
  const before = bytes();
  await assert.rejects(openAsService(path, options), (error: Error) => {
    assert.equal(error.name, 'InstallationError', error.stack);
    assert.match(error.message, words);
    return true;
  });
  assert.deepEqual(bytes(), before);
}

test('a SQLite that may lose pages when its log begins anew is refused, with the remedy', () => {
  for (const version of ['3.51.2', '3.50.4', '3.9.9', '2.99.9']) {
    assert.throws(
      () => requireSoundSqlite(version),
      /SQLite .* may lose data .*: install a Node\.js with SQLite 3\.51\.3 or later, such as 24\.15/,
    );
  }
  for (const version of ['3.51.3', '3.52.0', '3.53.4', '4.0.0']) requireSoundSqlite(version);
});

test('a database of a newer version is refused', async (t) => {
  const path = await makeDatabase(t);
  alter(path, "INSERT INTO migration VALUES (9999, 'future', 'x', 0)");
  await assertRefused(path, /newer version of Valetkey.*install/);
});

test('upgrades: a database from before 0.1.0-rc.1 is refused, with the version that runs and what to do', async (t) => {
  const path = await makeDatabase(t);
  alter(path, "UPDATE migration SET checksum = 'other' WHERE number = 1");
  await assertRefused(
    path,
    /^the database was made before 0\.1\.0-rc\.1, and this is version \d+\.\d+\.\d+\S*\. Databases .* are not kept: begin again with /,
  );
});

test("another program's database and another kind of file are refused", async (t) => {
  const path = temporaryPath(t);
  mkdirSync(dirname(path));
  alter(path, 'CREATE TABLE theirs (x)');
  await assertRefused(path, /another program/);
  writeFileSync(path, 'not a database, but a text that is long enough to be one'.repeat(100));
  await assertRefused(path, /is not a database/);
});

test('a command refuses a database that is not there or not up to date, and says what makes it so', async (t) => {
  const path = temporaryPath(t);
  const command = { role: 'command', migrate: false } as const;
  const alone = { ...command, refuseNew: { problem: 'there is none', remedy: null } };
  await assertRefused(path, /^there is none/, alone);
  assert.ok(!existsSync(dirname(path)), 'nothing is made');
  mkdirSync(dirname(path));
  writeFileSync(path, '');
  await assertRefused(path, /^there is none/, alone);
  await (await openAsService(path, command)).close();
  alter(path, 'DELETE FROM migration');
  await assertRefused(path, /needs \d+ migration.*database migrate/, command);
});

test('a new installation that must not be begun is refused, also where a start was killed before it was founded', async (t) => {
  const path = temporaryPath(t);
  const options = { refuseNew: { problem: 'the keys have served another', remedy: null } };
  await assertRefused(path, /the keys have served another/, options);
  mkdirSync(dirname(path));
  const database = new DatabaseSync(path);
  await migrate(plainDatabase(database), NOW);
  database.close();
  await assertRefused(path, /the keys have served another/, options);
});

/** Opens a database that another process founds meanwhile: after this one saw that there was nothing, before it writes. */
async function assertComesTooLate(t: TestContext, options: Partial<SqliteOptions>, words: RegExp): Promise<void> {
  const path = temporaryPath(t);
  let isFounded = false;
  const now = () => {
    assert.equal(
      spawnSync(process.execPath, [FOUNDING, path, ...ROTATED], { stdio: ['ignore', 'ignore', 'inherit'] }).status,
      0,
    );
    isFounded = true;
    return NOW;
  };
  await assert.rejects(openAsService(path, { role: 'command', now, ...options }), words);
  assert.equal(isFounded, true);
  const reader = new DatabaseSync(path);
  t.after(() => reader.close());
  assert.deepEqual(reader.prepare('SELECT key_id FROM root_key').all().length, rotated.keyIds.length);
}

test('of processes with different keys that begin an installation at the same time, one founds it', async (t) => {
  const keyring = createKeyring([key('a third key')]);
  await assertComesTooLate(t, { keyring }, /made with other keys/);
});

test('of processes with different prefixes that begin an installation at the same time, one decides it', async (t) => {
  const settings = { tokenPrefix: 'two', shared: {} };
  await assertComesTooLate(t, { keyring: rotated, settings }, /VALETKEY_TOKEN_PREFIX is two: set it to \w+/);
});

test('a folder in place of the file, and a file in place of the folder, are refused', async (t) => {
  const path = temporaryPath(t);
  mkdirSync(path, { recursive: true });
  await assertRefused(path, /is not a file/);
  const file = join(dirname(path), 'file');
  writeFileSync(file, '');
  await assertRefused(join(file, 'valetkey.db'), /cannot be written/);
});

test('a database or a folder that may not be written is refused', async (t) => {
  const path = await makeDatabase(t);
  const folder = dirname(path);
  if (process.getuid?.() === 0) {
    for (const each of [dirname(folder), folder, ...readdirSync(folder).map((name) => join(folder, name))]) {
      chownSync(each, NOBODY, NOBODY);
    }
  }
  const program = new URL('unprivileged.child.ts', import.meta.url).pathname;
  const open = () => spawnSync(process.execPath, [program, path], { encoding: 'utf8' }).stdout;
  chmodSync(path, 0o400);
  assert.match(open(), /^InstallationError: .*cannot be written/);
  chmodSync(path, 0o600);
  chmodSync(folder, 0o500);
  assert.match(open(), /^InstallationError: .*cannot be written/);
  chmodSync(folder, 0o700);
  assert.equal(open(), 'opened\n');
});

test('keys that the database was not made with are refused', async (t) => {
  await assertRefused(await makeDatabase(t), /made with other keys/, { keyring: onlyNew });
});

test('a key joins the ring, and may leave it when nothing needs it any more', async (t) => {
  const path = temporaryPath(t);
  const first = await openAsService(path);
  await addAdaAndOne(first);
  const grant = sampleGrant();
  await first.store.issueGrant(grant, event('consent_allowed'));
  await first.close();
  const second = await openAsService(path, { keyring: rotated });
  t.after(() => second.close());
  await second.store.prepareRootKey(rotated.currentKeyId);
  assert.equal(await second.store.useRootKey(rotated.currentKeyId, event('root_key_used')), true);
  const beside = { role: 'command', keyring: onlyNew } as const;
  const refused = () => assert.rejects(openAsService(path, beside), /made with other keys \([0-9a-f]{8}\)/);
  await refused();
  await second.store.revokeGrant(grant.id, 'user', event('grant_revoked'));
  const third = await openAsService(path, beside);
  await third.close();
});

test('a key whose canary is not its own is refused', async (t) => {
  const path = await makeDatabase(t);
  alter(path, 'UPDATE root_key SET canary = zeroblob(32)');
  await assertRefused(path, /made with other keys/, { keyring: rotated });
});

test('a database, its log and its folders are for their owner only, whatever the umask', async (t) => {
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  const path = join(dirname(temporaryPath(t)), 'deeper', 'valetkey.db');
  const opened = await openAsService(path);
  t.after(() => opened.close());
  const mode = (name: string) => statSync(name).mode & 0o777;
  for (const suffix of ['', '-wal', '-shm']) assert.equal(mode(path + suffix), 0o600, suffix);
  for (const folder of [dirname(path), dirname(dirname(path))]) assert.equal(mode(folder), 0o700, folder);
});

test('every connection has the settings on which durability rests', async (t) => {
  const path = temporaryPath(t);
  const uses = [
    [{ role: 'service', durability: 'awaited' }, 1],
    [{ role: 'service', durability: 'full' }, 2],
    [{ role: 'command', durability: 'full' }, 2],
    [{ role: 'command', durability: 'awaited' }, 2],
  ] as const;
  for (const [use, synchronous] of uses) {
    const required = Object.fromEntries(requiredPragmas(use, false));
    const { journal_mode, foreign_keys, busy_timeout } = required;
    assert.deepEqual([journal_mode, required['synchronous'], foreign_keys], ['wal', synchronous, 1]);
    assert.ok(Number(busy_timeout) > 0);
    const opened = await openAsService(path, use);
    assert.deepEqual((await opened.check())[0], { name: 'settings', ok: true, detail: 'as it must be' });
    await opened.close();
  }
});

test('a setting that does not hold is refused and named', () => {
  const database = new DatabaseSync(':memory:');
  assert.throws(() => configure(database, [['journal_mode', 'wal']]), /journal_mode is memory and must be wal/);
});

test('a check names what is wrong', async (t) => {
  const path = await makeDatabase(t);
  const opened = await openAsService(path);
  t.after(() => opened.close());
  const other = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  t.after(() => other.close());
  other.exec(`INSERT INTO session VALUES (x'00', 'usr_none', ${NOW}, ${NOW}, ${NOW + HOUR}, NULL, NULL)`);
  other.exec('UPDATE root_key SET canary = zeroblob(32)');
  other.exec("UPDATE migration SET checksum = 'other'");
  const wrong = (await opened.check()).filter(({ ok }) => !ok);
  assert.deepEqual(
    wrong.map(({ name }) => name),
    ['references', 'keys', 'migrations'],
  );
  assert.match(wrong[1]?.detail ?? '', /other keys/);
});

test('processes that open a new database at the same time make one installation', async (t) => {
  const path = temporaryPath(t);
  const starts = Array.from({ length: 3 }, () => spawn(process.execPath, [FOUNDING, path, 'a key']));
  const printed = starts.map(({ stdout, stderr }) => Promise.all([text(stdout), text(stderr)]));
  for (const both of await Promise.all(printed)) assert.deepEqual(both, ['[]', '']);
});
