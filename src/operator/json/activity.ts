/** The activity of an app as commands and an API print it. */
import type { AppFailure } from '../../oauth/activity/app-failure.ts';
import { type AppTally, failuresOf, type Span, type TallyOfSpan } from '../../oauth/activity/app-tally.ts';
import type { PageFailure } from '../../oauth/activity/page-failures.ts';
import type { FoundActivity } from '../apps/app-activity.ts';
import { isoTime } from './time.ts';

/** A failure for programs. */
export type FailureJson = ReturnType<typeof failureJson>;

/** A failure. */
export function failureJson({ at, requestId, endpoint, error, reason, network, grantId }: AppFailure) {
  return { at: isoTime(at), request_id: requestId, endpoint, error, reason, network, grant_id: grantId };
}

/** A refusal on the authorization page, which proves nobody. */
export function pageFailureJson({ at, requestId, error, reason, received, network }: PageFailure) {
  return { at: isoTime(at), request_id: requestId, error, reason, received, network };
}

/** A tally for programs. */
export type TallyJson = ReturnType<typeof tallyJson>;

/** A tally, with the number of all failures before that of each cause. */
export function tallyJson(tally: AppTally) {
  return {
    allowed: tally.allowed,
    denied: tally.denied,
    exchanges: tally.exchanges,
    refreshes: tally.refreshes,
    retries: tally.retries,
    checks: tally.checks,
    introspections: tally.introspections,
    failures: failuresOf(tally),
    invalid_client: tally.invalidClient,
    invalid_grant: tally.invalidGrant,
    invalid_request: tally.invalidRequest,
    limited: tally.limited,
    other: tally.other,
  };
}

/** The activity of an app's last 24 hours, as a part of the app. */
export function lastDayJson({ tally, failures: [last] }: FoundActivity) {
  return { last_24_hours: tallyJson(tally), last_failure: last === undefined ? null : failureJson(last) };
}

/** The tallies of an app, hour by hour or day by day. */
export function talliesJson(clientId: string, span: Span, tallies: readonly TallyOfSpan[]) {
  return {
    client_id: clientId,
    span,
    tallies: tallies.map((tally) => ({ at: isoTime(tally.bucket), ...tallyJson(tally) })),
  };
}

/** The activity of an app since a time. */
export function activityJson(clientId: string, { countedSince, tally, failures }: FoundActivity) {
  return {
    client_id: clientId,
    counted_since: isoTime(countedSince),
    tally: tallyJson(tally),
    failures: failures.map(failureJson),
  };
}
