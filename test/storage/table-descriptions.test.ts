/** The descriptions of the tables, against the schemas of both stores; and that a copy compares what is there, and not what is described. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, type TestContext, test } from 'node:test';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { makeRootKey, parseRootKeys } from '../../src/settings/root-keys.ts';
import { compareTable, isSame } from '../../src/storage/copying/comparison.ts';
import { openSource, openTarget } from '../../src/storage/copying/copy-side.ts';
import { postgresqlSide } from '../../src/storage/postgresql/copy.ts';
import { sqliteSide } from '../../src/storage/sqlite/copy.ts';
import type { Kind } from '../../src/storage/statements/table.ts';
import { TABLES } from '../../src/storage/tables/all-tables.ts';
import { INSTALLATION } from '../../src/storage/tables/installation/installation.ts';
import { runCommand } from '../support/command.ts';
import { startPostgres } from '../support/postgres.ts';

const server = await startPostgres();
after(() => server.remove());

const KEY = makeRootKey();
const LISTED = [INSTALLATION, ...TABLES];

/** What only PostgreSQL has: nobody asks about it after a copy. */
const OF_POSTGRESQL = ['client_assertion.attempt', 'oauth_grant.attempt', 'audit_event.attempt'];

/** A new installation in a SQLite file, with a client; `sql` is run on it. */
async function installation(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const path = join(folder, 'valetkey.db');
  const run = (command: string, database = `sqlite:${path}`) =>
    runCommand(command.split(' '), { VALETKEY_KEYS: KEY, VALETKEY_DATABASE_URL: database });
  const registered = await run('client register --name One --redirect-uri https://one.test/cb');
  assert.equal(registered.code, 0, registered.stderr);
  const sql = <Row = { name: string }>(text: string) => {
    using database = new DatabaseSync(path);
    return database.prepare(text).all() as Row[];
  };
  return { path, run, sql };
}

/** How each kind of column is declared in either store. */
const DECLARED: Readonly<Record<Kind, { readonly sqlite: string; readonly postgresql: readonly string[] }>> = {
  text: { sqlite: 'TEXT', postgresql: ['text'] },
  json: { sqlite: 'TEXT', postgresql: ['text'] },
  integer: { sqlite: 'INTEGER', postgresql: ['smallint', 'integer', 'bigint'] },
  time: { sqlite: 'INTEGER', postgresql: ['bigint'] },
  boolean: { sqlite: 'INTEGER', postgresql: ['boolean'] },
  bytes: { sqlite: 'BLOB', postgresql: ['bytea'] },
  uuid: { sqlite: 'BLOB', postgresql: ['uuid'] },
};

/** A column as a store has it. */
type Column = {
  readonly name: string;
  readonly type: string;
  readonly required: number | boolean;
  readonly key: number | boolean;
};
const inWords = ({ name, required, key }: Omit<Column, 'type'>) =>
  `${name}${required ? '' : '?'}${key ? ', the key' : ''}`;

test('the tables are described as both stores have them: columns, their order and kinds, the key, what may be null', async (t) => {
  const { path, run, sql } = await installation(t);
  const url = await server.createDatabase();
  const copied = await run(`database copy sqlite:${path} ${url}`);
  assert.equal(copied.code, 0, copied.stderr);
  for (const { name: table, columns } of LISTED) {
    const described = columns.map(({ name, isNullable }, place) =>
      inWords({ name, required: !isNullable, key: place === 0 }),
    );
    const inSqlite = sql<Column>(
      `SELECT name, type, "notnull" OR pk AS required, pk AS key FROM pragma_table_xinfo('${table}') ORDER BY cid`,
    );
    assert.deepEqual(inSqlite.map(inWords), described, `${table} in SQLite`);
    const inPostgresql = await server.query<Column>(
      url,
      `SELECT attname AS name, format_type(atttypid, NULL) AS type, attnotnull AS required,
         EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary AND attnum = ANY (indkey)) AS key
       FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0 ORDER BY attnum`,
    );
    const shared = inPostgresql.filter(({ name }) => !OF_POSTGRESQL.includes(`${table}.${name}`));
    assert.deepEqual(shared.map(inWords), described, `${table} in PostgreSQL`);
    for (const [place, { name, kind }] of columns.entries()) {
      const { sqlite, postgresql } = DECLARED[kind];
      assert.equal(inSqlite[place]?.type, sqlite, `${table}.${name} in SQLite`);
      assert.ok(
        postgresql.includes(shared[place]?.type ?? ''),
        `${table}.${name} in PostgreSQL: ${shared[place]?.type}`,
      );
    }
  }
});

const REMEDY = 'put them back as the schema of this version has them, or restore a backup';

test('operating: a check names each column that is missing, of another type or takes null otherwise, or is not known', async (t) => {
  const { path, run, sql } = await installation(t);
  const url = await server.createDatabase();
  assert.equal((await run(`database copy sqlite:${path} ${url}`)).code, 0);
  const found = async (database: string) => {
    const { code, stdout } = await run('database check --json', database);
    const { ok, detail } = JSON.parse(stdout).find(({ name }: { name: string }) => name === 'columns');
    assert.ok(ok || code === 1);
    return detail;
  };
  assert.equal(await found(`sqlite:${path}`), 'as it must be');
  assert.equal(await found(url), 'as it must be');
  sql('ALTER TABLE resource_server RENAME TO before');
  sql(`CREATE TABLE resource_server (id TEXT PRIMARY KEY, name INTEGER NOT NULL, resource TEXT NOT NULL, scopes TEXT,
    secrets TEXT, created_at INTEGER NOT NULL, accepts_unbound INTEGER NOT NULL, nickname TEXT) STRICT, WITHOUT ROWID`);
  await server.query(
    url,
    `ALTER TABLE resource_server ALTER name TYPE integer USING 0, ALTER resource SET NOT NULL,
       ALTER secrets DROP NOT NULL, ADD nickname text`,
  );
  const wrong = (types: string) =>
    `resource_server.name is ${types}, resource_server.resource must not be NOT NULL, resource_server.secrets must be NOT NULL, resource_server.nickname is not known: something else has changed these tables: ${REMEDY}`;
  assert.equal(await found(`sqlite:${path}`), wrong('INTEGER and must be TEXT'));
  assert.equal(await found(url), wrong('integer and must be text'));
});

test('operating: a column that is missing is named, also where without it no statement can be prepared', async (t) => {
  const { path, run, sql } = await installation(t);
  const url = await server.createDatabase();
  assert.equal((await run(`database copy sqlite:${path} ${url}`)).code, 0);
  const wrong = `resource_server.created_at is not there: something else has changed these tables: ${REMEDY}`;
  sql('ALTER TABLE resource_server DROP COLUMN created_at');
  for (const command of ['database check', 'client list']) {
    const { code, stderr } = await run(command);
    assert.deepEqual([code, stderr], [1, `valetkey: ${wrong}\n`]);
  }
  await server.query(url, 'ALTER TABLE resource_server DROP COLUMN created_at');
  const { code, stdout } = await run('database check --json', url);
  assert.equal(code, 1);
  assert.ok(JSON.parse(stdout).some(({ detail }: { detail: string }) => detail === wrong));
});

test('operating: a check takes columns that a newer release has added', async (t) => {
  const { run, sql } = await installation(t);
  sql('ALTER TABLE client ADD COLUMN nickname TEXT');
  assert.equal((await run('database check')).code, 1);
  sql("INSERT INTO migration VALUES (9999, 'expand-nicknames', 'x', 0)");
  assert.equal((await run('database check')).code, 0);
});

const RELEASE = 'Take the copy with the release of Valetkey that made it, and let nothing else change its tables';

test('operating: a copy is refused, before anything is written, where the source has a column that it would not take', async (t) => {
  const { path, run, sql } = await installation(t);
  const [there, url] = [await server.createDatabase(), await server.createDatabase()];
  assert.equal((await run(`database copy sqlite:${path} ${there}`)).code, 0);
  sql("ALTER TABLE client ADD COLUMN nickname TEXT DEFAULT 'x'");
  const { code, stdout, stderr } = await run(`database copy sqlite:${path} ${url}`);
  const wrong = 'would not be copied whole: its table client has the columns';
  assert.deepEqual([code, stdout], [1, '']);
  assert.ok(stderr.startsWith(`valetkey: ${path} ${wrong} id, `), stderr);
  assert.ok(stderr.endsWith(`${RELEASE}\n`), stderr);
  assert.deepEqual(await server.query(url, "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace"), []);

  await server.query(there, "ALTER TABLE client ADD COLUMN nickname text NOT NULL DEFAULT 'x'");
  const back = await run(`database copy ${there} sqlite:${path}.back`);
  assert.equal(back.code, 1);
  assert.match(back.stderr, /its table client has the columns id, .*, nickname, and not id, /);
});

test('operating: a copy is refused where the target lacks a column, has another order, or takes null otherwise', async (t) => {
  const { path, run, sql } = await installation(t);
  const [id] = sql('SELECT lower(hex(id)) AS name FROM installation');
  for (const change of [
    'ALTER TABLE account ALTER status DROP NOT NULL',
    'ALTER TABLE account DROP avatar_url',
    'ALTER TABLE account DROP avatar_url; ALTER TABLE account ADD avatar_url text',
    'ALTER TABLE account ADD nickname text',
  ]) {
    const url = await server.createDatabase();
    const target = await openTarget(await postgresqlSide(url), id?.name ?? '', 0);
    await target.close();
    await server.query(url, change);
    const { code, stderr } = await run(`database copy sqlite:${path} ${url}`);
    assert.equal(code, 1, change);
    assert.match(stderr, /^valetkey: 127.* would not be copied whole: its table account has the columns /);
    assert.deepEqual(await server.query(url, 'SELECT FROM client'), [], 'nothing was written');
  }
});

test('what was copied is compared by all columns that there are, not by those that are described', async (t) => {
  const { path, sql } = await installation(t);
  sql("ALTER TABLE client ADD COLUMN nickname TEXT DEFAULT 'x'");
  const url = await server.createDatabase();
  const source = await openSource(sqliteSide(path, 'source'), createKeyring(parseRootKeys(KEY, 'the test')));
  const target = await openTarget(await postgresqlSide(url), '00'.repeat(16), 0);
  t.after(async () => {
    await source.close();
    await target.close();
  });
  await server.query(url, 'ALTER TABLE client ADD COLUMN nickname text');
  const table = TABLES.find(({ name }) => name === 'client');
  assert.ok(table);
  await target.write(table, await source.read(table, null, 10));
  const areSame = async () => {
    const compared = await compareTable('client', source, target, () => {});
    assert.deepEqual([compared.source.rows, compared.target.rows], [1, 1]);
    return isSame(compared);
  };
  assert.equal(await areSame(), false, 'the column that nothing describes became null');
  await server.query(url, "UPDATE client SET nickname = 'x'");
  assert.equal(await areSame(), true);
});
