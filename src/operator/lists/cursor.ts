/** Cursors of lists: a sealed place, good for a day, for one list with one filter. */
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { seal, unseal } from '../../oauth/keys/sealed.ts';

/** A list with its filter, to which a cursor is bound. */
export type ListName = { readonly list: string; readonly filter: object };

const LIFETIME_MS = 86_400_000;

/** Seals a place, which is kept as JSON. `now` in ms. */
export function sealCursor(keyring: Keyring, name: ListName, place: unknown, now: number): string {
  return seal(keyring, 'cursor', JSON.stringify([textOf(name), place]), now + LIFETIME_MS);
}

/** Returns the place, or null for a text that is no cursor of this list with this filter, and for an expired one. */
export function openCursor<Place>(keyring: Keyring, name: ListName, text: string, now: number): Place | null {
  const opened = unseal(keyring, 'cursor', text);
  if (!opened || opened.expiresAt <= now) return null;
  const [bound, place] = JSON.parse(opened.content.toString()) as [string, Place];
  return bound === textOf(name) ? place : null;
}

function textOf({ list, filter }: ListName): string {
  return JSON.stringify([list, Object.entries(filter).sort()]);
}
