/** Counts finished requests by route and outcome. Both are names from the program, never from a request. */
import { Distribution, DURATIONS } from '../../process/distribution.ts';
import type { Outcome } from '../answer/logged-outcome.ts';
import { STATUS } from '../answer/problem.ts';

/** Route of requests without a route. */
const NO_ROUTE = 'none';
/** Maximum number of separate outcomes per route; all further ones share a count. */
export const MAX_OUTCOMES = 50;

/** The requests of one route: their outcomes, and their durations (s). */
export type RouteTally = { ok: number; readonly others: Map<string, number>; readonly seconds: Distribution };

/** The requests of one process. */
export class RequestTally {
  readonly routes = new Map<string, RouteTally>();
  /** Number of answers with status 429. */
  throttled = 0;

  /** Counts a finished request, `ms` after its start. `route` is the program's pattern, not the requested path. */
  end(route: string | undefined, outcome: Outcome | undefined, status: number, ms: number): void {
    const tally = this.routes.get(route ?? NO_ROUTE) ?? this.#add(route ?? NO_ROUTE);
    tally.seconds.note(ms / 1000);
    const error = outcome?.error ?? (status < 400 ? undefined : `status_${status}`);
    if (error === undefined) tally.ok += 1;
    else {
      const name = tally.others.size < MAX_OUTCOMES || tally.others.has(error) ? error : 'other';
      tally.others.set(name, (tally.others.get(name) ?? 0) + 1);
    }
    if (status === STATUS.too_many_requests) this.throttled += 1;
  }

  #add(route: string): RouteTally {
    const tally = { ok: 0, others: new Map<string, number>(), seconds: new Distribution(DURATIONS) };
    this.routes.set(route, tally);
    return tally;
  }
}
