/** `kill -9` while a migration runs: the database is as before it or as after it. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { migrate, pendingMigrations } from '../../src/storage/schema/migrate.ts';
import { MIGRATIONS, plainDatabase } from '../../src/storage/sqlite/plain-database.ts';
import { lots } from '../instances/effort.ts';
import { NOW, temporaryPath } from '../support/storage.ts';
import { LATER } from './later-migration.ts';
import { runAndKill, SEED } from './run-and-kill.ts';

test('killed inside a migration, a database is as before it or as after it, and migrating goes on', async (t) => {
  const random = lots(SEED);
  const path = temporaryPath(t);
  mkdirSync(dirname(path));
  for (let round = 0; round < 8; round += 1) {
    await runAndKill('migrate.child.ts', path, random(40));
    const database = new DatabaseSync(path);
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const isFilled = tables.some(({ name }) => name === 'filled');
    const applied = tables.some(({ name }) => name === 'migration')
      ? database.prepare('SELECT name FROM migration').all()
      : [];
    assert.equal(
      applied.some(({ name }) => name === 'fill'),
      isFilled,
    );
    if (isFilled) {
      assert.equal(database.prepare('SELECT count(*) AS rows FROM filled').get()?.['rows'], 200_000);
      database.exec("DROP TABLE filled; DELETE FROM migration WHERE name = 'fill'");
    }
    assert.equal(database.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok');
    database.close();
  }
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  await migrate(plainDatabase(database), NOW, [...MIGRATIONS, LATER]);
  assert.deepEqual(await pendingMigrations(plainDatabase(database), [...MIGRATIONS, LATER]), []);
});

test('killed while a migration makes a table anew, a database has every row, as before it or as after it', async (t) => {
  const random = lots(SEED);
  const path = temporaryPath(t);
  mkdirSync(dirname(path));
  const made = new DatabaseSync(path);
  made.exec('PRAGMA journal_mode = wal');
  await migrate(plainDatabase(made), NOW);
  made.exec(`
    WITH RECURSIVE counter (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM counter WHERE n < 30000)
    INSERT INTO oauth_grant (id, client_id, resource_owner_id, epochs_installation, epochs_client, epochs_resource_owner,
      generation, key_id, rotated_at, access_token_expires_at, expires_at, used_generation, granted_at, absolute_expires_at, seed,
      scope, left_out, person_fields, redirect_uri, resource_is_default, signed_in_at)
      SELECT unhex(printf('%032x', n)), 'app_one', 'usr_ada', 0, 0, 0, n, 1, n, n, n, n, n, n, zeroblob(16), 'read', '', '',
        'https://one.test/cb', 0, n FROM counter`);
  const before = contents(made);
  made.close();
  const outcomes: boolean[] = [];
  // The delays close in on the moment of the commit, however fast the machine is.
  for (let most = 100; outcomes.length < 8 || (new Set(outcomes).size < 2 && outcomes.length < 40); ) {
    const copy = `${path}-${outcomes.length}`;
    copyFileSync(path, copy);
    await runAndKill('migrate.child.ts', copy, random(most));
    const database = new DatabaseSync(copy);
    const isApplied = database.prepare("SELECT 1 FROM migration WHERE name = 'later'").get() !== undefined;
    const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'oauth_grant' AND sql LIKE '%''later''%'");
    assert.equal(table.get() !== undefined, isApplied);
    assert.equal(database.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok');
    assert.deepEqual(contents(database), before);
    if (!isApplied) await migrate(plainDatabase(database), NOW, [...MIGRATIONS, LATER]);
    assert.deepEqual(contents(database), before, 'and migrating goes on');
    database.close();
    outcomes.push(isApplied);
    most *= isApplied ? 0.7 : 1.5;
  }
  assert.equal(new Set(outcomes).size, 2, `some kills came before the commit, and some after: ${outcomes}`);
});

function contents(database: DatabaseSync) {
  return database.prepare('SELECT count(*) AS grants, sum(generation) AS generations FROM oauth_grant').get();
}
