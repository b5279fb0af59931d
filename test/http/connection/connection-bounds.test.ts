/** How many connections there may be. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TIMEOUTS } from '../../../src/http/connection/context.ts';
import { hold, requestHead, untilRead } from '../../support/raw-http.ts';
import { freePort, type Lifetime, startTestService, type TestService } from '../../support/service.ts';

const KEPT = { Connection: 'keep-alive' };

/** A connection from an address of this machine, once the service has seen it. */
async function from(t: Lifetime, { appUrl }: TestService, localAddress: string): Promise<Socket> {
  const { hostname: host, port } = new URL(appUrl);
  const socket = net.connect({ host, port: Number(port), localAddress }).on('error', () => {});
  t.after(() => void socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  await untilRead(socket);
  return socket;
}

/** Whether a connection is served: its request is answered. */
async function isServed(socket: Socket, { appUrl }: TestService): Promise<boolean> {
  socket.write(requestHead(appUrl, 'GET /healthz', KEPT));
  return new Promise((resolve) => {
    socket.once('data', () => resolve(true)).once('close', () => resolve(false));
    if (socket.destroyed) resolve(false);
  });
}

async function several(count: number, one: () => Promise<Socket>): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let n = 0; n < count; n++) sockets.push(await one());
  return sockets;
}

/** The sentences of the log about connections, once there is one. */
async function toldOf({ log }: TestService): Promise<string[]> {
  const told = () => log.filter((line) => line.includes('too many connections'));
  while (told().length === 0) await sleep(20);
  return told();
}

test('Promise 6: a source has so many connections, and others have theirs', async (t) => {
  const service = await startTestService(t, { VALETKEY_MAX_CONNECTIONS_PER_SOURCE: '3' });
  const [first, ...others] = await several(3, () => from(t, service, '127.0.0.2'));
  // Without a request they would be ended soon, on a slow machine before the last of those below.
  for (const socket of [first, ...others]) assert.equal(socket && (await isServed(socket, service)), true);
  // At once, for the same reason.
  const beyond = await Promise.all(Array.from({ length: 20 }, () => from(t, service, '127.0.0.2')));
  for (const socket of beyond) assert.equal(await isServed(socket, service), false);
  assert.equal(await isServed(await from(t, service, '127.0.0.3'), service), true);
  for (const socket of others) assert.equal(await isServed(socket, service), true, 'who was there first stays');
  first?.destroy();
  while (!(await isServed(await from(t, service, '127.0.0.2'), service))); // One that ended makes room.
  await sleep(2500);
  const [told, ...more] = await toldOf(service);
  assert.match(String(told), /"warn".*refused.*VALETKEY_MAX_CONNECTIONS_PER_SOURCE/);
  assert.equal(more.length, 0, 'not each time');
});

test('RFC 9112 §9.5: a request that came while the machine stood still is answered, and does not count as silence', async (t) => {
  const service = await startTestService(t);
  const socket = await from(t, service, '127.0.0.1');
  const answered = isServed(socket, service); // It is sent at once, and nothing of it is read until all of this process goes on.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TIMEOUTS.firstHead + 1500);
  assert.equal(await answered, true);
});

test('Promise 6: an IPv4 address counts as itself on a socket of IPv6', async (t) => {
  const port = await freePort();
  const service = await startTestService(t, {
    VALETKEY_APP_LISTEN: `[::]:${port}`,
    VALETKEY_MAX_CONNECTIONS_PER_SOURCE: '2',
  });
  const at = { ...service, appUrl: `http://127.0.0.1:${port}` };
  await several(2, () => from(t, at, '127.0.0.2'));
  assert.equal(await isServed(await from(t, at, '127.0.0.2'), at), false);
  assert.equal(await isServed(await from(t, at, '127.0.0.3'), at), true);
});

test('Promise 6: a trusted proxy has as many as there may be in all', async (t) => {
  const service = await startTestService(t, {
    VALETKEY_MAX_CONNECTIONS_PER_SOURCE: '3',
    VALETKEY_TRUSTED_PROXIES: '127.0.0.2',
  });
  const sockets = await several(9, () => from(t, service, '127.0.0.2'));
  for (const socket of sockets) assert.equal(await isServed(socket, service), true);
});

test('Promise 6: whoever holds all connections shuts nobody out: the one that was idle for longest gives way', async (t) => {
  const service = await startTestService(t, { VALETKEY_MAX_CONNECTIONS: '10' });
  const head = requestHead(service.appUrl, 'POST /oauth2/token', {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': '9',
  });
  const busy = await hold(service.appUrl, head);
  const idle = await several(9, () => from(t, service, '127.0.0.2'));
  // All but one are used, and then looked at.
  for (const [n, socket] of idle.entries()) if (n !== 4) assert.equal(await isServed(socket, service), true);
  await sleep(1500);
  const gaveWay = once(idle[4] as Socket, 'close');
  idle[4]?.resume();
  assert.equal(await isServed(await from(t, service, '127.0.0.3'), service), true);
  await gaveWay;
  assert.deepEqual(
    idle.map(({ destroyed, readableEnded }) => destroyed || readableEnded).map(Number),
    [0, 0, 0, 0, 1, 0, 0, 0, 0],
  );
  const answer = new Promise((resolve) => busy.once('data', (chunk) => resolve(String(chunk))));
  busy.write('token=xyz');
  assert.match(String(await answer), /^HTTP\/1\.1 400 /, 'a request that is under way goes on');
});

test('Promise 6: where every connection has a request under way, the new one is refused', async (t) => {
  const service = await startTestService(t, { VALETKEY_MAX_CONNECTIONS: '10' });
  const head = requestHead(service.appUrl, 'POST /oauth2/token', {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': '9',
  });
  await several(10, () => hold(service.appUrl, head));
  assert.equal(await isServed(await from(t, service, '127.0.0.3'), service), false);
});
