/** Stopping an instance whose database does not answer: it always ends, and soon. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { LOCKS } from '../../src/storage/postgresql/statements/locks.ts';
import { startPostgres } from '../support/postgres.ts';
import { ProgramOnDisk, type Serving } from '../support/program.ts';
import { hold, requestHead } from '../support/raw-http.ts';

const server = await startPostgres();
after(() => server.remove());

/** A program on a database of its own. */
async function program(t: TestContext) {
  const url = await server.createDatabase();
  const variables = { VALETKEY_DATABASE_URL: url, VALETKEY_KEYS: makeRootKey(), VALETKEY_KEYS_FILE: '' };
  return { url, variables, program: await ProgramOnDisk.make(t) };
}

/** A session of somebody else, in which something was asked. */
async function somebody(t: TestContext, url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  await client.query(sql);
}

/** Tells a program to stop; answers its exit code, what it had said, and how long it took (ms). */
async function stop({ child, ended }: Pick<Serving, 'child' | 'ended'>) {
  const start = performance.now();
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  return { code, stderr, ms: performance.now() - start };
}

// All of these mostly wait, so they wait at the same time.
describe('stop', { concurrency: true }, () => {
  test('stop: told so while it waits for another that migrates, it ends at once', async (t) => {
    const { url, variables, program: own } = await program(t);
    await somebody(t, url, `SELECT pg_advisory_lock(${LOCKS.opening})`);
    const starting = own.start(['serve'], variables);
    const isWaiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    while ((await server.query(url, isWaiting)).length === 0) await sleep(50);
    const { code, stderr } = await stop(starting);
    // Whatever it waited for would have ended with an error.
    assert.deepEqual([code, stderr], [0, '']);
  });

  test('stop: told so while the database takes connections and says nothing, it ends at once', async (t) => {
    const silent = net.createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
    t.after(() => void silent.close());
    const { variables, program: own } = await program(t);
    const { port } = silent.address() as AddressInfo;
    const starting = own.start(['serve'], { ...variables, VALETKEY_DATABASE_URL: `postgres://a@127.0.0.1:${port}/a` });
    await once(silent, 'connection');
    const { code, stderr } = await stop(starting);
    // Whatever it waited for would have ended with an error.
    assert.deepEqual([code, stderr], [0, '']);
  });

  test('stop: an instance that could not say what to do next serves, and is stopped as usual', async (t) => {
    const { url, variables, program: own } = await program(t);
    assert.equal((await own.run(['database', 'migrate'], variables)).code, 0);
    await somebody(t, url, 'BEGIN; LOCK TABLE account IN ACCESS EXCLUSIVE MODE');
    const serving = await own.serve(variables);
    assert.equal((await fetch(`${own.appUrl}/readyz`)).status, 200);
    const { code, stderr } = await stop(serving);
    // With 1 it ends after 12 seconds of its own clock.
    assert.equal(code, 0, stderr);
  });
});

test('stop: with a database that is stuck it takes 12 seconds at most, and ends with 1 if it was cut short', async (t) => {
  const { url, variables, program: own } = await program(t);
  const serving = await own.serve(variables);
  const processes =
    "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'valetkey%' UNION SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer";
  const pids = (await server.query<{ pid: number }>(url, processes)).map(({ pid }) => pid);
  t.after(() => {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  });
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  const head = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '1000' };
  await hold(own.appUrl, requestHead(own.appUrl, 'POST /api/auth/oauth/token', head));
  // All are sent before it is stopped: with a client that connects and then writes, a busy machine would come in between.
  const ready = requestHead(own.appUrl, 'GET /readyz');
  const asked = await Promise.all(Array.from({ length: 50 }, () => hold(own.appUrl, ready)));
  const answers = Promise.all(asked.map((socket) => text(socket)));
  const { code, ms, stderr } = await stop(serving);
  const statuses = (await answers).map((answer) => answer.split('\r\n', 1)[0]);
  assert.deepEqual([...new Set(statuses)], ['HTTP/1.1 503 Service Unavailable']);
  assert.ok(ms < 15_000, `${ms} ms`);
  assert.equal(code, /could not be closed in time/.test(stderr) ? 1 : 0);
});
