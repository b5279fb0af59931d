/** The refused requests of an app since a time, such as that of its pause. */
import type { AppFailure } from '../../oauth/activity/app-failure.ts';
import { type AppTally, failuresOf, SPAN_MS, TALLIES_KEPT_MS } from '../../oauth/activity/app-tally.ts';
import type { RefusedSince } from '../../oauth/activity/failure-summary.ts';

/**
 * Counts from the hourly tallies, and in the hour of `asked` from the recorded failures, which alone have exact times. Tallies
 * and recorded failures are those that are kept; `asked` and `now` in ms.
 */
export function refusedSince(
  asked: number,
  hours: readonly ({ readonly bucket: number } & AppTally)[],
  recorded: readonly AppFailure[],
  now: number,
): RefusedSince {
  const since = Math.max(asked, now - TALLIES_KEPT_MS.hour);
  const hour = since - (since % SPAN_MS.hour);
  const later = sum(hours.filter(({ bucket }) => bucket > hour));
  const ofHour = recorded.filter(({ at }) => at >= hour && at < hour + SPAN_MS.hour);
  const exact = ofHour.filter(({ at }) => at >= since).length;
  // A failure may be counted in the hour before its own: the records of all hours can have more than the tallies.
  const refused = Math.max(later + exact, recorded.filter(({ at }) => at >= since).length);
  const isWhole = since === asked;
  const isAtLeast = isWhole && sum(hours.filter(({ bucket }) => bucket === hour)) > ofHour.length;
  return { isWhole, refused, isAtLeast };
}

function sum(tallies: readonly AppTally[]): number {
  return tallies.reduce((all, tally) => all + failuresOf(tally), 0);
}
