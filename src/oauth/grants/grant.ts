/**
 * The grant: one press of Allow, one resource owner, one client, one row. All state of everything issued from it is
 * here, and every transition is one conditional update of that row:
 *
 *     issued (generation 0) ──redeem──▶ active (1) ──rotate──▶ active (n+1)      either ──▶ revoked, or expired
 */
import { randomBytes } from 'node:crypto';
import { GRANT_ID_BYTES } from '../keys/credential.ts';

/** The three counters whose increment ends grants in bulk: all, one client's, or one resource owner's. */
export type Epochs = { readonly installation: number; readonly client: number; readonly resourceOwner: number };

/** The claims of an ID token that are known at Allow. Only a grant with the OpenID Connect scope `openid` has them. */
export type OpenIdContext = {
  /** The request's `nonce` (OpenID Connect Core §3.1.2.1). */
  readonly nonce?: string;
  /** When the resource owner authenticated, in seconds since the epoch; absent if a product did not say it. */
  readonly auth_time?: number;
  /** How they authenticated (RFC 8176), if a product said it. */
  readonly amr?: readonly string[];
  /** No claim: true if it is for signing in alone, and nobody was asked. Once redeemed, it replaces its equals. */
  readonly renews?: true;
};

/** The row of one grant. Times are in ms since the epoch. */
export type Grant = {
  readonly id: Buffer;
  readonly clientId: string;
  readonly resourceOwnerId: string;
  /** Space-separated scope names, empty without any. */
  readonly scope: string;
  /** Space-separated requested scope names that the resource owner deselected (RFC 6749 §3.3). */
  readonly leftOut: string;
  /** The profile fields that its client gets of the resource owner, as `personFieldsText` writes them. */
  readonly personFields: string;
  /** The redirect URI of the authorization request, which the exchange must repeat (RFC 6749 §4.1.3). */
  readonly redirectUri: string;
  /** The S256 challenge of the authorization request (RFC 7636 §4.4), or null when none was sent. */
  readonly codeChallenge: string | null;
  /** The one resource that its tokens are for (RFC 8707 §2), or null when they are for any. */
  readonly resource: string | null;
  /** The mark of a client's default resource: it binds at resource servers, and not at this service's own API. */
  readonly resourceIsDefault: boolean;
  /** The identity provider where the resource owner signed in; null for a sign-in here. */
  readonly providerId: string | null;
  /** The external ID: their ID at that provider. Null for a sign-in here, and when it equals the account's id. */
  readonly externalId: string | null;
  /** When they signed in. */
  readonly signedInAt: number;
  /** The sign-in that the client asked for with OpenID Connect; null if it asked for none. */
  readonly openid: OpenIdContext | null;
  /** 16 random bytes that exist nowhere else: without them no credential of this grant can be derived. */
  readonly seed: Buffer;
  /** As they were at the Allow. The grant lives only while all three are unchanged. */
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
  | 'replaced'
  | 'restored';

/** Returns the reason of an end that somebody asked for: an operator, or the user, here or at a provider. */
export function revokerOf({ actor }: { readonly actor: { readonly kind: string } }): 'user' | 'operator' {
  return actor.kind === 'operator' ? 'operator' : 'user';
}

/**
 * The preconditions of an Allow, besides the epochs in its grant. The insert checks them again: the session (by its digest),
 * and the grants of remembered consent (by their ids).
 */
export type AllowBasis = { readonly session: Buffer; readonly remembered: readonly Buffer[] };

/** The state that a grant's life depends on besides its row, read together with it. */
export type Standing = {
  readonly epochs: Epochs;
  readonly clientPaused: boolean;
  readonly resourceOwnerDisabled: boolean;
};

/** The resource owner as a client may see it (`/v2/me`). */
export type ResourceOwner = {
  readonly id: string;
  readonly username: string | null;
  /** Null while it is not verified. */
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

/**
 * The values that a transition to the next generation writes; the row must still be at `generation - 1` and not
 * revoked.
 */
export type Generation = {
  readonly grantId: Buffer;
  readonly generation: number;
  readonly keyId: number;
  readonly rotatedAt: number;
  readonly accessTokenExpiresAt: number;
  readonly expiresAt: number;
};

/** The last successful presentation of a grant's code or refresh token: its time (ms), and its source if known. */
export type Presentation = { readonly generation: number; readonly at: number; readonly source: string | null };

/** Maximum configurable lifetime of an access token (s); no retry window is longer. */
export const MAX_ACCESS_TOKEN_LIFETIME = 86_400;

/** Lifetimes in seconds (`docs/reference/limits.md`). */
export type Lifetimes = {
  readonly code: number;
  readonly accessToken: number;
  readonly refreshTokenIdle: number;
  readonly refreshTokenMax: number;
  readonly refreshOverlap: number;
  readonly refreshRetryWindow: number;
};

/**
 * Columns of grants in a summary. Grants that differ in an `alike` column are not summarized together. For the other columns,
 * a summary has the lowest or the highest value. Both stores generate their statements from this list.
 */
export const SUMMARIZED = {
  clientId: 'alike',
  scope: 'alike',
  leftOut: 'alike',
  personFields: 'alike',
  resource: 'alike',
  resourceIsDefault: 'alike',
  redirectUri: 'alike',
  grantedAt: 'lowest',
  expiresAt: 'highest',
  absoluteExpiresAt: 'highest',
} as const satisfies { readonly [Column in keyof Grant]?: SummarizedBy };

/** The aggregation of a column in a summary. */
export type SummarizedBy = 'alike' | 'lowest' | 'highest';

/**
 * A summary of equal grants of one resource owner. Grants for a device, unredeemed grants, and grants for a client with a
 * metadata document are never summarized.
 */
export type GrantSummary = Pick<Grant, keyof typeof SUMMARIZED> & {
  /** The id of the newest. */
  readonly id: Buffer;
  readonly clientName: string;
  /** `true` if its client has a metadata document: then the client's id is that of every installation. */
  readonly hasDocument: boolean;
  readonly isRedeemed: boolean;
  /** True if it signs the resource owner in at its client. */
  readonly signsIn: boolean;
  /** The time of the latest Allow (ms). */
  readonly lastGrantedAt: number;
  /** The latest `lastUse` of them (ms); null when none was used. */
  readonly lastUsedAt: number | null;
};

/** The resource that a grant's tokens are for, and its mark as its client's default. */
export type GrantedResource = Pick<Grant, 'resource' | 'resourceIsDefault'>;

/** A grant's id as text, with its client and resource owner, as log and audit trail name it. */
export type GrantNames = { readonly grantId: string; readonly clientId: string; readonly resourceOwnerId: string };

/** A new grant id: a UUID of version 7 (RFC 9562 §5.7), ordered by time so that inserts stay local. `now` in ms. */
export function newGrantId(now: number): Buffer {
  const id = randomBytes(GRANT_ID_BYTES);
  id.writeUIntBE(now, 0, 6);
  id[6] = 0x70 | ((id[6] as number) & 0x0f);
  id[8] = 0x80 | ((id[8] as number) & 0x3f);
  return id;
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

/** Returns the names of a grant in the log and the audit trail. */
export function namesOf({ id, clientId, resourceOwnerId }: Grant): GrantNames {
  return { grantId: grantIdText(id), clientId, resourceOwnerId };
}

/** Reads a grant id back from its text, or null. */
export function parseGrantId(text: string): Buffer | null {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
    ? Buffer.from(text.replaceAll('-', ''), 'hex')
    : null;
}

/** True if the grant was ended for good, alone or with many others (an epoch moved on). */
export function isEnded(grant: Pick<Grant, 'revokedAt' | 'epochs'>, { epochs }: Pick<Standing, 'epochs'>): boolean {
  return (
    grant.revokedAt !== null ||
    grant.epochs.installation !== epochs.installation ||
    grant.epochs.client !== epochs.client ||
    grant.epochs.resourceOwner !== epochs.resourceOwner
  );
}

/** The reason why no credential of this grant works now, for the log; null if the grant is live. */
export function whyRefused(grant: Grant, standing: Standing): string | null {
  if (isEnded(grant, standing))
    return `the grant was revoked${grant.revocationReason ? ` (${grant.revocationReason})` : ''}`;
  if (standing.clientPaused) return 'the client is paused';
  if (standing.resourceOwnerDisabled) return 'the account is disabled';
  return null;
}

/**
 * Returns a grant's state for users and operators; `expired` if none of its credentials can be used any more. `now`
 * in ms.
 */
export function grantStatus(
  grant: Pick<Grant, 'revokedAt' | 'epochs' | 'expiresAt' | 'generation'>,
  standing: Pick<Standing, 'epochs'>,
  now: number,
): 'issued' | 'active' | 'expired' | 'revoked' {
  if (isEnded(grant, standing)) return 'revoked';
  if (grant.expiresAt <= now) return 'expired';
  return grant.generation === 0 ? 'issued' : 'active';
}

/** Minimum time between two recorded uses (ms): the last use is shown to ten minutes. */
export const USE_IS_NEWS_AFTER_MS = 600_000;

/** Maximum number of one person's redeemed grants for one app that neither ended nor expired. */
export const MAX_GRANTS_OF_ONE_APP = 100;

/** The client's last use of a token or last refresh; null if there was none. */
export function lastUse(grant: Grant): number | null {
  return Math.max(grant.lastUsedAt ?? 0, grant.generation > 1 ? grant.rotatedAt : 0) || null;
}
