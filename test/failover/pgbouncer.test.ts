/** Behind a real PgBouncer: in session mode all works, in the other modes a start refuses. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { furnish, newShared, startInstance } from '../instances/instances.ts';
import { trial } from '../instances/judge.ts';
import { Watch } from '../instances/watch.ts';
import { openInstance } from '../postgresql/instance.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { areThere } from './packages.ts';
import { startPgBouncer } from './pgbouncer.ts';

// Not a skipped test: nothing that this project brings is missing.
if (areThere)
  describe('behind PgBouncer', { timeout: 300_000 }, () => {
    let server: PostgresServer;
    before(async () => {
      server = await startPostgres();
    });
    after(() => server.remove());

    test('in session mode two instances serve a mixed load, and go on after PgBouncer lost its server', async (t) => {
      const through = await startPgBouncer(t, server, 'session');
      const direct = await newShared(server);
      const shared = { ...direct, VALETKEY_DATABASE_URL: through(direct.VALETKEY_DATABASE_URL) };
      const instances = [await startInstance(t, 'a', shared), await startInstance(t, 'b', shared)];
      const [first] = instances as [(typeof instances)[0] & object];
      const installation = { ...(await furnish(instances, first, shared, 4)), shared: direct };
      const watch = new Watch(instances);
      const figures = await trial(installation, server, async () => {
        await server.crash();
        await watch.until('ready');
      });
      await watch.stop();
      t.diagnostic(figures);
    });

    for (const mode of ['transaction', 'statement'] as const)
      test(`in ${mode} mode a start refuses every time, also while nobody else is connected`, async (t) => {
        const through = await startPgBouncer(t, server, mode);
        const url = await server.createDatabase();
        for (let times = 0; times < 3; times += 1)
          await assert.rejects(openInstance(through(url)), (error: Error) => {
            assert.equal(error.name, 'InstallationError', error.stack);
            assert.match(error.message, /lends a session .* after each transaction.*Set pool_mode = session/);
            return true;
          });
        const tables = "SELECT 1 FROM pg_class WHERE relnamespace = 'public'::regnamespace";
        assert.deepEqual(await server.query(url, tables), []);
      });
  });
