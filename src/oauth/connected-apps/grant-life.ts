/** A grant's history, for the operator: its row, if it still exists, and its events in the audit trail. */
import { grantIdText, parseGrantId } from '../grants/grant.ts';
import type { FoundGrant, GrantStore } from '../protocol/grant-store.ts';
import type { AuditFilter, AuditStore, NamedAuditEvent } from '../trail/audit-store.ts';

/** The history of a grant. Events are oldest first. */
export type GrantLife = {
  readonly id: string;
  /** Null if its row is deleted: a day after the grant ended, or with its client or resource owner. */
  readonly found: FoundGrant | null;
  readonly events: readonly NamedAuditEvent[];
  /** The event that ended it; null for a live or expired grant, or if the trail has no such event. */
  readonly ending: NamedAuditEvent | null;
};

type LifeStore = Pick<GrantStore, 'findGrant'> & Pick<AuditStore, 'listNamedAuditEvents'>;

/** Maximum number of a grant's own events that are shown; a grant normally has a few. */
const MAX_EVENTS = 1000;

/** Finds a grant's history by its id as text; null if there is none. */
export async function findGrantLife(store: LifeStore, idText: string): Promise<GrantLife | null> {
  const id = parseGrantId(idText);
  if (!id) return null;
  const text = grantIdText(id);
  const found = await store.findGrant(id);
  // A grant's id contains its creation time (`newGrantId`), and it has no earlier events.
  const since = id.readUIntBE(0, 6);
  const own = (await store.listNamedAuditEvents({ grantId: text, since, limit: MAX_EVENTS })).reverse();
  const others = found ? await bulkEndings(store, found) : await endingsByDeletion(store, own);
  if (!found && own.length === 0) return null;
  const ending = [...own.filter(({ action }) => ENDS_ONE.has(action)), ...others].sort(bySequence)[0] ?? null;
  const events = ending && !own.includes(ending) ? [...own, ending].sort(bySequence) : own;
  return { id: text, found, events, ending };
}

const ENDS_ONE: ReadonlySet<string> = new Set([
  'grant_revoked',
  'code_replay',
  'refresh_reuse',
  'refresh_conflict',
  'too_many_grants',
]);

/** The events that ended a grant together with others, and do not name it. */
async function bulkEndings(store: LifeStore, { grant, standing }: FoundGrant): Promise<NamedAuditEvent[]> {
  const { clientId, resourceOwnerId, epochs, grantedAt, revokedAt, revocationReason } = grant;
  const list = (filter: Omit<AuditFilter, 'limit' | 'since'>) =>
    store.listNamedAuditEvents({ ...filter, since: grantedAt, limit: MAX_EVENTS });
  if (revokedAt !== null) {
    if (revocationReason === 'restored') {
      const restores = await list({ action: 'database_restored' });
      return restores.filter((event) => event.at === revokedAt);
    }
    if (revocationReason !== 'user' && revocationReason !== 'operator') return [];
    const taken = await list({ clientId, resourceOwnerId, action: 'grant_revoked' });
    return taken.filter((event) => event.grantId === null && event.at === revokedAt);
  }
  const endings: NamedAuditEvent[] = [];
  if (epochs.installation !== standing.epochs.installation)
    endings.push(...(await list({ action: 'all_grants_revoked' })));
  if (epochs.client !== standing.epochs.client)
    endings.push(...(await list({ clientId, action: 'client_grants_revoked' })));
  if (epochs.resourceOwner !== standing.epochs.resourceOwner)
    endings.push(...(await list({ resourceOwnerId, action: 'user_grants_revoked' })));
  return endings;
}

/** The deletion of the client or the resource owner, which takes the grant's row along. */
async function endingsByDeletion(store: LifeStore, own: readonly NamedAuditEvent[]): Promise<NamedAuditEvent[]> {
  const [first] = own;
  if (!first) return [];
  const { clientId, resourceOwnerId, at: since } = first;
  const [ofClient, ofOwner] = await Promise.all([
    clientId ? store.listNamedAuditEvents({ clientId, action: 'client_deleted', since, limit: 1 }) : [],
    resourceOwnerId ? store.listNamedAuditEvents({ resourceOwnerId, action: 'user_deleted', since, limit: 1 }) : [],
  ]);
  return [...ofClient, ...ofOwner];
}

function bySequence(one: NamedAuditEvent, other: NamedAuditEvent): number {
  return one.sequence - other.sequence;
}
