/**
 * A cluster of Patroni, whose primary is lost again and again under a mixed load: nothing that was answered is lost, and both
 * instances serve within 2 s of the cluster itself. Each fault comes once; `VALETKEY_ROUNDS=250 npm run test:failover` draws 25
 * of them by lot.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { lots, pick, ROUND_MS, rounds, SEED, TIMEOUT } from '../instances/effort.ts';
import { furnish, startInstance, type TestInstallation } from '../instances/instances.ts';
import { trial } from '../instances/judge.ts';
import { ProcessInstance } from '../instances/process-instance.ts';
import { queryAt } from '../support/postgres.ts';
import { areThere } from './packages.ts';
import { FAULTS, type Node, PatroniCluster } from './patroni.ts';
import { Writes } from './writes.ts';

const PEOPLE = 24;
/** Below the limit of decisions of a person for ten minutes and more. */
const PACE = { steps: 60, pause: 10_000 };
const BACK_WITHIN_MS = 2000;
const KINDS = Object.keys(FAULTS);

// Not a skipped test: nothing that this project brings is missing.
if (areThere)
  describe(`a cluster of Patroni (seed ${SEED})`, { timeout: 600_000 + 3 * TIMEOUT }, () => {
    test('loses its primary again and again: no answered exchange, refresh or revocation is lost, and service is back 2 s after the cluster', async (t) => {
      const cluster = await PatroniCluster.start(t);
      let primary = await cluster.whole();
      await queryAt(primary.url('postgres'), 'CREATE DATABASE valetkey');
      const shared = { VALETKEY_DATABASE_URL: cluster.url('valetkey'), VALETKEY_KEYS: makeRootKey() };
      const admin = await startInstance(t, 'admin', shared);
      const instances = [await ProcessInstance.make(t, 'a', shared), await ProcessInstance.make(t, 'b', shared)];
      for (const instance of instances) await instance.serve();
      const installation = await furnish(instances, admin, shared, PEOPLE);
      await admin.stop();
      const writes = await Writes.begin(cluster.nodes, primary);
      t.after(() => writes.stop());
      const draw = lots(SEED);
      const slow: string[] = [];
      const server = {
        query: <Row extends object>(_: string, sql: string) => queryAt<Row>(primary.url('valetkey'), sql),
      };
      const figures = await trial(
        installation,
        server,
        async () => {
          for (let fault = 0, count = rounds(KINDS.length, 0.1); fault < count; fault += 1) {
            await sleep(ROUND_MS + draw(3 * ROUND_MS));
            const kind = count > KINDS.length ? pick(draw, KINDS) : (KINDS[fault] as string);
            const trace = await strike(kind, primary, writes, installation);
            const old = primary;
            primary = await cluster.whole();
            t.diagnostic(`${fault + 1}. ${kind} (${old.name}, then ${primary.name}): ${trace.words}`);
            if (trace.back > BACK_WITHIN_MS) slow.push(`${fault + 1}. ${kind}: ${trace.words}`);
          }
        },
        PACE,
      );
      for (const instance of instances) await instance.stop();
      t.diagnostic(`${figures}; the cluster was mended ${cluster.mended} times`);
      assert.deepEqual(slow, []);
    });
  });

/** Lets a fault come, and answers how long the cluster was away, and how much longer an instance was, ms. */
async function strike(
  kind: string,
  primary: Node,
  writes: Writes,
  { instances, recorder }: TestInstallation<ProcessInstance>,
): Promise<{ words: string; back: number }> {
  const { timeline } = writes;
  const start = performance.now();
  const isRestart = /starts again/.test(kind);
  const moved = isRestart ? writes.next(start, timeline) : writes.next(start, timeline + 1);
  await FAULTS[kind]?.(primary, moved);
  const { at } = await moved;
  const served = await Promise.all(
    instances.map(async ({ name }) => {
      for (;;) {
        const first = recorder.entries.find(
          ({ kind, instance, outcome, started }) =>
            instance === name && outcome === 'done' && started > at && ['exchange', 'refresh', 'allow'].includes(kind),
        );
        if (first) return first.ended - at;
        await sleep(20);
      }
    }),
  );
  const back = Math.max(...served);
  return {
    words: `the cluster took writes after ${(at - start).toFixed(0)} ms, both instances ${back.toFixed(0)} ms later`,
    back,
  };
}
