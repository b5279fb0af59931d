/** Checking an access token (RFC 6750 §2.1): the rules, in the order in which they hold. */

import { isAheadOfClock, notBefore } from './clock-steps.ts';
import { type Credential, isGenuine } from './credential.ts';
import { invalidToken, type Refusal } from './error.ts';
import {
  type Grant,
  type GrantInContext,
  type GrantNames,
  type ResourceOwner,
  USE_IS_NEWS_AFTER_MS,
  whyRefused,
} from './grant.ts';
import type { Keyring } from './keyring.ts';
import { isForResource } from './resource-server.ts';
import { accessTokenLifetime, isOfAnotherHistory } from './token-pair.ts';

/** A checked access token: whose it is, for which client and scope, since when and until when (ms). */
export type CheckedToken = {
  readonly resourceOwner: ResourceOwner;
  readonly clientId: string;
  /** What the product where they signed in calls them; null where it is not told. */
  readonly externalId: string | null;
  readonly scope: string;
  readonly grantedAt: number;
  readonly expiresAt: number;
  readonly grant: GrantNames;
  /** The HTTP answer that says so, kept by whoever made it: while nothing changes the next check returns the same object. */
  answer?: string;
};

/** An access token that is presented at a resource (null: at one without a URI), with the grant that it names. `now` in ms. */
export type AccessTokenUse<Found extends GrantInContext> = {
  readonly keyring: Keyring;
  readonly credential: Credential;
  readonly found: Found | null;
  readonly resource: string | null;
  readonly now: number;
};

/**
 * The grant of an access token that is good, or why it opens nothing. A rotation does not end the tokens before it; each
 * lives as long at most as the pair of the row does.
 */
export function decideAccessToken<Found extends GrantInContext>(use: AccessTokenUse<Found>): Found | Refusal {
  const { keyring, credential, found, resource, now } = use;
  if (!found) return invalidToken('no such grant');
  const { grant, standing } = found;
  if (!isGenuine(keyring, credential, grant.seed)) return invalidToken('the access token is forged');
  // Only refused: a resource server may show it again and again, and proves nothing by it of who holds the refresh token.
  if (isOfAnotherHistory(credential, grant, grant.accessTokenExpiresAt))
    return invalidToken(
      'the access token is newer than the grant, or of another history: an older database was restored',
    );
  const refused = whyRefused(grant, standing);
  if (refused) return invalidToken(refused);
  if (credential.expiresAt <= now) return invalidToken('the access token has expired');
  if (isAheadOfClock(credential.expiresAt, accessTokenLifetime(grant), now))
    return invalidToken('the clock stepped back: the access token would outlive its time');
  if (!isForResource(grant, resource)) return invalidToken('the access token is for another resource'); // RFC 8707 §2
  return found;
}

/** A period of time: from a moment on and until before another (ms). */
export type Period = { readonly from: number; readonly until: number };

/**
 * How long a check of a good token would find the same, while nothing is written that it rests on: until the token ends, or
 * its use is news again, and not after the clock stepped back. `usedAt` (ms) is the use that is noted of its generation.
 */
export function periodOfCheck(expiresAt: number, grant: Grant, usedAt: number): Period {
  return {
    from: notBefore(expiresAt, accessTokenLifetime(grant)),
    until: Math.min(expiresAt, usedAt + USE_IS_NEWS_AFTER_MS),
  };
}
