/** Places in the audit trail, which a provider gets with its stream to go on from. Sealed, since a plain number would tell how much others do. */
import { isAheadOfClock } from '../oauth/clock-steps.ts';
import type { Keyring } from '../oauth/keyring.ts';
import { seal, unseal } from '../oauth/sealed.ts';

/** Lifetime of a place (ms): the identities of deleted accounts are known for as long. */
const LIFETIME_MS = 24 * 3_600_000;

/** Padded to this, so that its length tells nothing of the number. */
const MAX_TEXT = 64;

/** Maximum number of characters of a sealed place. */
const MAX_CHARACTERS = 300;

/** Seals a place for a provider, as of `now` (ms). */
export function sealStreamPlace(keyring: Keyring, providerId: string, sequence: number, now: number): string {
  return seal(keyring, 'stream', JSON.stringify([providerId, sequence]).padEnd(MAX_TEXT), now + LIFETIME_MS);
}

/** The place of a text; null where it is another provider's, too old, or not ours. `now` in ms. */
export function openStreamPlace(keyring: Keyring, providerId: string, text: string, now: number): number | null {
  const opened = text.length > MAX_CHARACTERS ? null : unseal(keyring, 'stream', text);
  if (!opened || opened.expiresAt <= now || isAheadOfClock(opened.expiresAt, LIFETIME_MS, now)) return null;
  const [owner, sequence] = JSON.parse(opened.content.toString()) as [string, number];
  return owner === providerId ? sequence : null;
}
