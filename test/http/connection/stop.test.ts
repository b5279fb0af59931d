import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import net, { type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, mock, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { me, obtainCode, obtainPair, signedInBrowser } from '../../support/flow.ts';
import { ProgramOnDisk } from '../../support/program.ts';
import { hold, requestHead } from '../../support/raw-http.ts';
import {
  addClient,
  addUser,
  freePort,
  type Lifetime,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { addResourceServer, basic } from '../../support/standard.ts';

const KEPT = { Connection: 'keep-alive' };
const TOKEN = 'POST /api/auth/oauth/token';

/** Longer than connections that wait are kept, unless they are a proxy's. */
const GRACE_MS = 260;

/** The ports of servers that take no more connections from now on. */
const closing = new EventEmitter();
const { close } = net.Server.prototype;
mock.method(net.Server.prototype, 'close', function closeAndTell(this: net.Server, ...done: []) {
  const address = this.address();
  if (address !== null && typeof address === 'object') closing.emit(String(address.port));
  return close.apply(this, done);
});

/** A stop that has begun. */
type Stop = {
  /** Lets so much of its time pass (ms), and waits until the service has looked what is too late by then. */
  pass(ms: number): Promise<void>;
  readonly ended: Promise<void>;
};

/**
 * Begins to stop a service, which says that it does when what is sent is on its way: as soon as no connection is taken. From
 * then on its time is that of the test: what ends without more of it was held up by nothing.
 */
async function beginStop(t: TestContext, service: TestService): Promise<Stop> {
  const begun = once(closing, new URL(service.appUrl).port);
  let now = Math.ceil(performance.now());
  t.mock.method(performance, 'now', () => now);
  const ended = service.stop();
  await begun;
  return {
    ended,
    async pass(ms) {
      now += ms;
      await looked();
    },
  };
}

/** Waits until the service has looked once more: it does every 50 ms, so that its timer is before this one, and acts a turn later. */
async function looked(): Promise<void> {
  await sleep(50);
  for (let turns = 0; turns < 3; turns += 1) await nextTurn();
}

/** All that comes on a connection, however it ends. */
function received(socket: Socket): Promise<string> {
  return text(socket).catch(String);
}

/** What comes next on a connection. */
function next(socket: Socket): Promise<string> {
  return new Promise((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
}

/** A connection on which a request was answered, and that waits for the next one. */
async function used(url: string): Promise<Socket> {
  const socket = await hold(url);
  const answered = next(socket);
  socket.write(requestHead(url, 'GET /healthz', KEPT));
  assert.match(await answered, /^HTTP\/1\.1 200 .*Connection: keep-alive/is);
  return socket;
}

/** A code exchange that will succeed, as bytes. */
async function exchangeRequest(service: TestService): Promise<string> {
  await addUser(service);
  const client = await addClient(service);
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: await obtainCode(service, await signedInBrowser(service), client),
    client_id: client.clientId,
    client_secret: client.clientSecret,
    redirect_uri: 'https://client.example/callback',
  }).toString();
  const type = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': String(body.length) };
  return requestHead(service.appUrl, TOKEN, { ...type, ...KEPT }) + body;
}

describe('stop', () => {
  test('stop: a request in flight is answered, new connections are not taken, and it takes no longer', async (t) => {
    const service = await startTestService(t);
    const request = await exchangeRequest(service);
    const socket = await hold(service.appUrl, request.slice(0, -10));
    const answer = next(socket);
    const stop = await beginStop(t, service);
    await stop.pass(GRACE_MS);
    await assert.rejects(fetch(service.appUrl));
    socket.write(request.slice(-10));
    assert.match(await answer, /^HTTP\/1\.1 200 .*Connection: close.*access_token/is);
    await stop.ended; // A client that keeps its connection does not hold it up.
  });

  test('stop: of requests that are sent at once the last is answered too', async (t) => {
    const service = await startTestService(t);
    const request = await exchangeRequest(service);
    const socket = await hold(service.appUrl);
    const all = received(socket);
    socket.write(requestHead(service.appUrl, 'GET /healthz', KEPT) + request.slice(0, -10));
    while (!service.log.some((line) => line.includes('/healthz'))) await sleep(5);
    const stop = await beginStop(t, service);
    await stop.pass(GRACE_MS);
    socket.write(request.slice(-10));
    assert.match(await all, /^HTTP\/1\.1 200 .*alive.*HTTP\/1\.1 200 .*access_token/s);
    await stop.ended;
  });

  test('stop: a connection that gives nothing is cut after 10 seconds', async (t) => {
    const service = await startTestService(t);
    const socket = await hold(service.appUrl, (await exchangeRequest(service)).slice(0, -10));
    const stop = await beginStop(t, service);
    await stop.pass(10_000);
    assert.equal(socket.closed, false);
    await stop.pass(1);
    await stop.ended;
    if (!socket.closed) await once(socket, 'close');
  });

  const idle: [name: string, open: (url: string) => Promise<Socket>][] = [
    ['on which nothing was ever sent', (url) => hold(url)],
    ['with half of a head', (url) => hold(url, 'GET /healthz HTTP/1.1\r\nHo')],
    ['that was used and waits', used],
  ];
  for (const [name, open] of idle)
    test(`stop: a connection ${name} does not hold it up`, async (t) => {
      const service = await startTestService(t);
      await open(service.appUrl);
      const stop = await beginStop(t, service);
      await stop.pass(GRACE_MS);
      await stop.ended;
    });

  test('stop: the request that was on its way is answered, and told that it was the last, used connection or new', async (t) => {
    const service = await startTestService(t);
    const sockets = [await used(service.apiUrl), await hold(service.apiUrl), await used(service.appUrl)];
    const answers = sockets.map(received);
    const stop = await beginStop(t, service);
    for (const socket of sockets) socket.write(requestHead(service.apiUrl, 'GET /v2/me', KEPT));
    const [first, second, onApp] = await Promise.all(answers);
    for (const answer of [first, second]) assert.match(String(answer), /HTTP\/1\.1 401 .*Connection: close/is);
    assert.match(String(onApp), /HTTP\/1\.1 404 .*Connection: close/is);
    await stop.ended;
  });

  test('stop: a trusted proxy lets go of its idle connection itself, and what it asks on it until then is answered', async (t) => {
    const proxy = { VALETKEY_TRUSTED_PROXIES: '127.0.0.1', VALETKEY_PROXY_IDLE_TIMEOUT: '8' };
    const service = await startTestService(t, proxy);
    const sockets = [await used(service.apiUrl), await used(service.apiUrl)] as const;
    const [answered, closed] = sockets.map(received);
    const stop = await beginStop(t, service);
    await stop.pass(9000);
    sockets[0].write(requestHead(service.apiUrl, 'GET /v2/me', KEPT));
    assert.match(String(await answered), /HTTP\/1\.1 401 .*Connection: close/is);
    sockets[1].end();
    assert.equal(await closed, '');
    await stop.ended; // It waits no longer than the proxy does.
  });

  test('stop: a trusted proxy that does not let go of its connection in time is hung up on', async (t) => {
    const proxy = { VALETKEY_TRUSTED_PROXIES: '127.0.0.1', VALETKEY_PROXY_IDLE_TIMEOUT: '1' };
    const service = await startTestService(t, proxy);
    const socket = await used(service.apiUrl);
    const stop = await beginStop(t, service);
    await stop.pass(2000);
    assert.equal(socket.closed, false);
    await stop.pass(1);
    await stop.ended;
  });

  test('stop: a check of a good token is answered, and told that it was the last', async (t) => {
    const service = await startTestService(t);
    await addUser(service);
    const { accessToken } = await obtainPair(service, await signedInBrowser(service), await addClient(service));
    const socket = await used(service.apiUrl);
    const answer = received(socket);
    const stop = await beginStop(t, service);
    socket.write(requestHead(service.apiUrl, 'GET /v2/me', { ...KEPT, Authorization: `Bearer ${accessToken}` }));
    assert.match(await answer, /^HTTP\/1\.1 200 .*Connection: close/is);
    await stop.pass(GRACE_MS); // The browser's own connections wait.
    await stop.ended;
  });

  test('stop: who asks on a connection that is left hears that it is not ready', async (t) => {
    const service = await startTestService(t);
    const socket = await used(service.appUrl);
    const answer = received(socket);
    const stop = await beginStop(t, service);
    socket.write(requestHead(service.appUrl, 'GET /readyz', KEPT));
    assert.match(await answer, /HTTP\/1\.1 503 .*Connection: close.*not ready/is);
    await stop.ended;
  });

  test('stop: of requests that are sent at once while it lasts the last is answered too', async (t) => {
    const service = await startTestService(t);
    const exchange = await exchangeRequest(service);
    const socket = await hold(service.appUrl);
    const all = received(socket);
    const stop = await beginStop(t, service);
    socket.write(requestHead(service.appUrl, 'GET /healthz', KEPT) + exchange);
    const answers = await all;
    assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200']);
    assert.match(answers, /"access_token"/);
    await stop.pass(GRACE_MS); // The browser's own connections wait.
    await stop.ended;
  });

  test('stop: an answer that is still being sent is sent to its end', async (t) => {
    const { folder } = await ProgramOnDisk.make(t);
    const logo = `${folder}/logo.png`;
    const size = 16 * 1024 * 1024;
    writeFileSync(logo, Buffer.alloc(size));
    const service = await startTestService(t, { VALETKEY_PRODUCT_LOGO: logo });
    const socket = await hold(service.appUrl);
    socket.pause().write(requestHead(service.appUrl, 'GET /assets/logo', KEPT));
    await once(socket, 'readable');
    const stop = await beginStop(t, service);
    await stop.pass(GRACE_MS);
    assert.ok((await received(socket)).length > size);
    await stop.ended;
  });

  test('stop: a stream of revocations that is asked for meanwhile is refused, and does not hold it up', async (t) => {
    const service = await startTestService(t);
    const { id, secret } = await addResourceServer(service);
    const socket = await used(service.appUrl);
    const answer = received(socket);
    const stop = await beginStop(t, service);
    socket.write(requestHead(service.appUrl, 'GET /oauth2/revocations', { ...basic(id, secret), ...KEPT }));
    assert.match(await answer, /HTTP\/1\.1 503 .*Retry-After: /is);
    await stop.ended;
  });

  test('stop: on localhost both of its addresses are served, and closed', async (t) => {
    const service = await startOnLocalhost(t);
    const port = new URL(service.apiUrl).port;
    for (const host of ['127.0.0.1', '[::1]']) {
      const url = `http://${host}:${port}`;
      const at = { ...service, apiUrl: url };
      assert.equal((await me(at, 'x')).status, 401);
      await hold(url);
    }
    const sources = service.log.map((line) => JSON.parse(line)).filter(({ route }) => route === '/v2/me');
    assert.deepEqual(sources.map(({ source }) => source).sort(), ['127.0.0.1', '::1'], 'each with its own source');
    const stop = await beginStop(t, service);
    await stop.pass(GRACE_MS);
    await stop.ended;
    await assert.rejects(fetch(`http://[::1]:${port}/healthz`));
  });
});

// On their own: each turn of the event loop lets in one, and what the others do would fill it; and here it stands still.
test('stop: whoever the system has let in already is served', async (t) => {
  const service = await startTestService(t);
  const { hostname, port } = new URL(service.appUrl);
  // It accepts connections for a second at most, in which a busy machine has few turns: until then time stands still.
  const start = performance.now();
  const { mock: clock } = t.mock.method(performance, 'now', () => start);
  closing.once(port, () => clock.restore());
  const sockets = Array.from({ length: 50 }, () => net.connect(Number(port), hostname).on('error', () => {}));
  for (const socket of sockets) socket.write(requestHead(service.appUrl, 'GET /healthz', KEPT));
  let handled = 0;
  closing.once(port, () => {
    handled = service.log.filter((line) => line.includes('/healthz')).length;
  });
  const stopped = service.stop();
  for (const socket of sockets) assert.match(await received(socket), /^HTTP\/1\.1 200 .*alive/s);
  await stopped;
  // Handling them would make the turns long that accept the others.
  assert.equal(handled, 0, 'requests wait until all connections are accepted');
});

test('stop: a burst of connections while the process was kept from accepting is served', async (t) => {
  // More than the 511 of Node.js, where the system holds as many.
  const many = systemsBacklog() >= 700 ? 700 : 100;
  const service = await startTestService(t, { VALETKEY_MAX_CONNECTIONS_PER_SOURCE: '1000' });
  const { hostname, port } = new URL(service.appUrl);
  const start = performance.now();
  const { mock: clock } = t.mock.method(performance, 'now', () => start);
  closing.once(port, () => clock.restore());
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const head = requestHead(service.appUrl, 'GET /healthz');
  const burst = new Worker(BURST, { eval: true, workerData: { connected, hostname, port, head, many } });
  t.after(() => burst.terminate());
  const answered = once(burst, 'message');
  await once(burst, 'online');
  // Those that the system's queue has no room for are not connected by then.
  Atomics.wait(connected, 0, 0, 5000);
  await service.stop();
  assert.deepEqual(await answered, [many]);
});

/** Number of waiting connections that the system holds at most; NaN where it does not say. */
function systemsBacklog(): number {
  const file = '/proc/sys/net/core/somaxconn';
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : Number.NaN;
}

/** Makes many connections with a request each; tells when all are connected, and then how many were answered. */
const BURST = `
  const { parentPort, workerData: { connected, hostname, port, head, many } } = require('node:worker_threads');
  let [made, ended, answered] = [0, 0, 0];
  for (let each = 0; each < many; each += 1) {
    const socket = require('node:net').connect(Number(port), hostname, () => {
      made += 1;
      if (made === many) Atomics.store(connected, 0, 1), Atomics.notify(connected, 0);
    });
    socket.once('data', () => { answered += 1; }).on('error', () => {});
    socket.on('close', () => { ended += 1; if (ended === many) parentPort.postMessage(answered); });
    socket.end(head);
  }`;

test('stop: a connection that comes while input is read is served', async (t) => {
  const [here, there] = await connectedPair(t);
  // From after the signal on, in one of the turns in which nothing else comes.
  for (let turns = 1; turns <= 4; turns += 1) {
    const service = await startTestService(t);
    const { hostname, port } = new URL(service.appUrl);
    const stopped = service.stop();
    for (let left = turns; left > 0; left -= 1) {
      here.write('x');
      await new Promise((resolve) => there.once('data', resolve));
    }
    // The system accepts it at once; the event loop has looked for connections in this turn already.
    const socket = net.connect(Number(port), hostname).on('error', () => {});
    socket.write(requestHead(service.appUrl, 'GET /healthz', KEPT));
    assert.match(await received(socket), /^HTTP\/1\.1 200 .*alive/s, `in turn ${turns}`);
    await stopped;
  }
});

/** Two ends of a connection of the test's own. */
async function connectedPair(t: TestContext): Promise<readonly [Socket, Socket]> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const here = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  const [there] = (await once(server, 'connection')) as [Socket];
  t.after(() => {
    here.destroy();
    server.close();
  });
  return [here, there];
}

test('stop: a request that came in time is answered, though the process was kept from reading it', async (t) => {
  const service = await startTestService(t);
  const socket = await used(service.apiUrl);
  const answer = received(socket);
  const stop = await beginStop(t, service);
  await nextTurn(); // What follows is between a turn's reading and the next one's timers.
  socket.write(requestHead(service.apiUrl, 'GET /v2/me', KEPT));
  const passed = stop.pass(GRACE_MS);
  for (const since = process.hrtime.bigint(); process.hrtime.bigint() - since < 60_000_000n; );
  assert.match(await answer, /^HTTP\/1\.1 401 .*Connection: close/is);
  await passed;
  await stop.ended;
});

async function startOnLocalhost(t: Lifetime): Promise<TestService> {
  const [VALETKEY_APP_URL, VALETKEY_API_URL] = [
    `http://localhost:${await freePort()}`,
    `http://localhost:${await freePort()}`,
  ];
  return startTestService(t, { VALETKEY_APP_URL, VALETKEY_API_URL });
}
