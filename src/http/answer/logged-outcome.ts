/** Outcomes of requests to endpoints for programs, for the log. */
import type { GrantNames } from '../../oauth/grants/grant.ts';

/** The outcome of a request, for the log; never holds a secret. */
export type Outcome = {
  /** Absent on success. */
  readonly error?: string;
  readonly detail?: string;
  /**
   * The client of the grant that answered; or the client or resource server that a refused request names,
   * authenticated or not.
   */
  readonly client_id?: string;
  /** The account and the grant that answered. */
  readonly sub?: string;
  readonly grant_id?: string;
  /** The operator who called the API, and the id of the key. */
  readonly operator_id?: string;
  readonly key_id?: string;
  /** The account of a sign-in attempt, or null if there is none. */
  readonly account_id?: string | null;
};

/** Returns the outcome of a request that a grant answered: it tells the log which app acted for which account. */
export function byGrant({ clientId, resourceOwnerId, grantId }: GrantNames): Outcome {
  return { client_id: clientId, sub: resourceOwnerId, grant_id: grantId };
}
