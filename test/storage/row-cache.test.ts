/** Rows that are kept as they were read: never longer than they are so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event, openAsService, sampleClient, secondConnection, temporaryPath } from '../support/storage.ts';

test('Promise 2: a client that another process paused is paused for the next request that comes in', async (t) => {
  const path = temporaryPath(t);
  const { store, close } = await openAsService(path);
  t.after(close);
  await store.registerClient(sampleClient(), event('client_registered'));
  const { id } = sampleClient();
  const other = secondConnection(t, path);
  for (const status of ['paused', 'active', 'paused']) {
    assert.ok(await store.findClient(id), 'it is kept now');
    other.prepare('UPDATE client SET status = ? WHERE id = ?').run(status, id);
    // A request comes in with another turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await store.findClient(id))?.status, status);
  }
  other.prepare('DELETE FROM client WHERE id = ?').run(id);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await store.findClient(id), null);
});

test('Promise 2: an act that was answered is seen at once, however often the client was read meanwhile', async (t) => {
  const { store, close } = await openAsService(temporaryPath(t));
  t.after(close);
  const { id } = sampleClient();
  await store.registerClient(sampleClient(), event('client_registered'));
  for (const status of ['paused', 'active', 'paused'] as const) {
    const acted = store.setClientStatus(id, status, event('client_paused'));
    await Promise.all(Array.from({ length: 20 }, () => store.findClient(id)));
    assert.equal(await acted, true);
    assert.equal((await store.findClient(id))?.status, status);
  }
});
