/** The port to where grants are kept. Rules are as for every port (`oauth/store.ts`). */
import type { Client } from '../clients/client.ts';
import type { ProviderProof } from '../clients/provider-proof.ts';
import type {
  AllowBasis,
  Epochs,
  Generation,
  Grant,
  GrantInContext,
  GrantSummary,
  Presentation,
  RevocationReason,
  Use,
} from '../grants/grant.ts';
import type { LiveAccess } from '../grants/granted-access.ts';
import type { Walked } from '../store.ts';
import type { AuditEvent } from '../trail/audit.ts';

/** A grant with its standing and its client. */
export type FoundGrant = GrantInContext & { readonly client: Client };

/** A grant with its standing, and what the check of its access token asks of its client. */
export type GrantForCheck = GrantInContext & { readonly client: Pick<Client, 'seesExternalId'> };

/** A grant in a list, with its client's name. */
export type ListedGrant = GrantInContext & { readonly clientName: string };

/** Which grants to list; at most `limit`, newest first. */
export type GrantFilter = {
  readonly clientId?: string;
  readonly resourceOwnerId?: string;
  readonly limit: number;
};

/** Which grants to walk over, newest first; those of a resource owner alone by client, the last one first. */
export type GrantsOf = Omit<GrantFilter, 'limit'>;

/** A grant in a walk: its place, and what its state depends on. Without epochs of now, its client or resource owner is gone. */
export type GrantState = Pick<
  Grant,
  'id' | 'clientId' | 'resourceOwnerId' | 'epochs' | 'revokedAt' | 'expiresAt' | 'generation'
> & {
  readonly epochsNow: Epochs | null;
};

/** Numbers of grants, and of their resource owners and clients. */
export type GrantCount = { readonly grants: number; readonly resourceOwners: number; readonly clients: number };

/** A redeemed grant and when the client came last (ms): to redeem it, to refresh, or to use a token. */
export type ActiveGrant = { readonly id: Buffer; readonly usedAt: number };

/**
 * The result of redeeming a code. `overLimit`: redeemed, and the resource owner has more than `MAX_GRANTS_OF_ONE_APP` rows of
 * grants for the client, in any state.
 */
export type Redemption = 'redeemed' | 'overLimit' | false;

/**
 * The grants of a walk: those given through a provider at `since` (ms) or later, or by a sign-in of that time; or those
 * derived from a root key.
 */
export type GrantsToEnd = { readonly providerId: string; readonly since: number } | { readonly keyId: number };

/** Grants and their transitions. Reads return only what is on disk already. */
export type GrantStore = {
  /** A grant with its standing and its client; null when it, its client or its resource owner is not there. */
  findGrant(id: Buffer): Promise<FoundGrant | null>;
  /** The same for a check. */
  findGrantForCheck(id: Buffer): Promise<GrantForCheck | null>;
  /**
   * The current epochs, which an Allow stores in its grant: a concurrent revocation makes the grant dead from the start. Null
   * if the client or the resource owner is deleted.
   */
  findEpochs(clientId: string, resourceOwnerId: string): Promise<Grant['epochs'] | null>;
  /**
   * Inserts a new grant in generation 0. False, without a write, if a precondition of its Allow no longer holds: the session,
   * an epoch in the grant, or a grant of remembered consent, which must be newer than the client's last resume. If the session
   * or such a grant ends concurrently, either no grant is inserted, or it is committed before the ending returns;
   * `revokeGrantsOfClient` then ends it as well.
   */
  issueGrant(grant: Grant, event: AuditEvent, basis?: AllowBasis): Promise<boolean>;
  /**
   * Generation 0 → 1. `source` is the network address that presented the code; `findPresentation` returns it later. At most
   * one caller ever gets another result than `false`; an earlier revocation wins. With `renews` the same write ends the
   * earlier redeemed grants that are equal to this one, without an event: they are for signing in alone, so no API knows them.
   */
  redeemAuthorizationCode(next: Generation, source?: string, renews?: boolean): Promise<Redemption>;
  /** Generation n → n+1, likewise. Of all who try from n, at most one ever gets `true`; a revocation that came first wins. */
  rotateRefreshToken(next: Generation, source?: string): Promise<boolean>;
  /**
   * Returns the presentation that made a grant's current generation; null if it is unknown, or the code was not
   * redeemed yet.
   */
  findPresentation(id: Buffer): Promise<Presentation | null>;
  /**
   * Ends one grant; false if it does not exist or is already revoked (the first reason stays). Its event records the ended
   * access. Ends none if the given provider proof no longer holds.
   */
  revokeGrant(id: Buffer, reason: RevocationReason, event: AuditEvent, proof?: ProviderProof): Promise<boolean>;
  /**
   * Ends all grants of one resource owner for one client that are not revoked yet, or those `butForDevices`; returns their
   * number. Its event records the ended access of all of them. Ends none if the given provider proof no longer holds.
   */
  revokeGrantsOfClient(
    resourceOwnerId: string,
    clientId: string,
    event: AuditEvent,
    which?: 'all' | 'butForDevices',
    proof?: ProviderProof,
  ): Promise<number>;
  /** Ends every grant of the installation by raising its epoch. */
  revokeAllGrants(event: AuditEvent): Promise<void>;
  /**
   * The next window of a walk over all grants, after an id: those that match `some`, and neither ended nor expired at
   * `liveAt` (ms).
   */
  walkGrants(
    some: GrantsToEnd,
    liveAt: number,
    after: Buffer,
  ): Promise<Walked<Pick<Grant, 'id' | 'clientId' | 'resourceOwnerId'>>>;
  /**
   * Records a use of a grant's access token. Uses are written later, in batches; `findGrant` returns them at once. They only
   * grow, and a crash loses at most the last second of them. A use soon after a recorded one (`USE_IS_NEWS_AFTER_MS`) is not
   * recorded.
   */
  noteUse(grant: Grant, use: Use): void;
  listGrants(filter: GrantFilter): Promise<ListedGrant[]>;
  /** The next grants of a walk after one (null: from the first), at most `limit`. */
  listGrantStates(of: GrantsOf, after: Pick<Grant, 'id' | 'clientId'> | null, limit: number): Promise<GrantState[]>;
  /** The grants with these ids that are there, in this order. */
  listGrantsById(ids: readonly Buffer[]): Promise<ListedGrant[]>;
  /** How many grants of a resource owner neither ended nor expired at `liveAt` (ms). */
  countLiveGrants(resourceOwnerId: string, liveAt: number): Promise<number>;
  /** How many grants match and neither ended nor expired at `liveAt` (ms); it stops counting at the limit. */
  countGrants(filter: GrantFilter & { readonly liveAt: number }): Promise<GrantCount>;
  /**
   * All grants of a resource owner, or only those for one client, that neither ended nor expired at `liveAt` (ms). If there
   * are many, equal grants may be in several summaries.
   */
  summarizeGrants(resourceOwnerId: string, liveAt: number, clientId?: string): Promise<GrantSummary[]>;
  /** The access of the redeemed grants of a resource owner that neither ended nor expired at `liveAt` (ms); equal ones once. */
  listLiveAccess(resourceOwnerId: string, liveAt: number): Promise<LiveAccess[]>;
  /** The redeemed grants of a resource owner for a client that neither ended nor expired at `liveAt` (ms): of many, those used least recently. */
  listActiveGrants(resourceOwnerId: string, clientId: string, liveAt: number): Promise<ActiveGrant[]>;
  /**
   * Deletes a batch of a resource owner's grants for a client that can never be used again: redeemed grants that ended, and
   * unredeemed ones that expired at `expiredAt` (ms). The clean-up would delete them a day later.
   */
  deleteEndedGrants(resourceOwnerId: string, clientId: string, expiredAt: number): Promise<void>;
};
