/** The tables whose rows expire, in the SQL that both stores share: `clean-up.ts` scans them. */
import { SESSION_LIFETIMES } from '../../accounts/people/session.ts';
import { FAILURES_KEPT_MS } from '../../oauth/activity/app-failure.ts';
import { SPAN_MS, TALLIES_KEPT_MS } from '../../oauth/activity/app-tally.ts';
import { IDEMPOTENCY_KEY_MS } from '../../oauth/trail/request-conditions.ts';
import { OPERATOR_SESSION_LIFETIMES } from '../../operator/access/operator-session.ts';
import { HAND_OVERS_KEPT_MS } from '../../operator/hand-over/hand-over.ts';
import { EXTERNAL_SIGN_IN } from '../tables/accounts/external-sign-ins.ts';
import { FORMER_IDENTITY } from '../tables/accounts/identities.ts';
import { SESSION } from '../tables/accounts/sessions.ts';
import type { StoredTable } from '../tables/all-tables.ts';
import { hasItsEpochs, STORED_GRANT } from '../tables/grants/grant-rows.ts';
import { SIGNING_KEY } from '../tables/installation/signing-keys.ts';
import { IDEMPOTENCY_KEY } from '../tables/operators/idempotency-keys.ts';
import { OPERATOR_KEY } from '../tables/operators/operator-keys.ts';
import { OPERATOR_ONCE } from '../tables/operators/operator-rows.ts';
import { OPERATOR_SESSION } from '../tables/operators/operator-sessions.ts';
import { OPERATOR_ONE_TIME_ADDRESS } from '../tables/operators/operators.ts';
import { APP_FAILURE, TALLY } from '../tables/registrations/activity.ts';
import { HAND_OVER } from '../tables/registrations/hand-over-rows.ts';

/** A table whose rows expire. */
export type DyingRows = {
  readonly table: string;
  /** The key that orders the scan, and its kind. */
  readonly key: string;
  readonly kind: 'text' | 'bytes' | 'uuid';
  /** Dead rows are kept for this time (ms). */
  readonly kept: number;
  /** The condition of a dead row; `before` is the parameter of the time before which it must have died. */
  isDead(before: string): string;
};

const HOUR_MS = 3_600_000;
/** Retention for rows that users still look at, and against a wrong clock. */
const DAY_MS = 24 * HOUR_MS;

/** Returns a table whose rows are dead after the time in a column. */
export function dyingAt(table: Pick<StoredTable, 'name' | 'columns'>, time: string, kept = HOUR_MS): DyingRows {
  const { name, kind } = table.columns[0] as { name: string; kind: DyingRows['kind'] };
  return { table: table.name, key: name, kind, kept, isDead: (before) => `${time} < ${before}` };
}

/** The tables whose rows expire in both stores. */
export const DYING: readonly DyingRows[] = [
  {
    ...dyingAt(STORED_GRANT, 'expires_at', DAY_MS),
    isDead: (before) =>
      `(coalesce(revoked_at < ${before}, FALSE) OR expires_at < ${before} OR NOT ${hasItsEpochs((column) => `oauth_grant.${column}`)})`,
  },
  {
    ...dyingAt(SESSION, 'last_seen_at', DAY_MS),
    isDead: (before) => `(last_seen_at + ${SESSION_LIFETIMES.idle} < ${before} OR expires_at < ${before})`,
  },
  // After an hour instead of a day: a row says who signed in, and to which app.
  dyingAt(EXTERNAL_SIGN_IN, 'expires_at'),
  dyingAt(FORMER_IDENTITY, 'ended_at', DAY_MS),
  // Counted from the end of its span, so that no complete span is missing within the retention time.
  {
    ...dyingAt(TALLY, 'bucket', 0),
    isDead: (before) =>
      `bucket + CASE span ${(['hour', 'day'] as const).map((span) => `WHEN '${span}' THEN ${SPAN_MS[span] + TALLIES_KEPT_MS[span]}`).join(' ')} END < ${before}`,
  },
  dyingAt(APP_FAILURE, 'at', FAILURES_KEPT_MS),
  dyingAt(IDEMPOTENCY_KEY, 'at', IDEMPOTENCY_KEY_MS),
  dyingAt(HAND_OVER, 'expires_at', HAND_OVERS_KEPT_MS),
  {
    ...dyingAt(OPERATOR_SESSION, 'last_seen_at'),
    isDead: (before) => `(last_seen_at + ${OPERATOR_SESSION_LIFETIMES.idle} < ${before} OR expires_at < ${before})`,
  },
  // Operators still see a month later which key has expired.
  dyingAt(OPERATOR_KEY, 'expires_at', 30 * DAY_MS),
  dyingAt(OPERATOR_ONE_TIME_ADDRESS, 'expires_at'),
  dyingAt(OPERATOR_ONCE, 'expires_at'),
  dyingAt(SIGNING_KEY, 'drop_at', 0),
];
