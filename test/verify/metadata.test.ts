/** RFC 9728: an API guarded by the package tells apps that hold no token who issues tokens for it, on every framework. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import * as forExpress from '../../packages/verify/src/express.ts';
import * as forFastify from '../../packages/verify/src/fastify.ts';
import * as forHono from '../../packages/verify/src/hono.ts';
import * as forNode from '../../packages/verify/src/node.ts';
import { createVerifier, type Verifier } from '../../packages/verify/src/verifier.ts';

const RESOURCE = 'https://mail.example/v1';
const PLACE = '/.well-known/oauth-protected-resource/v1';
const READ = { scopes: ['mail.read', 'mail.send'] };

const verifier = verifierOf({ resource: RESOURCE, scopesSupported: ['mail.read', 'mail.send'] });

function verifierOf(options: object): Verifier {
  const made = createVerifier({ issuer: 'https://auth.example', id: 'rs_1', secret: 's', cache: false, ...options });
  after(() => made.close());
  return made;
}

/** Every framework, guarded as a whole; answers the port. */
const APIS: Readonly<Record<string, (t: TestContext) => Promise<number>>> = {
  Fastify: async (t) => {
    const app = fastify();
    app.addHook('onRequest', forFastify.serveMetadata(verifier));
    app.addHook('onRequest', forFastify.requireToken(verifier, READ));
    t.after(() => app.close());
    await app.listen({ port: 0, host: '127.0.0.1' });
    return (app.server.address() as AddressInfo).port;
  },
  Express: async (t) => {
    const app = express();
    app.use(forExpress.serveMetadata(verifier));
    app.use(forExpress.requireToken(verifier, READ));
    return listen(t, http.createServer(app));
  },
  'Express, below a path': async (t) => {
    const app = express();
    app.use('/.well-known', forExpress.serveMetadata(verifier));
    app.use(forExpress.requireToken(verifier, READ));
    return listen(t, http.createServer(app));
  },
  Hono: async (t) => {
    const app = new Hono();
    app.use(forHono.serveMetadata(verifier));
    app.use(forHono.requireToken(verifier, READ));
    return listen(t, serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as http.Server);
  },
  'node:http': async (t) =>
    listen(
      t,
      http.createServer(async (request, response) => {
        if (forNode.serveMetadata(verifier, request, response)) return;
        await forNode.authorize(verifier, request, response, READ);
      }),
    ),
};

async function listen(t: TestContext, server: http.Server): Promise<number> {
  t.after(() => server.close());
  if (!server.listening) await once(server.address() ? server : server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

for (const [name, start] of Object.entries(APIS))
  test(`RFC 9728 §2, §3, §6: with ${name} the metadata needs no token, and pages of any origin may read it`, async (t) => {
    const url = `http://127.0.0.1:${await start(t)}`;
    const answer = await fetch(url + PLACE);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=300');
    assert.deepEqual(await answer.json(), {
      resource: RESOURCE,
      authorization_servers: ['https://auth.example'],
      scopes_supported: ['mail.read', 'mail.send'],
      bearer_methods_supported: ['header'],
    });
    const head = await fetch(url + PLACE, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
    const preflight = await fetch(url + PLACE, { method: 'OPTIONS' });
    assert.equal(preflight.status, 204);
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /MCP-Protocol-Version/);
    const posted = await fetch(url + PLACE, { method: 'POST' });
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
    for (const elsewhere of ['/', '/v1', `${PLACE}/`, `${PLACE}?a=1`, '/.well-known/oauth-protected-resource'])
      assert.equal((await fetch(url + elsewhere)).status, 401, elsewhere);
  });

test('RFC 9728 §5.1: a 401 where no token came names the metadata and the scopes that are needed', async () => {
  const { headers } = (await verifier.check(null, READ)) as { headers: Record<string, string> };
  assert.equal(
    headers['WWW-Authenticate'],
    `Bearer realm="valetkey", scope="mail.read mail.send", resource_metadata="https://mail.example${PLACE}"`,
  );
});

test('RFC 9728 §3.1, §3.3: the path and query of a resource follow the well-known path; without a path nothing does', () => {
  const places = {
    'https://mail.example': '/.well-known/oauth-protected-resource',
    'https://mail.example/': '/.well-known/oauth-protected-resource',
    'https://mail.example/v1?tenant=7': `${PLACE}?tenant=7`,
  };
  for (const [resource, place] of Object.entries(places)) {
    const ours = verifierOf({ resource });
    assert.equal(JSON.parse(ours.metadata('GET', place)?.body ?? '{}').resource, resource);
    assert.equal(ours.metadata('GET', `${place}x`), undefined);
  }
});

test('RFC 9728 §1.2, §3.2: nothing is listed that the API did not name, and an API without a resource has no metadata', () => {
  const [named, nameless, odd] = [
    verifierOf({ resource: RESOURCE }),
    verifierOf({}),
    verifierOf({ resource: 'urn:mail' }),
  ];
  assert.deepEqual(Object.keys(JSON.parse(named.metadata('GET', PLACE)?.body ?? '{}')), [
    'resource',
    'authorization_servers',
    'bearer_methods_supported',
  ]);
  for (const ours of [nameless, odd])
    assert.equal(ours.metadata('GET', '/.well-known/oauth-protected-resource'), undefined);
});

test('RFC 9728 §3, §3.1: a Fetch-style handler answers the metadata before it checks a token', async () => {
  const handler = async (request: Request) => verifier.metadataResponse(request) ?? Response.json({}, { status: 401 });
  for (const [method, status] of [
    ['GET', 200],
    ['HEAD', 200],
    ['OPTIONS', 204],
    ['PUT', 405],
  ] as const)
    assert.equal((await handler(new Request(`https://mail.example${PLACE}`, { method }))).status, status, method);
  assert.equal((await handler(new Request('https://mail.example/v1'))).status, 401);
});

test('RFC 6749 §3.3: a list of scopes that is none is an error at once', () => {
  for (const scopesSupported of ['mail.read', ['a b'], [1]])
    assert.throws(() => verifierOf({ resource: RESOURCE, scopesSupported }), TypeError);
});
