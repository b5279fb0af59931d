/** The catalogues of the stores are what their schemas make; UPDATE_DOCS=1 writes them anew. What differs from them is found. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { catalogueLine, type SchemaObject } from '../../src/storage/catalogue.ts';
import { openPostgresql } from '../../src/storage/postgresql/open.ts';
import { plain as plainPostgresql } from '../../src/storage/postgresql/plain-database.ts';
import { reach } from '../../src/storage/postgresql/reach.ts';
import { Servers } from '../../src/storage/postgresql/servers.ts';
import { plain as plainSqlite } from '../../src/storage/sqlite/plain-database.ts';
import type { Finding } from '../../src/storage/storage.ts';
import { keyring } from '../oauth/samples.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { beginning, openAsService, secondConnection, temporaryPath } from '../support/storage.ts';

const server = await sharedPostgres();
after(() => server.remove());

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The text of a catalogue, as the formatter leaves it. */
function textOf(objects: readonly SchemaObject[]): string {
  const text = `/** The parts of the schema beside tables and columns: written by test/storage/catalogue.test.ts. */

/** Every index, key, reference, trigger and function, by its kind, table and name. */
export const CATALOGUE: readonly string[] = ${JSON.stringify(objects.map(catalogueLine), null, 2)};
`;
  const biome = `${ROOT}node_modules/.bin/biome`;
  const { status, stdout, stderr } = spawnSync(biome, ['format', '--stdin-file-path=catalogue.ts'], {
    cwd: ROOT,
    input: text,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stdout;
}

function compareFile(store: string, objects: readonly SchemaObject[]): void {
  const file = `${ROOT}src/storage/${store}/catalogue.ts`;
  const text = textOf(objects);
  if (process.env['UPDATE_DOCS']) writeFileSync(file, text);
  assert.equal(readFileSync(file, 'utf8'), text, `run UPDATE_DOCS=1 npm test -- test/storage/catalogue.test.ts`);
  const kinds = new Set(objects.map(({ kind }) => kind));
  for (const kind of ['index', 'key', 'reference'] as const) assert.ok(kinds.has(kind), kind);
}

/** What a check says that is not as it must be. */
function told(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ ok, isWarning }) => !ok || isWarning)
    .map(({ name, ok, detail }) => `${ok ? 'warning' : 'wrong'} ${name}: ${detail}`);
}

test('the catalogue of SQLite is what its schema makes', async (t) => {
  const path = temporaryPath(t);
  await (await openAsService(path)).close();
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  compareFile('sqlite', await plainSqlite(database).objects());
});

test('the catalogue of PostgreSQL is what its schema makes', async (t) => {
  const url = await server.createDatabase();
  const options = { ...beginning, url, keyring, role: 'command', migrate: true } as const;
  await (await openPostgresql(options)).close();
  const connection = await reach(new Servers(url), { statementTimeout: 0, lockTimeout: 1000, byKey: false });
  t.after(() => connection.close());
  const objects = await plainPostgresql(connection).objects();
  compareFile('postgresql', objects);
  for (const kind of ['trigger', 'function'] as const)
    assert.ok(
      objects.some((one) => one.kind === kind),
      kind,
    );
});

/** Changes of a SQLite database, and what is told of each. */
const IN_SQLITE: Readonly<Record<string, RegExp>> = {
  'DROP INDEX session_by_account':
    /^wrong objects: index session_by_account of session is not there, or is another one: .* run CREATE INDEX session_by_account ON session \(account_id\)$/,
  'DROP INDEX account_by_sign_in; CREATE INDEX account_by_sign_in ON account (email_key)':
    /^wrong objects: index account_by_sign_in .* run CREATE UNIQUE INDEX .* WHERE password IS NOT NULL OR invitation IS NOT NULL$/,
  'CREATE INDEX mine ON client (name)': /^warning extra indexes: mine of client: drop what you do not need/,
  'CREATE TRIGGER theirs AFTER INSERT ON client BEGIN SELECT 1; END':
    /^wrong objects: trigger theirs of client is not known: drop it/,
  [`ALTER TABLE session RENAME TO old; CREATE TABLE session (digest BLOB PRIMARY KEY, account_id TEXT NOT NULL,
    created_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, provider_id TEXT, external TEXT) STRICT, WITHOUT ROWID;
    DROP TABLE old; CREATE INDEX session_by_account ON session (account_id)`]:
    /^wrong objects: reference account_id of session is not there, or is another one: restore a backup/,
};

/** The same on PostgreSQL. */
const IN_POSTGRESQL: Readonly<Record<string, RegExp>> = {
  'DROP INDEX session_by_account':
    /^wrong objects: index session_by_account of session .* run CREATE INDEX session_by_account ON session USING btree \(account_id\)$/,
  'CREATE INDEX mine ON client (name)': /^warning extra indexes: mine of client: drop what you do not need/,
  'ALTER TABLE session DROP CONSTRAINT session_account_id_fkey':
    /^wrong objects: reference session_account_id_fkey of session .* run ALTER TABLE session ADD CONSTRAINT session_account_id_fkey FOREIGN KEY/,
  'ALTER TABLE secret_use DROP CONSTRAINT secret_use_pkey':
    /^wrong objects: key secret_use_pkey of secret_use .* PRIMARY KEY \(digest\)$/,
  'ALTER TABLE audit_event DISABLE TRIGGER chain_audit_event':
    /^wrong objects: trigger chain_audit_event of audit_event .* run CREATE TRIGGER .*; ALTER TABLE audit_event ENABLE ALWAYS TRIGGER chain_audit_event$/,
  "CREATE OR REPLACE FUNCTION chain_audit_event() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'":
    /^wrong objects: function chain_audit_event of schema is not there, or is another one: restore a backup/,
};

for (const [change, expected] of Object.entries(IN_SQLITE))
  test(`operating: a check of SQLite notices: ${change.slice(0, 60)}`, async (t) => {
    const path = temporaryPath(t);
    const opened = await openAsService(path);
    t.after(() => opened.close());
    assert.deepEqual(told(await opened.check()), []);
    secondConnection(t, path).exec(change);
    for (const how of ['quick', undefined] as const) assert.match(told(await opened.check(how)).join('\n'), expected);
  });

for (const [change, expected] of Object.entries(IN_POSTGRESQL))
  test(`operating: a check of PostgreSQL notices: ${change.slice(0, 60)}`, async (t) => {
    const url = await server.createDatabase();
    const opened = await openPostgresql({ ...beginning, url, keyring, role: 'command', migrate: true });
    t.after(() => opened.close());
    const before = told(await opened.check());
    await server.query(url, change);
    for (const how of ['quick', undefined] as const) {
      const found = told(await opened.check(how)).filter((line) => !before.includes(line));
      assert.match(found.join('\n'), expected);
    }
  });
