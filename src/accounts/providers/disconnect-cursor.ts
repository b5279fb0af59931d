/** Cursors of the list of disconnects: a place in the audit trail, sealed, since a plain number would tell how much others do. */
import { isAheadOfClock } from '../../oauth/grants/clock-steps.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { seal, unseal } from '../../oauth/keys/sealed.ts';

/** Lifetime of a cursor (ms): the identities of deleted accounts are kept for as long. */
const LIFETIME_MS = 24 * 3_600_000;

/** Padded to this, so that its length tells nothing of the number. */
const MAX_TEXT = 64;

/** Maximum number of characters of a cursor. */
const MAX_CHARACTERS = 300;

/** Seals a place for a provider, as of `now` (ms). */
export function sealDisconnectCursor(keyring: Keyring, providerId: string, sequence: number, now: number): string {
  return seal(keyring, 'disconnects', JSON.stringify([providerId, sequence]).padEnd(MAX_TEXT), now + LIFETIME_MS);
}

/** The place that a text holds; null if the text is another provider's, too old, or not ours. `now` in ms. */
export function openDisconnectCursor(keyring: Keyring, providerId: string, text: string, now: number): number | null {
  const opened = text.length > MAX_CHARACTERS ? null : unseal(keyring, 'disconnects', text);
  if (!opened || opened.expiresAt <= now || isAheadOfClock(opened.expiresAt, LIFETIME_MS, now)) return null;
  const [owner, sequence] = JSON.parse(opened.content.toString()) as [string, number];
  return owner === providerId ? sequence : null;
}
