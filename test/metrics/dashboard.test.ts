/**
 * The dashboard under deploy/ is well formed, and each of its figures is drawn: Prometheus itself scrapes an instance on SQLite
 * and one on PostgreSQL while they are used, and is asked what Grafana would ask. `npm run test:prometheus` has it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { Browser } from '../support/browser.ts';
import { authorizeUrl, exchange, me, obtainCode, pairOf, refresh, signedInBrowser, signIn } from '../support/flow.ts';
import { metricsAddress } from '../support/metrics.ts';
import { startOnFile } from '../support/on-file.ts';
import { PATIENT, startPostgres } from '../support/postgres.ts';
import { addClient, addUser, Clock, freePort, startTestService, type TestService } from '../support/service.ts';
import { addResourceServer, introspect } from '../support/standard.ts';

type Source = { readonly type: string; readonly uid: string };
type Target = { readonly refId: string; readonly expr: string; readonly datasource: Source };
type Place = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: Place;
  readonly datasource?: Source;
  readonly targets?: readonly Target[];
};
type Variable = { readonly name: string; readonly type: string; readonly query: string | { readonly query: string } };
type Dashboard = {
  readonly uid: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly Variable[] };
  readonly panels: readonly Panel[];
};

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const DASHBOARD = JSON.parse(readFileSync(join(DEPLOY, 'grafana/valetkey.json'), 'utf8')) as Dashboard;
const TARGETS = DASHBOARD.panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
/** What Grafana's grid is wide, and the variables that it brings itself. */
const COLUMNS = 24;
const BUILT_IN = ['__rate_interval', '__interval', '__range', '__all'];
const PATIENCE_MS = 300_000;

test('the dashboard is one that Grafana imports: ids, places, sources and variables', () => {
  const { uid, schemaVersion, panels, templating } = DASHBOARD;
  assert.match(uid, /^[\w-]{1,40}$/);
  assert.ok(Number.isInteger(schemaVersion));
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'each panel has an id of its own');
  const variables = templating.list.map(({ name }) => name);
  const used = [...JSON.stringify(panels).matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name);
  assert.deepEqual(
    used.filter((name) => ![...variables, ...BUILT_IN].includes(name)),
    [],
  );
  const source = templating.list.find(({ type }) => type === 'datasource');
  assert.equal(source?.query, 'prometheus');
  const [first = '', ...others] = new Set(
    [...panels, ...TARGETS].flatMap(({ datasource }) => (datasource ? [JSON.stringify(datasource)] : [])),
  );
  assert.deepEqual([JSON.parse(first), others], [{ type: 'prometheus', uid: `\${${source?.name}}` }, []]);
  for (const { title, type, targets = [], gridPos } of panels) {
    assert.equal(type === 'row', targets.length === 0, title);
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
    assert.ok(gridPos.x + gridPos.w <= COLUMNS, title);
  }
  const overlapping = panels.flatMap((one, index) =>
    panels.slice(index + 1).filter((other) => overlap(one.gridPos, other.gridPos)),
  );
  assert.deepEqual(overlapping, []);
});

function overlap(one: Place, other: Place): boolean {
  const isBeside = one.x + one.w <= other.x || other.x + other.w <= one.x;
  return !isBeside && one.y + one.h > other.y && other.y + other.h > one.y;
}

// Not a skipped test: nothing that this project brings is missing. It takes too long for npm test.
if (process.env['VALETKEY_DRAW_DASHBOARD'])
  test('each figure of the dashboard is drawn from what is scraped, and the rules are in order', async (t) => {
    const server = await startPostgres();
    t.after(() => server.remove());
    const [onSqlite, onPostgres] = [await metricsAddress(), await metricsAddress()];
    const database = { VALETKEY_DATABASE_URL: await server.createDatabase(), VALETKEY_KEYS: makeRootKey() };
    const services = [
      (await startOnFile(t, onSqlite.variables)).service,
      await startTestService(t, { ...onPostgres.variables, ...database }, new Clock(), PATIENT),
    ];
    const prometheus = await startPrometheus(t, [onSqlite.url, onPostgres.url]);
    const users = await Promise.all(services.map(furnish));
    const end = performance.now() + PATIENCE_MS;
    let empty = TARGETS;
    while (empty.length > 0 && performance.now() < end) {
      for (const use of users) await use();
      const drawn = await Promise.all(empty.map(({ expr }) => prometheus(asked(expr))));
      empty = empty.filter((_, index) => !drawn[index]?.some(([, value]) => Number.isFinite(Number(value))));
    }
    assert.deepEqual(
      empty.map(({ title, expr }) => `${title}: ${expr}`),
      [],
      'figures without a series',
    );
    const firing = await prometheus('count(up{job="valetkey"} == 1)');
    assert.equal(firing[0]?.[1], '2');
  });

/** What Grafana asks: its variables are filled in. */
function asked(expression: string): string {
  return expression.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*');
}

/** Gives a service an app and a user, and answers a function that uses it in every way that is counted. */
async function furnish(service: TestService): Promise<() => Promise<void>> {
  await addUser(service);
  const client = await addClient(service, { refreshOverlap: 0 });
  const api = await addResourceServer(service);
  const browser = await signedInBrowser(service);
  return async () => {
    await signIn(service, new Browser(), 'ada@example.com', 'wrong');
    const shown = await browser.get(authorizeUrl(service, client));
    await browser.submit(shown, '/auth/oauth2/authorize', { decision: 'deny' });
    const code = await obtainCode(service, browser, client);
    const first = pairOf(await exchange(service, client, code));
    const second = pairOf(await refresh(service, client, first.refreshToken));
    await refresh(service, client, first.refreshToken);
    await me(service, second.accessToken);
    await introspect(service, api, second.accessToken);
    await exchange(service, client, code);
    await sleep(200);
  };
}

type Answer = {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
};

/** Starts one on the rules and the configuration under deploy/, with these targets, once a second; answers what asks it. */
async function startPrometheus(t: TestContext, urls: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-prometheus-'));
  cpSync(join(DEPLOY, 'prometheus/rules.yml'), join(folder, 'rules.yml'));
  const hosts = urls.map((url) => `"${new URL(url).host}"`).join(', ');
  const configuration = readFileSync(join(DEPLOY, 'prometheus/prometheus.yml'), 'utf8')
    .replaceAll('15s', '1s')
    .replace(/targets: .*/, `targets: [${hosts}]`);
  writeFileSync(join(folder, 'prometheus.yml'), configuration);
  const address = `127.0.0.1:${await freePort()}`;
  const options = ['--config.file', 'prometheus.yml', '--storage.tsdb.path', 'data', '--web.listen-address', address];
  const child = spawn('prometheus', options, { cwd: folder, stdio: 'ignore' });
  t.after(async () => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const isReady = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    assert.equal(child.exitCode, null, 'Prometheus ended');
    await sleep(100);
  }
  return async (query: string): Promise<(readonly [number, string])[]> => {
    const response = await fetch(`http://${address}/api/v1/query?${new URLSearchParams({ query })}`);
    const { status, error, data } = (await response.json()) as Answer;
    assert.equal(status, 'success', `${query}: ${error}`);
    return data.result.map(({ value }) => value);
  };
}
