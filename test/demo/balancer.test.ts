import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Balancer } from '../../demo/cluster/balancer.ts';

async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A balancer before an instance that takes connections and hangs up, as one does that is killed, and one that answers. */
async function withOneDying(t: TestContext) {
  const hungUpOn: (string | undefined)[] = [];
  const dying = await listen(t, (request) => {
    if (request.url === '/readyz') return;
    hungUpOn.push(request.method);
    request.socket.destroy();
  });
  const living = await listen(t, (request, response) => {
    request.resume().once('end', () => response.end(`${request.method} answered`));
  });
  const balancer = await Balancer.start([0, 0], () => {});
  t.after(() => balancer.stop());
  balancer.add({ name: 'dying', appUrl: dying, apiUrl: dying });
  balancer.add({ name: 'living', appUrl: living, apiUrl: living });
  return { url: balancer.appUrl, hungUpOn };
}

test('a request that changes nothing goes to the next instance when one hangs up before it answers', async (t) => {
  const { url, hungUpOn } = await withOneDying(t);
  const answer = await fetch(`${url}/page`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('x-served-by'), 'living');
  assert.deepEqual(hungUpOn, ['GET']);
  // It is not asked again until it is ready.
  assert.equal((await fetch(`${url}/page`)).status, 200);
  assert.deepEqual(hungUpOn, ['GET']);
});

test('a request that may have changed something is not asked twice', async (t) => {
  const { url, hungUpOn } = await withOneDying(t);
  const answer = await fetch(`${url}/oauth2/token`, { method: 'POST', body: 'code=1' });
  assert.equal(answer.status, 502);
  assert.deepEqual(hungUpOn, ['POST']);
});
