/** APIs on the real frameworks, checking tokens of the real service. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import * as forExpress from '../../packages/verify/src/express.ts';
import * as forFastify from '../../packages/verify/src/fastify.ts';
import * as forHono from '../../packages/verify/src/hono.ts';
import { authorize } from '../../packages/verify/src/node.ts';
import { createVerifier, type Verifier } from '../../packages/verify/src/verifier.ts';
import { asJson, type JsonAnswer, me, signedInBrowser, type TestClient } from '../support/flow.ts';
import { addClient, addUser, REDIRECT_URI, startTestService } from '../support/service.ts';

const RESOURCE = 'https://mail.example/v1';
const CHALLENGE =
  /^Bearer realm="valetkey".*, resource_metadata="https:\/\/mail\.example\/\.well-known\/oauth-protected-resource\/v1"$/;

const service = await startTestService({ after });
const ada = await addUser(service);
const browser = await signedInBrowser(service);
const { row: resourceServer, secret } = await service.installation.resourceServers.register(
  {
    name: 'Mail API',
    resource: RESOURCE,
    scopes: ['mail.read', 'mail.send'],
  },
  service.installation.operator,
);

/** An API: `GET /mail` needs mail.read and says whose mail it is, `POST /mail` needs mail.send. Answers its port. */
type StartApi = (t: TestContext, verifier: Verifier) => Promise<number>;

const [read, send] = [{ scopes: ['mail.read'] }, { scopes: ['mail.read', 'mail.send'] }];

const apis: Record<string, StartApi> = {
  Fastify: async (t, verifier) => {
    const { principalOf, requireToken } = forFastify;
    const app = fastify();
    app.addHook('onRequest', requireToken(verifier, read));
    app.get('/mail', async (request) => principalOf(request));
    app.post('/mail', { onRequest: requireToken(verifier, send) }, async (request) => principalOf(request));
    t.after(() => app.close());
    await app.listen({ port: 0, host: '127.0.0.1' });
    return (app.server.address() as AddressInfo).port;
  },
  Express: async (t, verifier) => {
    const { principalOf, requireToken } = forExpress;
    const app = express();
    app.use(requireToken(verifier, read));
    app.get('/mail', (request, response) => void response.json(principalOf(request)));
    app.post('/mail', requireToken(verifier, send), (request, response) => void response.json(principalOf(request)));
    return listen(t, http.createServer(app));
  },
  Hono: async (t, verifier) => {
    const { principalOf, requireToken } = forHono;
    const app = new Hono();
    app.use(requireToken(verifier, read));
    app.get('/mail', (c) => c.json(principalOf(c)));
    app.post('/mail', requireToken(verifier, send), (c) => c.json(principalOf(c)));
    return listen(t, serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as http.Server);
  },
  'node:http': async (t, verifier) => {
    const server = http.createServer(async (request, response) => {
      const principal = await authorize(verifier, request, response, request.method === 'POST' ? send : read);
      if (principal) response.setHeader('Content-Type', 'application/json').end(JSON.stringify(principal));
    });
    return listen(t, server);
  },
};

async function listen(t: TestContext, server: http.Server): Promise<number> {
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  if (!server.listening) await once(server.listening ? server : server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** A verifier for the API that was registered; its clock is the service's. */
function startVerifier(t: TestContext, options: object = {}): Verifier {
  const { appUrl: issuer, clock } = service;
  const api = { id: resourceServer.id, secret, resource: RESOURCE };
  const onProblem = (message: string) => t.diagnostic(message);
  const verifier = createVerifier({ issuer, ...api, now: clock.now, onProblem, ...options });
  t.after(() => verifier.close());
  return verifier;
}

async function registerApp(defaultResource: string | null = null): Promise<TestClient> {
  const names = ['mail.read', 'mail.send', 'photos'];
  const scopes = names.map((name) => ({ name, sentence: null, optional: false }));
  return addClient(service, { scopes, defaultResource });
}

/** Walks the standard face: the authorization page, Allow, and the token request. The token is for this API unless said. */
async function obtainToken(
  client: TestClient,
  scope: string,
  parameters: Record<string, string> = { resource: RESOURCE },
): Promise<string> {
  const query = { response_type: 'code', client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 'xyz', scope };
  const page = await browser.get(
    `${service.appUrl}/oauth2/authorize?${new URLSearchParams({ ...query, ...parameters })}`,
  );
  const visit = await browser.submit(page, '/oauth2/authorize', { decision: 'allow' });
  const code = new URL(visit.headers.get('location') ?? '').searchParams.get('code') ?? '';
  const { status, body } = await postAsClient(client, 'token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
  });
  assert.equal(status, 200, JSON.stringify(body));
  return String(body['access_token']);
}

async function postAsClient(
  { clientId, clientSecret }: TestClient,
  endpoint: string,
  fields: Record<string, string>,
): Promise<JsonAnswer> {
  const headers = { Authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` };
  const answer = await fetch(`${service.appUrl}/oauth2/${endpoint}`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(fields),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
}

/** How often the service was asked so far, by its own log. */
function introspections(): number {
  return service.log.filter((line) => JSON.parse(line).route === '/oauth2/introspect').length;
}

/** Calls until the service is no longer asked, which is when the answer is kept. */
async function untilKept(call: () => Promise<unknown>): Promise<void> {
  for (let before = -1; before !== introspections(); await sleep(50)) {
    before = introspections();
    await call();
    await sleep(50);
  }
}

/** Calls until it is refused, and asserts that nothing passed that began a second or more after the revocation. */
async function assertRefusedWithinASecond(call: () => Promise<JsonAnswer>): Promise<void> {
  const revokedAt = performance.now();
  for (;;) {
    const begunAt = performance.now();
    const { status, headers } = await call();
    if (status === 401) return assert.match(headers.get('www-authenticate') ?? '', /error="invalid_token"/);
    assert.equal(status, 200);
    assert.ok(begunAt - revokedAt < 1000, `it passes ${begunAt - revokedAt} ms after the revocation`);
    await sleep(10);
  }
}

describe('an API that checks tokens', { concurrency: true }, () => {
  for (const [name, startApi] of Object.entries(apis))
    test(`with ${name}: the cache is used, and each revocation is seen within a second`, async (t) => {
      const client = await registerApp();
      const url = `http://127.0.0.1:${await startApi(t, startVerifier(t))}/mail`;
      const call = async (token?: string, method = 'GET') =>
        asJson(await fetch(url, { method, headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } }));

      const anonymous = await call();
      assert.deepEqual([anonymous.status, anonymous.body['error']], [401, 'missing_token']);
      assert.match(anonymous.headers.get('www-authenticate') ?? '', CHALLENGE);
      assert.match(anonymous.headers.get('content-type') ?? '', /^application\/json/);
      assert.equal((await call('a b')).status, 400);
      assert.equal((await call('vk_at_made-up')).status, 401);

      const token = await obtainToken(client, 'mail.read photos');
      const { status, body } = await call(token);
      assert.equal(status, 200);
      const { expiresAt, grantId, ...principal } = body;
      const expected = {
        sub: ada.id,
        username: null,
        externalId: null,
        clientId: client.clientId,
        scopes: ['mail.read'],
      };
      assert.deepEqual(principal, expected, 'and a scope that this API may not see is not there');
      assert.ok(Date.parse(String(expiresAt)) > service.clock.now());
      assert.match(String(grantId), /^[0-9a-f-]{36}$/);

      const refused = await call(token, 'POST');
      assert.deepEqual([refused.status, refused.body['error']], [403, 'insufficient_scope']);
      assert.match(
        refused.headers.get('www-authenticate') ?? '',
        /error="insufficient_scope".*scope="mail.read mail.send"/,
      );
      const both = await obtainToken(client, 'mail.read mail.send');
      assert.equal((await call(both, 'POST')).status, 200);

      await untilKept(() => call(token));
      await postAsClient(client, 'revoke', { token });
      await assertRefusedWithinASecond(() => call(token));
      assert.equal((await call(both)).status, 200, 'the other grant is still there');

      await untilKept(() => call(both));
      const page = await browser.get(`${service.appUrl}/account/apps`);
      await browser.submit(page, '/account/apps/revoke', { client_id: client.clientId });
      await assertRefusedWithinASecond(() => call(both));
    });
});

test('once an answer is kept, the service is not asked again for that token', async (t) => {
  const verifier = startVerifier(t);
  const authorization = `Bearer ${await obtainToken(await registerApp(), 'mail.read')}`;
  await untilKept(() => verifier.check(authorization));
  const before = introspections();
  for (let check = 0; check < 1000; check += 1) assert.ok((await verifier.check(authorization)).ok);
  await sleep(100);
  assert.equal(introspections(), before);
});

test('RFC 8707 §3: a token for this API passes, one for another API does not', async (t) => {
  const other = 'https://photos.example';
  await service.installation.resourceServers.register(
    { name: 'Photos', resource: other, scopes: null },
    service.installation.operator,
  );
  const client = await registerApp();
  const verifier = startVerifier(t);
  const ours = await verifier.check(`Bearer ${await obtainToken(client, 'mail.read')}`);
  assert.ok(ours.ok);
  const theirs = await verifier.check(`Bearer ${await obtainToken(client, 'mail.read', { resource: other })}`);
  assert.equal(theirs.ok || theirs.status, 401);
});

test('RFC 8707 §2, §3: a token for the default resource of its app passes at that API alone, and /v2/me confirms it', async (t) => {
  const other = 'https://albums.example';
  const albums = await service.installation.resourceServers.register(
    { name: 'Albums', resource: other, scopes: null },
    service.installation.operator,
  );
  const { id } = albums.row;
  const elsewhere = startVerifier(t, { id, secret: albums.secret, resource: other, acceptUnbound: true });
  await service.installation.resourceServers.update(id, { acceptsUnbound: true }, service.installation.operator);
  const token = await obtainToken(await registerApp(RESOURCE), 'mail.read', {});
  assert.ok((await startVerifier(t).check(`Bearer ${token}`)).ok);
  const theirs = await elsewhere.check(`Bearer ${token}`);
  assert.equal(theirs.ok || theirs.status, 401);
  assert.equal((await me(service, token)).status, 200);
});

test('RFC 9700 §2.3: an unbound token passes once both the registration and the verifier accept it', async (t) => {
  const { resourceServers, operator } = service.installation;
  const authorization = `Bearer ${await obtainToken(await registerApp(), 'mail.read', {})}`;
  const [strict, open] = [startVerifier(t), startVerifier(t, { acceptUnbound: true })];
  const passes = async (verifier: Verifier) => (await verifier.check(authorization)).ok;
  assert.deepEqual([await passes(strict), await passes(open)], [false, false]);
  await resourceServers.update(resourceServer.id, { acceptsUnbound: true }, operator);
  t.after(() => resourceServers.update(resourceServer.id, { acceptsUnbound: false }, operator));
  assert.deepEqual([await passes(strict), await passes(open)], [false, true]);
});

test('a token that expires is refused by its time, without any event', async (t) => {
  const verifier = startVerifier(t);
  const authorization = `Bearer ${await obtainToken(await registerApp(), 'mail.read')}`;
  await untilKept(() => verifier.check(authorization));
  service.clock.advance(3600);
  t.after(() => service.clock.advance(-3600));
  const result = await verifier.check(authorization);
  assert.equal(result.ok || result.status, 401);
});

test('with a wrong secret nothing passes, and it is said once', async (t) => {
  const problems: string[] = [];
  const verifier = startVerifier(t, { secret: 'canary-wrong', onProblem: (message: string) => problems.push(message) });
  const authorization = `Bearer ${await obtainToken(await registerApp(), 'mail.read')}`;
  for (const _twice of [1, 2]) {
    const result = await verifier.check(authorization);
    assert.equal(result.ok || result.status, 503);
  }
  assert.equal(problems.length, 1, problems.join());
  assert.match(problems[0] ?? '', /id or the secret of this resource server is wrong/);
  assert.doesNotMatch(problems.join() + service.log.join(), /canary/);
});

test('when the service stops, the API refuses with 503', async (t) => {
  const verifier = startVerifier(t);
  const authorization = `Bearer ${await obtainToken(await registerApp(), 'mail.read')}`;
  await untilKept(() => verifier.check(authorization));
  await service.stop();
  await assert.doesNotReject(async () => {
    for (const stoppedAt = performance.now(); ; await sleep(10)) {
      const begunAt = performance.now();
      const result = await verifier.check(authorization);
      if (!result.ok) return assert.deepEqual([result.status, result.headers['Retry-After']], [503, '1']);
      assert.ok(begunAt - stoppedAt < 1000, 'what was kept is not used any longer');
    }
  });
});
