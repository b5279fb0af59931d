/** The next release's expansion of the schema, while instances of the release before are connected. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isEnded } from '../../src/oauth/grants/grant.ts';
import { Connection } from '../../src/storage/postgresql/connection/connection.ts';
import { MIGRATIONS, plainDatabase } from '../../src/storage/postgresql/plain-database.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { crowdConformance, storeConformance } from '../storage/conformance.ts';
import { sampleExpansion } from '../storage/expansion.ts';
import { PATIENT, PATIENT_FOR_ROWS } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { addAdaAndOne, event, NOW, sampleGeneration, sampleGrant } from '../support/storage.ts';
import { emptied, instance, openInstance, waitingCopies } from './instance.ts';

const server = await sharedPostgres();
after(() => server.remove());
const TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'";
const WAITING = "SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted AND locktype = 'relation'";
const SESSION = { statementTimeout: 0, lockTimeout: 60_000, byKey: false };

/** Expands a database as the first instance of the next release does. */
async function expand(url: string): Promise<void> {
  const tables = await server.query<{ relname: string }>(url, TABLES);
  const next = sampleExpansion(
    MIGRATIONS,
    tables.map(({ relname }) => relname),
  );
  const connection = await Connection.open(url, SESSION);
  assert.deepEqual(await migrate(plainDatabase(connection), NOW, [...MIGRATIONS, next]), ['expand-later']);
  await connection.close();
}

const expanded = await server.createDatabase();
await (await openInstance(expanded)).close();
await expand(expanded);
const open = emptied(expanded);

const name = 'PostgreSQL that the next release has expanded';
const openExpanded = async (t: TestContext) => (await open(t, { ...PATIENT, migrate: false })).store;
storeConformance(name, openExpanded);
crowdConformance(name, openExpanded, waitingCopies(server));

test('an instance goes on while the next release expands the schema, and both see each other', async (t) => {
  const url = await server.createDatabase();
  // How long the expansion holds the tables is up to the disk: writes wait for it as long as they must.
  const { store } = await instance(t, url, PATIENT_FOR_ROWS);
  await addAdaAndOne({ store });
  const grants = Array.from({ length: 40 }, () => sampleGrant());
  const [first] = grants;
  assert.ok(first);
  // Every statement is prepared before: none may mind that its tables have changed.
  const walk = async (grant: typeof first) => {
    await store.issueGrant(grant, event('consent_allowed'));
    assert.equal(await store.redeemAuthorizationCode(sampleGeneration(grant, 1)), 'redeemed');
    assert.ok(await store.findGrant(grant.id));
    assert.equal(await store.revokeGrant(grant.id, 'user', event('grant_revoked')), true);
  };
  await walk(first);
  await Promise.all([expand(url), ...grants.slice(1).map(walk)]);
  const other = await instance(t, url, PATIENT);
  for (const { id } of grants) {
    const found = await other.store.findGrant(id);
    assert.ok(found && isEnded(found.grant, found.standing));
  }
  await walk(sampleGrant());
});

test('an expansion that a deadlock with an instance ended begins again', async (t) => {
  const url = await server.createDatabase();
  await instance(t, url, PATIENT);
  const tables = await server.query<{ relname: string }>(url, TABLES);
  const [first, last] = [tables[0]?.relname, tables.at(-1)?.relname];
  const serving = await Connection.open(url, { ...SESSION, name: 'serving' });
  const [expanded] = await serving.transaction(async () => {
    // Whoever looks for a deadlock first is ended: this one does not look within the time of the test.
    await serving.rows("SET LOCAL deadlock_timeout = '1min'");
    await serving.rows(`SELECT 1 FROM ${last} LIMIT 1`);
    const expanding = expand(url);
    while ((await server.query(url, WAITING)).length === 0) await nextTurn();
    // The expansion holds the first table, and waits for the last one.
    await serving.rows(`SELECT 1 FROM ${first} LIMIT 1`);
    return [expanding];
  });
  await expanded;
  await serving.close();
});

test('another transaction that a deadlock ended runs once: not all of them may run twice', async (t) => {
  const connection = await Connection.open(await server.createDatabase(), SESSION);
  t.after(() => connection.close());
  let runs = 0;
  const ended = plainDatabase(connection).alone(async () => {
    runs += 1;
    await connection.script("DO $$ BEGIN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END $$");
  });
  await assert.rejects(ended, /deadlock/);
  assert.equal(runs, 1);
});
