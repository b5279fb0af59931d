/** The primary of a cluster is killed under a mixed load, and its synchronous standby takes its place. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { startCluster } from '../support/cluster.ts';
import { ROUND_MS, SEED, TIMEOUT } from './effort.ts';
import { furnish, startInstance } from './instances.ts';
import { trial } from './judge.ts';
import { Watch } from './watch.ts';

/** Longer than the pause before another try of a connection (ms). */
const OUTAGE_MS = 1500;

const cluster = await startCluster();
const { one, two, url } = cluster;
after(() => cluster.remove());

describe(`two instances under load (seed ${SEED})`, { timeout: TIMEOUT }, () => {
  test('a failover costs no answered exchange, refresh or revocation, and the old primary is refused when it is back', async (t) => {
    const shared = { VALETKEY_DATABASE_URL: url, VALETKEY_KEYS: makeRootKey() };
    const [a, b] = [await startInstance(t, 'a', shared), await startInstance(t, 'b', shared)];
    const served = { VALETKEY_KEYS: shared.VALETKEY_KEYS, VALETKEY_DATABASE_URL: cluster.urlAt(two) };
    const installation = { ...(await furnish([a, b], a, shared, 4)), shared: served };
    const watch = new Watch([a, b]);
    const figures = await trial(installation, two, async () => {
      await sleep(ROUND_MS);
      await one.kill();
      await cluster.promote();
      const recovery = await watch.until('ready');
      t.diagnostic(`ready ${recovery.toFixed(0)} ms after the standby was promoted`);
      await sleep(ROUND_MS);
      // It takes writes, is the first host of the list, and for a while the only one.
      await one.start();
      await two.kill();
      await watch.until('not ready');
      await sleep(OUTAGE_MS);
      assert.deepEqual(watch.states(), ['not ready', 'not ready']);
      await two.start();
      await watch.until('ready');
    });
    await watch.stop();
    for (const { log } of [a, b])
      for (const words of [
        /failed over to .* from timeline 1 to 2/,
        /":"the server at [^"]* is refused, since it is on timeline 1/,
      ])
        assert.equal(log.filter((line) => words.test(line) && /"level":"warn"/.test(line)).length, 1, String(words));
    t.diagnostic(figures);
  });
});
