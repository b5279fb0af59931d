/** Faults of the server under a mixed load: nobody is told anything but 503, and nothing that was answered is lost. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../support/postgres.ts';
import { ROUND_MS, rounds, SEED, TIMEOUT } from './effort.ts';
import { startThree } from './instances.ts';
import { trial } from './judge.ts';
import { Watch } from './watch.ts';

const PEOPLE = 6;
const TERMINATE_EVERY_MS = 50;
/** Longer than an instance waits for a server that is gone (ms). */
const OUTAGE_MS = 2600;

const TERMINATE_ONE = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name LIKE 'valetkey%' AND datname = current_database() ORDER BY random() LIMIT 1`;

const server = await startPostgres();
after(() => server.remove());

describe(`three instances under load (seed ${SEED})`, { timeout: TIMEOUT }, () => {
  test('sessions that the server ends, one every 50 ms, cost no answered token', async (t) => {
    const installation = await startThree(t, server, PEOPLE);
    const figures = await trial(installation, server, async () => {
      const end = performance.now() + rounds(5) * ROUND_MS;
      while (performance.now() < end) {
        await server.query(installation.shared.VALETKEY_DATABASE_URL, TERMINATE_ONE);
        await sleep(TERMINATE_EVERY_MS);
      }
    });
    t.diagnostic(figures);
  });

  test('a server that crashes twice or more, and then is gone for a while: 503 and /readyz say so, and all recovers', async (t) => {
    const installation = await startThree(t, server, PEOPLE);
    const watch = new Watch(installation.instances);
    const figures = await trial(installation, server, async () => {
      for (let crash = rounds(2, 0.1); crash > 0; crash -= 1) {
        await sleep(ROUND_MS);
        await server.crash();
        await watch.until('ready');
      }
      await server.stop();
      await watch.until('not ready');
      await sleep(OUTAGE_MS);
      assert.deepEqual(watch.states(), ['not ready', 'not ready', 'not ready']);
      await server.start();
      const recovery = await watch.until('ready');
      t.diagnostic(`ready ${recovery.toFixed(0)} ms after the server was back`);
      await sleep(ROUND_MS);
    });
    await watch.stop();
    assert.deepEqual(watch.failures, [], '/healthz stays 200');
    assert.ok(installation.recorder.entries.some(({ outcome }) => outcome === 'unavailable'));
    t.diagnostic(figures);
  });
});
