/**
 * The first presentation of a code or refresh token that was presented again, for the audit trail: its time and source.
 */
import type { Grant } from '../grants/grant.ts';
import { type DetailOf, type Members, textIn } from '../trail/event-members.ts';
import type { GrantStore } from './grant-store.ts';

/** Returns when and from where the last presentation came that was accepted; no member when the grant is gone. */
export async function presentedBefore(
  store: Pick<GrantStore, 'findPresentation'>,
  { id }: Pick<Grant, 'id'>,
): Promise<DetailOf<'refresh_reuse'>> {
  const before = await store.findPresentation(id);
  if (!before) return {};
  const at = new Date(before.at).toISOString();
  return {
    ...(before.generation === 1 ? { exchanged_at: at } : { refreshed_at: at }),
    presented_from: before.source ?? undefined,
  };
}

/** Returns the time (ms) and the source of a presentation in the members of an event, or null. */
export function readPresentedBefore(members: Members | null): { readonly at: number; readonly source: string } | null {
  const at = Date.parse(textIn(members, 'exchanged_at') ?? textIn(members, 'refreshed_at') ?? '');
  return Number.isNaN(at) ? null : { at, source: textIn(members, 'presented_from') ?? 'an unknown address' };
}
