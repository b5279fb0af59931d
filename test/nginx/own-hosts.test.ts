/** Host names of Valetkey's own on one machine: deploy/nginx.conf with TLS, and the Caddyfile of docs/operating/proxy.md, both for real. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import tls from 'node:tls';
import { Browser } from '../support/browser.ts';
import { exchange, me, obtainPair, pairOf, refresh, signIn } from '../support/flow.ts';
import { addClient, addUser, freePort, type Lifetime, startTestService, type TestService } from '../support/service.ts';
import { standardUrl } from '../support/standard.ts';
import { isCaddyThere, runCaddy } from './caddy.ts';
import {
  type Addresses,
  BEHIND_NGINX,
  isThere,
  nginxAddresses,
  oneMachineAddresses,
  startOneMachine,
} from './nginx.ts';

const operating = readFileSync(new URL('../../docs/operating/proxy.md', import.meta.url), 'utf8');
const [, ofCaddy = ''] = /Caddy sets both headers by itself.*?```\n(.*?)^```/ms.exec(operating) ?? [];

async function startCaddy(t: Lifetime, at: Addresses, service: Addresses): Promise<void> {
  const configuration = ofCaddy
    .replace('auth.example.com', at.appUrl)
    .replace('api.example.com', at.apiUrl)
    .replace('127.0.0.1:3000', new URL(service.appUrl).host)
    .replace('127.0.0.1:3001', new URL(service.apiUrl).host);
  await runCaddy(t, at.appUrl, configuration);
}

/** Starts a service for the addresses of a proxy; `inside` is where the proxy finds it. */
async function startBehind(t: Lifetime, at: Addresses) {
  const inside = { appUrl: `http://127.0.0.1:${await freePort()}`, apiUrl: `http://127.0.0.1:${await freePort()}` };
  const behind = await startTestService(t, {
    ...BEHIND_NGINX,
    VALETKEY_APP_URL: at.appUrl,
    VALETKEY_API_URL: at.apiUrl,
    VALETKEY_APP_LISTEN: new URL(inside.appUrl).host,
    VALETKEY_API_LISTEN: new URL(inside.apiUrl).host,
  });
  const service: TestService = { ...behind, appUrl: at.appUrl, apiUrl: at.apiUrl };
  return { service, inside };
}

/** A grant lives, with all that a redirect may hold, and a visitor's word of its source is not taken. */
async function assertWalk(service: TestService): Promise<void> {
  await addUser(service);
  const client = await addClient(service);
  const browser = new Browser();
  assert.equal((await signIn(service, browser)).status, 303);
  const pair = await obtainPair(service, browser, client);
  assert.equal((await me(service, pair.accessToken)).status, 200);
  const next = pairOf(await refresh(service, client, pair.refreshToken));
  assert.equal((await me(service, next.accessToken)).status, 200);
  assert.equal((await exchange(service, client, 'vk_ac_x')).status, 400);
  const state = 'y'.repeat(8_000);
  const refused = await browser.get(standardUrl(service, client, { scope: 'none', state }));
  assert.equal(new URL(String(refused.headers.get('location'))).searchParams.get('state'), state, 'a long redirect');
  await fetch(`${service.apiUrl}/v2/me`, { headers: { 'X-Forwarded-For': '203.0.113.9' } });
  assert.ok(service.log.some((line) => line.includes('"source":"127.0.0.1"')));
  assert.ok(!service.log.some((line) => line.includes('203.0.113.9')));
}

/** Sends a head over TLS to whoever has a name; resolves with all that comes back. */
async function sendOverTls(url: string, servername: string | undefined, host: string): Promise<string> {
  const name = servername === undefined ? {} : { servername };
  const socket = tls.connect({
    port: Number(new URL(url).port),
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...name,
  });
  await once(socket, 'secureConnect');
  socket.write(`GET /sign-in HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return text(socket);
}

// Not skipped tests: nothing that this project brings is missing.
test('operators: behind Caddy, as docs/operating/proxy.md says, a grant lives', async (t) => {
  if (!isCaddyThere()) return t.diagnostic('not tried: Caddy is not installed, and npm run test:nginx installs it');
  const at = await nginxAddresses();
  const { service, inside } = await startBehind(t, at);
  await startCaddy(t, at, inside);
  await assertWalk(service);
});

test('operators: behind nginx as deploy/nginx.conf has it on one machine, a grant lives, and no other name leads in', async (t) => {
  if (!isThere()) return t.diagnostic('not tried: nginx is not installed, and npm run test:nginx installs it');
  const at = await oneMachineAddresses();
  const { service, inside } = await startBehind(t, at);
  const nginx = await startOneMachine(t, at, inside);
  await assertWalk(service);

  await t.test('RFC 9110 §7.4: a name that is not one of the two reaches nothing, by SNI or by Host', async () => {
    const before = nginx.handedOn().length;
    for (const url of [at.appUrl, at.apiUrl]) {
      assert.match(await sendOverTls(url, 'localhost', 'localhost'), /^HTTP\/1\.1 [24]/, 'its own name');
      for (const host of ['evil.example', '127.0.0.1']) assert.equal(await sendOverTls(url, 'localhost', host), '');
      for (const servername of ['evil.example', undefined])
        await assert.rejects(sendOverTls(url, servername, 'localhost'), /unrecognized name/);
    }
    const { port } = new URL(at.plainUrl);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/sign-in`), TypeError);
    assert.equal(nginx.handedOn().length, before + 2);
  });

  await t.test('RFC 6749 §10.9: pages are led from http to https, and what carries secrets is refused', async () => {
    const plainly = async (method: string, path: string) => {
      const { status, headers } = await fetch(at.plainUrl + path, { method, redirect: 'manual' });
      return [status, headers.get('location')];
    };
    assert.deepEqual(await plainly('GET', '/account/apps?a=b'), [301, 'https://localhost/account/apps?a=b']);
    assert.deepEqual(await plainly('GET', '/oauth2/authorize?a=b'), [301, 'https://localhost/oauth2/authorize?a=b']);
    for (const path of ['/api/auth/oauth/token', '/oauth2/token', '/v2/me'])
      assert.deepEqual(await plainly('POST', path), [403, null], path);
    assert.deepEqual(await plainly('GET', '/.well-known/acme-challenge/none'), [404, null]);
  });

  await t.test(
    'operators: the logs of nginx have each path and no query, also of a request that nobody answered',
    async () => {
      assert.match(nginx.log(), /^127\.0\.0\.1 \S+ POST \/auth\/oauth2\/authorize 303 /m);
      await service.stop();
      assert.equal((await fetch(`${at.appUrl}/sign-in?ticket=yyy`)).status, 502);
      assert.doesNotMatch(nginx.log() + nginx.errors(), /\?|yyy/);
    },
  );
});
