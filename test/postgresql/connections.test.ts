/** When a pool gives up and when it tries again, with a clock that the test moves. */
import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../src/oauth/store.ts';
import type { Connection } from '../../src/storage/postgresql/connection/connection.ts';
import { Connections } from '../../src/storage/postgresql/connection/connections.ts';

const UNREACHABLE = { name: 'StoreUnavailable', message: /cannot be reached: the line is cut/ };

/** A pool of two connections to a server that is there or not. */
function poolTo(t: TestContext) {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const server = { isThere: true, tries: 0 };
  const open = async () => {
    server.tries += 1;
    if (!server.isThere) throw new Error('the line is cut');
    return { isLost: false, async close() {} } as Connection;
  };
  const pool = new Connections(2, open);
  return { server, pool, ask: () => pool.run(async () => 'answered') };
}

/** Lets so much time pass (ms), with all that then happens. */
async function pass(ms: number): Promise<void> {
  await nextTurn();
  mock.timers.tick(ms);
  await nextTurn();
}

test('RL-03: while the database is gone the first requests are told so after a second, and later ones at once', async (t) => {
  const { server, ask } = poolTo(t);
  server.isThere = false;
  let refused = 0;
  const first = [ask(), ask(), ask()].map((asked) =>
    assert.rejects(asked, UNREACHABLE).then(() => {
      refused += 1;
    }),
  );
  await pass(999);
  assert.equal(refused, 0);
  await pass(1);
  await Promise.all(first);
  await assert.rejects(ask(), UNREACHABLE);
});

test('RL-03: however long the database was gone, a second after its return all is answered', async (t) => {
  const { server, ask } = poolTo(t);
  server.isThere = false;
  const first = assert.rejects(ask(), StoreUnavailable);
  for (let seconds = 0; seconds < 600; seconds += 1) await pass(1000);
  await first;
  assert.ok(server.tries > 500 && server.tries < 620, `${server.tries} tries in ten minutes, one after the other`);
  server.isThere = true;
  await assert.rejects(ask(), UNREACHABLE);
  await pass(1000);
  assert.equal(await ask(), 'answered');
});

test('RL-03: who waits while the database comes back is answered', async (t) => {
  const { server, ask } = poolTo(t);
  server.isThere = false;
  const asked = ask();
  await pass(500);
  server.isThere = true;
  await pass(499);
  assert.equal(await asked, 'answered');
});

test('a request that gets no connection within a second is told that the database is too slow', async (t) => {
  const { pool, ask } = poolTo(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = [pool.run(() => promise), pool.run(() => promise)];
  const asked = assert.rejects(ask(), /no connection was free in time/);
  await pass(1000);
  await asked;
  resolve();
  await Promise.all(slow);
  assert.equal(await ask(), 'answered');
});
