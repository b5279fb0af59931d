/** The refused requests of an app since a time, such as that of its pause. */
import type { AppFailure } from '../../oauth/activity/app-failure.ts';
import {
  type AppTally,
  failuresOf,
  SPAN_MS,
  type Span,
  spansSince,
  TALLIES_KEPT_MS,
} from '../../oauth/activity/app-tally.ts';
import type { RefusedSince } from '../../oauth/activity/failure-summary.ts';

/**
 * Counts from the tallies of whole hours, or of whole days where the hours are not kept so long; and in the hour or day of `asked`
 * from the recorded failures, which alone have exact times. Tallies and recorded failures are those that are kept; `asked` and
 * `now` in ms.
 */
export function refusedSince(
  asked: number,
  kept: Readonly<Record<Span, readonly ({ readonly bucket: number } & AppTally)[]>>,
  recorded: readonly AppFailure[],
  now: number,
): RefusedSince {
  const { span } = spansSince(asked, now);
  const since = Math.max(asked, now - TALLIES_KEPT_MS[span]);
  const begin = since - (since % SPAN_MS[span]);
  const later = sum(kept[span].filter(({ bucket }) => bucket > begin));
  const ofSpan = recorded.filter(({ at }) => at >= begin && at < begin + SPAN_MS[span]);
  const exact = ofSpan.filter(({ at }) => at >= since).length;
  // A failure may be counted in the hour before its own: the records of all hours can have more than the tallies.
  const refused = Math.max(later + exact, recorded.filter(({ at }) => at >= since).length);
  const isWhole = since === asked;
  const isAtLeast = isWhole && sum(kept[span].filter(({ bucket }) => bucket === begin)) > ofSpan.length;
  return { isWhole, span, refused, isAtLeast };
}

function sum(tallies: readonly AppTally[]): number {
  return tallies.reduce((all, tally) => all + failuresOf(tally), 0);
}
