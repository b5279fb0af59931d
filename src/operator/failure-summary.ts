/**
 * The causes of an app's failures, from its hourly tallies, which count all, and from its recorded failures, which alone have
 * reasons and exact times.
 */

import {
  type AppFailure,
  FAILURES_KEPT,
  FAILURES_KEPT_MS,
  MAX_FAILURES_PER_SECOND,
} from '../oauth/activity/app-failure.ts';
import {
  type AppTally,
  COUNTERS,
  counterOf,
  FAILURES,
  failuresOf,
  SPAN_MS,
  sumOf,
} from '../oauth/activity/app-tally.ts';
import type { FailureCause, FailureCounter, FailurePeriod, FailureSummary } from '../oauth/activity/failure-summary.ts';
import { causeOf, kindOfCause } from '../oauth/protocol/reason.ts';

/** Time without a failure (ms) after which the next one is a new beginning. */
const QUIET_MS = 12 * SPAN_MS.hour;

/** The hours that are summed up, with the one that has just begun; and all that are looked at for a beginning. */
const [SUMMED_HOURS, KNOWN_HOURS] = [24, 48];

type HourlyTally = { readonly bucket: number } & AppTally;

/** Sums up the tallies of the last 48 hours and the recorded failures, which come newest first. `now` in ms. */
export function summarizeFailures(
  hours: readonly HourlyTally[],
  recorded: readonly AppFailure[],
  now: number,
): FailureSummary {
  const hour = startOfHour(now);
  const since = hour - (SUMMED_HOURS - 1) * SPAN_MS.hour;
  const hoursKnownSince = hour - (KNOWN_HOURS - 1) * SPAN_MS.hour;
  const knownSince = (recorded.length < FAILURES_KEPT ? undefined : recorded.at(-1)?.at) ?? now - FAILURES_KEPT_MS;
  const isPartlyRecorded = knownSince > since || hasFullSecond(recorded.filter(({ at }) => at >= since));
  const byCounter = Map.groupBy(recorded, ({ error }) => counterOf(error));
  const summed = hours.filter(({ bucket }) => bucket >= since);
  const sum = sumOf(summed);

  const causesOf = (counter: FailureCounter): FailureCause[] => {
    const found = byCounter.get(counter) ?? [];
    const others = unrecorded(hours, counter, found, { from: hoursKnownSince, to: hour });
    const count = others.reduce((all, { bucket, count }) => all + (bucket >= since ? count : 0), 0);
    const causes = [...Map.groupBy(found, ({ reason }) => causeOf(reason))].map(
      ([cause, each]): FailureCause => ({
        ...{ counter, cause, kind: kindOfCause(cause), error: each[0]?.error ?? null },
        count: each.filter(({ at }) => at >= since).length,
        isAtLeast: isPartlyRecorded && count > 0,
        ...(periodOf(
          each.map(({ at }) => at),
          knownSince,
        ) as FailurePeriod),
      }),
    );
    const period = periodOf(
      others.map(({ bucket }) => bucket),
      hoursKnownSince,
    );
    const rest = period && { counter, cause: null, kind: null, error: null, count, isAtLeast: false, ...period };
    return [...causes, ...(rest ? [rest] : [])].toSorted(
      (one, other) => rank(one) - rank(other) || other.count - one.count,
    );
  };
  return {
    causes: FAILURES.toSorted((one, other) => sum[other] - sum[one]).flatMap(causesOf),
    failures: failuresOf(sum),
    counted: COUNTERS.reduce((all, counter) => all + sum[counter], 0),
    period: periodOf(
      hours
        .filter((tally) => failuresOf(tally) > 0)
        .map(({ bucket }) => bucket)
        .reverse(),
      hoursKnownSince,
    ),
    isPartlyRecorded,
  };
}

/** Minimum number of failures in 24 hours, and their part of all requests, of an app that fails: a few are usual. */
const [MIN_FAILURES, MIN_PART] = [10, 0.01];

/** True if an app fails now: much in 24 hours, and still in this hour or the one before. `now` in ms. */
export function failsNow({ failures, counted, period }: FailureSummary, now: number): boolean {
  const isMuch = failures >= MIN_FAILURES && failures >= counted * MIN_PART;
  return isMuch && period !== null && period.lastAt >= startOfHour(now) - SPAN_MS.hour;
}

/** Recorded causes of the 24 hours come first, earlier ones last. */
function rank({ cause, count }: FailureCause): number {
  return count === 0 ? 2 : cause === null ? 1 : 0;
}

/**
 * The numbers of failures of a counter that were counted and not recorded, by hour, newest first. A failure may be counted in
 * the hour before its own: a tally is of the time when its first event came, some seconds before it is written.
 */
function unrecorded(
  hours: readonly HourlyTally[],
  counter: FailureCounter,
  recorded: readonly AppFailure[],
  { from, to }: { readonly from: number; readonly to: number },
): { readonly bucket: number; readonly count: number }[] {
  const counts = new Map(hours.map((tally) => [tally.bucket, tally[counter]]));
  const byHour = Map.groupBy(recorded, ({ at }) => startOfHour(at));
  const found: { bucket: number; count: number }[] = [];
  let countedBefore = 0;
  for (let bucket = to; bucket >= from; bucket -= SPAN_MS.hour) {
    const count = (counts.get(bucket) ?? 0) - (byHour.get(bucket)?.length ?? 0) - countedBefore;
    countedBefore = Math.max(0, -count);
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
