/** The search for apps that fail, and for the reasons. */
import type { ActivityStore } from '../oauth/activity/activity-store.ts';
import { type AppFailure, FAILURES_KEPT } from '../oauth/activity/app-failure.ts';
import {
  type AppTally,
  type FailingClient,
  SPAN_MS,
  type Span,
  type SummedTally,
  sumOf,
  TALLIES_KEPT_MS,
  type TallyOfSpan,
} from '../oauth/activity/app-tally.ts';

/** The activity of an app in the hour or day in which a time lies, and after it: the numbers, and the failures, newest first. */
export type FoundActivity = {
  /** When that hour or day began (ms). */
  readonly countedSince: number;
  readonly tally: AppTally;
  readonly failures: readonly AppFailure[];
};

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

  /** The activity of an app since a time (ms), with at most `limit` failures: those that were counted. */
  async find(clientId: string, since: number, limit = FAILURES_KEPT): Promise<FoundActivity> {
    const span = this.#spanOf(since);
    const countedSince = since - (since % SPAN_MS[span]);
    const [tallies, failures] = await Promise.all([
      this.#store.listTallies(clientId, span, since),
      this.#store.listFailures(clientId, countedSince, limit),
    ]);
    return { countedSince, tally: sumOf(tallies), failures };
  }

  /** The tallies of an app, hour by hour or day by day, that ended after a time (ms); oldest first. */
  tallies(clientId: string, span: Span, since: number): Promise<TallyOfSpan[]> {
    return this.#store.listTallies(clientId, span, since);
  }

  /** The sums over all apps, hour by hour, that ended after a time (ms); oldest first. */
  talliesOfAll(since: number): Promise<SummedTally[]> {
    return this.#store.listTalliesOfAll(since);
  }

  /** The apps with the most failures since the day in which a time (ms) lies, at most `limit`. */
  mostFailing(since: number, limit: number): Promise<FailingClient[]> {
    return this.#store.listMostFailing(since, limit);
  }

  /** The ids of apps that failed since a time (ms), or in the hour or day in which it lies. */
  async failingSince(since: number): Promise<ReadonlySet<string>> {
    return new Set(await this.#store.listFailingClients(this.#spanOf(since), since));
  }

  /** Hours, as long as they are kept. */
  #spanOf(since: number): Span {
    return this.#now() - since <= TALLIES_KEPT_MS.hour ? 'hour' : 'day';
  }
}
