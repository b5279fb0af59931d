/** The list of disconnects for identity providers, page by page: the apps that lost access to the provider's users. */

import { Refusal } from '../../oauth/error.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import type { RecordedAuditEvent } from '../../oauth/trail/audit.ts';
import { type AuditStore, TrailPlaceLost } from '../../oauth/trail/audit-store.ts';
import type { IdentityProvider } from '../people/identity-provider.ts';
import type { IdentityStore } from '../people/store.ts';
import { openDisconnectCursor, sealDisconnectCursor } from './disconnect-cursor.ts';
import { type DisconnectNotice, disconnectedAccount, disconnectNotices } from './disconnect-notice.ts';

/** The parts that disconnects are read with. `now` returns ms since the epoch. */
export type DisconnectsParts = {
  readonly store: Pick<AuditStore, 'lastAuditSequence' | 'listAuditEvents' | 'listAuditEventsAfter'> &
    Pick<IdentityStore, 'listIdentitiesOf'>;
  readonly keyring: Keyring;
  readonly now: () => number;
};

/** A page: `next` is the cursor behind it, and `hasMore` says that the trail goes on there already. */
export type DisconnectPage = {
  readonly disconnects: readonly DisconnectNotice[];
  readonly next: string;
  readonly hasMore: boolean;
};

/** Maximum number of events of the trail that one page reads. */
const EVENTS_OF_PAGE = 500;
/** Maximum number of disconnects in one page. */
export const MAX_DISCONNECTS = 1000;

/**
 * The next page after a cursor, with at most `limit` disconnects; without a cursor, those of the newest events. One event may
 * concern several users, so the first event of a page may exceed the limit. Throws `TrailHeldUp` while an earlier event may be
 * hidden.
 */
export async function listDisconnects(
  parts: DisconnectsParts,
  provider: Pick<IdentityProvider, 'id'>,
  after: string | undefined,
  limit: number,
): Promise<DisconnectPage | Refusal> {
  const { keyring, now } = parts;
  const at = now();
  const place = after === undefined ? null : openDisconnectCursor(keyring, provider.id, after, at);
  if (after !== undefined && place === null) return gone();
  const read = await readTrail(parts, place);
  if (read instanceof Refusal) return read;
  const accounts = read.events.map(disconnectedAccount).filter((id) => id !== null);
  // Read after the events: the identities of a deleted account are kept for a day.
  const identities = await parts.store.listIdentitiesOf([...new Set(accounts)]);
  const identitiesOf = Map.groupBy(identities, ({ accountId }) => accountId);
  const disconnects: DisconnectNotice[] = [];
  let last = read.place;
  for (const event of read.events) {
    const notices = disconnectNotices(event, provider.id, identitiesOf.get(event.resourceOwnerId ?? '') ?? []);
    if (disconnects.length > 0 && disconnects.length + notices.length > limit) break;
    disconnects.push(...notices);
    last = event.sequence;
  }
  const hasMore = read.goesOn || last < (read.events.at(-1)?.sequence ?? last);
  return { disconnects, next: sealDisconnectCursor(keyring, provider.id, last, at), hasMore };
}

/** Events of the trail in order, the cursor before them, and if there are more. */
type Read = { readonly events: readonly RecordedAuditEvent[]; readonly place: number; readonly goesOn: boolean };

async function readTrail({ store }: DisconnectsParts, place: number | null): Promise<Read | Refusal> {
  if (place !== null) {
    try {
      const events = await store.listAuditEventsAfter(place, EVENTS_OF_PAGE);
      return { events, place, goesOn: events.length === EVENTS_OF_PAGE };
    } catch (error) {
      if (error instanceof TrailPlaceLost) return gone();
      throw error;
    }
  }
  // Read the end first: no event before it is hidden.
  const end = await store.lastAuditSequence();
  const newest = await store.listAuditEvents({ limit: EVENTS_OF_PAGE });
  return { events: newest.reverse().filter(({ sequence }) => sequence <= end), place: end, goesOn: false };
}

function gone(): Refusal {
  return new Refusal(
    'gone',
    'after is not a cursor, or is older than a day: read all connections again, and continue without after',
  );
}
