/** Instances on a database, for tests. */
import { after, type TestContext } from 'node:test';
import pg from 'pg';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { openPostgresql, type PostgresqlOptions, type PostgresqlStorage } from '../../src/storage/postgresql/open.ts';
import type { CopyWaiting } from '../storage/conformance/device-crowds.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { beginning, NOW } from '../support/storage.ts';

const keyring = createKeyring([Buffer.alloc(32, 'a key')]);

/** Opens a database as the service does, with a clock that stands still. */
export function openInstance(url: string, options: Partial<PostgresqlOptions> = {}): Promise<PostgresqlStorage> {
  return openPostgresql({ ...beginning, url, keyring, now: () => NOW, role: 'service', migrate: true, ...options });
}

/** Makes databases that are migrated and founded, each a copy of one that was not served. */
export async function readyDatabases(server: Pick<PostgresServer, 'createDatabase'>): Promise<() => Promise<string>> {
  const first = await server.createDatabase();
  await (await openInstance(first, { role: 'command' })).close();
  return () => server.createDatabase(new URL(first).pathname.slice(1));
}

/**
 * Removes all rows but those that say which migrations a database has, whatever refers to them. A table that was long gets a
 * new file, since dead rows would slow down what counts its rows; for each table that would take longer.
 */
const EMPTY = `DO $$ DECLARE name regclass; BEGIN
  SET LOCAL session_replication_role = replica;
  FOR name IN SELECT oid::regclass FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'migration'
  LOOP
    EXECUTE format(CASE WHEN pg_relation_size(name) < 65536 THEN 'DELETE FROM %s' ELSE 'TRUNCATE %s CASCADE' END, name);
  END LOOP;
  ALTER SEQUENCE audit_event_sequence RESTART;
END $$`;

/**
 * Opens one database for test after test, each time emptied and founded anew: half of what a test costs that makes one of its
 * own, of which its first connections read the catalog anew.
 */
export function emptied(url: string) {
  // One connection for all: each costs the server more than what is done on it.
  const emptying = new pg.Client({ connectionString: url });
  emptying.on('error', () => {}); // Its database may be removed first.
  const connected = emptying.connect();
  after(() => emptying.end());
  return async (
    t: Pick<TestContext, 'after'>,
    options: Partial<PostgresqlOptions> = {},
  ): Promise<PostgresqlStorage> => {
    await connected;
    await emptying.query(EMPTY);
    return instance(t, url, options);
  };
}

/** Where the stores of tests are. */
const urls = new WeakMap<object, string>();

/** Opens a database as `openInstance` does, until the test ends. */
export async function instance(
  t: Pick<TestContext, 'after'>,
  url: string,
  options: Partial<PostgresqlOptions> = {},
): Promise<PostgresqlStorage> {
  const opened = await openInstance(url, options);
  t.after(() => opened.close());
  urls.set(opened.store, url);
  return opened;
}

/** Makes the copies of a device's request that a suite asks for; as many of their own would take a minute. */
export function waitingCopies(server: Pick<PostgresServer, 'query'>): CopyWaiting {
  return async (store, userCode, times) => {
    const copies = `INSERT INTO device_request SELECT copy.* FROM device_request, generate_series(1, $2) AS number,
      jsonb_populate_record(device_request, jsonb_build_object('user_code', 'copy ' || number, 'network_1', 'a ' || number,
        'network_4', 'b ' || number, 'network_32', 'c ' || number)) AS copy WHERE device_request.user_code = $1`;
    await server.query(urls.get(store) as string, copies, [userCode, times]);
  };
}
