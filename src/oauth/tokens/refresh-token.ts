/** Refreshing a pair (RFC 6749 §6): rotation at each use, retries that are safe, and reuse that ends the grant. */
import type { Client } from '../clients/client.ts';
import { invalidRefreshToken, type Reason, type Refusal } from '../error.ts';
import { ageOfGeneration } from '../grants/clock-steps.ts';
import { type Generation, type Grant, isEnded, type Lifetimes, whyRefused } from '../grants/grant.ts';
import { type Credential, isGenuine } from '../keys/credential.ts';
import { ACCESS_ENDED, explain, reasonOfStanding, refreshTokenExpired, refreshTokenUsed } from './refusal-reason.ts';
import { accessTokenLifetime, currentGeneration, isOfAnotherHistory, nextGeneration } from './token-pair.ts';
import { beyondGrant, type TokenRequest } from './token-request.ts';

/** The result of a refresh: a transition, the same pair again without a write, a refusal, or one that also revokes. */
export type RefreshDecision =
  | { readonly grant: Grant; readonly rotate: Generation }
  | { readonly grant: Grant; readonly again: Generation }
  | { readonly grant: Grant; readonly revoke: 'refresh_reuse' | 'refresh_conflict'; readonly refusal: Refusal }
  | Refusal;

/**
 * Decides on a refresh token that an authenticated client presents. Order is by generation, never by time: clocks step,
 * generations only grow.
 */
export function decideRefresh(request: TokenRequest): RefreshDecision {
  const { keyring, lifetimes, client, credential, found, asked, now } = request;
  if (!found) return invalidRefreshToken('no such grant');
  const { grant, standing } = found;
  if (!isGenuine(keyring, credential, grant.seed)) return invalidRefreshToken('the refresh token is forged');
  if (grant.clientId !== client.id) return invalidRefreshToken('the refresh token was issued to another client'); // RFC 6749 §6
  // From here on the token is genuine and the client's own: a client that proved its secret gets the reason.
  const refuse: Refuse = (detail, reason) => explain(invalidRefreshToken(detail), client, reason);
  const refused = whyRefused(grant, standing);
  const isReuse = credential.generation < grant.generation && isEnded(grant, standing);
  if (refused) return refuse(refused, isReuse ? refreshTokenUsed(credential, grant, true) : reasonOfStanding(found));
  const beyond = beyondGrant(grant, client, asked);
  if (beyond) return beyond;
  // Before the expiry: a restore may have revived a refresh token that somebody else holds, so the grant ends in any case.
  if (isOfAnotherHistory(credential, grant, grant.expiresAt)) {
    const refusal = refuse(NEWER, ACCESS_ENDED);
    return { grant, revoke: 'refresh_conflict', refusal };
  }
  // This is the expiry of the current token. After it, there is no pair that an older token could share, and nothing to
  // revoke.
  if (grant.expiresAt <= now) return refuse('the refresh token has expired', refreshTokenExpired(grant, now)); // RFC 9700 §4.14.2
  if (credential.generation === grant.generation)
    return { grant, rotate: nextGeneration(grant, keyring.currentKeyId, lifetimes, now) };
  return decideOlder(credential, grant, retryTimes(client, lifetimes, grant), now, refuse);
}

const NEWER = 'the refresh token is newer than the grant, or of another history: an older database was restored';

/** Makes a refusal with its detail, and with the reason for a client that may be told it. */
type Refuse = (detail: string, reason: Reason) => Refusal;

/** How long a predecessor gets the current pair again (s): `overlap` in any case, `retryWindow` while the pair is unused. */
export type RetryTimes = { readonly overlap: number; readonly retryWindow: number };

/** Public clients cannot prove who they are, so a stolen token must not share a pair for long (RFC 9700 §4.14.2). */
const PUBLIC_CLIENT: RetryTimes = { overlap: 0, retryWindow: 60 };

/**
 * The current settings of a grant's two windows: the client's own, else the installation's. Neither window is longer than the
 * lifetime of the pair's access token.
 */
export function retryTimes(client: Client, lifetimes: Lifetimes, grant: Grant): RetryTimes {
  const lifetime = accessTokenLifetime(grant) / 1000;
  const defaults: RetryTimes =
    client.type === 'public'
      ? PUBLIC_CLIENT
      : { overlap: lifetimes.refreshOverlap, retryWindow: lifetimes.refreshRetryWindow };
  return {
    overlap: Math.min(client.refreshOverlap ?? defaults.overlap, lifetime),
    retryWindow: Math.min(client.refreshRetryWindow ?? defaults.retryWindow, lifetime),
  };
}

/**
 * Decides on an older token of a live grant, whether it has expired or not. There are two windows, because one alone does
 * harm. If only the pair's first use closed it, the slower of two racing workers would end a healthy grant. If only time
 * closed it, either a lost response would cost the grant or a theft would not be noticed.
 */
function decideOlder(
  credential: Credential,
  grant: Grant,
  times: RetryTimes,
  now: number,
  refuse: Refuse,
): RefreshDecision {
  const isPredecessor = credential.generation === grant.generation - 1;
  const age = ageOfGeneration(grant, now);
  // The pair's age is unknown, so neither window is open and nothing is revoked. The current token can still rotate, which
  // writes the current time.
  if (age === null)
    return invalidRefreshToken('the clock stepped back since the rotation: an older token opens nothing');
  const inOverlap = age < times.overlap * 1000;
  const isUnused = grant.usedGeneration < grant.generation;
  if (isPredecessor && (inOverlap || (isUnused && age < times.retryWindow * 1000)))
    return { grant, again: currentGeneration(grant) };
  // Inside the overlap, an old token revokes nothing: three workers may be late with three generations.
  if (inOverlap)
    return refuse('the refresh token is older than the predecessor', refreshTokenUsed(credential, grant, false));
  const refusal = refuse('the refresh token was already rotated: reuse', refreshTokenUsed(credential, grant, true));
  return { grant, revoke: 'refresh_reuse', refusal }; // RFC 9700 §4.14.2
}
