/** The examples of docs/operating.md for host names of Valetkey's own, as they stand there, behind a real nginx and a real Caddy. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Browser } from '../support/browser.ts';
import { exchange, me, obtainPair, pairOf, refresh, signIn } from '../support/flow.ts';
import { addClient, addUser, freePort, type Lifetime, startTestService, type TestService } from '../support/service.ts';
import { standardUrl } from '../support/standard.ts';
import { isCaddyThere, runCaddy } from './caddy.ts';
import { isThere, runNginx } from './nginx.ts';

const operating = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
const [, ofNginx = ''] = /^nginx:\n\n```nginx\n(.*?)^```/ms.exec(operating) ?? [];
const [, ofCaddy = ''] = /Caddy sets both headers by itself.*?```\n(.*?)^```/ms.exec(operating) ?? [];

/** Starts a proxy at two addresses, in front of a service. */
type Start = (
  t: Lifetime,
  at: { appUrl: string; apiUrl: string },
  service: readonly [app: string, api: string],
) => Promise<void>;

/** Without TLS, which has nothing to do with how requests are handed on; the service is still told https. */
const startNginx: Start = async (t, at, [app, api]) => {
  const server = (url: string, place: string, folder: string) =>
    ofNginx
      .replace(/^# In the http block.*?;\n/ms, '')
      .replace('listen 443 ssl;', `listen ${new URL(url).host};`)
      .replace('127.0.0.1:3000', place)
      .replace('$scheme;', 'https;')
      .replace('/var/log/nginx/', `${folder}/`);
  const [format = ''] = /log_format .*;/.exec(ofNginx) ?? [];
  await runNginx(t, at.appUrl, async (folder) =>
    [format, server(at.appUrl, app, folder), server(at.apiUrl, api, folder)].join('\n'),
  );
};

const startCaddy: Start = async (t, at, [app, api]) => {
  const configuration = ofCaddy
    .replace('auth.example.com', at.appUrl)
    .replace('api.example.com', at.apiUrl)
    .replace('127.0.0.1:3000', app)
    .replace('127.0.0.1:3001', api);
  await runCaddy(t, at.appUrl, configuration);
};

for (const [name, isInstalled, start] of [
  ['nginx', isThere(), startNginx],
  ['Caddy', isCaddyThere(), startCaddy],
] as const)
  test(`operators: behind ${name}, as docs/operating.md says, a grant lives, and a visitor's word of its source is not taken`, async (t) => {
    // Not a skipped test: nothing that this project brings is missing.
    if (!isInstalled) return t.diagnostic(`not tried: ${name} is not installed, and npm run test:nginx installs it`);
    const at = { appUrl: `http://127.0.0.1:${await freePort()}`, apiUrl: `http://127.0.0.1:${await freePort()}` };
    const places = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`] as const;
    const behind = await startTestService(t, {
      VALETKEY_APP_URL: at.appUrl,
      VALETKEY_API_URL: at.apiUrl,
      VALETKEY_APP_LISTEN: places[0],
      VALETKEY_API_LISTEN: places[1],
      VALETKEY_TRUSTED_PROXIES: '127.0.0.1',
    });
    const service: TestService = { ...behind, ...at };
    await start(t, at, places);
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
    await fetch(`${at.apiUrl}/v2/me`, { headers: { 'X-Forwarded-For': '203.0.113.9' } });
    assert.ok(service.log.some((line) => line.includes('"source":"127.0.0.1"')));
    assert.ok(!service.log.some((line) => line.includes('203.0.113.9')));
  });
