/** Checking an access token (RFC 6750 §2.1): the rules, in the order in which they hold. */

import { invalidToken, type Refusal } from '../error.ts';
import { isAheadOfClock } from '../grants/clock-steps.ts';
import { type Grant, type GrantInContext, type GrantNames, type ResourceOwner, whyRefused } from '../grants/grant.ts';
import { type Credential, isGenuine } from '../keys/credential.ts';
import type { Keyring } from '../keys/keyring.ts';
import { accessTokenLifetime, isOfAnotherHistory } from './token-pair.ts';

/** A checked access token: whose it is, for which client and scope, since when and until when (ms). */
export type CheckedToken = {
  readonly resourceOwner: ResourceOwner;
  readonly clientId: string;
  /** The external ID of the resource owner; null when the client is not told. */
  readonly externalId: string | null;
  readonly scope: string;
  readonly grantedAt: number;
  readonly expiresAt: number;
  readonly grant: GrantNames;
};

/** An access token that is presented somewhere, with the grant that it names, and the rule for what is good there. `now` in ms. */
export type AccessTokenUse<Found extends GrantInContext> = {
  readonly keyring: Keyring;
  readonly credential: Credential;
  readonly found: Found | null;
  readonly isGoodHere: (grant: Grant) => boolean;
  readonly now: number;
};

/**
 * Returns the grant of a valid access token, or the reason of its refusal. A rotation does not end earlier access tokens. None
 * is accepted for longer than the lifetime of the current pair's access token.
 */
export function decideAccessToken<Found extends GrantInContext>(use: AccessTokenUse<Found>): Found | Refusal {
  const { keyring, credential, found, isGoodHere, now } = use;
  if (!found) return invalidToken('no such grant');
  const { grant, standing } = found;
  if (!isGenuine(keyring, credential, grant.seed)) return invalidToken('the access token is forged');
  // The token is refused, but the grant is not revoked: a resource server may present it as well, so it proves nothing about
  // the holder of the refresh token.
  if (isOfAnotherHistory(credential, grant, grant.accessTokenExpiresAt))
    return invalidToken(
      'the access token is newer than the grant, or of another history: an older database was restored',
    );
  const refused = whyRefused(grant, standing);
  if (refused) return invalidToken(refused);
  if (credential.expiresAt <= now) return invalidToken('the access token has expired');
  if (isAheadOfClock(credential.expiresAt, accessTokenLifetime(grant), now))
    return invalidToken('the clock stepped back: the access token would outlive its time');
  if (!isGoodHere(grant)) return invalidToken('the access token is for another resource'); // RFC 8707 §2
  return found;
}
