/** The port to the audit trail. Rules are as for every port (`oauth/store.ts`). */
import type { ResourceOwner } from '../grants/grant.ts';
import { StoreUnavailable } from '../store.ts';
import type { AuditAction, AuditEvent, IncidentCounts, RecordedAuditEvent } from './audit.ts';
import type { ChainedAuditEvent, TrailRow } from './audit-chain.ts';

/**
 * An event of the trail may be hidden behind one that is still being written, so that the trail up to now is not known. The
 * message tells the operator what delays it.
 */
export class TrailHeldUp extends StoreUnavailable {}

/** The trail has lost the place that a reader goes on from: the database is an older one than before. */
export class TrailPlaceLost extends StoreUnavailable {}

/** Which events to list; at most `limit`, newest first. */
export type AuditFilter = {
  readonly sequence?: number;
  /** Not before this time (ms). */
  readonly since?: number;
  readonly clientId?: string;
  readonly resourceOwnerId?: string;
  /** The grant's id as text. */
  readonly grantId?: string;
  /** The means of an operator: the ID of a key, or kind and begin of a session. */
  readonly actorBy?: string;
  readonly action?: string;
  readonly limit: number;
};

/** Which events to walk over, in the order of the trail, or newest first. Those of a person, grant, client or operator have an index. */
export type AuditWalk = Omit<AuditFilter, 'sequence' | 'since' | 'limit'> & {
  /**
   * The id of a client, resource server, provider or operator, of which only the events that name no person are listed: the
   * changes of its registration. They have an index.
   */
  readonly changesOf?: string;
  /** The id of the request that the actor made; it has no index. */
  readonly requestId?: string;
  /** The id of the actor, who is an operator. */
  readonly operatorId?: string;
  /** Only acts of operators, which have an index. */
  readonly byOperators?: true;
  /** Any of these actions. */
  readonly actions?: readonly AuditAction[];
  readonly order: 'newest' | 'oldest';
};

/** The place of an event in a walk, and if it matches all of the filter; `at` in ms. */
export type AuditPlace = { readonly sequence: number; readonly at: number; readonly isFound: boolean };

/** Maximum step of the clock (ms): an event may be older than an earlier one by at most this. */
export const TRAIL_CLOCK_STEP_MS = 86_400_000;

/** An event with what people call those whom it concerns; null where it names none, and for what was deleted. */
export type NamedAuditEvent = RecordedAuditEvent & {
  /** The name of the client, the resource server, the provider or the operator. */
  readonly clientName: string | null;
  /** The name of the actor, if that is an operator or a provider. */
  readonly actorName: string | null;
  readonly resourceOwner: Pick<ResourceOwner, 'id' | 'email' | 'name'> | null;
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
  /**
   * The first place from which events are of a time (ms) or later; after the last one if none is. Since the clock may step back, an
   * event before it may be later, and one after it earlier, by `TRAIL_CLOCK_STEP_MS`.
   */
  findAuditPlace(at: number): Promise<number>;
  /** The next places of a walk after one (null: from the first in its order), at most `limit`. */
  listAuditPlaces(walk: AuditWalk, after: number | null, limit: number): Promise<AuditPlace[]>;
  /** The events at these places that are there, with names, in this order. */
  listNamedAuditEventsAt(sequences: readonly number[]): Promise<NamedAuditEvent[]>;
  /** Counts the incidents at a time (ms) or later, each kind up to `limit`. */
  countIncidents(since: number, limit: number): Promise<IncidentCounts>;
  /** The places of the newest incidents at a time (ms) or later, each kind up to `limit`. */
  listIncidents(since: number, limit: number): Promise<number[]>;
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
