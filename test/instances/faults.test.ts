/** Connections that the server ends under a mixed load: nobody is told anything but 503, and nothing that was answered is lost. */
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../support/postgres.ts';
import { ROUND_MS, rounds, SEED, TIMEOUT } from './effort.ts';
import { startThree } from './instances.ts';
import { trial } from './judge.ts';

const PEOPLE = 6;
const TERMINATE_EVERY_MS = 50;
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
});
