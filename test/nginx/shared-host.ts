/** Valetkey beside a product on one host name: what is asked through the proxy, whichever that is. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ME_PATH,
  REFRESH_TOKEN_PATH,
  RESOURCE_METADATA_PATH,
  STANDARD_PATHS,
  TOKEN_PATH,
} from '../../src/http/service/paths.ts';
import { pagePaths } from '../../src/pages/layout/page-paths.ts';
import { Browser } from '../support/browser.ts';
import { authorizeUrl, exchange, me, pairOf, refresh } from '../support/flow.ts';
import { addClient, addUser, type Lifetime, PASSWORD, startTestService, type TestService } from '../support/service.ts';
import { addResourceServer, basic, standardUrl } from '../support/standard.ts';

/** The base path of the examples. */
const BASE = '/connect';
/** The name that the examples have, and where they look for Valetkey and for the product. */
export const EXAMPLE = { host: 'app.example.com', valetkey: '127.0.0.1:3000', product: '127.0.0.1:8080' };

/** Paths that are the product's, though they look like some of ours. */
const OF_PRODUCT = [
  ...['/', '/sign-in', '/sign-out', '/account/apps', '/account/password', '/device', '/developers', '/openapi.json'],
  ...['/developers.md', '/llms.txt'],
  ...[
    '/connected',
    '/connect.css',
    '/assets/logo',
    '/auth/oauth2/other',
    '/auth',
    '/api',
    '/api/auth/other',
    '/v2/other',
  ],
  ...['/oauth2x', '/.well-known/security.txt', '/.well-known/openid-configuration', '/healthz', '/readyz'],
];

/** A server that says whose it is. */
export async function startProduct(t: Lifetime): Promise<string> {
  const server = createServer((_request, response) => response.end('the product'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts Valetkey for a host name that it shares, at which the proxy answers; `listen` is where the proxy finds it. */
export async function startShared(t: Lifetime, url: string, listen: string): Promise<TestService> {
  const service = await startTestService(t, {
    VALETKEY_APP_URL: url,
    VALETKEY_API_URL: url,
    VALETKEY_APP_LISTEN: listen,
    VALETKEY_PAGES_BASE_PATH: BASE,
    VALETKEY_TRUSTED_PROXIES: '127.0.0.1',
  });
  await addUser(service);
  return { ...service, appUrl: url, apiUrl: url };
}

/** Every path of ours is ours, and every other one the product's. */
export async function assertShared(service: TestService, product = 'the product'): Promise<void> {
  const { appUrl } = service;
  const answerOf = async (path: string, method = 'GET') => {
    const answer = await fetch(appUrl + path, { method, redirect: 'manual' });
    const text = await answer.text();
    return { status: answer.status, isOurs: answer.headers.has('x-request-id'), text };
  };
  for (const path of Object.values(pagePaths(BASE))) {
    const { isOurs } = await answerOf(typeof path === 'string' ? path : path('0123456789ab'));
    assert.ok(isOurs, String(path));
  }
  for (const path of ['/auth/oauth2/authorize', ...Object.values(STANDARD_PATHS), RESOURCE_METADATA_PATH, ME_PATH])
    assert.ok((await answerOf(path)).isOurs, path);
  for (const path of [TOKEN_PATH, REFRESH_TOKEN_PATH, STANDARD_PATHS.token, STANDARD_PATHS.introspect]) {
    const { isOurs, status } = await answerOf(path, 'POST');
    assert.ok(isOurs && status >= 400 && status < 500, path);
  }
  for (const path of OF_PRODUCT) {
    const { isOurs, text } = await answerOf(path);
    assert.ok(!isOurs && text.includes(product), path);
  }
}

/** A grant lives: sign-in, Allow at both faces with all that an address may hold, tokens, the stream, a device's page. */
export async function assertWalk(service: TestService): Promise<void> {
  const { appUrl } = service;
  const client = await addClient(service, { deviceFlow: true });
  const api = await addResourceServer(service);
  const browser = new Browser();
  const stream = await fetch(appUrl + STANDARD_PATHS.revocations, { headers: basic(api.id, api.secret) });
  assert.equal(stream.status, 200);
  let heard = '';
  const hearing = (async () => {
    for await (const bytes of stream.body ?? []) {
      heard += Buffer.from(bytes).toString();
      if (heard.includes('event: revoked')) return;
    }
  })();
  const state = `a b&c=d+e%2F#?é"<${'x'.repeat(3_000)}`;
  const signInForm = await browser.get(authorizeUrl(service, client, { state }));
  const signedIn = await browser.submit(signInForm, `${BASE}/sign-in`, {
    email: 'ada@example.com',
    password: PASSWORD,
  });
  assert.equal(signedIn.status, 303);
  for (const url of [String(signedIn.headers.get('location')), standardUrl(service, client, { state })]) {
    const page = await browser.get(new URL(url, appUrl).href);
    const allowed = await browser.submit(page, new URL(url, appUrl).pathname, { decision: 'allow' });
    assert.equal(allowed.status, 303);
    assert.equal(new URL(String(allowed.headers.get('location'))).searchParams.get('state'), state);
    if (page.url.includes('/auth/oauth2/')) {
      const code = String(new URL(String(allowed.headers.get('location'))).searchParams.get('code'));
      const { accessToken, refreshToken } = pairOf(await exchange(service, client, code));
      assert.equal((await me(service, accessToken)).status, 200);
      pairOf(await refresh(service, client, refreshToken));
    }
  }
  const long = await browser.get(standardUrl(service, client, { scope: 'none', state: 'y'.repeat(8_000) }));
  assert.equal(
    new URL(String(long.headers.get('location'))).searchParams.get('state')?.length,
    8_000,
    'a long redirect',
  );
  const apps = await browser.get(`${appUrl}${BASE}/account/apps`);
  const removed = await browser.submit(apps, `${BASE}/account/apps/revoke`, {});
  assert.ok(String(removed.headers.get('location')).startsWith(`${BASE}/account/apps?`));
  await hearing;
  assert.equal((await browser.get(`${appUrl}${BASE}/device`)).status, 200);
}

/** What a visitor claims of where it comes from is not believed. */
export async function assertSource(service: TestService): Promise<void> {
  await fetch(`${service.appUrl}${BASE}/developers`, { headers: { 'X-Forwarded-For': '203.0.113.9' } });
  assert.ok(!service.log.some((line) => line.includes('203.0.113.9')));
}
