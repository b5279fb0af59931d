/** Requests that are read in one turn of the event loop. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RequestBatch } from '../../../src/http/connection/request-batch.ts';
import { hold, requestHead } from '../../support/raw-http.ts';
import { startTestService } from '../../support/service.ts';

const service = await startTestService({ after });

test('more requests than are handled in a row are all answered, though no other comes', {
  timeout: 120_000,
}, async () => {
  const url = `${service.apiUrl}/v2/me`;
  const head = requestHead(url, 'GET /v2/me', { Authorization: 'Bearer unknown' });
  const sockets = await Promise.all(Array.from({ length: 100 }, () => hold(url, head.slice(0, -2))));
  const answers = sockets.map(async (socket) => String((await once(socket, 'data'))[0]));
  for (const socket of sockets) socket.write(head.slice(-2));
  for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 401 /);
  for (const socket of sockets) socket.destroy();
});

test('Promise 6: the sources of requests take turns, and each is answered in its own order', async () => {
  const turn = new RequestBatch(() => false);
  const begun: string[] = [];
  const add = (source: string, count: number) => {
    for (let n = 0; n < count; n++) turn.add(source, () => void begun.push(`${source}${n}`));
  };
  add('a', 1000);
  add('b', 2);
  add('c', 1);
  await nextTurn();
  assert.deepEqual(begun.slice(0, 6), ['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
  assert.equal(begun.length, 32, 'what comes meanwhile is read');
  add('d', 1);
  await nextTurn();
  assert.ok(begun.indexOf('d0') < 36, 'who comes later waits for one of each');
  while (begun.length < 1004) await nextTurn();
  assert.deepEqual(
    begun.filter((name) => name.startsWith('a')),
    Array.from({ length: 1000 }, (_, n) => `a${n}`),
  );
});
