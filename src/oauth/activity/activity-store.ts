/** The port to the store of tallies and failures. Rules are as for every port (`oauth/store.ts`). */
import type { AppFailure } from './app-failure.ts';
import type { AppTally, FailingClient, Span, SummedTally, TallyOfSpan } from './app-tally.ts';

/** The activity of an app since the last write; `at` is when it was counted (ms). */
export type CountedActivity = {
  readonly clientId: string;
  readonly at: number;
  readonly tally: AppTally;
  /** Oldest first. */
  readonly failures: readonly AppFailure[];
};

/** Tallies and failures of registered apps. */
export type ActivityStore = {
  /**
   * Adds to the tallies of the hour and the day, to the sum over all apps, and to the failures. Keeps the last `FAILURES_KEPT` failures, but none well
   * after `now` (ms): a clock that was ahead must not hide the failures of today. Writes nothing for a deleted app. Writes at
   * most once: throws `OutcomeUnknown` if the write may have happened.
   */
  addActivity(counted: CountedActivity, now: number): Promise<void>;
  /** The tallies of an app whose spans end after `since` (ms), oldest first. */
  listTallies(clientId: string, span: Span, since: number): Promise<TallyOfSpan[]>;
  /** The failures of an app at `since` (ms) or later, newest first, at most `limit`. */
  listFailures(clientId: string, since: number, limit: number): Promise<AppFailure[]>;
  /**
   * The places of the next failures of all apps after one (null: from the first), at most `limit`; each says if it is of a
   * request.
   */
  listFailurePlaces(
    requestId: string,
    after: string | null,
    limit: number,
  ): Promise<{ readonly key: string; readonly isFound: boolean }[]>;
  /** The failures at these places that are there. */
  listFailuresAt(keys: readonly string[]): Promise<AppFailure[]>;
  /** The sums over all apps, deleted ones too, of the hours that end after `since` (ms), oldest first. */
  listTalliesOfAll(since: number): Promise<SummedTally[]>;
  /** The apps with the most failures in the hour that began at `hour` (ms), at most `limit`, the worst one first. */
  listMostFailing(hour: number, limit: number): Promise<FailingClient[]>;
};
