// The plot of the operators' pages: its bars, its table and its size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AppTally, COUNTERS, emptyTally } from '../../src/oauth/activity/app-tally.ts';
import { type Plotted, type PlottedTally, plot } from '../../src/pages/operator/plot.ts';
import { textOf } from '../support/html.ts';

const [HOUR, DAY] = [3_600_000, 86_400_000];
const MIDNIGHT = Date.UTC(2026, 10, 3);
const tally = (bucket: number, counts: Partial<AppTally>): PlottedTally => ({ bucket, ...emptyTally(), ...counts });
const rowsOf = (body: string) =>
  [...body.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = '']) => [...row.matchAll(/>([^<]+)</g)].map(([, cell]) => cell));
const drawn = (activity: Omit<Plotted, 'registeredAt'> & Partial<Plotted>) =>
  String(plot({ registeredAt: null, ...activity }));
const barsOf = (body: string) => [...body.matchAll(/ d="([^"]*)"/g)].map(([, bars]) => bars);

test('operators §7: what worked and what failed have bars in the order of time, and words that the table has too', () => {
  const tallies = [
    tally(MIDNIGHT, { checks: 4000, denied: 1, invalidGrant: 1 }),
    tally(MIDNIGHT + 2 * HOUR, { allowed: 1, refreshes: 2000 }),
  ];
  const body = drawn({ span: 'hour', from: MIDNIGHT + 5, to: MIDNIGHT + 3 * HOUR - 1, tallies });
  assert.deepEqual(barsOf(body), ['M0 100V0M2 100V50', 'M0 100V0']);
  assert.match(body, /viewBox="-0.5 0 3 100"/);
  assert.match(body, /aria-label="Succeeded by hour: 6,002, highest 4,001, 3 Nov 2026, 00:00 UTC"/);
  assert.match(body, /aria-label="Refused by hour: 1, highest 1, 3 Nov 2026, 00:00 UTC"/);
  assert.deepEqual(rowsOf(body), [
    ['Hour from', 'Succeeded', 'Refused'],
    ['Allowed', 'Denied', 'Refreshes', 'Token checks', 'Invalid grant'],
    ['3 Nov 2026, 02:00 UTC', '1', '0', '2,000', '0', '0'],
    ['3 Nov 2026, 00:00 UTC', '0', '1', '0', '4,000', '1'],
    ['Total', '1', '1', '2,000', '4,000', '1'],
  ]);
  assert.match(body, /colspan="4">Succeeded<.*colspan="1">Refused</);
  assert.match(
    textOf(body),
    /Succeeded 6,002 Token checks 4,000 · Refreshes 2,000 · Allowed 1 · Denied 1 4,001 per hour 0 Refused 1 Invalid grant 1 /,
  );
});

test('operators §7: tallies outside of the time are left out, and a bar of few is still seen', () => {
  const tallies = [
    tally(MIDNIGHT - DAY, { checks: 9 }),
    tally(MIDNIGHT, { checks: 1 }),
    tally(MIDNIGHT + DAY, { checks: 900 }),
  ];
  const body = drawn({ span: 'day', from: MIDNIGHT, to: MIDNIGHT + DAY, tallies });
  assert.deepEqual(barsOf(body), ['M0 100V97M1 100V0']);
  assert.match(textOf(body), /900 per day 0 Refused 0 3 Nov/, 'without a refusal, a line takes the room of its bars');
  assert.match(
    drawn({ span: 'day', from: MIDNIGHT + 2 * DAY, to: MIDNIGHT + 3 * DAY, tallies }),
    /Nothing was counted/,
  );
});

test('operators §7: 400 days with every counter stay below 20 KB, and are summed up by month', () => {
  const busy = Object.fromEntries(COUNTERS.map((counter, n) => [counter, 1_234_567 + n])) as AppTally;
  const tallies = Array.from({ length: 400 }, (_, n) => tally(MIDNIGHT - n * DAY, busy));
  const body = drawn({ span: 'day', from: MIDNIGHT - 399 * DAY, to: MIDNIGHT, tallies });
  const rows = rowsOf(body);
  assert.ok(Buffer.byteLength(body) < 20_000, `${body.length} bytes`);
  assert.deepEqual(rows.map(([name]) => name).slice(0, 3), ['Month', 'Allowed', 'Nov 2026']);
  assert.equal(rows.length, 2 + 15 + 1);
  assert.equal(barsOf(body)[0]?.match(/M/g)?.length, 400);
  assert.doesNotMatch(body, /style=|<script/, 'the Content-Security-Policy refuses these');
});

test('operators §7: both rows of bars have one scale, unless the lower one would hardly be seen', () => {
  const of = (checks: number, invalidGrant: number) =>
    drawn({ span: 'day', from: MIDNIGHT, to: MIDNIGHT, tallies: [tally(MIDNIGHT, { checks, invalidGrant })] });
  const one = of(1000, 200);
  assert.deepEqual(barsOf(one), ['M0 100V0', 'M0 100V80']);
  assert.equal(one.match(/1,000 per day/g)?.length, 2);
  assert.doesNotMatch(one, /scale of its own/);
  assert.deepEqual(barsOf(of(200, 1000)), ['M0 100V80', 'M0 100V0']);

  const two = of(1000, 199);
  assert.deepEqual(barsOf(two), ['M0 100V0', 'M0 100V0']);
  assert.match(textOf(two), /1,000 per day 0 Refused 199 Invalid grant 199 On a scale of its own\. 199 per day 0 /);
});

test('operators §7: a plot begins at the registration of the app, and has 14 bars at least', () => {
  const begun = (daysAgo: number) => {
    const registeredAt = MIDNIGHT - daysAgo * DAY + 5 * HOUR;
    const tallies = [tally(MIDNIGHT, { checks: 1 })];
    return drawn({ span: 'day', from: MIDNIGHT - 399 * DAY, to: MIDNIGHT + 6 * HOUR, registeredAt, tallies });
  };
  const length = (body: string) => /viewBox="-0\.5 0 (\d+) 100"/.exec(body)?.[1];
  assert.deepEqual([500, 30, 13, 2, 0].map(begun).map(length), ['400', '31', '14', '14', '14']);
  assert.match(textOf(begun(30)), /4 Oct 2026 19 Oct 2026 3 Nov 2026 The app was registered on 4 Oct 2026\. /);
  assert.match(textOf(begun(2)), /21 Oct 2026 27 Oct 2026 3 Nov 2026 The app was registered on 1 Nov 2026\. /);
  assert.doesNotMatch(begun(500), /registered/);
});
