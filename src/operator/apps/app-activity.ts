/** The search for apps that fail, and for the reasons. */
import type { ActivityStore } from '../../oauth/activity/activity-store.ts';
import { type AppFailure, FAILURES_KEPT, FAILURES_KEPT_MS } from '../../oauth/activity/app-failure.ts';
import {
  type AppTally,
  type FailingClient,
  failuresOf,
  SPAN_MS,
  type Span,
  type SummedTally,
  spansSince,
  sumOf,
  TALLIES_KEPT_MS,
  type TallyOfSpan,
} from '../../oauth/activity/app-tally.ts';
import type { FailureSummary, FailureTotal, RecordedCause } from '../../oauth/activity/failure-summary.ts';
import { causesOf, failsNow, summarizeFailures, summedSince } from './failure-summary.ts';

/** The activity of an app since a time: the failures, newest first, and the numbers since the hour or day in which that time lies. */
export type FoundActivity = {
  /** When that hour or day began (ms), or the first day that is kept: counts are kept for whole ones. */
  readonly countedSince: number;
  readonly span: Span;
  readonly tally: AppTally;
  readonly failures: readonly AppFailure[];
};

/** The tallies of an app for 48 hours, its recorded failures, newest first, and the sum of both. */
type FoundFailures = {
  readonly hours: readonly TallyOfSpan[];
  readonly recorded: readonly AppFailure[];
  readonly summary: FailureSummary;
};

/** The number of an app's refused requests since a day, and true if it fails now. */
export type Refusals = { readonly refused: number; readonly isFailing: boolean };

/** An app with refused requests in 24 hours, and true if it fails now. */
export type RefusedApp = FailureTotal & { readonly clientId: string; readonly isFailing: boolean };

/** Number of apps of each hour that are looked at for the worst ones of several hours, and of those that are summed up. */
const WORST = 20;

/** The store that activities are read from. */
type ActivityReader = Omit<ActivityStore, 'addActivity'>;

/** Finds the activity of apps. */
export class AppActivity {
  readonly #store: ActivityReader;
  readonly #now: () => number;

  /** `now` returns ms. */
  constructor(store: ActivityReader, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** The activity of an app since a time (ms), with at most `limit` failures. */
  async find(clientId: string, since: number, limit = FAILURES_KEPT): Promise<FoundActivity> {
    const { span, since: kept } = spansSince(since, this.#now());
    const countedSince = kept - (kept % SPAN_MS[span]);
    const [tallies, failures] = await Promise.all([
      this.#store.listTallies(clientId, span, kept),
      this.#store.listFailures(clientId, since, limit),
    ]);
    return { countedSince, span, tally: sumOf(tallies), failures };
  }

  /** The failures of an app with their causes: reads at most 49 tallies and 200 failures. */
  async failures(clientId: string): Promise<FoundFailures> {
    const now = this.#now();
    const [hours, recorded] = await Promise.all([
      this.#store.listTallies(clientId, 'hour', now - TALLIES_KEPT_MS.hour),
      this.#store.listFailures(clientId, now - FAILURES_KEPT_MS, FAILURES_KEPT),
    ]);
    return { hours, recorded, summary: summarizeFailures(hours, recorded, now) };
  }

  /**
   * The number of an app's refused requests since the day in which a time lies (ms), and true if it fails now. Reads some tallies.
   */
  async refusals(clientId: string, since: number): Promise<Refusals> {
    const now = this.#now();
    const [days, { isFailing }] = await Promise.all([
      this.#store.listTallies(clientId, 'day', since),
      this.#refusedApp(clientId, now),
    ]);
    return { refused: failuresOf(sumOf(days)), isFailing };
  }

  /** The causes of an app's recorded failures that concern one of its grants: reads at most 200 failures. */
  async failuresOfGrant(clientId: string, grantId: string): Promise<RecordedCause[]> {
    const recorded = await this.#store.listFailures(clientId, this.#now() - FAILURES_KEPT_MS, FAILURES_KEPT);
    return causesOf(recorded.filter((failure) => failure.grantId === grantId));
  }

  /** The tallies of an app, hour by hour or day by day, that ended after a time (ms); oldest first. */
  tallies(clientId: string, span: Span, since: number): Promise<TallyOfSpan[]> {
    return this.#store.listTallies(clientId, span, since);
  }

  /** The sums over all apps, hour by hour, that ended after a time (ms); oldest first. */
  talliesOfAll(since: number): Promise<SummedTally[]> {
    return this.#store.listTalliesOfAll(since);
  }

  /**
   * The apps with the most failures in the 24 hours of a summary: most first, and by id. Reads the 20 worst apps of each hour, then
   * all hours of the 20 that are the worst in those, so that 10,000 failing apps take no longer than 20. An app that is never among
   * the 20 is missed.
   */
  async mostRefused(): Promise<RefusedApp[]> {
    const now = this.#now();
    const since = summedSince(now);
    const hours: number[] = [];
    for (let hour = since; hour <= now; hour += SPAN_MS.hour) hours.push(hour);
    const worst = await Promise.all(hours.map((hour) => this.#store.listMostFailing(hour, WORST)));
    const sums = new Map<string, number>();
    for (const { clientId, failures } of worst.flat()) sums.set(clientId, (sums.get(clientId) ?? 0) + failures);
    const candidates = [...sums].map(([clientId, failures]) => ({ clientId, failures })).toSorted(worstFirst);
    const summed = candidates.slice(0, WORST).map(({ clientId }) => this.#refusedApp(clientId, now));
    return (await Promise.all(summed)).toSorted(worstFirst);
  }

  async #refusedApp(clientId: string, now: number): Promise<RefusedApp> {
    const hours = await this.#store.listTallies(clientId, 'hour', now - TALLIES_KEPT_MS.hour);
    const { causes: _, ...total } = summarizeFailures(hours, [], now);
    return { clientId, ...total, isFailing: failsNow(total, now) };
  }
}

function worstFirst(one: FailingClient, other: FailingClient): number {
  return other.failures - one.failures || (one.clientId < other.clientId ? -1 : 1);
}
