// The plot of the operators' pages: its bars, its table and its size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AppTally, COUNTERS, emptyTally } from '../../src/oauth/activity/app-tally.ts';
import { type PlottedTally, plot } from '../../src/pages/operator/plot.ts';

const [HOUR, DAY] = [3_600_000, 86_400_000];
const MIDNIGHT = Date.UTC(2026, 10, 3);
const tally = (bucket: number, counts: Partial<AppTally>): PlottedTally => ({ bucket, ...emptyTally(), ...counts });
const rowsOf = (body: string) =>
  [...body.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = '']) => [...row.matchAll(/>([^<]+)</g)].map(([, cell]) => cell));
const barsOf = (body: string) => [...body.matchAll(/ d="([^"]*)"/g)].map(([, bars]) => bars);

test('operators §7: what worked and what failed have bars on scales of their own, in the order of time', () => {
  const tallies = [
    tally(MIDNIGHT, { checks: 4000, denied: 1, invalidGrant: 1 }),
    tally(MIDNIGHT + 2 * HOUR, { allowed: 1, refreshes: 2000 }),
  ];
  const body = String(plot({ span: 'hour', from: MIDNIGHT + 5, to: MIDNIGHT + 3 * HOUR - 1, tallies }));
  assert.deepEqual(barsOf(body), ['M0 100V0M2 100V50', 'M0 100V0']);
  assert.match(body, /viewBox="-0.5 0 3 100"/);
  assert.match(body, /aria-label="Succeeded by hour: 6,002, at most 4,001 in an hour, 3 Nov 2026, 00:00"/);
  assert.match(body, /aria-label="Refused by hour: 1, at most 1 in an hour, 3 Nov 2026, 00:00"/);
  assert.deepEqual(rowsOf(body), [
    ['Hour from', 'Allowed', 'Denied', 'Refreshes', 'Checks', 'Refused: invalid grant'],
    ['3 Nov 2026, 02:00', '1', '0', '2,000', '0', '0'],
    ['3 Nov 2026, 00:00', '0', '1', '0', '4,000', '1'],
    ['Total', '1', '1', '2,000', '4,000', '1'],
  ]);
});

test('operators §7: tallies outside of the time are left out, and a bar of few is still seen', () => {
  const tallies = [
    tally(MIDNIGHT - DAY, { checks: 9 }),
    tally(MIDNIGHT, { checks: 1 }),
    tally(MIDNIGHT + DAY, { checks: 900 }),
  ];
  const body = String(plot({ span: 'day', from: MIDNIGHT, to: MIDNIGHT + DAY, tallies }));
  assert.deepEqual(barsOf(body), ['M0 100V97M1 100V0', '']);
  assert.match(body, /Refused by day: 0"/);
  assert.match(
    String(plot({ span: 'day', from: MIDNIGHT + 2 * DAY, to: MIDNIGHT + 3 * DAY, tallies })),
    /Nothing was counted/,
  );
});

test('operators §7: 400 days with every counter stay below 20 KB, and are summed up by month', () => {
  const busy = Object.fromEntries(COUNTERS.map((counter, n) => [counter, 1_234_567 + n])) as AppTally;
  const tallies = Array.from({ length: 400 }, (_, n) => tally(MIDNIGHT - n * DAY, busy));
  const body = String(plot({ span: 'day', from: MIDNIGHT - 399 * DAY, to: MIDNIGHT, tallies }));
  const rows = rowsOf(body);
  assert.ok(Buffer.byteLength(body) < 20_000, `${body.length} bytes`);
  assert.deepEqual(rows.map(([name]) => name).slice(0, 3), ['Month', 'Nov 2026', 'Oct 2026']);
  assert.equal(rows.length, 1 + 15 + 1);
  assert.equal(barsOf(body)[0]?.match(/M/g)?.length, 400);
  assert.doesNotMatch(body, /style=|<script/, 'the Content-Security-Policy refuses these');
});
