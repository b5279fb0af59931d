/** A database that was put in place by other means than ours is not served before it was restored. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { event, NOW } from '../support/storage.ts';
import { instance, openInstance } from './instance.ts';

const server = await sharedPostgres();
after(() => server.remove());

const copyOf = (url: string) => server.createDatabase(new URL(url).pathname.slice(1));
const REFUSED = /was served elsewhere, and was put here .* run "database restore"/;
const NOTHING_ELSE = { endAll: null, ended: null, revived: [], events: [] };

/** A database that was served. */
async function served(): Promise<string> {
  const url = await server.createDatabase();
  for (let starts = 0; starts < 2; starts += 1) await (await openInstance(url)).close();
  return url;
}

test('restore: a copy of a database that was served is refused, until it is restored', async (t) => {
  const url = await served();
  const copy = await copyOf(url);
  await assert.rejects(openInstance(copy), REFUSED);
  const command = await openInstance(copy, { role: 'command' });
  await command.store.beginHistory(randomBytes(16), { ...event('database_restored'), at: NOW }, NOTHING_ELSE);
  await command.close();
  await instance(t, copy);
  await instance(t, url); // The other one goes on as well.
});

test('restore: a table that was made anew, as by pg_restore, is another place in the same database', async () => {
  const url = await served();
  await server.query(
    url,
    `DO $$ DECLARE served text := obj_description('installation'::regclass, 'pg_class'); BEGIN
      ALTER TABLE installation RENAME TO before; CREATE TABLE installation (LIKE before INCLUDING ALL);
      INSERT INTO installation SELECT * FROM before; DROP TABLE before;
      EXECUTE format('COMMENT ON TABLE installation IS %L', served); END $$`,
  );
  await assert.rejects(openInstance(url), REFUSED);
});

test('operating: what pg_upgrade made is adopted, and served with all that it holds', async (t) => {
  const copy = await copyOf(await served());
  const command = await openInstance(copy, { role: 'command' });
  await command.adoptSettings();
  await command.close();
  await instance(t, copy);
});

test('restore: another timeline is warned of once, with the remedy', async () => {
  const url = await served();
  await server.query(
    url,
    `DO $$ BEGIN EXECUTE format('COMMENT ON TABLE installation IS %L',
      replace(obj_description('installation'::regclass, 'pg_class'), 'timeline 1', 'timeline 7')); END $$`,
  );
  const told: string[] = [];
  for (let starts = 0; starts < 2; starts += 1)
    await (await openInstance(url, { warn: (sentence) => told.push(sentence) })).close();
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /is on timeline 1, and was on 7 .* a base backup was put back, .* "database restore"/);
});
