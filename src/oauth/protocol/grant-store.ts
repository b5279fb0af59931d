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
export type GrantState = Pick<Grant, 'id' | 'clientId' | 'epochs' | 'revokedAt' | 'expiresAt' | 'generation'> & {
  readonly epochsNow: Epochs | null;
};

/** Numbers of grants, and of their resource owners and clients. */
export type GrantCount = { readonly grants: number; readonly resourceOwners: number; readonly clients: number };

/** A redeemed grant and when the client came last (ms): to redeem it, to refresh, or to use a token. */
export type ActiveGrant = { readonly id: Buffer; readonly usedAt: number };

/**
 * The result of redeeming a code. `crowded`: redeemed, and the resource owner has more than `MAX_GRANTS_OF_ONE_APP`
 * rows of grants for the client, in any state.
 */
export type Redemption = 'redeemed' | 'crowded' | false;

/**
 * Which grants are walked over: those given through a provider at `since` (ms) or later, or by a sign-in of then; or those
 * that rest on a root key.
 */
export type GrantsToEnd = { readonly providerId: string; readonly since: number } | { readonly keyId: number };

/** Grants and their transitions. Reads return only what is on disk already. */
export type GrantStore = {
  /** A grant with its standing and its client; null when it, its client or its resource owner is not there. */
  findGrant(id: Buffer): Promise<FoundGrant | null>;
  /** The same for a check. */
  findGrantForCheck(id: Buffer): Promise<GrantForCheck | null>;
  /**
   * The epochs of now, which an Allow keeps: after a revocation at the same time its grant is dead from the beginning. Null
   * when client or resource owner is gone.
   */
  findEpochs(clientId: string, resourceOwnerId: string): Promise<Grant['epochs'] | null>;
  /**
   * Inserts a new grant in generation 0. False, and nothing happens, when something is gone that its Allow rests on: the session,
   * an epoch that it keeps, or a grant by which consent is remembered, also one from before the client was last resumed. If the
   * session or such a grant is ended at the same time, either there is no new grant, or it is there before whoever ends that
   * gets an answer; `revokeGrantsOfClient` ends it as well.
   */
  issueGrant(grant: Grant, event: AuditEvent, basis?: AllowBasis): Promise<boolean>;
  /**
   * Generation 0 → 1; `source` is from where the code was presented, which `findPresentation` returns later. Of all who try,
   * at most one ever gets another result than `false`; a revocation that came first wins.
   */
  redeemAuthorizationCode(next: Generation, source?: string): Promise<Redemption>;
  /** Generation n → n+1, likewise. Of all who try from n, at most one ever gets `true`; a revocation that came first wins. */
  rotateRefreshToken(next: Generation, source?: string): Promise<boolean>;
  /**
   * Returns the presentation that made a grant's current generation; null if it is unknown, or the code was not
   * redeemed yet.
   */
  findPresentation(id: Buffer): Promise<Presentation | null>;
  /**
   * Ends one grant; false when it is not there or was revoked already (the first reason stays). Its event records the
   * access that ended.
   */
  revokeGrant(id: Buffer, reason: RevocationReason, event: AuditEvent): Promise<boolean>;
  /**
   * Ends all grants of one resource owner for one client that are not revoked yet, or those `butForDevices`; returns their
   * number. Its event records the access that ended, of all together. With the proof of a provider that does not hold any more
   * it ends none.
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
   * Notes that an access token of a grant was used. It is written later, in batches; `findGrant` returns
   * it at once. Marks only grow, and a crash loses at most the last second of them. A use soon after a noted one
   * (`USE_IS_NEWS_AFTER_MS`) is not noted.
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
   * All grants of a resource owner, or only those for one client, that neither ended nor expired at `liveAt` (ms). Of many, equal ones
   * may have several summaries.
   */
  summarizeGrants(resourceOwnerId: string, liveAt: number, clientId?: string): Promise<GrantSummary[]>;
  /** The access of the redeemed grants of a resource owner that neither ended nor expired at `liveAt` (ms); equal ones once. */
  listLiveAccess(resourceOwnerId: string, liveAt: number): Promise<LiveAccess[]>;
  /** The redeemed grants of a resource owner for a client that neither ended nor expired at `liveAt` (ms): of many, those used least recently. */
  listActiveGrants(resourceOwnerId: string, clientId: string, liveAt: number): Promise<ActiveGrant[]>;
  /**
   * Deletes grants of a resource owner for a client that can never be used again, some at a time: those that ended after
   * they were redeemed, and those not redeemed that expired at `expiredAt` (ms). The clean-up does so a day later.
   */
  deleteEndedGrants(resourceOwnerId: string, clientId: string, expiredAt: number): Promise<void>;
};
