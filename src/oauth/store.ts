/**
 * The port to the store. A verb is a transition of the protocol: one atomic write, whose comment says who wins a race,
 * with its audit event in the same transaction, so that neither is ever there without the other. When a verb
 * returns, its effect is on disk. No transaction crosses this port.
 */
import type { AuditEvent, RecordedAuditEvent } from './audit.ts';
import type { ChainedAuditEvent, TrailRow } from './audit-chain.ts';
import type { Client } from './client.ts';
import type { AssertionUse, UsedAssertion } from './client-assertion.ts';
import type { DeviceDecision, PollPace, WaitingDevice } from './device-authorization.ts';
import type {
  AllowBasis,
  Generation,
  Grant,
  GrantInContext,
  GrantSummary,
  Presentation,
  ResourceOwner,
  RevocationReason,
  Use,
} from './grant.ts';
import type { LiveAccess } from './granted-access.ts';
import type { Network } from './networks.ts';
import type { ProviderProof } from './provider-proof.ts';
import type { ResourceServer } from './resource-server.ts';
import type { ScopeDefinition } from './scope.ts';
import type { StoredSecret, UseMark } from './secret.ts';

/**
 * The store cannot serve now; a later try may succeed. Nothing was written, unless the connection was lost for good just
 * then. In any case a second try is safe, and returns what the first one did.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/**
 * An event of the trail may be hidden behind one that is still being written, so that the trail up to now is not known. The
 * message tells the operator what delays it.
 */
export class TrailHeldUp extends StoreUnavailable {}

/** The trail has lost the place that a reader goes on from: the database is an older one than before. */
export class TrailPlaceLost extends StoreUnavailable {}

/** A grant with its standing and its client. */
export type FoundGrant = GrantInContext & { readonly client: Client };

/** A grant in a list, with its client's name. */
export type ListedGrant = GrantInContext & { readonly clientName: string };

/** Which grants to list; at most `limit`, newest first. */
export type GrantFilter = {
  readonly clientId?: string;
  readonly resourceOwnerId?: string;
  readonly limit: number;
};

/** Numbers of grants, and of their resource owners and clients. */
export type GrantCount = { readonly grants: number; readonly resourceOwners: number; readonly clients: number };

/** A redeemed grant and when the client came last (ms): to redeem it, to refresh, or to use a token. */
export type ActiveGrant = { readonly id: Buffer; readonly usedAt: number };

/**
 * What came of redeeming a code. `crowded`: it was redeemed, and its resource owner has more than `MAX_GRANTS_OF_ONE_APP`
 * rows of grants for its client, whatever became of those.
 */
export type Redemption = 'redeemed' | 'crowded' | false;

/** What a walk over a table found in one window of its keys, and the key after which it goes on; null at the end. */
export type Walked<Row> = { readonly found: readonly Row[]; readonly goesOnAfter: Buffer | null };

/** Which events to list; at most `limit`, newest first. */
export type AuditFilter = {
  readonly sequence?: number;
  /** Not before this time (ms). */
  readonly since?: number;
  readonly clientId?: string;
  readonly resourceOwnerId?: string;
  /** The grant's id as text. */
  readonly grantId?: string;
  readonly action?: string;
  readonly limit: number;
};

/** An event with what people call those whom it concerns; null where it names none, and for what was deleted. */
export type NamedAuditEvent = RecordedAuditEvent & {
  /** The name of the client, the resource server or the provider. */
  readonly clientName: string | null;
  readonly resourceOwner: Pick<ResourceOwner, 'id' | 'email' | 'name'> | null;
};

/**
 * Which grants are walked over: those given through a provider at `since` (ms) or later, or by a sign-in of then; or those
 * that rest on a root key.
 */
export type GrantsToEnd = { readonly providerId: string; readonly since: number } | { readonly keyId: number };

/** Grants and their transitions. Reads return only what is on disk already. */
export type GrantStore = {
  /**
   * A number that changes before any grant is found with other data than before. Changes of its generation and marks do not
   * count. Null where the writes of other processes are not noticed.
   */
  version(): number | null;
  /** A grant with its standing and its client; null when it, its client or its resource owner is not there. */
  findGrant(id: Buffer): Promise<FoundGrant | null>;
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
  /** What made the current generation of a grant; null when it is not there, or was not redeemed yet. */
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
   * (`USE_IS_NEWS_AFTER_MS`) is not noted. Returns the time of the noted use (ms); null when none can be noted.
   */
  noteUse(grant: Grant, use: Use): number | null;
  listGrants(filter: GrantFilter): Promise<ListedGrant[]>;
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

/** A client by its id, with the address where its keys are. */
export type PublishedKeys = { readonly id: string; readonly jwksUri: string };

/** Clients. Every change is seen by the next request. */
export type ClientStore = {
  findClient(id: string): Promise<Client | null>;
  /** Whether there is one. */
  hasClients(): Promise<boolean>;
  /** Tells whether the id of an active client is the address of a metadata document. */
  hasDocumentClient(): Promise<boolean>;
  /** The next clients after one (null: from the first), oldest first, at most `limit`. */
  listClients(after: Pick<Client, 'id' | 'createdAt'> | null, limit: number): Promise<Client[]>;
  /** Clients whose names look like this one to people (`nameKey`), at most `limit`: the very name first, then the oldest. */
  listClientsNamed(name: string, limit: number): Promise<Client[]>;
  /** The default resources that they have, each spelling once, in no order. */
  listDefaultResources(): Promise<string[]>;
  /** Registers a client; false when its id is taken. */
  registerClient(client: Client, event: AuditEvent): Promise<boolean>;
  /** Writes what an operator may change, if that is still as `expected`; false when somebody was faster or the client is gone. */
  updateClient(client: Client, expected: Client, event: AuditEvent): Promise<boolean>;
  /**
   * Writes what a metadata document owns of a client, if that is still as `expected`, also the time from which consent is
   * remembered and the operator's vouching; false when somebody was faster or the client is gone. Whoever remembers consent at
   * the same time looks at the time in the write of the grant.
   */
  refreshClient(client: Client, expected: Client, event: AuditEvent): Promise<boolean>;
  /** Replaces the secrets if the client still proves itself as `expected`: by secrets, keys or neither; false otherwise. */
  replaceClientSecrets(expected: Client, secrets: readonly StoredSecret[], event: AuditEvent): Promise<boolean>;
  /** Pauses, or resumes as of the event's time; false when the client is gone or was so already. */
  setClientStatus(id: string, status: Client['status'], event: AuditEvent): Promise<boolean>;
  /** Ends every grant of a client by raising its epoch; false when the client is gone. */
  revokeClientGrants(id: string, event: AuditEvent): Promise<boolean>;
  /** Deletes a client, and all its grants with it; false when it is gone. */
  deleteClient(id: string, event: AuditEvent): Promise<boolean>;
  /**
   * Notes that the keys of a client are asked for at a time (ms), unless they were less than `pause` before or after it (ms): of
   * all who try at most one gets `true`. False as well when the client is not active, or its keys are elsewhere.
   */
  noteKeysAsked(client: PublishedKeys, at: number, pause: number): Promise<boolean>;
  /**
   * Replaces the keys that a client publishes by those that were asked for at a time (ms). False when nobody noted that, somebody
   * asked since, the keys are not those of `client` any more, or the client is not active or has its keys elsewhere. The event
   * is null when the keys are as before.
   */
  refreshClientKeys(
    client: PublishedKeys & Pick<Client, 'keys'>,
    keys: Client['keys'],
    askedAt: number,
    event: AuditEvent | null,
  ): Promise<boolean>;
  /**
   * Marks a client assertion as used. Of all who try at most one ever gets `first`, as long as the assertion is good, also
   * after a clock stepped back by up to a day; and a client never has more than `most` marks.
   */
  useClientAssertion(assertion: UsedAssertion, most: number): Promise<AssertionUse>;
};

/** Resource servers. Every change is seen by the next request. */
export type ResourceServerStore = {
  findResourceServer(id: string): Promise<ResourceServer | null>;
  /** The resources that they have, each spelling once, in no order. */
  listResources(): Promise<string[]>;
  listResourceServers(): Promise<ResourceServer[]>;
  registerResourceServer(server: ResourceServer, event: AuditEvent): Promise<void>;
  /** Writes what an operator may change, if that is still as `expected`; false when somebody was faster or it is gone. */
  updateResourceServer(server: ResourceServer, expected: ResourceServer, event: AuditEvent): Promise<boolean>;
  /** Replaces the secrets if they are still `expected`; false when somebody was faster or it is gone. */
  replaceResourceServerSecrets(
    expected: ResourceServer,
    secrets: readonly StoredSecret[],
    event: AuditEvent,
  ): Promise<boolean>;
  deleteResourceServer(id: string, event: AuditEvent): Promise<boolean>;
};

/** Last uses of secrets of clients, resource servers and identity providers, of clients' keys, and of public clients. */
export type SecretUseStore = {
  /**
   * Notes that a secret proved somebody at a time (ms). It is written later, in batches; a crash loses at most the last second,
   * and a use soon after a noted one (`SECRET_USE_IS_NEWS_AFTER_MS`) is not noted.
   */
  noteSecretUse(secret: UseMark, usedAt: number): void;
  /** When it was last used (ms); null when it never was. */
  findSecretUse(secret: UseMark): Promise<number | null>;
};

/** The installation's scope definitions. */
export type ScopeStore = {
  /** By name. */
  listScopes(): Promise<ScopeDefinition[]>;
  /** Writes a definition in place of the `expected` one (null: none); false when somebody was faster. */
  defineScope(scope: ScopeDefinition, expected: ScopeDefinition | null, event: AuditEvent): Promise<boolean>;
  /** False when there is none of this name. */
  deleteScope(name: string, event: AuditEvent): Promise<boolean>;
};

/**
 * What devices ask for while they wait. It is kept no longer than a code lives, and bounded: anybody may ask for a code in a
 * public client's name, and no anonymous request may make the database grow. `now` in ms.
 */
export type DeviceRequestStore = {
  /**
   * False when the user code is taken, or too many wait of any of the networks that the request came from (`mayWait`). The
   * networks are kept for this alone, and no longer than the request lives. Several requests at the same moment may each
   * take the last place.
   */
  addDeviceRequest(waiting: WaitingDevice, networks: readonly Network[], now: number): Promise<boolean>;
  /** The request behind a user code, whatever was decided; null when there is none that still lives. */
  findDeviceRequest(userCode: string, now: number): Promise<WaitingDevice | null>;
  /** Changes what is decided on a request; of all who try to change it from the same, at most one gets `true`. */
  decideDeviceRequest(userCode: string, from: DeviceDecision, to: DeviceDecision): Promise<boolean>;
  /** Notes a poll. The last one wins. */
  paceDeviceRequest(userCode: string, pace: PollPace): Promise<void>;
};

/** The audit trail. Events are written by the verbs whose effects they tell; this is for the one act without another effect. */
export type AuditStore = {
  /** Records that a resource owner denied a request. */
  recordDenial(event: AuditEvent): Promise<void>;
  /** Records an event of the trail itself: a checkpoint, or that it was shortened. */
  recordOfTrail(event: AuditEvent): Promise<void>;
  listAuditEvents(filter: AuditFilter): Promise<RecordedAuditEvent[]>;
  /** The same events with names. */
  listNamedAuditEvents(filter: AuditFilter): Promise<NamedAuditEvent[]>;
  /** The place of the newest event; 0 without any. Throws `TrailHeldUp`. */
  lastAuditSequence(): Promise<number>;
  /**
   * The next events after a place, in their order, at most `limit`. Fewer than that are all that happened before it was
   * asked. Throws `TrailHeldUp`, or `TrailPlaceLost`.
   */
  listAuditEventsAfter(sequence: number, limit: number): Promise<RecordedAuditEvent[]>;
  /**
   * The rows after a place and up to another, in their order, at most `limit`. All of them are there if the second place
   * came from `lastAuditSequence`.
   */
  listTrailRows(after: number, upTo: number, limit: number): Promise<TrailRow[]>;
  /** The same as events. */
  listChainedEvents(after: number, upTo: number, limit: number): Promise<ChainedAuditEvent[]>;
  /** Tells whether there are events at places that `lastAuditSequence` never returns: only somebody else put them there. */
  hasMisplacedEvents(): Promise<boolean>;
  /** The newest checkpoint that the trail holds, or the newest from before a time (ms); null without any. */
  findCheckpoint(before?: number): Promise<TrailRow | null>;
  /** The newest event that tells which events were taken away; null while all are there. */
  findShortening(): Promise<TrailRow | null>;
  /** Takes away the oldest events up to a place, at most `limit`; returns whether any are left there. */
  deleteTrailRows(upTo: number, limit: number): Promise<boolean>;
};

/** All that the protocol needs of a store. */
export type Store = GrantStore &
  ClientStore &
  ResourceServerStore &
  SecretUseStore &
  ScopeStore &
  DeviceRequestStore &
  AuditStore;
