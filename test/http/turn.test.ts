/** Requests that are read in one turn of the event loop. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { hold, requestHead } from '../support/raw-http.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService({ after });

test('more requests than are handled in a row are all answered, though no other comes', {
  timeout: 10_000,
}, async () => {
  const url = `${service.apiUrl}/v2/me`;
  const head = requestHead(url, 'GET /v2/me', { Authorization: 'Bearer unknown' });
  const sockets = await Promise.all(Array.from({ length: 100 }, () => hold(url, head.slice(0, -2))));
  const answers = sockets.map(async (socket) => String((await once(socket, 'data'))[0]));
  for (const socket of sockets) socket.write(head.slice(-2));
  for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 401 /);
  for (const socket of sockets) socket.destroy();
});
