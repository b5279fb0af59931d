/** The sums of an app's failures by cause, from hourly tallies and recorded failures. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AppFailure, FAILURES_KEPT, MAX_FAILURES_PER_SECOND } from '../../src/oauth/activity/app-failure.ts';
import { type AppTally, emptyTally } from '../../src/oauth/activity/app-tally.ts';
import { CLIENT_PAUSED } from '../../src/oauth/clients/client-authenticator.ts';
import type { Grant, GrantInContext } from '../../src/oauth/grants/grant.ts';
import {
  ACCESS_ENDED,
  causeOf,
  codeExpired,
  codeUsed,
  codeUsedMeanwhile,
  kindOfCause,
  REDIRECT_URI_DIFFERS,
  reasonOfStanding,
  refreshTokenExpired,
  refreshTokenUsed,
} from '../../src/oauth/tokens/refusal-reason.ts';
import { failsNow, summarizeFailures } from '../../src/operator/apps/failure-summary.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const HOUR_NOW = Date.UTC(2026, 0, 15, 12);
const NOW = HOUR_NOW + 20 * MINUTE;

const tally = (hoursAgo: number, counts: Partial<AppTally>) => ({
  ...{ clientId: 'app_a', span: 'hour' as const, bucket: HOUR_NOW - hoursAgo * HOUR },
  ...{ ...emptyTally(), ...counts },
});

const failure = (ago: number, reason = 'x', error = 'invalid_grant'): AppFailure => ({
  ...{ clientId: 'app_a', at: NOW - ago, requestId: 'r', endpoint: 'token', error, reason },
  ...{ network: '192.0.2.0/24', grantId: null },
});

/** The causes, in short: hours and minutes before now. */
const causesOf = (...[hours, recorded]: [ReturnType<typeof tally>[], AppFailure[]]) =>
  summarizeFailures(hours, recorded, NOW).causes.map(({ counter, reason, isRest, count, isAtLeast, ...period }) => ({
    cause: reason?.text ?? (isRest ? `more ${counter}` : counter),
    count: `${isAtLeast ? 'at least ' : ''}${count}`,
    began: `${(NOW - period.beganAt) / MINUTE}${period.mayBeEarlier ? ' or earlier' : ''}`,
    last: (NOW - period.lastAt) / MINUTE,
  }));

test('a wrong secret, which is only counted, is a cause with its number and its hours', () => {
  const hours = [tally(3, { invalidClient: 4 }), tally(1, { invalidClient: 2, checks: 100 })];
  assert.deepEqual(causesOf(hours, []), [{ cause: 'invalidClient', count: '6', began: '200', last: 80 }]);
});

test('recorded failures of a cause are counted exactly, and what is over was only counted', () => {
  const hours = [tally(2, { invalidGrant: 1 }), tally(0, { invalidGrant: 2, invalidClient: 5 })];
  const recorded = [failure(5 * MINUTE), failure(10 * MINUTE, 'y'), failure(130 * MINUTE)];
  assert.deepEqual(causesOf(hours, recorded), [
    { cause: 'invalidClient', count: '5', began: '20', last: 20 },
    { cause: 'x', count: '2', began: '130', last: 5 },
    { cause: 'y', count: '1', began: '10', last: 10 },
  ]);
});

test('the most frequent cause of the day comes first, the rest of a counter after all causes, and older ones last', () => {
  const hours = [tally(0, { invalidGrant: 9, invalidClient: 2, limited: 1 })];
  const recorded = [failure(MINUTE), failure(30 * HOUR, 'old')];
  const causes = causesOf(hours, recorded).map(({ cause, count }) => [cause, count]);
  assert.deepEqual(causes, [
    ['invalidClient', '2'],
    ['x', '1'],
    ['limited', '1'],
    ['more invalidGrant', '8'],
    ['old', '0'],
  ]);
});

test('a failure that is counted in the hour before its own is not counted twice', () => {
  const recorded = [failure(19 * MINUTE + 55_000)];
  assert.deepEqual(
    causesOf([tally(1, { invalidGrant: 1 })], recorded).map(({ count }) => count),
    ['1'],
  );
});

test('and takes nothing from hours before that one', () => {
  const recorded = [1, 2, 3].map((ago) => failure(ago * MINUTE));
  const hours = [tally(4, { invalidGrant: 5 }), tally(1, { invalidGrant: 1 })];
  assert.deepEqual(
    causesOf(hours, recorded).map(({ cause, count }) => [cause, count]),
    [
      ['x', '3'],
      ['more invalidGrant', '5'],
    ],
  );
});

test('numbers of kept failures are called a minimum where others of the day are not kept', () => {
  const kept = Array.from({ length: FAILURES_KEPT }, (_, n) => failure(n * MINUTE, n % 4 === 0 ? 'x' : 'y'));
  const hours = [...[5, 4, 3, 2, 1].map((ago) => tally(ago, { invalidGrant: 60 })), tally(0, { invalidGrant: 21 })];
  assert.deepEqual(causesOf(hours, kept), [
    { cause: 'y', count: 'at least 150', began: '199 or earlier', last: 1 },
    { cause: 'x', count: 'at least 50', began: '196 or earlier', last: 0 },
    { cause: 'more invalidGrant', count: '121', began: '320', last: 200 },
  ]);
});

test('and where as many failed in a second as are recorded', () => {
  const second = Array.from({ length: MAX_FAILURES_PER_SECOND }, () => failure(MINUTE));
  const counts = (counted: number) =>
    causesOf([tally(0, { invalidGrant: counted })], second).map(({ cause, count }) => [cause, count]);
  assert.deepEqual(counts(14), [
    ['x', 'at least 10'],
    ['more invalidGrant', '4'],
  ]);
  assert.deepEqual(counts(10), [['x', '10']], 'none is missing');
});

test('a cause begins with the first failure after 12 quiet hours, and may be older than what is known', () => {
  const began = (...hoursAgo: number[]) =>
    causesOf(
      [],
      hoursAgo.map((ago) => failure(ago * HOUR)),
    ).map(({ began }) => Number.parseFloat(began) / 60);
  assert.deepEqual(began(1, 2, 20), [2]);
  assert.deepEqual(began(1, 12, 24), [24]);
  const old = failure(29.8 * DAY);
  assert.deepEqual(causesOf([], [old])[0]?.began, `${29.8 * 24 * 60} or earlier`);
  const hourly = (ago: number) => causesOf([tally(ago, { invalidClient: 1 })], [])[0];
  assert.equal(hourly(40)?.began, `${40 * 60 + 20} or earlier`);
  assert.deepEqual([hourly(30)?.began, hourly(30)?.count], [`${30 * 60 + 20}`, '0']);
});

test('an app fails now if at least ten requests, and one of a hundred, failed in 24 hours, and still do', () => {
  const isFailing = (...hours: ReturnType<typeof tally>[]) => failsNow(summarizeFailures(hours, [], NOW), NOW);
  assert.equal(isFailing(tally(1, { invalidGrant: 10 })), true);
  assert.equal(isFailing(tally(1, { invalidGrant: 9 })), false);
  assert.equal(isFailing(tally(2, { invalidGrant: 10 })), false, 'it stopped');
  assert.equal(isFailing(tally(1, { invalidGrant: 10, checks: 990 })), true);
  assert.equal(isFailing(tally(1, { invalidGrant: 10, checks: 991 })), false);
  assert.equal(isFailing(tally(30, { invalidGrant: 10 }), tally(1, { invalidGrant: 1 })), false, 'of another day');
});

test('a reason without its times is one cause, and its kind is that of the developers’ page', () => {
  const grant = { generation: 1, rotatedAt: NOW, expiresAt: NOW, absoluteExpiresAt: NOW + DAY } as Grant;
  const code = { expiresAt: NOW + MINUTE };
  const disabled = { grant: { ...grant, revokedAt: null, epochs: {} }, standing: { epochs: {}, clientPaused: false } };
  const reasons = [
    ...[codeUsed(code, grant), codeUsed(code, { ...grant, generation: 2 }), codeUsedMeanwhile()],
    ...[refreshTokenUsed({ generation: 0 }, grant, true), refreshTokenUsed({ generation: 0 }, grant, false)],
    ...[codeExpired(code, { ...grant, expiresAt: NOW + MINUTE }, NOW + HOUR), refreshTokenExpired(grant, NOW + DAY)],
    ...[ACCESS_ENDED, CLIENT_PAUSED, REDIRECT_URI_DIFFERS, reasonOfStanding(disabled as GrantInContext)],
  ];
  for (const { kind, text } of reasons) {
    assert.equal(kindOfCause(causeOf(text)), kind, text);
    assert.doesNotMatch(causeOf(text), /2026|ago/);
  }
  assert.equal(
    causeOf(refreshTokenExpired(grant, NOW + DAY).text),
    causeOf(refreshTokenExpired(grant, NOW + HOUR).text),
  );
  assert.equal(kindOfCause('code is required'), null);
});
