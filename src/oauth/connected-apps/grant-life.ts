/** A grant's history, for the operator: its row, if it still exists, and its events in the audit trail. */
import { grantIdText, parseGrantId } from '../grants/grant.ts';
import type { FoundGrant, GrantStore } from '../protocol/grant-store.ts';
import type { AuditStore, NamedAuditEvent } from '../trail/audit-store.ts';
import { type EndingStore, endingsAfter, endingsOf } from './grant-ending.ts';

/** The history of a grant. Events are oldest first. */
export type GrantLife = {
  readonly id: string;
  /** Null if its row is deleted: a day after the grant ended, or with its client or resource owner. */
  readonly found: FoundGrant | null;
  readonly events: readonly NamedAuditEvent[];
  /**
   * The event that ended it; null for a live or expired grant, or if the trail has no such event. If it does not name the grant
   * and the row is deleted, the grant may have expired before.
   */
  readonly ending: NamedAuditEvent | null;
  /** True if an earlier ending may lie beyond the searched part of the trail. */
  readonly isCut: boolean;
};

/** The store that lives are read from. */
export type LifeStore = Pick<GrantStore, 'findGrant'> & Pick<AuditStore, 'listNamedAuditEvents'> & EndingStore;

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
  const [first] = own;
  if (!found && !first) return null;
  const itsOwn = own.find(({ action }) => ENDS_ONE.has(action));
  if (itsOwn) return { id: text, found, events: own, ending: itsOwn, isCut: false };
  const others = found ? await endingsOf(store, found) : await endingsAfter(store, first as NamedAuditEvent);
  const [ending = null] = others.events;
  const events = ending ? [...own, ending].sort((one, other) => one.sequence - other.sequence) : own;
  return { id: text, found, events, ending, isCut: others.isCut };
}

const ENDS_ONE: ReadonlySet<string> = new Set([
  'grant_revoked',
  'code_replay',
  'refresh_reuse',
  'refresh_conflict',
  'too_many_grants',
]);
