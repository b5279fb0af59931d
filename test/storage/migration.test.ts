/** The two schemas go on together, and a later migration takes a database that is in use and loses nothing of it. */
import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { MIGRATIONS as OF_POSTGRESQL } from '../../src/storage/postgresql/plain-database.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { MIGRATIONS, plainDatabase } from '../../src/storage/sqlite/plain-database.ts';
import {
  addAdaAndOne,
  event,
  NOW,
  openAsService,
  sampleGrant,
  secondConnection,
  temporaryPath,
} from '../support/storage.ts';
import { LATER } from './later-migration.ts';

const WITH_LATER = [...MIGRATIONS, LATER];

/** A database with Ada, a client and some grants. */
async function makeUsed(t: TestContext): Promise<string> {
  const path = temporaryPath(t);
  const opened = await openAsService(path);
  await addAdaAndOne(opened);
  for (const revocationReason of [null, 'user', 'too_many_grants'] as const) {
    const grant = sampleGrant({ revocationReason, revokedAt: revocationReason && NOW + 5 });
    await opened.store.issueGrant(grant, event('consent_allowed'));
  }
  await opened.close();
  return path;
}

/** All rows of a database, table by table. */
function contents(database: DatabaseSync) {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  return tables
    .filter(({ name }) => name !== 'migration')
    .map(({ name }) => [name, database.prepare(`SELECT * FROM ${name}`).all()]);
}

test('both stores have migrations of the same numbers and names', () => {
  const named = (all: typeof MIGRATIONS) => all.map(({ number, name }) => `${number} ${name}`);
  assert.deepEqual(named(MIGRATIONS), named(OF_POSTGRESQL));
  assert.deepEqual(
    MIGRATIONS.map(({ number }) => number),
    MIGRATIONS.map((_, index) => index + 1),
  );
});

test('a migration that makes a table anew keeps every row, the checks and the indexes', async (t) => {
  const database = secondConnection(t, await makeUsed(t));
  const indexes = () =>
    database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY name").all();
  const [before, indexesBefore] = [contents(database), indexes()];
  assert.deepEqual(await migrate(plainDatabase(database), NOW, WITH_LATER), ['later']);
  assert.deepEqual(contents(database), before);
  assert.deepEqual(indexes(), indexesBefore);
  database.exec("UPDATE oauth_grant SET revocation_reason = 'later'");
  assert.throws(() => database.exec("UPDATE oauth_grant SET revocation_reason = 'nobody'"), /CHECK constraint/);
  assert.deepEqual(await migrate(plainDatabase(database), NOW, WITH_LATER), [], 'and is applied once');
});

test('a migration that fails changes nothing, and neither do those after it', async (t) => {
  const database = secondConnection(t, await makeUsed(t));
  const before = contents(database);
  const broken = { ...LATER, sql: `${LATER.sql}; INSERT INTO nowhere VALUES (1);` };
  const next = { number: LATER.number + 1, name: 'next', checksum: 'next', sql: 'CREATE TABLE next (id INTEGER)' };
  await assert.rejects(
    () => migrate(plainDatabase(database), NOW, [...MIGRATIONS, broken, next]),
    /no such table: nowhere/,
  );
  assert.deepEqual(contents(database), before);
  assert.deepEqual(await migrate(plainDatabase(database), NOW, [...WITH_LATER, next]), ['later', 'next']);
});

test('of several that migrate a database at once, one does, and the others find it done', async (t) => {
  const path = await makeUsed(t);
  const [one, other] = [secondConnection(t, path), secondConnection(t, path)];
  one.exec('BEGIN IMMEDIATE');
  await assert.rejects(
    () => migrate(plainDatabase(other), NOW, WITH_LATER),
    /locked/,
    'nobody migrates without the lock',
  );
  one.exec('ROLLBACK');
  assert.deepEqual(await migrate(plainDatabase(one), NOW, WITH_LATER), ['later']);
  assert.deepEqual(await migrate(plainDatabase(other), NOW, WITH_LATER), []);
});

test('a database that is to be migrated is refused to keys that are not its own before anything is changed', async (t) => {
  const path = await makeUsed(t);
  const database = secondConnection(t, path);
  database.exec('DELETE FROM migration');
  const onlyNew = createKeyring([Buffer.alloc(32, 'a new key')]);
  await assert.rejects(openAsService(path, { keyring: onlyNew }), /made with other keys/);
  await assert.rejects(
    openAsService(path, { role: 'command', migrate: false }),
    /needs \d+ migration.*database migrate/,
  );
  assert.deepEqual(database.prepare('SELECT * FROM migration').all(), []);
});

test('the indexes by which grants are found serve each search, and wrong values are refused', async (t) => {
  const database = secondConnection(t, await makeUsed(t));
  const plans = ['client_id', 'resource_owner_id', 'id'].map((column) =>
    JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN SELECT 1 FROM oauth_grant WHERE ${column} = ?`).all('x')),
  );
  for (const plan of plans) assert.match(plan, /SEARCH oauth_grant USING/);
  const wrong = [
    "UPDATE oauth_grant SET revocation_reason = 'nobody'",
    "UPDATE oauth_grant SET seed = x'00'",
    "UPDATE client SET consent = 'never'",
    "UPDATE client SET assertion_audience = ''",
    'UPDATE client SET device_flow = 2',
  ];
  for (const sql of wrong) assert.throws(() => database.exec(sql), /CHECK constraint/);
});
