/** Reads that come together share a snapshot, which is younger than the input that they answer. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as furtherInput } from 'node:timers/promises';
import { event, openAsService, sampleClient, secondConnection, temporaryPath } from '../support/storage.ts';

const { id } = sampleClient();

/** Opens a store with a client, that another connection pauses. */
async function openedWithClient(t: TestContext) {
  const path = temporaryPath(t);
  const { store, close } = await openAsService(path);
  t.after(close);
  await store.registerClient(sampleClient(), event('client_registered'));
  const other = secondConnection(t, path);
  return {
    status: async () => (await store.findClient(id))?.status,
    pause: () => other.exec("UPDATE client SET status = 'paused'"),
    resume: () => store.setClientStatus(id, 'active', event('client_resumed')),
  };
}

test('the reads of requests that began together see one state of the database', async (t) => {
  const { status, pause } = await openedWithClient(t);
  const first = status();
  pause();
  assert.deepEqual(await Promise.all([first, status()]), ['active', 'active']);
  await furtherInput();
  assert.equal(await status(), 'paused');
});

test('Promise 2: input that is read after a commit of another process finds it, though both came in one turn', async (t) => {
  const { status, pause } = await openedWithClient(t);
  const found: Promise<string | undefined>[] = [];
  const read = Promise.withResolvers<void>();
  let turns = 0;
  let turnsBetween = 0;
  const server = createServer((socket) =>
    socket.once('data', () => {
      found.push(status());
      if (found.length === 1) {
        pause();
        setImmediate(() => {
          turns += 1;
        });
      } else {
        turnsBetween = turns;
        read.resolve();
      }
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  for (const count of [1, 2]) {
    const accepted = once(server, 'connection');
    sockets.push(connect(port));
    await Promise.all([accepted, once(sockets[count - 1] as Socket, 'connect')]);
  }
  await furtherInput();
  for (const socket of sockets) socket.write('x');
  await read.promise;
  assert.equal(turnsBetween, 0);
  assert.deepEqual(await Promise.all(found), ['active', 'paused']);
});

test('a write that follows a read in the same turn is made', async (t) => {
  const { status, pause, resume } = await openedWithClient(t);
  pause();
  const [before, resumed] = await Promise.all([status(), resume()]);
  assert.deepEqual([before, resumed, await status()], ['paused', true, 'active']);
});
