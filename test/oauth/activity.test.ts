/** The activity of apps that waits to be written, while the store is away and while much fails. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Activity } from '../../src/oauth/activity/activity.ts';
import type { CountedActivity } from '../../src/oauth/activity/activity-store.ts';
import { FAILURES_KEPT, MAX_FAILURES_PER_SECOND } from '../../src/oauth/activity/app-failure.ts';
import { invalidRequest, Refusal } from '../../src/oauth/error.ts';
import { OutcomeUnknown, StoreUnavailable } from '../../src/oauth/store.ts';

/** An activity over a store that may be away, with its clock and the acts that wait. */
function setUp() {
  const state = { now: 1_000_000, error: null as Error | null };
  const written: CountedActivity[] = [];
  const waiting = new Set<() => void>();
  const reports: string[] = [];
  const activity = new Activity({
    store: {
      async addActivity(counted) {
        if (state.error) throw state.error;
        written.push(counted);
      },
    },
    now: () => state.now,
    later(act, ms) {
      assert.equal(ms, 10_000);
      waiting.add(act);
      return () => waiting.delete(act);
    },
    report: (sentence) => reports.push(sentence),
  });
  const refuse = (clientId = 'app_a', description = 'x') =>
    activity.answered(clientId, invalidRequest(description), {
      endpoint: 'token',
      isProven: true,
      origin: { source: '2001:db8:1:2::/64', requestId: 'r' },
      grantId: null,
    });
  const runTimers = async () => {
    for (const act of waiting) {
      waiting.delete(act);
      act();
    }
    await activity.flush();
  };
  return { state, written, waiting, reports, activity, refuse, runTimers };
}

test('what was counted is written once, within ten seconds, and nothing while nothing happens', async () => {
  const { activity, waiting, written, runTimers } = setUp();
  assert.equal(waiting.size, 0);
  activity.count('app_a', 'checks');
  activity.count('app_a', 'checks');
  activity.count('app_b', 'refreshes');
  assert.equal(waiting.size, 1);
  await runTimers();
  assert.deepEqual(
    written.map(({ clientId, tally }) => [clientId, tally.checks, tally.refreshes]),
    [
      ['app_a', 2, 0],
      ['app_b', 0, 1],
    ],
  );
  await runTimers();
  assert.equal(written.length, 2);
  assert.equal(waiting.size, 0);
});

test('while the store is away nothing is lost, and it is counted for the time when it happened', async () => {
  const { activity, state, written, refuse, runTimers } = setUp();
  activity.count('app_a', 'checks');
  refuse('app_a', 'first');
  const at = state.now;
  state.error = new StoreUnavailable('away');
  await runTimers();
  state.now += 5000;
  activity.count('app_a', 'checks');
  refuse('app_a', 'second');
  await runTimers();
  state.error = null;
  await runTimers();
  assert.equal(written.length, 1);
  const [{ tally, failures, at: countedAt } = assert.fail()] = written;
  assert.deepEqual([tally.checks, tally.invalidRequest, countedAt], [2, 2, at]);
  assert.deepEqual(
    failures.map(({ reason, network }) => [reason, network]),
    [
      ['first', '2001:db8:1::/48'],
      ['second', '2001:db8:1::/48'],
    ],
  );
});

test('what may have been written is dropped with a report, and never added twice', async () => {
  const { activity, state, reports, written, runTimers } = setUp();
  activity.count('app_a', 'checks');
  state.error = new OutcomeUnknown('lost');
  await runTimers();
  assert.deepEqual(reports, ['what app_a did in the last seconds may not be counted: lost']);
  state.error = null;
  await runTimers();
  assert.deepEqual(written, []);
});

test('what is lost at a stop while the store is away is reported', async () => {
  const { activity, state, reports } = setUp();
  for (const app of ['app_a', 'app_b']) activity.count(app, 'checks');
  state.error = new StoreUnavailable('away');
  await activity.close();
  assert.match(reports.join('|'), /^what app_b, app_a did in the last seconds is not counted: the database is away$/);
});

test('what can never be written is reported, and others are written', async () => {
  const { activity, state, reports, written, runTimers } = setUp();
  activity.count('app_a', 'checks');
  state.error = new Error('broken');
  await runTimers();
  assert.match(reports.join(), /app_a.*broken/);
  state.error = null;
  activity.count('app_b', 'checks');
  await runTimers();
  assert.deepEqual(
    written.map(({ clientId }) => clientId),
    ['app_b'],
  );
});

test('failures that wait are bounded, of an app and in all, and each is counted', async () => {
  const { activity, state, written, refuse, runTimers } = setUp();
  state.error = new StoreUnavailable('away');
  const apps = Array.from({ length: 80 }, (_, n) => `app_${n}`);
  for (let second = 0; second < 30; second += 1, state.now += 1000)
    for (const app of apps) for (let n = 0; n <= MAX_FAILURES_PER_SECOND; n += 1) refuse(app, `${second} ${n}`);
  await runTimers();
  state.error = null;
  await runTimers();
  const failures = written.map((counted) => counted.failures.length);
  assert.ok(Math.max(...failures) <= FAILURES_KEPT);
  const sum = failures.reduce((all, each) => all + each, 0);
  assert.ok(sum <= 10_000, `${sum} failures waited`);
  assert.ok(written.every(({ tally }) => tally.invalidRequest === 30 * (MAX_FAILURES_PER_SECOND + 1)));
  await activity.close();
});

test('RFC 8628 §3.5: a device that waits has not failed, and what a person denies is no failure of the app', async () => {
  const { activity, written, runTimers } = setUp();
  for (const code of ['authorization_pending', 'access_denied'] as const)
    activity.answered('app_a', new Refusal(code, 'x'), {
      endpoint: 'token',
      isProven: true,
      origin: { source: '192.0.2.1', requestId: 'r' },
      grantId: null,
    });
  await runTimers();
  assert.deepEqual(written, []);
});
