/** Outcomes of requests to endpoints for programs, for the log. */
import type { GrantNames } from '../oauth/grants/grant.ts';

/** The outcome of a request, for the log; never holds a secret. */
export type Outcome = {
  /** Absent when it went well. */
  readonly error?: string;
  readonly detail?: string;
  /** The client whose grant answered; or the client or resource server that a refused request names, whether that was proved or not. */
  readonly client_id?: string;
  /** The account and the grant that answered. */
  readonly sub?: string;
  readonly grant_id?: string;
  /** The account that somebody tried to sign in to, or null when there is none. */
  readonly account_id?: string | null;
};

/** The outcome of a request that a grant answered: the log tells by it what an app did for whom. */
export function byGrant({ clientId, resourceOwnerId, grantId }: GrantNames): Outcome {
  return { client_id: clientId, sub: resourceOwnerId, grant_id: grantId };
}
