/** What Prometheus reads of a running service, on both stores. */
import assert from 'node:assert/strict';
import { after, describe, type TestContext, test } from 'node:test';
import { MAX_OUTCOMES, RequestTally } from '../../src/http/service/request-tally.ts';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { Browser } from '../support/browser.ts';
import { authorizeUrl, exchange, me, obtainCode, pairOf, refresh, signedInBrowser, signIn } from '../support/flow.ts';
import { metricsAddress, namesIn, scrape } from '../support/metrics.ts';
import { PATIENT, startPostgres } from '../support/postgres.ts';
import { hold, requestHead, sendRaw } from '../support/raw-http.ts';
import { addClient, addUser, Clock, PASSWORD, startTestService } from '../support/service.ts';
import { addResourceServer, introspect } from '../support/standard.ts';

const server = await startPostgres();
after(() => server.remove());

async function start(t: TestContext, variables: Record<string, string> = {}) {
  const { variables: own, url } = await metricsAddress();
  const service = await startTestService(t, { ...own, ...variables }, new Clock(), PATIENT);
  return { service, url };
}

const STORES = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({
    VALETKEY_DATABASE_URL: await server.createDatabase(),
    VALETKEY_KEYS: makeRootKey(),
  }),
};

for (const [store, variables] of Object.entries(STORES))
  describe(store, () => {
    test('each figure of the protocol counts exactly what happened', async (t) => {
      const { service, url } = await start(t, await variables());
      await addUser(service);
      const client = await addClient(service, { refreshOverlap: 0 });
      const resourceServer = await addResourceServer(service);
      const before = await scrape(url);
      assert.equal(before.get('valetkey_exchanges_total{code="authorization"}'), 0);

      await signIn(service, new Browser(), 'ada@example.com', `not ${PASSWORD}`);
      const browser = await signedInBrowser(service);
      const denied = await browser.get(authorizeUrl(service, client));
      await browser.submit(denied, '/auth/oauth2/authorize', { decision: 'deny' });
      const code = await obtainCode(service, browser, client);
      const first = pairOf(await exchange(service, client, code));
      const second = pairOf(await refresh(service, client, first.refreshToken));
      assert.deepEqual(pairOf(await refresh(service, client, first.refreshToken)), second);
      await me(service, second.accessToken);
      await me(service, second.accessToken);
      await introspect(service, resourceServer, second.accessToken);
      assert.equal((await refresh(service, client, first.refreshToken)).status, 400, 'used: it is reuse');
      await me(service, second.accessToken);
      const replayed = await obtainCode(service, browser, client);
      pairOf(await exchange(service, client, replayed));
      await exchange(service, client, replayed);
      await exchange(service, client, replayed);

      const figures = await scrape(url);
      const expected = {
        'valetkey_sign_ins_total{way="password",result="signed_in"}': 1,
        'valetkey_sign_ins_total{way="password",result="wrong_credentials"}': 1,
        'valetkey_consents_total{decision="allowed"}': 2,
        'valetkey_consents_total{decision="denied"}': 1,
        'valetkey_exchanges_total{code="authorization"}': 2,
        valetkey_refreshes_total: 1,
        valetkey_retries_total: 1,
        valetkey_refresh_reuses_total: 1,
        valetkey_code_replays_total: 1,
        'valetkey_checks_total{result="active"}': 2,
        'valetkey_checks_total{result="refused"}': 1,
        valetkey_introspections_total: 1,
        valetkey_throttled_total: 0,
        'valetkey_requests_total{route="/v2/me",outcome="ok"}': 2,
        'valetkey_requests_total{route="/v2/me",outcome="invalid_token"}': 1,
        'valetkey_requests_total{route="/api/auth/oauth/token",outcome="ok"}': 2,
        'valetkey_requests_total{route="/api/auth/oauth/token",outcome="invalid_grant"}': 2,
        'valetkey_request_seconds_count{route="/v2/me"}': 3,
        'valetkey_request_seconds_bucket{route="/v2/me",le="+Inf"}': 3,
        valetkey_ready: 1,
        valetkey_root_keys: 1,
        valetkey_clean_up_behind_seconds: 0,
      };
      assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, figures.get(name)])), expected);
      assert.ok((figures.get('valetkey_group_size_sum{kind="writes"}') ?? 0) >= 6, 'each write is in a group');
      assert.ok((figures.get('valetkey_current_root_key_created_timestamp_seconds') ?? 0) > 0);
    });
  });

test('a figure of requests has a label for each route of the program, and none for what visitors make up', async (t) => {
  const { service, url } = await start(t);
  const ask = async (round: number) => {
    const paths = [
      `/x${round}`,
      `/v2/me/${round}`,
      `/account/%2e%2e/${round}`,
      `/v2/me?token=${round}`,
      `/%ff${round}`,
    ];
    for (const path of paths) await fetch(service.appUrl + path, { headers: { 'User-Agent': `agent-${round}` } });
    for (const method of ['PUT', 'DELETE', `MADE-UP-${round}`, 'GET'])
      await sendRaw(
        service.apiUrl,
        `${method} /v2/me${round} HTTP/1.1\r\nHost: h${round}\r\nConnection: close\r\n\r\n`,
      );
    await sendRaw(service.apiUrl, `nonsense-${round}\r\n\r\n`);
    await fetch(`${service.apiUrl}/v2/me`, { headers: { Authorization: `Bearer made-up-${round}` } });
  };
  await ask(0);
  const ownNames = async () => [...(await scrape(url)).keys()].filter((name) => name.startsWith('valetkey_'));
  const before = await ownNames();
  for (let round = 1; round < 20; round += 1) await ask(round);
  const text = await (await fetch(url)).text();
  assert.deepEqual(await ownNames(), before);
  assert.doesNotMatch(text, /made-up|agent-|MADE|h19/i);
});

test('outcomes of one route beyond their maximum are counted as one', () => {
  const tally = new RequestTally();
  for (let n = 0; n < 10 * MAX_OUTCOMES; n += 1) tally.end('/x', { error: `error_${n}` }, 400, 1);
  const [route] = tally.routes.values();
  assert.equal(route?.others.size, MAX_OUTCOMES + 1);
  assert.equal(route?.others.get('other'), 9 * MAX_OUTCOMES);
});

test('the text is that of version 0.0.4, and holds no secret and nobody’s name', async (t) => {
  const { service, url } = await start(t);
  await addUser(service);
  const client = await addClient(service);
  const browser = await signedInBrowser(service);
  const pair = pairOf(await exchange(service, client, await obtainCode(service, browser, client)));
  const response = await fetch(url);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const text = await response.text();
  const secrets = [pair.accessToken, pair.refreshToken, client.clientSecret, client.clientId, 'ada@', 'Test App'];
  for (const secret of [...secrets, ...browser.cookies.values()]) assert.ok(!text.includes(secret), secret);
  assert.equal(new Set(namesIn(text)).size, namesIn(text).length);
});

test('a service answers for its figures until its last request is answered', async (t) => {
  const { service, url } = await start(t);
  const head = requestHead(service.appUrl, 'POST /api/auth/oauth/token', {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': '10',
  });
  const socket = await hold(service.appUrl, head);
  const stopped = service.stop();
  assert.equal((await scrape(url)).get('valetkey_ready'), 0);
  socket.destroy();
  await stopped;
  await assert.rejects(fetch(url));
});

test('only GET and HEAD of /metrics are answered there, and nothing of it at the other addresses', async (t) => {
  const { service, url } = await start(t);
  const statusOf = async (address: string, method: string) => (await fetch(address, { method })).status;
  assert.ok(service.log.some((line) => line.includes(`figures for Prometheus at ${url}`)));
  assert.equal(await statusOf(url, 'HEAD'), 200);
  assert.equal(await statusOf(url, 'POST'), 405);
  assert.equal(await statusOf(url.replace('/metrics', '/'), 'GET'), 404);
  assert.equal(await statusOf(`${service.appUrl}/metrics`, 'GET'), 404);
  assert.equal(await statusOf(`${service.apiUrl}/metrics`, 'GET'), 404);
});

test('an address for figures that is in use is refused with the variable that names it', async (t) => {
  const { url, service } = await start(t);
  const again = startTestService(t, { VALETKEY_METRICS_LISTEN: new URL(url).host });
  await assert.rejects(again, /VALETKEY_METRICS_LISTEN: 127\.0\.0\.1:\d+ cannot be bound \(EADDRINUSE\): choose/);
  assert.equal((await fetch(`${service.appUrl}/healthz`)).status, 200);
});
