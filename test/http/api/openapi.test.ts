/** `/openapi.json` against the standard, its copy in the documents, and the routes. `openapi-answers.test.ts` has the answers. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { Answers } from '../../../src/http/answer/send-problem.ts';
import { ApiDescription, documentFrame } from '../../../src/http/api/openapi.ts';
import { apiAnswers, oauthAnswers } from '../../../src/http/json/json-answers.ts';
import { providerAnswers } from '../../../src/http/provider/requests.ts';
import type { Service } from '../../../src/http/service/service.ts';
import { REFUSED_PARAMETERS, STANDARD_PARAMETERS } from '../../../src/oauth/protocol/authorization-request.ts';
import { pagePaths } from '../../../src/pages/layout/page-paths.ts';
import { assertFits, DescribedService, parameterNames } from '../../support/described.ts';
import { freePort, startTestService } from '../../support/service.ts';

const FILE = new URL('../../../docs/openapi.json', import.meta.url);

/** Every route of every server that this file starts. */
const routes: { readonly server: FastifyInstance; readonly route: RouteOptions }[] = [];
subscribe('fastify.initialization', (message) => {
  const { fastify: server } = message as { fastify: FastifyInstance };
  server.addHook('onRoute', (route) => void routes.push({ server, route }));
});

const service = await startTestService({ after });
const ownRoutes = [...routes];
const described = await DescribedService.of(service);

test('OpenAPI 3.1: the document is valid, and anybody may read it', async () => {
  const answer = await fetch(`${service.appUrl}/openapi.json`);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=300');
  assert.equal(answer.headers.get('access-control-allow-origin'), '*');
  const document = (await answer.json()) as Record<string, unknown>;
  assert.deepEqual(document['servers'], [{ url: service.appUrl }]);
  assert.match(String(document['openapi']), /^3\.1\./);
  const { valid, errors } = await new Validator().validate(document);
  assert.ok(valid, JSON.stringify(errors));
});

test('OpenAPI 3.1: the document is made once, whoever asks for it how often', () => {
  const brand = { productName: 'Acme', color: '#000000', logoHref: null, supportAddress: null };
  const description = new ApiDescription(
    documentFrame({ appUrl: 'https://auth.test', brand, paths: pagePaths('') } as Service),
  );
  assert.equal(description.bytes, description.bytes);
});

test('docs/openapi.json is what a service with the default addresses says; UPDATE_DOCS=1 writes it', async (t) => {
  const usual = await startTestService(t, {
    VALETKEY_APP_URL: 'http://localhost:3000',
    VALETKEY_API_URL: 'http://localhost:3001',
    VALETKEY_APP_LISTEN: `127.0.0.1:${await freePort()}`,
    VALETKEY_API_LISTEN: `127.0.0.1:${await freePort()}`,
  });
  const document = await (await fetch(`${usual.appUrl}/openapi.json`)).json();
  if (process.env['UPDATE_DOCS']) {
    writeFileSync(FILE, JSON.stringify(document));
    execFileSync(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'format', '--write', 'docs/openapi.json']);
  }
  assert.deepEqual(
    JSON.parse(readFileSync(FILE, 'utf8')),
    document,
    'UPDATE_DOCS=1 npm test -- test/http/api/openapi.test.ts',
  );
});

test('where both addresses are the same, one server describes the same operations', async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { operations } = await DescribedService.of(
    await startTestService(t, { VALETKEY_APP_URL: url, VALETKEY_API_URL: url }),
  );
  assert.deepEqual([...operations.keys()].sort(), [...described.operations.keys()].sort());
  for (const { urls } of operations.values()) assert.ok(urls.length === 1 && urls[0]?.startsWith(url), String(urls));
});

test('every route that answers JSON is described, no page is, and nothing else', () => {
  const expected: string[] = [];
  // Preflights are the browser's own business, and HEAD is GET without its body.
  const isDescribed = (method: unknown) => method !== 'OPTIONS' && method !== 'HEAD';
  for (const { server, route } of ownRoutes.filter(({ route: { method } }) => isDescribed(method))) {
    const { port } = server.server.address() as AddressInfo;
    const { answers, operation } = route.config ?? {};
    assert.ok(answers, `${route.url} has a form for problems`);
    const isPage = ![oauthAnswers, apiAnswers, providerAnswers].includes(answers as Answers);
    assert.equal(operation === undefined, isPage, `${route.method} ${route.url}`);
    if (!isPage) expected.push(`${route.method} http://127.0.0.1:${port}${route.url}`);
  }
  const found = [...described.operations.values()].flatMap(({ method, urls }) => urls.map((url) => `${method} ${url}`));
  assert.deepEqual(found.sort(), expected.sort());
  assert.ok(ownRoutes.length > expected.length && expected.length > 10);
});

test('every example is as its schema says', async () => {
  let found = 0;
  const look = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    const { examples } = part as { examples?: unknown };
    for (const example of Array.isArray(examples) ? examples : []) {
      assertFits(part, example, 'an example');
      found += 1;
    }
    Object.values(part).forEach(look);
  };
  look(await (await fetch(`${service.appUrl}/openapi.json`)).json());
  assert.ok(found > 10);
});

/** They read JSON with values of all kinds, which `test/http/external` asks for. */
function isForProviders(operation: object): boolean {
  return (operation as { tags?: readonly string[] }).tags?.[0] === 'identity providers';
}

test('every parameter that an endpoint reads is described, and no other', async () => {
  const posts = [...described.operations].filter(([, { method }]) => method === 'POST');
  const names = new Set(posts.flatMap(([, { operation }]) => parameterNames(operation)));
  assert.ok(posts.length >= 7 && names.size > 15);
  for (const [id, { operation }] of posts) {
    // A pushed request is read after its client has proven itself.
    if (id === 'pushAuthorizationRequest' || isForProviders(operation)) continue;
    const read: string[] = [];
    for (const name of names) {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const { body } = await described.ask(id, { body: `${name}=%ff`, headers });
      if (body['error_description'] === `${name} is not a string in UTF-8`) read.push(name);
    }
    assert.deepEqual(read.sort(), parameterNames(operation).sort(), id);
  }
});

test('RFC 9126 §2.1: a pushed request has the parameters of an authorization request and those of a client', () => {
  const refused = REFUSED_PARAMETERS.map(([name]) => name);
  const allowed = STANDARD_PARAMETERS.filter((name) => !refused.includes(name));
  const ofClients = ['client_secret', 'client_assertion', 'client_assertion_type'];
  const { operation } = described.operation('pushAuthorizationRequest');
  assert.deepEqual(parameterNames(operation).sort(), [...allowed, ...ofClients].sort());
});
