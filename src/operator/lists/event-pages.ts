/** The walk over the audit trail, newest or oldest first. Times have no index: a search finds where they begin. */
import {
  type AuditPlace,
  type AuditStore,
  type AuditWalk,
  type NamedAuditEvent,
  TRAIL_CLOCK_STEP_MS,
} from '../../oauth/trail/audit-store.ts';
import type { Walk } from './page.ts';

/** Which events to list: from `since` on and before `until` (ms). */
export type EventAsked = AuditWalk & { readonly since?: number; readonly until?: number };

/** The store that events are read from. */
export type EventStore = Pick<AuditStore, 'findAuditPlace' | 'listAuditPlaces' | 'lastAuditSequence'>;

/** Returns the walk over the events that match; its places are those of the trail. */
export async function walkEvents(
  store: EventStore,
  { since = 0, until = Number.MAX_SAFE_INTEGER, ...walk }: EventAsked,
): Promise<Walk<AuditPlace, number>> {
  const isNewest = walk.order === 'newest';
  // Behind it, an instance may still be writing an event that this walk would skip.
  const last = isNewest ? Number.MAX_SAFE_INTEGER : await store.lastAuditSequence();
  /** True behind the last event that can match, since the clock never steps back further. */
  const isBehind = ({ at, sequence }: AuditPlace) =>
    isNewest ? at < since - TRAIL_CLOCK_STEP_MS : sequence > last || at >= until + TRAIL_CLOCK_STEP_MS;
  const beginning = async () => {
    if (isNewest) return until === Number.MAX_SAFE_INTEGER ? null : store.findAuditPlace(until + TRAIL_CLOCK_STEP_MS);
    return since === 0 ? null : (await store.findAuditPlace(since - TRAIL_CLOCK_STEP_MS)) - 1;
  };
  return {
    async read(after, limit) {
      const places = await store.listAuditPlaces(walk, after ?? (await beginning()), limit);
      const end = places.findIndex(isBehind);
      return end < 0 ? places : places.slice(0, end);
    },
    placeOf: ({ sequence }) => sequence,
    match: (places) => places.filter(({ at, isFound }) => isFound && at >= since && at < until),
  };
}

/** Returns the event of a number in text form; null without one. */
export async function findEvent(
  store: Pick<AuditStore, 'listNamedAuditEventsAt'>,
  number: string,
): Promise<NamedAuditEvent | null> {
  if (!/^[1-9][0-9]{0,14}$/.test(number)) return null;
  const [event = null] = await store.listNamedAuditEventsAt([Number(number)]);
  return event;
}

/** Number of events among which the last one of an act is looked for. */
const LATELY = 1000;

/** Returns the newest event that matches, of the last 1,000 that one index of the walk has; null if none of them does. */
export async function findLastEvent(
  store: Pick<AuditStore, 'listAuditPlaces' | 'listNamedAuditEventsAt'>,
  walk: Omit<AuditWalk, 'order'>,
): Promise<NamedAuditEvent | null> {
  const places = await store.listAuditPlaces({ ...walk, order: 'newest' }, null, LATELY);
  const last = places.find(({ isFound }) => isFound);
  const [event = null] = last ? await store.listNamedAuditEventsAt([last.sequence]) : [];
  return event;
}
