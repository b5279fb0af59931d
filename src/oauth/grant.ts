/**
 * The grant: one press of Allow, one resource owner, one client, one row. All state of everything issued from it is
 * here, and every transition is one conditional update of that row:
 *
 *     issued (generation 0) ──redeem──▶ active (1) ──rotate──▶ active (n+1)      either ──▶ revoked, or expired
 */
import { randomBytes } from 'node:crypto';
import { deriveCredential, GRANT_ID_BYTES, SEED_BYTES } from './credential.ts';
import type { Keyring } from './keyring.ts';

/** The three counters whose increment ends grants in bulk: all, one client's, or one resource owner's. */
export type Epochs = { readonly installation: number; readonly client: number; readonly resourceOwner: number };

/** One grant, as its row says. Times are in ms since the epoch. */
export type Grant = {
  readonly id: Buffer;
  readonly clientId: string;
  readonly resourceOwnerId: string;
  /** Space-separated scope names, empty without any. */
  readonly scope: string;
  /** Scope names, likewise, that were requested with it and left out by the resource owner (RFC 6749 §3.3). */
  readonly leftOut: string;
  /** What its client gets of the resource owner, as `personFieldsText` writes it. */
  readonly personFields: string;
  /** The redirect URI of the authorization request, which the exchange must repeat (RFC 6749 §4.1.3). */
  readonly redirectUri: string;
  /** The S256 challenge of the authorization request (RFC 7636 §4.4), or null when none was sent. */
  readonly codeChallenge: string | null;
  /** The one resource that its tokens are for (RFC 8707 §2), or null when they are for any. */
  readonly resource: string | null;
  /** Where the resource owner signed in who allowed it; null for here. */
  readonly providerId: string | null;
  /** What that provider calls them, unless it is the account's id as well; null for here. */
  readonly externalId: string | null;
  /** When they did. */
  readonly signedInAt: number;
  /** 16 random bytes that exist nowhere else: without them no credential of this grant can be derived. */
  readonly seed: Buffer;
  /** As the decision to allow read them; the grant lives only while all three are still equal. */
  readonly epochs: Epochs;
  readonly grantedAt: number;
  /** No refresh token outlives this, however often it is rotated. */
  readonly absoluteExpiresAt: number;
  /** 0 while the code is not redeemed, then the number of pairs made. */
  readonly generation: number;
  /** The root key that the current code or pair is derived with. */
  readonly keyId: number;
  /** When the current generation began. */
  readonly rotatedAt: number;
  /** The current access token's expiry; null in generation 0. */
  readonly accessTokenExpiresAt: number | null;
  /** The code's expiry in generation 0, else the current refresh token's: after it nothing of the grant is valid. */
  readonly expiresAt: number;
  /** The highest generation whose access token was used, written behind; 0 when none was. */
  readonly usedGeneration: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
  readonly revocationReason: RevocationReason | null;
};

/** Why a single grant was revoked. */
export type RevocationReason =
  | 'user'
  | 'operator'
  | 'client'
  | 'code_replay'
  | 'refresh_reuse'
  | 'refresh_conflict'
  | 'too_many_grants'
  | 'restored';

/** What a grant's life depends on beside its row, read together with it. */
export type Standing = {
  readonly epochs: Epochs;
  readonly clientPaused: boolean;
  readonly resourceOwnerDisabled: boolean;
};

/** The resource owner as a client may see it (`/v2/me`). */
export type ResourceOwner = {
  readonly id: string;
  readonly username: string | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly avatarUrl: string | null;
};

/** A grant with all that a decision on it needs. */
export type GrantInContext = {
  readonly grant: Grant;
  readonly standing: Standing;
  readonly resourceOwner: ResourceOwner;
};

/** A use of a grant's access token, of a generation, at a time (ms). */
export type Use = { readonly generation: number; readonly usedAt: number };

/** What a transition to the next generation writes; the row must still be at `generation - 1` and not revoked. */
export type Generation = {
  readonly grantId: Buffer;
  readonly generation: number;
  readonly keyId: number;
  readonly rotatedAt: number;
  readonly accessTokenExpiresAt: number;
  readonly expiresAt: number;
};

/** The last time that a code or a refresh token of a grant was presented with success: when (ms), and from where if that is known. */
export type Presentation = { readonly generation: number; readonly at: number; readonly source: string | null };

/** Lifetimes in seconds (`docs/interface.md`). */
export type Lifetimes = {
  readonly code: number;
  readonly accessToken: number;
  readonly refreshTokenIdle: number;
  readonly refreshTokenMax: number;
  readonly refreshOverlap: number;
  readonly refreshRetryWindow: number;
};

/** A grant by its id as text, with whom it is for and whose it is: what log and audit trail call it. */
export type GrantNames = { readonly grantId: string; readonly clientId: string; readonly resourceOwnerId: string };

/** An access token (with its expiry in ms) and a refresh token, made by the same transition, their scope and grant. */
export type IssuedTokens = {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly accessTokenExpiresAt: number;
  readonly scope: string;
  readonly grant: GrantNames;
};

/** A new grant id: a UUID of version 7 (RFC 9562 §5.7), ordered by time so that inserts stay local. `now` in ms. */
export function newGrantId(now: number): Buffer {
  const id = randomBytes(GRANT_ID_BYTES);
  id.writeUIntBE(now, 0, 6);
  id[6] = 0x70 | ((id[6] as number) & 0x0f);
  id[8] = 0x80 | ((id[8] as number) & 0x3f);
  return id;
}

/** The session in which a resource owner allows something (its digest): when it ended before, there is no grant. */
export type OwnerSession = Pick<Grant, 'resourceOwnerId' | 'providerId' | 'externalId' | 'signedInAt'> & {
  readonly session: Buffer;
};

/** What a new grant is made of; `expiresAt` (ms) is when its code or device code can no longer be exchanged. */
export type NewGrant = Pick<
  Grant,
  | 'id'
  | 'clientId'
  | 'resourceOwnerId'
  | 'scope'
  | 'leftOut'
  | 'personFields'
  | 'redirectUri'
  | 'codeChallenge'
  | 'resource'
  | 'providerId'
  | 'externalId'
  | 'signedInAt'
  | 'epochs'
  | 'expiresAt'
>;

/** A grant that is allowed now (ms): generation 0, with a seed of its own. */
export function newGrant(made: NewGrant, keyId: number, lifetimes: Lifetimes, now: number): Grant {
  return {
    ...made,
    seed: randomBytes(SEED_BYTES),
    grantedAt: now,
    absoluteExpiresAt: now + lifetimes.refreshTokenMax * 1000,
    generation: 0,
    keyId,
    rotatedAt: now,
    accessTokenExpiresAt: null,
    usedGeneration: 0,
    lastUsedAt: null,
    revokedAt: null,
    revocationReason: null,
  };
}

/** Maximum time from a grant's id to its Allow (ms): a device gets the id with its code, and clocks differ. */
const ID_BEFORE_ALLOW_MS = 3_600_000;

/** An id that is lower than that of each grant that was allowed at a time (ms) or later. */
export function oldestGrantId(allowedAt: number): Buffer {
  const id = Buffer.alloc(GRANT_ID_BYTES);
  id.writeUIntBE(Math.max(0, allowedAt - ID_BEFORE_ALLOW_MS), 0, 6);
  return id;
}

/** A grant id as people and logs read it: 8-4-4-4-12 hexadecimal digits. */
export function grantIdText(id: Buffer): string {
  const text = id.toString('hex');
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

/** What log and audit trail call a grant. */
export function namesOf({ id, clientId, resourceOwnerId }: Grant): GrantNames {
  return { grantId: grantIdText(id), clientId, resourceOwnerId };
}

/** Reads a grant id back from its text, or null. */
export function parseGrantId(text: string): Buffer | null {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
    ? Buffer.from(text.replaceAll('-', ''), 'hex')
    : null;
}

/** Whether the grant was ended for good, by itself or with many others (an epoch moved on). */
export function isEnded(grant: Grant, { epochs }: Standing): boolean {
  return (
    grant.revokedAt !== null ||
    grant.epochs.installation !== epochs.installation ||
    grant.epochs.client !== epochs.client ||
    grant.epochs.resourceOwner !== epochs.resourceOwner
  );
}

/** Why no credential of this grant works right now, for the log; null when the grant is no reason. */
export function whyRefused(grant: Grant, standing: Standing): string | null {
  if (isEnded(grant, standing))
    return `the grant was revoked${grant.revocationReason ? ` (${grant.revocationReason})` : ''}`;
  if (standing.clientPaused) return 'the client is paused';
  if (standing.resourceOwnerDisabled) return 'the account is disabled';
  return null;
}

/** What people are told of a grant's state; `expired` when nothing of it can be used any more. `now` in ms. */
export function grantStatus(
  grant: Grant,
  standing: Standing,
  now: number,
): 'issued' | 'active' | 'expired' | 'revoked' {
  if (isEnded(grant, standing)) return 'revoked';
  if (grant.expiresAt <= now) return 'expired';
  return grant.generation === 0 ? 'issued' : 'active';
}

/** A use is noted again after this time (ms): people are told the last use to ten minutes. */
export const USE_IS_NEWS_AFTER_MS = 600_000;

/** Maximum number of one person's redeemed grants for one app that neither ended nor expired. */
export const MAX_GRANTS_OF_ONE_APP = 100;

/** When the client last came: to use a token, or to refresh; null when it never did. */
export function lastUse(grant: Grant): number | null {
  return Math.max(grant.lastUsedAt ?? 0, grant.generation > 1 ? grant.rotatedAt : 0) || null;
}

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

/** Maximum difference between the clocks of two instances (ms): a rotation this far in the future is new. */
const CLOCK_DIFFERENCE_MS = 2000;
/** An expiry that is further in the future than its lifetime and this time (ms) was written before the clock stepped back. */
const CLOCK_STEP_MS = 60_000;

/**
 * How long ago the current generation began (ms), or null when it begins in the future: the clock stepped back since, and
 * nobody knows its age. `now` in ms.
 */
export function ageOfGeneration({ rotatedAt }: Grant, now: number): number | null {
  const age = now - rotatedAt;
  return age < -CLOCK_DIFFERENCE_MS ? null : Math.max(0, age);
}

/** Whether an expiry (ms) is further in the future than a lifetime (ms) allows: the clock stepped back. `now` in ms. */
export function isAheadOfClock(expiresAt: number, lifetime: number, now: number): boolean {
  return now < notBefore(expiresAt, lifetime);
}

/** The time (ms) from which on a credential that expires at `expiresAt` may be used: earlier, the clock stepped back. `lifetime` in ms. */
export function notBefore(expiresAt: number, lifetime: number): number {
  return expiresAt - lifetime - CLOCK_STEP_MS;
}

/** Lifetime of the current pair's access token (ms), as its rotation wrote it. The grant must be redeemed. */
export function accessTokenLifetime({ accessTokenExpiresAt, rotatedAt }: Grant): number {
  return (accessTokenExpiresAt as number) - rotatedAt;
}

/**
 * Whether a genuine token of a grant was issued in another history than the row's: it is newer, or of the row's generation with
 * another expiry or key. Then an older database was restored, and the grant went on in two ways. `expiresAt` (ms) is what the
 * row says of such a token.
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
