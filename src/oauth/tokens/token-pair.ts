/** The pair of tokens of one generation: computed from the grant's row, and never stored. */

import { type Generation, type Grant, type GrantNames, type Lifetimes, namesOf } from '../grants/grant.ts';
import { deriveCredential } from '../keys/credential.ts';
import type { Keyring } from '../keys/keyring.ts';

/** An access token (with its expiry in ms) and a refresh token, made by the same transition, their scope and grant. */
export type IssuedTokens = {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly accessTokenExpiresAt: number;
  readonly scope: string;
  readonly grant: GrantNames;
  /**
   * True in the answer to a code of a grant for signing in alone: there the standard face gives no refresh token. A client that
   * has one nevertheless (from the published face) spends it by a refresh, and gets the next.
   */
  readonly isSignInAlone?: boolean;
  /** The ID token, in the answer to a code of a sign-in at the standard face alone; else absent. */
  readonly idToken?: string | null;
};

/**
 * The next generation of a grant: the refresh token ends at the grant's absolute expiry at the latest, and the access
 * token with the refresh token at the latest. `now` in ms.
 */
export function nextGeneration(grant: Grant, keyId: number, lifetimes: Lifetimes, now: number): Generation {
  const expiresAt = Math.min(now + lifetimes.refreshTokenIdle * 1000, grant.absoluteExpiresAt);
  return {
    grantId: grant.id,
    generation: grant.generation + 1,
    keyId,
    rotatedAt: now,
    accessTokenExpiresAt: Math.min(now + lifetimes.accessToken * 1000, expiresAt),
    expiresAt,
  };
}

/** Lifetime of the current pair's access token (ms), as its rotation wrote it. The grant must be redeemed. */
export function accessTokenLifetime({ accessTokenExpiresAt, rotatedAt }: Grant): number {
  return (accessTokenExpiresAt as number) - rotatedAt;
}

/**
 * True if a genuine token comes from another copy of the database than its grant's row: the token is newer than the row, or of
 * the row's generation with another expiry or key. Then an older database was restored, and the grant continued in both
 * copies. `expiresAt` (ms) is the expiry of such a token according to the row.
 */
export function isOfAnotherHistory(
  token: Pick<Generation, 'generation' | 'keyId' | 'expiresAt'>,
  { generation, keyId }: Grant,
  expiresAt: number | null,
): boolean {
  if (token.generation !== generation) return token.generation > generation;
  return token.expiresAt !== expiresAt || token.keyId !== keyId;
}

/** Derives the pair of a generation: from the same row it is the same pair, which is what makes a retry safe. */
export function deriveTokens(keyring: Keyring, prefix: string, grant: Grant, pair: Generation): IssuedTokens {
  const { grantId, generation, keyId, accessTokenExpiresAt } = pair;
  const derive = (kind: 'at' | 'rt', expiresAt: number) =>
    deriveCredential(keyring, prefix, kind, { grantId, generation, keyId, expiresAt }, grant.seed);
  return {
    accessToken: derive('at', accessTokenExpiresAt),
    refreshToken: derive('rt', pair.expiresAt),
    accessTokenExpiresAt,
    scope: grant.scope,
    grant: namesOf(grant),
  };
}

/** The generation that the row is in now, from which its pair can be derived again. The grant must be redeemed. */
export function currentGeneration(grant: Grant): Generation {
  return {
    grantId: grant.id,
    generation: grant.generation,
    keyId: grant.keyId,
    rotatedAt: grant.rotatedAt,
    accessTokenExpiresAt: grant.accessTokenExpiresAt as number,
    expiresAt: grant.expiresAt,
  };
}
