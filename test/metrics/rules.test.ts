/**
 * The alerts and the dashboard under deploy/ ask for figures that are exported, and each alert's condition is reached by its
 * fault in a running service. `npm run test:prometheus` has Prometheus itself evaluate the same figures.
 */
// biome-ignore assist/source/organizeImports: before what opens files
import { slowDisk } from './slow-disk.ts';

import assert from 'node:assert/strict';
import { readFileSync, truncateSync } from 'node:fs';
import type { Socket } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeSigningKey } from '../../src/oauth/openid/signing-key.ts';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { keyring } from '../oauth/samples.ts';
import { Browser } from '../support/browser.ts';
import { exchange, me, obtainCode, obtainPair, pairOf, refresh, signedInBrowser, signIn } from '../support/flow.ts';
import { type Figures, metricsAddress, namesIn, scrape } from '../support/metrics.ts';
import { startOnFile } from '../support/on-file.ts';
import { PATIENT, startPostgres } from '../support/postgres.ts';
import { hold, requestHead, untilRead } from '../support/raw-http.ts';
import { addClient, addUser, Clock, startTestService, type TestService } from '../support/service.ts';
import { secondConnection } from '../support/storage.ts';
import { figuresIn, readAlerts } from './alerts.ts';
import { evaluated, isThere, type Scraped } from './prometheus.ts';

// Not a skipped test: nothing that this project brings is missing.
test('Prometheus is named where it is not installed, and npm run test:prometheus installs it', (t) => {
  if (!isThere()) t.diagnostic('not tried: promtool, as the package prometheus is not installed');
});

const server = await startPostgres();
after(() => server.remove());

const ALERTS = readAlerts();
/** The head of a request whose body does not come. */
const FORM_TO_COME = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '10' };
const seen = new Set<string>();
/** What was scraped around each fault, for Prometheus itself. */
const scraped: Scraped[] = [];

/** A service whose figures are read. */
async function start(t: TestContext, variables: Record<string, string> = {}, clock = new Clock()) {
  const { variables: own, url } = await metricsAddress();
  const service = await startTestService(t, { ...own, ...variables }, clock, PATIENT);
  return { service, url };
}

/** The figures before and after a fault. */
type Around = { readonly before: Figures; readonly after: Figures };

/**
 * Holds that an alert's condition was not met before a fault, and is after it. `value` computes what the expression says of the
 * figures; it may read no others than those that the expression names.
 */
function assertFires(name: string, around: Around, value: (read: (figure: RegExp) => Read) => number): void {
  const alert = ALERTS.get(name);
  assert.ok(alert, `there is no alert ${name}`);
  const of = (figures: Figures) => (figure: RegExp) => {
    const met = [...figures].filter(([line]) => figure.test(line));
    for (const [line] of met)
      assert.ok(
        figuresIn(alert.expression).some((known) => line.startsWith(known)),
        line,
      );
    const earlier = met.map(([line, now]) => now - (around.before.get(line) ?? 0));
    return { now: met.reduce((sum, [, one]) => sum + one, 0), increase: earlier.reduce((sum, one) => sum + one, 0) };
  };
  const isMet = (figures: Figures) => {
    const found = value(of(figures));
    return alert.expression.includes('==') ? found === alert.threshold : found > alert.threshold;
  };
  assert.equal(isMet(around.before), false, `${name} fires without its fault`);
  assert.equal(isMet(around.after), true, `${name} does not fire: ${alert.expression}`);
  seen.add(name);
  scraped.push({ name, ...around });
}

/** A figure, or the sum of those that match: its value, and by how much it grew. */
type Read = { readonly now: number; readonly increase: number };

/** A quantile's bucket, as histogram_quantile finds it: the lower bound of the bucket that holds it. */
function atLeast({ before, after }: Around, share: number, line: RegExp): number {
  const buckets = [...after]
    .filter(([name]) => line.test(name))
    .map(
      ([name, count]) =>
        [Number(/le="([^"]+)"/.exec(name)?.[1]?.replace('+Inf', 'Infinity')), count - (before.get(name) ?? 0)] as const,
    )
    .sort(([one], [other]) => one - other);
  const all = buckets.at(-1)?.[1] ?? 0;
  const place = buckets.findIndex(([, count]) => all > 0 && count >= share * all);
  return place <= 0 ? 0 : (buckets[place - 1]?.[0] ?? 0);
}

/** Reads the figures around a fault. */
async function around(url: string, fault: () => Promise<unknown>): Promise<Around> {
  const before = await scrape(url);
  await fault();
  return { before, after: await scrape(url) };
}

test('the rules and the dashboard ask for no figure that is not exported', async (t) => {
  const { url } = await start(t);
  const exported = namesIn(await (await fetch(url)).text());
  const known = new Set(exported.flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]));
  const dashboard = readFileSync(new URL('../../deploy/grafana/valetkey.json', import.meta.url), 'utf8');
  const asked = figuresIn([...ALERTS.values()].map(({ expression }) => expression).join(' ') + dashboard);
  assert.ok(asked.length > 40);
  assert.deepEqual(
    [...new Set(asked)].filter((name) => !known.has(name)),
    [],
  );
  const own = exported.filter((name) => name.startsWith('valetkey_'));
  assert.deepEqual(
    own.filter((name) => !asked.some((one) => one.startsWith(name))),
    [],
    'each figure of ours is on the dashboard or in a rule',
  );
});

test('ValetkeyCodeReplayed and ValetkeyRefreshTokenReused fire', async (t) => {
  const { service, url } = await start(t);
  await addUser(service);
  const client = await addClient(service, { refreshOverlap: 0, refreshRetryWindow: 0 });
  const browser = await signedInBrowser(service);
  const code = await obtainCode(service, browser, client);
  pairOf(await exchange(service, client, code));
  const pair = await obtainPair(service, browser, client);
  pairOf(await refresh(service, client, pair.refreshToken));
  const found = await around(url, async () => {
    await exchange(service, client, code);
    await refresh(service, client, pair.refreshToken);
  });
  assertFires('ValetkeyCodeReplayed', found, (read) => read(/^valetkey_code_replays_total/).increase);
  assertFires('ValetkeyRefreshTokenReused', found, (read) => read(/^valetkey_refresh_reuses_total/).increase);
});

test('ValetkeyPasswordsGuessed and ValetkeyThrottled fire', async (t) => {
  const { service, url } = await start(t);
  await addUser(service);
  const found = await around(url, async () => {
    for (let guess = 0; guess < 125; guess += 1)
      await signIn(service, new Browser(), 'ada@example.com', `wrong ${guess}`);
  });
  const isWrong = /^valetkey_sign_ins_total\{way="password",result="(wrong_credentials|throttled)"/;
  assertFires('ValetkeyPasswordsGuessed', found, (read) => read(isWrong).increase);
  assertFires('ValetkeyThrottled', found, (read) => read(/^valetkey_throttled_total/).increase);
});

test('ValetkeySlow fires', async (t) => {
  const { service, url } = await start(t);
  const found = await around(url, () => slowRequest(service));
  assertFires('ValetkeySlow', found, (read) => {
    const asked = read(/^valetkey_request_seconds_bucket\{route="\/api\/auth\/oauth\/token",le="\+Inf"/).increase;
    return asked === 0
      ? 0
      : atLeast(found, 0.99, /^valetkey_request_seconds_bucket\{route="\/api\/auth\/oauth\/token"/);
  });
});

/** A request whose body comes late. */
async function slowRequest({ appUrl }: TestService): Promise<void> {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '3' };
  const socket = await hold(appUrl, requestHead(appUrl, 'POST /api/auth/oauth/token', headers));
  await sleep(1100);
  const answered = new Promise((resolve) => socket.once('data', resolve));
  socket.write('a=b');
  await answered;
  socket.destroy();
}

test('ValetkeySlowDisk and ValetkeyLongLog fire', async (t) => {
  const { variables, url } = await metricsAddress();
  const { service, path } = await startOnFile(t, variables);
  await addUser(service);
  const found = await around(url, async () => {
    slowDisk.delay = 300;
    await addUser(service, 'bob@example.com');
    slowDisk.delay = 0;
    truncateSync(`${path}-wal`, 2 ** 28);
  });
  assertFires('ValetkeySlowDisk', found, (read) => {
    const synced = read(/^valetkey_sync_seconds_bucket\{le="\+Inf"/).increase;
    return synced === 0 ? 0 : atLeast(found, 0.99, /^valetkey_sync_seconds_bucket/);
  });
  assertFires('ValetkeyLongLog', found, (read) => read(/^valetkey_wal_bytes/).now);
});

test('ValetkeyEventLoopDelayed fires', async (t) => {
  const { url } = await start(t);
  const figure = 'nodejs_eventloop_lag_p99_seconds';
  const delay = async () => {
    const figures = await scrape(url);
    return { figures, seconds: figures.get(figure) ?? 0 };
  };
  let calm = await delay(); // The delay of the start, and of a busy machine, is not this test's.
  for (; calm.seconds > 0.2; calm = await delay()) await sleep(100);
  let blocked = calm;
  for (; blocked.seconds < 0.3; blocked = await delay()) {
    const since = performance.now();
    while (performance.now() - since < 600);
    await sleep(30);
  }
  const found = { before: calm.figures, after: blocked.figures };
  assertFires('ValetkeyEventLoopDelayed', found, (read) => read(/^nodejs_eventloop_lag_p99_seconds$/).now);
});

test('ValetkeyConnectionsNearMaximum fires', async (t) => {
  const { service, url } = await start(t, { VALETKEY_MAX_CONNECTIONS: '10' });
  const sockets: Socket[] = [];
  const found = await around(url, async () => {
    for (let n = 0; n < 10; n += 1) sockets.push(await hold(service.appUrl, 'GET /'));
    for (const socket of sockets) await untilRead(socket);
  });
  for (const socket of sockets) socket.destroy();
  assertFires('ValetkeyConnectionsNearMaximum', found, (read) => {
    return read(/^valetkey_connections$/).now / read(/^valetkey_connections_max$/).now;
  });
});

test('ValetkeyNotReady and ValetkeyDown fire', async (t) => {
  const { service, url } = await start(t);
  const head = requestHead(service.appUrl, 'POST /api/auth/oauth/token', FORM_TO_COME);
  const socket = await hold(service.appUrl, head);
  let stopped: Promise<void> | null = null;
  const found = await around(url, async () => {
    stopped = service.stop();
  });
  assertFires('ValetkeyNotReady', found, (read) => read(/^valetkey_ready$/).now);
  socket.destroy();
  await stopped;
  await assert.rejects(scrape(url), 'without an answer Prometheus sets up to 0');
  assert.equal(ALERTS.get('ValetkeyDown')?.expression, 'up{job="valetkey"} == 0');
  seen.add('ValetkeyDown');
  scraped.push({ name: 'ValetkeyDown', before: new Map(), after: new Map() });
});

test('ValetkeyErrors, ValetkeyDatabaseConnectionsLost and ValetkeyNotReady fire when PostgreSQL is gone', async (t) => {
  const { variables, url } = await metricsAddress();
  const database = { VALETKEY_DATABASE_URL: await server.createDatabase(), VALETKEY_KEYS: makeRootKey() };
  const service = await startTestService(t, { ...variables, ...database });
  await addUser(service);
  const client = await addClient(service);
  const { accessToken } = await obtainPair(service, await signedInBrowser(service), client);
  const before = await scrape(url);
  await server.stop();
  let gone: Figures;
  try {
    assert.equal((await me(service, accessToken)).status, 503);
    gone = await scrape(url);
  } finally {
    await server.start();
  }
  const found = { before, after: gone };
  assertFires('ValetkeyErrors', found, (read) => {
    const failed = read(/^valetkey_requests_total\{.*outcome="(internal|unavailable)"/).increase;
    return failed / Math.max(1, read(/^valetkey_requests_total/).increase);
  });
  const lost = /^valetkey_database_connections_lost_total/;
  assertFires('ValetkeyDatabaseConnectionsLost', found, (read) => read(lost).increase);
  assertFires('ValetkeyNotReady', found, (read) => read(/^valetkey_ready$/).now);
});

test('ValetkeyCleanUpFails fires when a table is gone', async (t) => {
  const { variables, url } = await metricsAddress();
  const { path } = await startOnFile(t, variables);
  const failures = /^valetkey_clean_up_failures_total$/;
  const found = await around(url, async () => {
    secondConnection(t, path).exec('DROP TABLE client_assertion');
    while (((await scrape(url)).get('valetkey_clean_up_failures_total') ?? 0) === 0) await sleep(100);
  });
  assertFires('ValetkeyCleanUpFails', found, (read) => read(failures).increase);
});

test('ValetkeyClockJumped fires when the clock jumps', async (t) => {
  const { service, url } = await start(t);
  const found = await around(url, async () => {
    service.clock.advance(7200);
    while (Number((await scrape(url)).get('valetkey_clean_up_behind_seconds')) < 7000) await sleep(100);
  });
  assertFires('ValetkeyClockJumped', found, (read) => read(/^valetkey_clean_up_behind_seconds/).now);
});

test('ValetkeyTrailWithoutCheckpoint fires when the trail was not verified for long', async (t) => {
  const verified = /^valetkey_audit_trail_verified_timestamp_seconds$/;
  // Prometheus compares with its own clock. One service began now, the other 20 minutes ago, and made no checkpoint since.
  const [young, old] = [new Clock(), new Clock()];
  young.advance((Date.now() - young.now()) / 1000);
  old.advance((Date.now() - old.now()) / 1000 - 1200);
  const [before, after] = [await start(t, {}, young), await start(t, {}, old)];
  const found = { before: await scrape(before.url), after: await scrape(after.url) };
  assertFires('ValetkeyTrailWithoutCheckpoint', found, (read) => Date.now() / 1000 - read(verified).now);
});

test('ValetkeyLogDropped fires when lines were dropped', async (t) => {
  const { variables, url } = await metricsAddress();
  let dropped = 0;
  await startTestService(t, variables, new Clock(), { ...PATIENT, droppedLines: () => dropped });
  const found = await around(url, async () => {
    dropped = 7;
  });
  assertFires('ValetkeyLogDropped', found, (read) => read(/^valetkey_log_lines_dropped_total$/).increase);
});

test('ValetkeyBackupOld fires where none ever was, and not once one was noted', async (t) => {
  const { service, url } = await start(t);
  const never = await scrape(url);
  service.clock.advance((Date.now() - service.clock.now()) / 1000);
  await service.installation.backups.note('by a test', service.installation.operator);
  const backedUp = /^valetkey_last_backup_timestamp_seconds$/;
  assertFires('ValetkeyBackupOld', { before: await scrape(url), after: never }, (read) => {
    return Date.now() / 1000 - read(backedUp).now;
  });
});

test('ValetkeyKeyOld fires', async (t) => {
  const old = new Clock();
  old.advance((Date.now() - old.now()) / 1000 - 500 * 86_400);
  const young = new Clock();
  young.advance((Date.now() - young.now()) / 1000 - 86_400);
  const [before, after] = [await start(t, {}, young), await start(t, {}, old)];
  const found = { before: await scrape(before.url), after: await scrape(after.url) };
  const created = /^valetkey_current_root_key_created_timestamp_seconds/;
  assertFires('ValetkeyKeyOld', found, (read) => Date.now() / 1000 - read(created).now);
});

test('ValetkeyIdTokenKeyUnopened fires', async (t) => {
  const { variables, url } = await metricsAddress();
  const { service, path } = await startOnFile(t, variables);
  await addClient(service, { signIn: true });
  await service.installation.signingKeys.ensure();
  const { sealedKey } = await makeSigningKey(keyring, 0);
  const found = await around(url, async () => {
    secondConnection(t, path).prepare('UPDATE signing_key SET sealed_key = ?').run(sealedKey);
  });
  assertFires('ValetkeyIdTokenKeyUnopened', found, (read) => read(/^valetkey_id_token_keys_unopened$/).now);
});

after(async () => {
  assert.deepEqual([...seen].sort(), [...ALERTS.keys()].sort(), 'each alert was seen to fire on its fault');
  await evaluated(scraped);
});
