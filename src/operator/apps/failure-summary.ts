/**
 * The causes of an app's failures, from its hourly tallies, which count all, and from its recorded failures, which alone have
 * reasons and exact times.
 */
import { createHash } from 'node:crypto';
import {
  type AppFailure,
  FAILURES_KEPT,
  FAILURES_KEPT_MS,
  MAX_FAILURES_PER_SECOND,
} from '../../oauth/activity/app-failure.ts';
import {
  type AppTally,
  COUNTERS,
  counterOf,
  FAILURES,
  failuresOf,
  SPAN_MS,
  sumOf,
} from '../../oauth/activity/app-tally.ts';
import type {
  FailureCause,
  FailureCounter,
  FailurePeriod,
  FailureSummary,
  FailureTotal,
  RecordedCause,
} from '../../oauth/activity/failure-summary.ts';
import { causeOf, kindOfCause } from '../../oauth/tokens/refusal-reason.ts';

/** Time without a failure (ms) after which the next one is a new beginning. */
const QUIET_MS = 12 * SPAN_MS.hour;

/** The hours that are summed up, with the one that has just begun; and all that are looked at for a beginning. */
const SUMMED_HOURS = 24;
const KNOWN_HOURS = 48;

type HourlyTally = { readonly bucket: number } & AppTally;

/** Beginnings (ms): of this hour; of the 24 hours; of the known hours; and of the time of which failures are recorded. */
type Since = { readonly hour: number; readonly day: number; readonly hours: number; readonly recorded: number };

/** Sums up the tallies of the last 48 hours and the recorded failures, which come newest first. `now` in ms. */
export function summarizeFailures(
  hours: readonly HourlyTally[],
  recorded: readonly AppFailure[],
  now: number,
): FailureSummary {
  const hour = startOfHour(now);
  const since: Since = {
    hour,
    day: summedSince(now),
    hours: hour - (KNOWN_HOURS - 1) * SPAN_MS.hour,
    recorded: (recorded.length < FAILURES_KEPT ? undefined : recorded.at(-1)?.at) ?? now - FAILURES_KEPT_MS,
  };
  const isPartlyRecorded = since.recorded > since.day || hasFullSecond(recorded.filter(({ at }) => at >= since.day));
  const sum = sumOf(hours.filter(({ bucket }) => bucket >= since.day));
  const causes = FAILURES.flatMap((counter) => {
    const found = recorded.filter(({ error }) => counterOf(error) === counter);
    const rest = onlyCounted(hours, counter, found, since);
    const isAtLeast = isPartlyRecorded && rest !== null && rest.count > 0;
    return [...recordedCauses(counter, found, since, isAtLeast), ...(rest ? [rest] : [])];
  });
  const failing = hours.filter((tally) => failuresOf(tally) > 0).map(({ bucket }) => bucket);
  return {
    causes: causes.toSorted(frequentFirst),
    failures: failuresOf(sum),
    counted: COUNTERS.reduce((all, counter) => all + sum[counter], 0),
    period: periodOf(failing.reverse(), since.hours),
    isPartlyRecorded,
  };
}

/** Returns the beginning of the 24 hours that are summed up (ms): they end with the hour that has just begun. */
export function summedSince(now: number): number {
  return startOfHour(now) - (SUMMED_HOURS - 1) * SPAN_MS.hour;
}

/** Returns the key of the cause of a reason: a short text for addresses, where a reason may be long. */
export function causeKey(reason: string): string {
  return createHash('sha256').update(causeOf(reason)).digest('hex').slice(0, 16);
}

/** Returns the causes of recorded failures, which come newest first. */
export function causesOf(recorded: readonly AppFailure[]): RecordedCause[] {
  return [...Map.groupBy(recorded, ({ reason }) => causeOf(reason))].map(([cause, found]) => ({
    reason: { key: causeKey(cause), text: cause, kind: kindOfCause(cause), error: found[0]?.error ?? '' },
    times: found.map(({ at }) => at),
  }));
}

function recordedCauses(
  counter: FailureCounter,
  recorded: readonly AppFailure[],
  since: Since,
  isAtLeast: boolean,
): FailureCause[] {
  return causesOf(recorded).map(({ reason, times }) => {
    const count = times.filter((at) => at >= since.day).length;
    return { counter, reason, isRest: false, count, isAtLeast, ...(periodOf(times, since.recorded) as FailurePeriod) };
  });
}

/** The failures of a counter that were counted and not recorded; null without any. */
function onlyCounted(
  hours: readonly HourlyTally[],
  counter: FailureCounter,
  recorded: readonly AppFailure[],
  since: Since,
): FailureCause | null {
  const found = unrecorded(hours, counter, recorded, since);
  const times = found.map(({ bucket }) => bucket);
  const period = periodOf(times, since.hours);
  const count = found.reduce((all, { bucket, count }) => all + (bucket >= since.day ? count : 0), 0);
  return period && { counter, reason: null, isRest: recorded.length > 0, count, isAtLeast: false, ...period };
}

/** Causes of the 24 hours come first, those of earlier times last. */
function frequentFirst(one: FailureCause, other: FailureCause): number {
  const rank = ({ isRest, count }: FailureCause) => (count === 0 ? 2 : isRest ? 1 : 0);
  return rank(one) - rank(other) || other.count - one.count;
}

/** Minimum number of failures in 24 hours, and their part of all requests, of an app that fails: a few are usual. */
const MIN_FAILURES = 10;
const MIN_PART = 0.01;

/** True if an app fails now: much in 24 hours, and still in this hour or the one before. `now` in ms. */
export function failsNow({ failures, counted, period }: FailureTotal, now: number): boolean {
  const isMuch = failures >= MIN_FAILURES && failures >= counted * MIN_PART;
  return isMuch && period !== null && period.lastAt >= startOfHour(now) - SPAN_MS.hour;
}

/**
 * The numbers of failures of a counter that were counted and not recorded, by hour, newest first. A failure may be counted in
 * the hour before its own: a tally is of the time when its first event came, some seconds before it is written.
 */
function unrecorded(
  hours: readonly HourlyTally[],
  counter: FailureCounter,
  recorded: readonly AppFailure[],
  since: Since,
): { readonly bucket: number; readonly count: number }[] {
  const counts = new Map(hours.map((tally) => [tally.bucket, tally[counter]]));
  const byHour = Map.groupBy(recorded, ({ at }) => startOfHour(at));
  const found: { bucket: number; count: number }[] = [];
  let countedBefore = 0;
  // The clock of another instance may be in the next hour already.
  for (let bucket = since.hour + SPAN_MS.hour; bucket >= since.hours; bucket -= SPAN_MS.hour) {
    const ofHour = (counts.get(bucket) ?? 0) - (byHour.get(bucket)?.length ?? 0);
    const count = ofHour - countedBefore;
    countedBefore = Math.max(0, -ofHour);
    if (count > 0) found.push({ bucket, count });
  }
  return found;
}

/** The period of times (ms), newest first; null without any. It begins after a quiet time. Before `knownSince` nothing is known. */
function periodOf(times: readonly number[], knownSince: number): FailurePeriod | null {
  const [lastAt] = times;
  const beganAt = times.find((at, place) => at - (times[place + 1] ?? Number.NEGATIVE_INFINITY) > QUIET_MS);
  if (lastAt === undefined || beganAt === undefined) return null;
  return { beganAt, mayBeEarlier: beganAt - knownSince <= QUIET_MS, lastAt };
}

/** True if as many failures were recorded in a second as may be: others may have been left out. */
function hasFullSecond(failures: readonly AppFailure[]): boolean {
  const bySecond = Map.groupBy(failures, ({ at }) => Math.floor(at / 1000));
  return [...bySecond.values()].some(({ length }) => length >= MAX_FAILURES_PER_SECOND);
}

function startOfHour(at: number): number {
  return at - (at % SPAN_MS.hour);
}
