/** Two instances behind a real nginx that are restarted in turn, while programs post; only as often as VALETKEY_ROUNDS says. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { rounds } from '../instances/effort.ts';
import { newShared, startInstance } from '../instances/instances.ts';
import { ProcessInstance } from '../instances/process-instance.ts';
import { startPostgres } from '../support/postgres.ts';
import { addResourceServer, basic } from '../support/standard.ts';
import { BEHIND_NGINX, isThere, nginxAddresses, startNginx } from './nginx.ts';
import { LONGEST_RESTART_MS, type Load, restartUnderLoad } from './rolling.ts';

const restarts = rounds(0);
/** Without a pause no connection is idle; with some the pool always has idle ones when an instance stops. */
const LOADS: readonly Omit<Load, 'restarts'>[] = [
  { connections: 32, pauseMs: 0 },
  { connections: 300, pauseMs: 1500 },
];

if (isThere() && restarts > 0) await roll();

async function roll(): Promise<void> {
  const server = await startPostgres();
  after(() => server.remove());
  const [shared, at] = [await newShared(server), await nginxAddresses()];
  const variables = { ...BEHIND_NGINX, VALETKEY_APP_URL: at.appUrl, VALETKEY_API_URL: at.apiUrl };
  const { id, secret } = await addResourceServer(await startInstance({ after }, 'operator', shared));
  const instances = await Promise.all(
    ['a', 'b'].map((name) => ProcessInstance.make({ after }, name, shared, variables)),
  );
  for (const instance of instances) await instance.serve();
  await startNginx({ after }, at, instances);
  const headers = { ...basic(id, secret), 'Content-Type': 'application/x-www-form-urlencoded' };
  const post = { url: `${at.appUrl}/oauth2/introspect`, headers, body: 'token=x' };

  for (const load of LOADS)
    test(`stop: of posts on ${load.connections} connections none is lost, each instance being restarted in turn`, {
      timeout: 60_000 + restarts * LONGEST_RESTART_MS,
    }, async (t) => {
      const { answered, lost, stopMs } = await restartUnderLoad(instances, post, { ...load, restarts });
      t.diagnostic(
        `${answered} posts answered, ${lost.length} lost; ${restarts} stops, of at most ${Math.max(...stopMs)} ms`,
      );
      assert.deepEqual(lost, []);
    });
}
