/**
 * Finds the first presentation of a code or refresh token that was presented again, in the audit trail: its time and
 * source.
 */
import type { Grant } from '../grants/grant.ts';
import type { GrantStore } from './grant-store.ts';

/** The last presentation that was accepted, when and from where, in a few words; undefined when the grant is gone. */
export async function presentedBefore(
  store: Pick<GrantStore, 'findPresentation'>,
  { id }: Pick<Grant, 'id'>,
): Promise<string | undefined> {
  const before = await store.findPresentation(id);
  if (!before) return undefined;
  const { generation, at, source } = before;
  const what = generation === 1 ? 'exchanged' : 'last refreshed';
  return `${what} before at ${new Date(at).toISOString()} from ${source ?? 'an unknown address'}`;
}

const TEXT = /^(?:exchanged|last refreshed) before at (\S+) from (.+)$/;

/** Returns the time (ms) and the source of a presentation in the words of `presentedBefore`; null for other words. */
export function readPresentedBefore(words: string | null): { readonly at: number; readonly source: string } | null {
  const [, time = '', source = ''] = TEXT.exec(words ?? '') ?? [];
  const at = Date.parse(time);
  return Number.isNaN(at) ? null : { at, source };
}
