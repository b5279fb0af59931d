/**
 * The search for a request by its ID: the events and recorded failures that have it. Neither has an index by request, since every
 * event and failure would write it: a page looks at a bounded number of each, the newest events first.
 */
import type { ActivityStore } from '../../oauth/activity/activity-store.ts';
import type { AppFailure } from '../../oauth/activity/app-failure.ts';
import type { AuditStore, NamedAuditEvent } from '../../oauth/trail/audit-store.ts';
import { readPage, type Walk } from './page.ts';

/** How far a search got: a place in each walk, null before the first; `end` once all was looked at. */
export type RequestPlace = {
  readonly events: number | 'end' | null;
  readonly failures: string | 'end' | null;
};

/** The part of a request that was found. `next` is null once all was looked at. */
export type FoundRequest = {
  readonly events: readonly NamedAuditEvent[];
  readonly failures: readonly AppFailure[];
  /** The time (ms) of the last event that was looked at; null if all were. */
  readonly eventsSince: number | null;
  /** True if all recorded failures were looked at. */
  readonly hasAllFailures: boolean;
  readonly next: RequestPlace | null;
};

/** The store that requests are looked for in. */
export type RequestStore = Pick<AuditStore, 'listAuditPlaces' | 'listNamedAuditEventsAt'> &
  Pick<ActivityStore, 'listFailurePlaces' | 'listFailuresAt'>;

/** Maximum number of events, and of failures, of one page. */
const MAX_FOUND = 20;

/** Looks for a request from a place on. `stopwatch` returns ms since any start. */
export async function findRequest(
  store: RequestStore,
  requestId: string,
  { events, failures }: RequestPlace,
  stopwatch: () => number,
): Promise<FoundRequest> {
  const inTrail = await pageOf(eventWalk(store, requestId), events, stopwatch);
  const ofApps = await pageOf(failureWalk(store, requestId), failures, stopwatch);
  const [last] = inTrail.place === 'end' ? [] : await store.listNamedAuditEventsAt([inTrail.place]);
  const isWhole = inTrail.place === 'end' && ofApps.place === 'end';
  return {
    events: await store.listNamedAuditEventsAt(inTrail.found.map(({ sequence }) => sequence)),
    failures: await store.listFailuresAt(ofApps.found.map(({ key }) => key)),
    eventsSince: last?.at ?? null,
    hasAllFailures: ofApps.place === 'end',
    next: isWhole ? null : { events: inTrail.place, failures: ofApps.place },
  };
}

async function pageOf<Row, Place>(walk: Walk<Row, Place>, from: Place | 'end' | null, stopwatch: () => number) {
  if (from === 'end') return { found: [], place: 'end' as const };
  const { found, next } = await readPage(walk, from, MAX_FOUND, stopwatch);
  return { found, place: next ?? ('end' as const) };
}

function eventWalk(store: RequestStore, requestId: string) {
  return {
    read: (after: number | null, limit: number) => store.listAuditPlaces({ requestId, order: 'newest' }, after, limit),
    placeOf: ({ sequence }: { readonly sequence: number }) => sequence,
    match: (places: readonly { readonly sequence: number; readonly isFound: boolean }[]) =>
      places.filter(({ isFound }) => isFound),
  };
}

function failureWalk(store: RequestStore, requestId: string) {
  return {
    read: (after: string | null, limit: number) => store.listFailurePlaces(requestId, after, limit),
    placeOf: ({ key }: { readonly key: string }) => key,
    match: (places: readonly { readonly key: string; readonly isFound: boolean }[]) =>
      places.filter(({ isFound }) => isFound),
  };
}
