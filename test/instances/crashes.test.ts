/** Crashes and an outage of the server under a mixed load: nobody is told anything but 503, and nothing that was answered is lost. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../support/postgres.ts';
import { ROUND_MS, rounds, SEED, TIMEOUT } from './effort.ts';
import { startThree } from './instances.ts';
import { trial } from './judge.ts';
import { Watch } from './watch.ts';

const PEOPLE = 6;
/** Longer than an instance waits for a server that is gone (ms). */
const OUTAGE_MS = 2600;

const server = await startPostgres();
after(() => server.remove());

test(`a server that crashes twice or more, and then is gone for a while: 503 and /readyz say so, and all recovers (seed ${SEED})`, {
  timeout: TIMEOUT,
}, async (t) => {
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
