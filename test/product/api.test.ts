/** The calls of packages/product, from its tarball: against a running service, and against one that fails. */
import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import express from 'express';
import fastify from 'fastify';
import type { PublicKey } from '../../src/oauth/clients/client.ts';
import { startService } from '../examples/product.ts';
import { Browser } from '../support/browser.ts';
import { authorizeUrl } from '../support/flow.ts';
import { addClient, freePort } from '../support/service.ts';
import { installProduct } from './installed.ts';
import { PATH, startSite } from './site.ts';
import { begin, press } from './walks.ts';

const { modules } = await installProduct({ after });
const { createApi, ValetkeyError } = modules.product;
const SIGN_IN_URL = `http://localhost:8000${PATH}`;

test('each call does what it says, and says where Valetkey has no such user', async (t) => {
  const { service, secret } = await startService(t, SIGN_IN_URL);
  const { users, connections, disconnects } = createApi({ url: service.appUrl, id: 'product', secret });
  assert.equal(await users.get('p-17'), null);
  for (const call of ['disable', 'enable', 'delete', 'endSessions'] as const)
    assert.equal(await users[call]('p-17'), false, call);
  assert.deepEqual(await connections.list('p-17'), { connections: [], next: null });
  assert.equal(await connections.revoke('p-17', { client_id: 'app_example' }), false);
  await users.put({ subject: 'p-17', name: 'Ada', email: 'ada@example.com', emailVerified: true });
  await users.put([
    { subject: 'p-17', name: null },
    { subject: 'p-42', avatarUrl: 'https://example.com/g.png' },
  ]);
  const ada = await users.get('p-17');
  assert.deepEqual([ada?.name, ada?.email, ada?.emailVerified, ada?.status], [null, 'ada@example.com', true, 'active']);
  assert.equal((await users.get('p-42'))?.avatarUrl, 'https://example.com/g.png');
  assert.equal(await users.disable('p-17'), true);
  assert.equal((await users.get('p-17'))?.status, 'disabled');
  assert.deepEqual([await users.enable('p-17'), await users.endSessions('p-17')], [true, true]);
  const before = await disconnects();
  assert.equal(await users.delete('p-17'), true);
  const told = await disconnects(before?.next);
  assert.deepEqual(
    told?.disconnects.map(({ subject, reason }) => [subject, reason]),
    [['p-17', 'account_ended']],
  );
  assert.equal(await disconnects('no cursor'), null);
  await assert.rejects(users.put({ subject: '' }), { name: 'ValetkeyError', httpStatus: 400, code: 'invalid_request' });
});

test('a product lists the connection that a user made, and ends it', async (t) => {
  const port = await freePort();
  const { service, secret } = await startService(t, `http://localhost:${port}${PATH}`);
  const site = await startSite(t, modules, 'Express', { url: service.appUrl, secret }, port);
  const client = await addClient(service);
  const browser = new Browser();
  const consent = await press(browser, await begin(browser, { service, secret, site, client }), 'Sign in as ada');
  await browser.submit(consent, new URL(authorizeUrl(service, client)).pathname.replace('/auth', ''), {
    decision: 'allow',
  });
  const { connections } = createApi({ url: service.appUrl, id: 'product', secret });
  const [connection] = (await connections.list('p-17', { language: 'en', limit: 1 })).connections;
  assert.ok(connection);
  assert.deepEqual([connection.name, connection.device, connection.permissions], ['Test App', false, []]);
  assert.equal(await connections.revoke('p-17', connection), true, 'the entry itself names one connection');
  assert.deepEqual((await connections.list('p-17')).connections, []);
});

const KEYS: Readonly<Record<string, () => { publicKey: KeyObject; privateKey: KeyObject }>> = {
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'P-384': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  Ed25519: () => generateKeyPairSync('ed25519'),
  RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

for (const [kind, make] of Object.entries(KEYS))
  test(`RFC 7523 §2.2, §3: a product signs in and calls with a private key (${kind})`, async (t) => {
    const { publicKey, privateKey } = make();
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one' };
    const port = await freePort();
    const { service } = await startService(t, `http://localhost:${port}${PATH}`, { keys: [jwk as PublicKey] });
    const asJwk = { ...privateKey.export({ format: 'jwk' }), kid: 'one' };
    const asPem = String(createPrivateKey({ key: asJwk, format: 'jwk' }).export({ format: 'pem', type: 'pkcs8' }));
    const site = await startSite(t, modules, 'Fetch', { url: service.appUrl, privateKey: asJwk }, port);
    const browser = new Browser();
    const world = { service, secret: '', site, client: await addClient(service) };
    assert.match((await press(browser, await begin(browser, world), 'Sign in as ada')).body, /value="allow"/);
    const { users } = createApi({ url: service.appUrl, id: 'product', privateKey: asPem });
    assert.equal((await users.get('p-17'))?.name, 'Ada <Lovelace>');
    assert.equal(await users.endSessions('p-17'), true);
  });

/** A service that answers as it is told. */
async function failing(t: { after(end: () => void): void }, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, 'localhost');
  await once(server, 'listening');
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

test('RFC 6749 §2.3.1: a secret with any characters arrives whole in Basic', async (t) => {
  const given = { id: 'a product', secret: 's:%+&= é' };
  let heard = '';
  const url = await failing(t, (request, response) => {
    heard = request.headers.authorization ?? '';
    response.writeHead(204).end();
  });
  await createApi({ url, ...given }).users.disable('a');
  const parts = Buffer.from(heard.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':');
  assert.deepEqual([...new URLSearchParams(parts.join('&')).keys()], [given.id, given.secret]);
});

test('a call is repeated where that can help, not before Retry-After, and not if that would take too long', async (t) => {
  const times: number[] = [];
  let wait = '1';
  const url = await failing(t, (_request, response) => {
    times.push(Date.now());
    if (times.length === 2) return response.writeHead(204).end();
    response.writeHead(429, { 'Retry-After': wait }).end('{"error":"temporarily_unavailable"}');
  });
  const { users } = createApi({ url, id: 'product', secret: 's' });
  assert.equal(await users.disable('a'), true);
  assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 990, String(times));
  wait = '60';
  await assert.rejects(users.disable('a'), { httpStatus: 429, code: 'temporarily_unavailable' });
  assert.equal(times.length, 3, 'nobody waits a minute');
});

test('a framework answers 500 where a call failed and nobody caught it, whatever Valetkey answered', async (t) => {
  const url = await failing(t, (_request, response) => response.writeHead(401).end('{"error":"invalid_client"}'));
  const { users } = createApi({ url, id: 'product', secret: 'wrong' });
  const forExpress = express().set('env', 'test');
  forExpress.get('/', () => users.endSessions('a'));
  const forFastify = fastify();
  forFastify.get('/', () => users.endSessions('a'));
  await forFastify.ready();
  for (const listener of [forExpress, forFastify.routing]) {
    const response = await fetch(await failing(t, listener as RequestListener));
    assert.equal(response.status, 500);
  }
});

test('a failure names no secret, whatever the other end says', async (t) => {
  const secret = `vk_ps_${'x'.repeat(40)}`;
  const url = await failing(t, (request, response) => {
    response
      .writeHead(400)
      .end(JSON.stringify({ error: 'odd', error_description: `${secret} ${request.headers.authorization}` }));
  });
  const error: Error = await createApi({ url, id: 'product', secret })
    .users.disable('a')
    .then(
      () => assert.fail('it failed'),
      (problem: Error) => problem,
    );
  assert.ok(error instanceof ValetkeyError);
  assert.doesNotMatch(JSON.stringify([error.message, error]), /x{20}/);
  const dead = createApi({ url: 'http://localhost:1', id: 'product', secret });
  await assert.rejects(dead.users.disable('a'), { httpStatus: 0, code: 'unreachable' });
});

test('options that cannot work are a TypeError at once', () => {
  const good = { url: 'https://auth.example', id: 'product', secret: 's' };
  for (const wrong of [
    ...[{ url: undefined }, { url: 'http://auth.example' }, { url: 'https://auth.example/path' }, { id: '' }],
    ...[{ secret: undefined }, { secret: 's', privateKey: 'p' }],
  ])
    assert.throws(() => createApi({ ...good, ...wrong }), TypeError, JSON.stringify(wrong));
  const own = { ...good, currentUser: () => null, loginUrl: () => '/' };
  for (const address of [
    undefined,
    '/oauth/sign-in',
    'http://a.example/x',
    'https://a.example//x',
    'https://a.example/x?y',
  ])
    assert.throws(() => modules.product.signIn({ ...own, address }), TypeError, address);
  assert.throws(
    () => modules.product.signIn({ ...own, address: 'https://a.example/x', loginUrl: '/login' as never }),
    TypeError,
  );
});
