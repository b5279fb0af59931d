/**
 * `kill -9` of one instance of three at any moment under load: the others go on, and nothing that was answered is lost. In
 * the end the server crashes, of which no process dies.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../support/postgres.ts';
import { requireWhole } from '../support/trail.ts';
import { lots, pick, ROUND_MS, rounds, SEED, TIMEOUT } from './effort.ts';
import { furnish, newShared, startInstance } from './instances.ts';
import { trial } from './judge.ts';
import { ProcessInstance } from './process-instance.ts';

const PEOPLE = 6;
const RESTART_MS = 60_000;

const server = await startPostgres();
after(() => server.remove());

test(`processes that are killed under load cost no answered token (seed ${SEED})`, { timeout: TIMEOUT }, async (t) => {
  const shared = await newShared(server);
  const admin = await startInstance(t, 'admin', shared);
  const instances: ProcessInstance[] = [];
  for (const name of ['a', 'b', 'c']) instances.push(await ProcessInstance.make(t, name, shared));
  await Promise.all(instances.map((instance) => instance.serve()));
  const installation = await furnish(instances, admin, shared, PEOPLE);
  await admin.stop();
  const draw = lots(SEED);
  const restarts: number[] = [];
  const figures = await trial(installation, server, async () => {
    for (let kill = rounds(1, 0.1); kill > 0; kill -= 1) {
      await sleep(ROUND_MS + draw(ROUND_MS));
      const instance = pick(draw, instances);
      await installation.recorder.record(instance, { kind: 'down' }, async () => {
        await instance.kill();
        await sleep(draw(2 * ROUND_MS));
        restarts.push(await instance.serve());
        return { outcome: 'done', detail: '' };
      });
    }
    await server.crash();
    await sleep(2 * ROUND_MS);
  });
  for (const instance of instances) await instance.stop();
  // By one that begins anew: every chain before it was cut short by a kill, or by the crash.
  const last = await startInstance(t, 'last', shared);
  await requireWhole(last.installation.auditTrail, Date.now() + 3_600_000);
  const slowest = Math.max(...restarts);
  assert.ok(slowest < RESTART_MS, `a restart took ${slowest} ms`);
  t.diagnostic(`${restarts.length} kills, served again after ${slowest.toFixed(0)} ms at most: ${figures}`);
});
