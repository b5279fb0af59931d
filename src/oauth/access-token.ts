/** Checking an access token (RFC 6750 §2.1): the rules, in the order in which they hold. */
import { type Credential, isGenuine } from './credential.ts';
import { invalidToken, type Refusal } from './error.ts';
import { accessTokenLifetime, type GrantInContext, isAheadOfClock, type ResourceOwner, whyRefused } from './grant.ts';
import type { Keyring } from './keyring.ts';
import { isForResource } from './resource-server.ts';

/** A checked access token: whose it is, for which client and scope, since when and until when (ms). */
export type CheckedToken = {
  readonly resourceOwner: ResourceOwner;
  readonly clientId: string;
  readonly scope: string;
  readonly grantedAt: number;
  readonly expiresAt: number;
  /** How this was told, kept by whoever tells it: as long as nothing changes the next check finds the same object. */
  answer?: string;
};

/**
 * Why the access token opens nothing at a resource, or null when it is good. A rotation does not end the tokens before it;
 * each lives as long at most as the pair of the row does. `now` in ms.
 */
export function accessTokenRefusal(
  keyring: Keyring,
  credential: Credential,
  found: GrantInContext | null,
  resource: string | null,
  now: number,
): Refusal | null {
  if (!found) return invalidToken('no such grant');
  const { grant, standing } = found;
  if (!isGenuine(keyring, credential, grant.seed)) return invalidToken('the access token is forged');
  if (credential.generation > grant.generation)
    return invalidToken('the access token is newer than the grant: an older database was restored');
  const refused = whyRefused(grant, standing);
  if (refused) return invalidToken(refused);
  if (credential.expiresAt <= now) return invalidToken('the access token has expired');
  if (isAheadOfClock(credential.expiresAt, accessTokenLifetime(grant), now))
    return invalidToken('the clock stepped back: the access token would outlive its time');
  if (!isForResource(grant, resource)) return invalidToken('the access token is for another resource'); // RFC 8707 §2
  return null;
}
