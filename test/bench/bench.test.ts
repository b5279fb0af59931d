import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { type Figures, type Goal, goalsOf, standing } from '../../bench/goals.ts';
import { runCell } from '../../bench/load.ts';
import { type MixedRow, runMixed } from '../../bench/mixed.ts';
import { runStream } from '../../bench/open-loop.ts';
import { Purse } from '../../bench/operations.ts';
import { plotOf } from '../../bench/plot.ts';
import { reportOf } from '../../bench/report.ts';
import type { Measure } from '../../bench/rounds.ts';
import { median, ratio, rowsOf } from '../../bench/statistics.ts';
import type { RunningTarget } from '../../bench/target.ts';
import { Undisturbed } from '../../bench/undisturbed.ts';

test('a small run measures every operation on every server without an error', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // Those who need no package of others, and no PostgreSQL.
  const servers = ['valetkey-sqlite', 'valetkey-sign-in', 'fastify', 'node-http'];
  const small = [
    '--rounds',
    '1',
    '--seconds',
    '0.05',
    '--concurrency',
    '1,4',
    '--starts',
    '1',
    '--settle',
    '0',
    '--patience',
    '0',
  ];
  const args = ['bench/run.ts', '--only', servers.join(), ...small, '--streams', '0', '--out', folder];
  const { stdout } = await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', ...args]);
  assert.match(stdout, /exchange +1 +Valetkey, SQLite/);
  const { rows, errors, startTimes } = JSON.parse(readFileSync(join(folder, 'latest.json'), 'utf8'));
  assert.equal(errors, 0, stdout);
  const cells = rows.map(
    (row: Record<string, unknown>) => `${row['operation']} ${row['concurrency']} ${row['target']}`,
  );
  const expected = ['exchange', 'refresh', 'check', 'introspect'].flatMap((operation) =>
    [1, 4].flatMap((concurrency) => servers.map((server) => `${operation} ${concurrency} ${server}`)),
  );
  assert.deepEqual(cells.sort(), expected.sort());
  for (const row of rows) assert.ok(row.perSecond > 0 && row.p50 > 0 && row.p50 <= row.p99, JSON.stringify(row));
  const writes = rows.filter(
    ({ target, operation }: Record<string, unknown>) =>
      target === 'valetkey-sqlite' && (operation === 'exchange' || operation === 'refresh'),
  );
  for (const row of writes) assert.ok(row.syncsPerRequest > 0, 'writes are synced, and the syncs are counted');
  assert.ok(startTimes.valetkey > 0);
  assert.match(readFileSync(join(folder, 'latest.svg'), 'utf8'), /^<svg .*<\/svg>\n$/s);
});

test('a server that stalls is charged for everybody who was due meanwhile', async (t) => {
  const port = await serverThatWaits(t, 100);
  const next = () => ({ text: 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', judge: () => null });
  const { latencies, due, errors } = await runStream({ port, rate: 100, seconds: 0.5, connections: 1, next });
  assert.deepEqual({ due, errors }, { due: 50, errors: 0 });
  assert.equal(latencies.length, due, 'also those who were given up');
  // With one connection and 10 ms between requests, each waits 90 ms more than the one before.
  assert.ok((latencies.at(-1) ?? 0) > 500, `the last one waited ${latencies.at(-1)} ms`);
});

test('an answer in chunks is read to its end, and a wrong one is an error', async (t) => {
  const port = await serverThatWaits(t, 0);
  const judge = (body: unknown) => ((body as { fine?: boolean }).fine ? null : 'not fine');
  const cell = { port, connections: 2, seconds: 0, least: 10, most: 10 };
  const get = (path: string) => () => ({ text: `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, judge });
  const fine = await runCell({ ...cell, next: get('/chunks') });
  assert.deepEqual([fine.errors, fine.latencies.length], [0, 10]);
  const wrong = await runCell({ ...cell, next: get('/wrong') });
  assert.deepEqual([wrong.errors, wrong.firstError], [10, 'not fine']);
});

test('the median of an even number of figures lies between the two in the middle', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([9, 1, 3]), 3);
});

test('a ratio is that of the same round, so that a slow round does not count', () => {
  const measures = [
    measure('a', 1, 100),
    measure('b', 1, 10),
    measure('a', 2, 20),
    measure('b', 2, 2),
    measure('b', 3, 2),
  ];
  assert.equal(ratio(measures, ['a', 'b'], 'refresh', 64), 10);
  assert.equal(ratio(measures, ['a', 'c'], 'refresh', 64), null);
  assert.deepEqual(
    rowsOf(measures).map(({ target, perSecond }) => [target, perSecond]),
    [
      ['a', 60],
      ['b', 2],
    ],
  );
});

test('a goal is met from its own side', () => {
  const standings = (goal: Pick<Goal, 'must' | 'more'>, values: (number | null)[]) =>
    values.map((is) => standing({ ...goal, is, what: '', unit: '' }));
  assert.deepEqual(standings({ must: 10, more: true }, [9, 10, null]), ['missed', 'met', 'not measured']);
  assert.deepEqual(standings({ must: 20, more: false }, [Number.POSITIVE_INFINITY, 20]), ['missed', 'met']);
});

test('more is asked of writes where a sync takes 0.4 ms or more, by the disk or by a delay', () => {
  const refreshes = [measure('valetkey-sqlite', 1, 700), measure('node-oauth2-server', 1, 100)];
  const peer = (figures: Partial<Figures>) =>
    goalsOf(madeUp({ measures: refreshes, ...figures }))
      .filter(({ what }) => what === 'refresh, against the fastest peer')
      .map((goal) => [goal.must, goal.is, standing(goal)]);
  assert.deepEqual(peer({ syncTime: 0.39 }), [[4.5, 7, 'met']]);
  assert.deepEqual(peer({ syncTime: 0.4 }), [[10, 7, 'missed']]);
  assert.deepEqual(peer({ syncTime: 0.2, syncDelay: 200 }), [[10, 7, 'missed']]);
});

test('memory and start are what the service takes beyond bare Fastify, and unknown without it', () => {
  const memory = (memoryIdle: Figures['memoryIdle']) =>
    goalsOf(madeUp({ memoryIdle })).find(({ what }) => what.startsWith('memory idle'))?.is;
  assert.equal(memory({ 'valetkey-sqlite': 105, fastify: 90 }), 15);
  assert.equal(memory({ 'valetkey-sqlite': 105 }), null);
});

test('checks beside refreshes are shown on each disk', () => {
  const streams = [{ ...mixed({ target: 'fastify' }), rate: 20_000 }];
  const tried = [mixed(), mixed({ target: 'better-auth', keepsUp: false, latency: null, refreshes: null })];
  const [ordinary, slow] = [0, 2000].map((syncDelay) => reportOf(madeUp({ streams, mixed: tried, syncDelay })));
  for (const report of [ordinary, slow]) {
    assert.match(report ?? '', /^check at 20,000 a second +bare Fastify +keeps up +1\.00 +4\.00 +5\.00$/m);
    const beside = 'check at 2,000 a second, while 64 refresh';
    assert.match(
      report ?? '',
      new RegExp(`^${beside} +Valetkey, SQLite +keeps up +1\\.00 +4\\.00 +5\\.00 +8,000$`, 'm'),
    );
    assert.match(report ?? '', new RegExp(`^${beside} +better-auth, SQLite +cannot keep up$`, 'm'));
  }
  assert.match(ordinary ?? '', /^A sync of this disk takes 0\.10 ms\.$/m);
  assert.match(slow ?? '', /^A sync of this disk takes 0\.10 ms, and 2 ms longer for those who store in SQLite\.$/m);
});

test('refreshes go on while checks come at their rate, and a wrong answer to either is counted', async (t) => {
  let wrong = false;
  const server = { refreshes: 0, checks: 0 };
  const port = await serverOf(t, (path) => {
    server[path === '/me' ? 'checks' : 'refreshes'] += 1;
    if (path === '/me') return { sub: wrong ? null : 'somebody' };
    return { access_token: `a ${server.refreshes}`, refresh_token: `r ${server.refreshes}` };
  });
  const purses = new Map([
    [targetAt('valetkey-sqlite', port), purseWith(200)],
    [targetAt('better-auth', port), purseWith(200)],
    [targetAt('fastify', port), purseWith(200)],
  ]);
  const rows = rowsOf(
    [measure('valetkey-sqlite', 1, 2000), measure('better-auth', 1, 1000)].map((row) => ({
      ...row,
      operation: 'check',
    })),
  );
  const turns = { seconds: 0.5, times: 1, undisturbed: new Undisturbed(0) };
  const [ours, slow, ...others] = await runMixed(purses, rows, turns);
  assert.deepEqual([ours?.target, ours?.rate, ours?.errors], ['valetkey-sqlite', 2000, 0]);
  assert.ok((ours?.refreshes ?? 0) > 0 && server.refreshes >= 64 && server.checks > 0, JSON.stringify(ours));
  assert.ok((ours?.latency?.p50 ?? 0) > 0 && (ours?.latency?.p50 ?? 0) <= (ours?.latency?.p99 ?? 0));
  assert.deepEqual([slow?.target, slow?.latency, slow?.refreshes], ['better-auth', null, null], 'not worth trying');
  assert.deepEqual(others, [], 'who stores nothing has no disk to wait for');
  wrong = true;
  let [refused] = await runMixed(purses, rows, turns);
  // On a busy machine no answer may come in so short a time.
  for (let again = 0; refused?.errors === 0 && again < 10; again += 1) [refused] = await runMixed(purses, rows, turns);
  assert.ok((refused?.errors ?? 0) > 0);
  assert.equal(refused?.firstError, 'the answer says of nobody whose token it is');
});

test('what others disturbed is measured again until they are done, or their share of the patience is used up', async () => {
  let stolen = 0;
  const takes = [5000, 5000, 0, 5000, 0];
  const run = async (isAgain: boolean) => {
    stolen += takes.shift() ?? 5000;
    return isAgain;
  };
  const undisturbed = new Undisturbed(60, () => stolen, 10);
  assert.deepEqual([await undisturbed.measure(run), takes.length], [true, 2], 'the third time nobody took anything');
  assert.deepEqual([await undisturbed.measure(run), takes.length], [true, 0]);
  assert.deepEqual(undisturbed.disturbance, { again: 3, kept: 0 });
  const impatient = new Undisturbed(0.5, () => stolen, 10);
  for (let thing = 0; thing < 2; thing += 1) assert.equal(await impatient.measure(run), true);
  const { again, kept } = impatient.disturbance;
  assert.equal(kept, 2);
  assert.ok(again >= 2 && again <= 9, `a tenth of half a second each, with pauses of 10 ms: ${again}`);
  assert.match(
    reportOf(madeUp({ disturbance: { again: 3, kept: 1 } })),
    /^3 measurements were made again .* 1 were kept/m,
  );
  assert.equal(await new Undisturbed(0, () => 0).measure(run), false);
});

test('the longest bar of each column is the fastest, and all are drawn to its scale', () => {
  const rows = rowsOf([measure('valetkey-sqlite', 1, 3000), measure('better-auth', 1, 300)]);
  const svg = plotOf(rows, { date: '2026-01-01', node: 'v24.0.0', rounds: 1 });
  const refreshes = [...svg.matchAll(/width="([\d.]+)" height="20"/g)].map(([, width]) => Number(width)).slice(2, 4);
  assert.equal((refreshes[0] ?? 0) / (refreshes[1] ?? 0), 10);
});

/** A server that answers each path with what it is told; answers its port. */
function serverOf(t: TestContext, answer: (path: string) => unknown): Promise<number> {
  return listening(
    t,
    createServer((request, response) => {
      request.resume().once('end', () => {
        const body = JSON.stringify(answer(request.url ?? ''));
        response.setHeader('Content-Length', body.length).end(body);
      });
    }),
  );
}

function listening(t: TestContext, server: Server): Promise<number> {
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

const PATHS = {
  exchange: '/token',
  refresh: '/token',
  refreshTokenIn: 'form',
  idToken: false,
  check: '/me',
  introspect: null,
} as const;

/** What runs there already. */
function targetAt(name: string, port: number): RunningTarget {
  const unused = () => Promise.reject(new Error('nobody needs this'));
  const verbs = { mint: unused, usage: unused, profile: unused, stop: unused };
  return { name, kind: 'peer', paths: PATHS, program: [], environment: {}, appPort: port, apiPort: port, ...verbs };
}

/** A purse with so many pairs. */
function purseWith(pairs: number): Purse {
  const codes = Array.from({ length: pairs }, (_, number) => `code ${number}`);
  const about = { clientId: 'app', clientSecret: 's', redirectUri: 'https://client.example/callback' };
  const purse = new Purse({ ...about, codes, resourceServer: { id: 'rs', secret: 's' } }, PATHS, Math.random);
  const exchange = purse.calls('exchange');
  for (const code of codes) exchange()?.judge({ access_token: `a of ${code}`, refresh_token: `r of ${code}` });
  return purse;
}

/** A server that answers after so many ms; answers its port. */
function serverThatWaits(t: TestContext, ms: number): Promise<number> {
  const server = createServer((request, response) => {
    setTimeout(() => {
      if (request.url === '/wrong') return response.end('{}');
      response.write('{"fine":');
      setImmediate(() => response.end('true}'));
    }, ms);
  });
  return listening(t, server);
}

/** A run that found nothing but what is given. */
function madeUp(found: Partial<Figures>): Figures {
  const memory = { memoryIdle: {}, memoryAfter: {} };
  const alone = { startTimes: null, syncTime: 0.1, syncDelay: 0, disturbance: { again: 0, kept: 0 } };
  return { measures: [], streams: [], mixed: [], ...memory, ...alone, ...found };
}

function mixed(found: Partial<MixedRow> = {}): MixedRow {
  const about = { target: 'valetkey-sqlite', operation: 'check', rate: 2000 } as const;
  const latency = { p50: 1, p99: 4, p999: 5 };
  return { ...about, keepsUp: true, latency, refreshes: 8000, errors: 0, firstError: null, ...found };
}

function measure(target: string, round: number, perSecond: number): Measure {
  const nothing = {
    cpu: 1,
    syncsPerRequest: 0,
    generatorBusy: 0,
    errors: 0,
    firstError: null,
  };
  const latencies = { p50: 1, p99: 1, p999: 1 };
  return {
    target,
    round,
    perSecond,
    operation: 'refresh',
    concurrency: 64,
    requests: 1,
    ...latencies,
    ...nothing,
  };
}
