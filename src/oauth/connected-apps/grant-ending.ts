/** Finds the event that ended a grant together with others, and so does not name it, in a bounded part of the trail. */
import type { FoundGrant } from '../protocol/grant-store.ts';
import {
  type AuditPlace,
  type AuditStore,
  type AuditWalk,
  type NamedAuditEvent,
  TRAIL_CLOCK_STEP_MS,
} from '../trail/audit-store.ts';

/** The store that endings are searched in. */
export type EndingStore = Pick<AuditStore, 'listAuditPlaces' | 'listNamedAuditEventsAt'>;

/** Endings, oldest first; `isCut` if a search ended at its bound, so that an earlier one may be missing. */
export type Endings = { readonly events: readonly NamedAuditEvent[]; readonly isCut: boolean };

type Filter = Omit<AuditWalk, 'order'>;

/** Number of events that one search reads at once, and in all: a busy app has thousands a day. */
const WINDOW = 512;
const MAX_ROWS = 4096;
/** Maximum number of events of one search that are read whole. */
const MAX_FOUND = 20;

/** Searches the endings of a grant whose row is there, from the newest event back: the row goes a day after its end. */
export async function endingsOf(store: EndingStore, { grant, standing }: FoundGrant): Promise<Endings> {
  const { clientId, resourceOwnerId, epochs, grantedAt, revokedAt, revocationReason } = grant;
  const isEarlier = ({ at }: AuditPlace) => at < (revokedAt ?? grantedAt) - TRAIL_CLOCK_STEP_MS;
  const search = (filters: readonly Filter[], isWanted: (event: Pick<NamedAuditEvent, 'at'>) => boolean) =>
    all(store, filters, (filter) =>
      walk(store, { ...filter, order: 'newest' }, null, { isEnd: isEarlier, isWanted, most: MAX_ROWS }),
    );
  if (revokedAt !== null) {
    const byHand = revocationReason === 'user' || revocationReason === 'operator';
    const filters: Filter[] = byHand ? [{ clientId, resourceOwnerId, action: 'grant_revoked' }] : [];
    if (revocationReason === 'restored') filters.push({ action: 'database_restored' });
    return search(filters, ({ at }) => at === revokedAt);
  }
  const now = standing.epochs;
  const raised: [isRaised: boolean, filter: Filter][] = [
    [epochs.installation !== now.installation, { action: 'all_grants_revoked' }],
    [epochs.client !== now.client, { clientId, action: 'client_grants_revoked' }],
    [epochs.resourceOwner !== now.resourceOwner, { resourceOwnerId, action: 'user_grants_revoked' }],
  ];
  const filters = raised.filter(([isRaised]) => isRaised).map(([, filter]) => filter);
  return search(filters, ({ at }) => at >= grantedAt);
}

/** Searches what may have ended a grant whose row is gone, from its first event on. It may have expired before. */
export function endingsAfter(store: EndingStore, first: NamedAuditEvent): Promise<Endings> {
  const clientId = first.clientId ?? '';
  const resourceOwnerId = first.resourceOwnerId ?? '';
  const filters: Filter[] = [
    { clientId, action: 'client_deleted' },
    { resourceOwnerId, action: 'user_deleted' },
    { clientId, action: 'client_grants_revoked' },
    { resourceOwnerId, action: 'user_grants_revoked' },
    { clientId, resourceOwnerId, action: 'grant_revoked' },
    { action: 'all_grants_revoked' },
  ];
  return all(store, filters, (filter) =>
    walk(store, { ...filter, order: 'oldest' }, first.sequence, {
      isEnd: () => false,
      isWanted: () => true,
      most: MAX_FOUND,
    }),
  );
}

type Walked = { readonly found: readonly number[]; readonly isCut: boolean };

async function all(
  store: EndingStore,
  filters: readonly Filter[],
  search: (filter: Filter) => Promise<Walked>,
): Promise<Endings> {
  const walked = await Promise.all(filters.map(search));
  const sequences = walked.flatMap(({ found }) => found.slice(-MAX_FOUND)).sort((one, other) => one - other);
  const events = await store.listNamedAuditEventsAt(sequences);
  // An event that names a grant ended that one alone.
  return { events: events.filter(({ grantId }) => grantId === null), isCut: walked.some(({ isCut }) => isCut) };
}

/** Walks to the end, to `most` wanted events, or to the bound. */
async function walk(
  store: EndingStore,
  asked: AuditWalk,
  after: number | null,
  {
    isEnd,
    isWanted,
    most,
  }: { isEnd: (place: AuditPlace) => boolean; isWanted: (place: AuditPlace) => boolean; most: number },
): Promise<Walked> {
  const found: number[] = [];
  let last = after;
  for (let seen = 0; seen < MAX_ROWS; seen += WINDOW) {
    const places = await store.listAuditPlaces(asked, last, WINDOW);
    for (const place of places) {
      if (isEnd(place)) return { found, isCut: false };
      if (place.isFound && isWanted(place) && found.push(place.sequence) === most) return { found, isCut: false };
    }
    if (places.length < WINDOW) return { found, isCut: false };
    last = places.at(-1)?.sequence ?? null;
  }
  return { found, isCut: true };
}
