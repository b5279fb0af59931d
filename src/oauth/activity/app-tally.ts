/** The counts of an app's activity. */

/** The counters of failures. */
export const FAILURES = ['invalidClient', 'invalidGrant', 'invalidRequest', 'limited', 'other'] as const;

/** The counters of an app: the acts of the app and its users, then its failures by cause. */
export const COUNTERS = [
  ...(['allowed', 'denied', 'exchanges', 'refreshes', 'retries', 'checks', 'introspections'] as const),
  ...FAILURES,
] as const;

/** One of them. */
export type Counter = (typeof COUNTERS)[number];

/** A number for each counter. */
export type AppTally = { readonly [Each in Counter]: number };

/** A period of a tally. Hours are kept for two days, days for 400. */
export type Span = 'hour' | 'day';

/** Milliseconds of a span, in UTC. */
export const SPAN_MS: Readonly<Record<Span, number>> = { hour: 3_600_000, day: 86_400_000 };

/** How long the tallies of a span are kept (ms). */
export const TALLIES_KEPT_MS: Readonly<Record<Span, number>> = { hour: 48 * SPAN_MS.hour, day: 400 * SPAN_MS.day };

/** A tally of an app in a span that began at `bucket` (ms). */
export type TallyOfSpan = { readonly clientId: string; readonly span: Span; readonly bucket: number } & AppTally;

/** A sum over all apps in an hour that began at `bucket` (ms). */
export type SummedTally = { readonly bucket: number } & AppTally;

/** The spans that end after a time (ms). */
export type SpansSince = { readonly span: Span; readonly since: number };

/** The spans since a time: hours, as long as they are kept, otherwise the days that are. Both in ms. */
export function spansSince(since: number, now: number): SpansSince {
  if (now - since <= TALLIES_KEPT_MS.hour) return { span: 'hour', since };
  return { span: 'day', since: Math.max(since, now - TALLIES_KEPT_MS.day) };
}

/** An app, and the number of its failures. */
export type FailingClient = { readonly clientId: string; readonly failures: number };

/** A tally in which nothing was counted yet. */
export function emptyTally(): { [Each in Counter]: number } {
  return {
    allowed: 0,
    denied: 0,
    exchanges: 0,
    refreshes: 0,
    retries: 0,
    checks: 0,
    introspections: 0,
    invalidClient: 0,
    invalidGrant: 0,
    invalidRequest: 0,
    limited: 0,
    other: 0,
  };
}

/** The sum of tallies. */
export function sumOf(tallies: readonly AppTally[]): AppTally {
  const sum = emptyTally();
  for (const tally of tallies) for (const counter of COUNTERS) sum[counter] += tally[counter];
  return sum;
}

/** The number of failures in a tally. */
export function failuresOf(tally: AppTally): number {
  return FAILURES.reduce((sum, counter) => sum + tally[counter], 0);
}

/**
 * The counter of a refusal, by its `error` value. Null if it is not a failure: a device that still waits (RFC 8628 §3.5), and a
 * Deny, which is counted when the user presses the button.
 */
export function counterOf(error: string): (typeof FAILURES)[number] | null {
  switch (error) {
    case 'authorization_pending':
    case 'access_denied':
      return null;
    case 'invalid_client':
      return 'invalidClient';
    case 'invalid_grant':
    case 'expired_token':
      return 'invalidGrant';
    case 'invalid_request':
      return 'invalidRequest';
    case 'slow_down':
    case 'temporarily_unavailable':
      return 'limited';
    default:
      return 'other';
  }
}
