/** Failures of authenticated apps, for their operators and developers. */

/** The endpoint that refused, by its name in the metadata (RFC 8414 §2) without `_endpoint`. */
export type FailedEndpoint = 'token' | 'revocation' | 'pushed_authorization_request' | 'device_authorization';

/** A failure. `at` in ms. */
export type AppFailure = {
  readonly clientId: string;
  readonly at: number;
  readonly requestId: string;
  readonly endpoint: FailedEndpoint;
  /** The `error` value of the answer. */
  readonly error: string;
  /** The `error_description` that the app was told; of a paused app, that it is paused. */
  readonly reason: string;
  /** The /24 or /48 that the request came from. */
  readonly network: string;
  /** The grant's id as text; null when the request named none of the app's. */
  readonly grantId: string | null;
};

/** Number of stored failures of an app, the newest ones. */
export const FAILURES_KEPT = 200;

/** How long a failure is kept (ms). */
export const FAILURES_KEPT_MS = 30 * 86_400_000;

/** Maximum number of recorded failures of an app per second. Further ones are only counted. */
export const MAX_FAILURES_PER_SECOND = 10;
