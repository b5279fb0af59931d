/** Streams of revocations by the thousand, and acts by the hundred thousand. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { asJson, assertRefused } from '../../support/flow.ts';
import { startOnFile } from '../../support/on-file.ts';
import { requestHead } from '../../support/raw-http.ts';
import { RevocationStream } from '../../support/revocation-stream.ts';
import { addClient, startTestService } from '../../support/service.ts';
import { addResourceServer, basic, type TestResourceServer } from '../../support/standard.ts';

test('interface: a thousand streams are open at most, 250 of one API and 16 of any, and whoever hangs up before the first word takes no place', async (t) => {
  const { service: own } = await startOnFile(t, { VALETKEY_MAX_CONNECTIONS_PER_SOURCE: '2000' });
  const { id, secret } = await addResourceServer(own);
  const { hostname, port } = new URL(own.appUrl);
  const head = requestHead(own.appUrl, 'GET /oauth2/revocations', basic(id, secret));
  const connect = async (count: number) => {
    const sockets = Array.from({ length: count }, () => net.connect(Number(port), hostname));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    return sockets;
  };
  const changing = new AbortController();
  // While its row is being written, the check of a secret waits for the disk: long enough to hang up.
  const change = async () => {
    for (let times = 1; !changing.signal.aborted; times += 1)
      await own.installation.resourceServers.update(id, { name: `Name ${times}` }, own.installation.operator);
  };
  const changes = [change()];
  for (let round = 0; round < 3; round++) {
    const sockets = await connect(100);
    // Whether it is ended or reset by then: nobody is there any more.
    const gone = (socket: net.Socket) => new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
    await Promise.all(sockets.map((socket) => gone(socket.resume().end(head))));
  }
  changing.abort();
  await Promise.all(changes);

  const four = [{ id, secret }, ...(await Promise.all([1, 2, 3].map(() => addResourceServer(own))))];
  const heads = four.map((each) => requestHead(own.appUrl, 'GET /oauth2/revocations', basic(each.id, each.secret)));
  const open: net.Socket[] = [];
  t.after(() => open.forEach((socket) => void socket.destroy()));
  const begin = async (_: unknown, n: number) => {
    const socket = net.connect(Number(port), hostname).setNoDelay();
    open.push(socket);
    // A connection that waited for its request until others are there would be ended on a slow machine.
    socket.on('error', () => {}).write(String(heads[n % 4]));
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 200 /);
  };
  // More at once than the system keeps until they are accepted would be tried again by it, and reset in the end.
  for (let lot = 0; lot < 10; lot += 1) await Promise.all(Array.from({ length: 100 }, begin));
  const ask = async (each: TestResourceServer) =>
    asJson(await fetch(`${own.appUrl}/oauth2/revocations`, { headers: basic(each.id, each.secret) }));
  const lastLine = () => JSON.parse(String(own.log.at(-1)));
  const ofOne = await ask({ id, secret });
  assertRefused(ofOne, 429, 'temporarily_unavailable');
  assert.equal(ofOne.headers.get('retry-after'), '5');
  assert.match(lastLine().detail, /250 streams .*run another instance/);
  assert.equal(lastLine().client_id, id);

  let cut = 0;
  for (const socket of open) socket.once('close', () => (cut += 1));
  const fifth = await addResourceServer(own);
  const theirs = await Promise.all(Array.from({ length: 16 }, () => RevocationStream.open(t, own, fifth)));
  const inAll = await ask(fifth);
  assertRefused(inAll, 503, 'temporarily_unavailable');
  assert.equal(inAll.headers.get('retry-after'), '5');
  assert.match(lastLine().detail, /all 1000 streams .*run another instance/);
  assert.equal(
    own.log.filter((line) => line.includes('the resource server with the most streams lost one')).length,
    16,
  );
  for (const since = performance.now(); cut < 16; await sleep(10)) assert.ok(performance.now() - since < 60_000);
  const { clientId } = await addClient(own);
  await own.installation.clients.pause(clientId, own.installation.operator);
  for (const each of theirs) await each.next('revoked', { client_id: clientId });
  assert.equal(cut, 16);
});

test('interface: a reader that does not keep up is cut, and the others go on', async (t) => {
  const own = await startTestService(t);
  const asking = await addResourceServer(own);
  const told = await RevocationStream.open(t, own, asking);
  const { hostname, port } = new URL(own.appUrl);
  const slow = net
    .connect(Number(port), hostname)
    .on('error', () => {})
    .pause();
  t.after(() => slow.destroy());
  slow.write(requestHead(own.appUrl, 'GET /oauth2/revocations', basic(asking.id, asking.secret)));
  const { clientId } = await addClient(own);
  const isCut = () => own.log.some((line) => line.includes('"route":"/oauth2/revocations"'));
  // The system itself keeps some megabytes for who does not read.
  for (let round = 0; round < 5 && !isCut(); round++) {
    for (let count = 0; count < 80; count++)
      await Promise.all(
        Array.from({ length: 1000 }, () => own.installation.clients.revokeGrants(clientId, own.installation.operator)),
      );
    for (let wait = 0; wait < 20 && !isCut(); wait++) await sleep(50);
  }
  assert.ok(isCut());
  const another = await addClient(own);
  await own.installation.clients.revokeGrants(another.clientId, own.installation.operator);
  await told.next('revoked', { client_id: another.clientId });
});
