import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { type Goal, standing } from '../../bench/goals.ts';
import { runCell } from '../../bench/load.ts';
import { runStream } from '../../bench/open-loop.ts';
import { plotOf } from '../../bench/plot.ts';
import type { Measure } from '../../bench/rounds.ts';
import { median, ratio, rowsOf } from '../../bench/statistics.ts';

test('a small run measures every operation on every server without an error', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // Those who need no package of others, and no PostgreSQL.
  const servers = ['valetkey-sqlite', 'fastify', 'node-http'];
  const small = ['--rounds', '1', '--seconds', '0.05', '--concurrency', '1,4', '--starts', '1', '--settle', '0'];
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

test('a goal is reached from its own side', () => {
  const standings = (goal: Pick<Goal, 'must' | 'goal' | 'more'>, values: (number | null)[]) =>
    values.map((is) => standing({ ...goal, is, what: '', unit: '' }));
  const faster = { must: 10, goal: 20, more: true };
  assert.deepEqual(standings(faster, [9, 10, 20, null]), ['missed', 'must', 'goal', 'not measured']);
  const smaller = { must: 20, goal: 10, more: false };
  assert.deepEqual(standings(smaller, [Number.POSITIVE_INFINITY, 20, 10]), ['missed', 'must', 'goal']);
});

test('the longest bar of each column is the fastest, and all are drawn to its scale', () => {
  const rows = rowsOf([measure('valetkey-sqlite', 1, 3000), measure('better-auth', 1, 300)]);
  const svg = plotOf(rows, { date: '2026-01-01', node: 'v24.0.0', rounds: 1 });
  const refreshes = [...svg.matchAll(/width="([\d.]+)" height="20"/g)].map(([, width]) => Number(width)).slice(2, 4);
  assert.equal((refreshes[0] ?? 0) / (refreshes[1] ?? 0), 10);
});

/** A server that answers after so many ms; answers its port. */
function serverThatWaits(t: TestContext, ms: number): Promise<number> {
  const server = createServer((request, response) => {
    setTimeout(() => {
      if (request.url === '/wrong') return response.end('{}');
      response.write('{"fine":');
      setImmediate(() => response.end('true}'));
    }, ms);
  });
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

function measure(target: string, round: number, perSecond: number): Measure {
  const nothing = {
    cpu: 1,
    syncsPerRequest: 0,
    statementsPerRequest: 0,
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
