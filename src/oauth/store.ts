/**
 * The port to the store. A verb is a transition of the protocol: one atomic write, whose comment says who wins a race,
 * with its audit event in the same transaction, so that neither is ever there without the other. A verb that answers
 * has its effect on disk. No transaction crosses this port.
 */
import type { AuditEvent, RecordedAuditEvent } from './audit.ts';
import type { Client } from './client.ts';
import type { UsedAssertion } from './client-assertion.ts';
import type { DeviceDecision, PollPace, WaitingDevice } from './device-authorization.ts';
import type { Generation, Grant, GrantInContext, RevocationReason } from './grant.ts';
import type { ResourceServer } from './resource-server.ts';
import type { ScopeDefinition } from './scope.ts';
import type { StoredSecret } from './secret.ts';

/**
 * The store cannot serve now; another try later may do. Nothing was written, unless a line to the store was lost for good
 * just then: in any case a second try is safe, and answers with what the first one did.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** A grant with its standing and its client. */
export type FoundGrant = GrantInContext & { readonly client: Client };

/** A grant in a list, with its client's name. */
export type ListedGrant = GrantInContext & { readonly clientName: string };

/** Which grants to list; at most `limit`, newest first. With `liveAt` (ms) only those neither ended nor expired then. */
export type GrantFilter = {
  readonly liveAt?: number;
  readonly clientId?: string;
  readonly resourceOwnerId?: string;
  readonly limit: number;
};

/** Which events to list; at most `limit`, newest first. */
export type AuditFilter = {
  readonly clientId?: string;
  readonly resourceOwnerId?: string;
  readonly action?: string;
  readonly limit: number;
};

/** Grants and their transitions. Reads answer only what is on disk already. */
export type GrantStore = {
  /**
   * A number that is another as soon as any grant may be found otherwise than before, but for its generation and its marks.
   * Null where it is not known what others have written.
   */
  version(): number | null;
  /** A grant with its standing and its client; null when it, its client or its resource owner is not there. */
  findGrant(id: Buffer): Promise<FoundGrant | null>;
  /** The epochs that an Allow must keep: those of now, so that one raced by a revocation is born dead. Null when client or resource owner is gone. */
  findEpochs(clientId: string, resourceOwnerId: string): Promise<Grant['epochs'] | null>;
  /** Inserts a new grant in generation 0. */
  issueGrant(grant: Grant, event: AuditEvent): Promise<void>;
  /** Generation 0 → 1. Of all who try, at most one ever gets `true`; a revocation that came first wins. */
  redeemAuthorizationCode(next: Generation): Promise<boolean>;
  /** Generation n → n+1. Of all who try from n, at most one ever gets `true`; a revocation that came first wins. */
  rotateRefreshToken(next: Generation): Promise<boolean>;
  /** Ends one grant; false when it is not there or was revoked already (the first reason stays). */
  revokeGrant(id: Buffer, reason: RevocationReason, event: AuditEvent): Promise<boolean>;
  /** Ends all grants of one resource owner for one client that are not revoked yet; answers their number. */
  revokeGrantsOfClient(resourceOwnerId: string, clientId: string, event: AuditEvent): Promise<number>;
  /** Ends every grant of the installation by raising its epoch. */
  revokeAllGrants(event: AuditEvent): Promise<void>;
  /**
   * Notes that an access token of this generation was used at `at` (ms). Written behind, in batches; `findGrant` answers
   * with the note at once. Marks only grow, and a crash loses at most the last second of them. A use that is no
   * news (`USE_IS_NEWS_AFTER_MS`) is left out. Answers when the use was that is noted now, or before (ms); null when none can be.
   */
  noteUse(grant: Grant, generation: number, at: number): number | null;
  listGrants(filter: GrantFilter): Promise<ListedGrant[]>;
  /** The ids of the clients that a resource owner has a grant for which neither ended nor expired at `liveAt` (ms). */
  listClientsOf(resourceOwnerId: string, liveAt: number): Promise<string[]>;
};

/** Clients. Every change is seen by the next request. */
export type ClientStore = {
  findClient(id: string): Promise<Client | null>;
  /** Whether there is one. */
  hasClients(): Promise<boolean>;
  listClients(): Promise<Client[]>;
  registerClient(client: Client, event: AuditEvent): Promise<void>;
  /** Writes what an operator may change; false when the client is gone. The last writer wins. */
  updateClient(client: Client, event: AuditEvent): Promise<boolean>;
  /** Replaces the secrets if they are still `expected`; false when somebody was faster or the client is gone. */
  replaceClientSecrets(
    id: string,
    expected: readonly StoredSecret[],
    secrets: readonly StoredSecret[],
    event: AuditEvent,
  ): Promise<boolean>;
  /** Pauses or resumes; false when the client is gone or was so already. */
  setClientStatus(id: string, status: Client['status'], event: AuditEvent): Promise<boolean>;
  /** Ends every grant of a client by raising its epoch; false when the client is gone. */
  revokeClientGrants(id: string, event: AuditEvent): Promise<boolean>;
  /** Deletes a client, and all its grants with it; false when it is gone. */
  deleteClient(id: string, event: AuditEvent): Promise<boolean>;
  /** Marks a client assertion as used; of all who try, at most one ever gets `true`, as long as the assertion is good. */
  useClientAssertion(assertion: UsedAssertion): Promise<boolean>;
};

/** Resource servers. Every change is seen by the next request. */
export type ResourceServerStore = {
  findResourceServer(id: string): Promise<ResourceServer | null>;
  /** Whether a URI is the resource of one of them. */
  isResource(uri: string): Promise<boolean>;
  listResourceServers(): Promise<ResourceServer[]>;
  registerResourceServer(server: ResourceServer, event: AuditEvent): Promise<void>;
  /** Writes name, resource and scopes; false when it is gone. The last writer wins. */
  updateResourceServer(server: ResourceServer, event: AuditEvent): Promise<boolean>;
  /** Replaces the secrets if they are still `expected`; false when somebody was faster or it is gone. */
  replaceResourceServerSecrets(
    id: string,
    expected: readonly StoredSecret[],
    secrets: readonly StoredSecret[],
    event: AuditEvent,
  ): Promise<boolean>;
  deleteResourceServer(id: string, event: AuditEvent): Promise<boolean>;
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
 * What devices ask for while they wait. Kept for as long as a code lives and no longer, and bounded: anybody may ask for a
 * code in a public client's name, and nobody anonymous makes the database grow. `now` in ms.
 */
export type DeviceRequestStore = {
  /** False when the user code is taken, or too many wait. */
  addDeviceRequest(waiting: WaitingDevice, now: number): Promise<boolean>;
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
  listAuditEvents(filter: AuditFilter): Promise<RecordedAuditEvent[]>;
  /** The place of the newest event; 0 without any. */
  lastAuditSequence(): Promise<number>;
  /** The next events after a place, in their order, at most `limit`. */
  listAuditEventsAfter(sequence: number, limit: number): Promise<RecordedAuditEvent[]>;
};

/** All that the protocol needs of a store. */
export type Store = GrantStore & ClientStore & ResourceServerStore & ScopeStore & DeviceRequestStore & AuditStore;
