/**
 * Events under root keys that are not here, whose MACs nobody can verify. Such an event counts only where a genuine event
 * says that its key was retired, and the checkpoint that was recorded for this retirement covers the event.
 */

import type { Keyring } from '../../oauth/keys/keyring.ts';
import { readRootKeyName } from '../../oauth/keys/root-key.ts';
import { chainKeyId, type TrailRow } from '../../oauth/trail/audit-chain.ts';
import { readMembers, textIn } from '../../oauth/trail/event-members.ts';

/** Maximum number of absent keys whose events are told apart: an installation has a few, and a forger may invent any number. */
const MAX_KEYS = 1000;

/** An event that says that a key was retired. */
type Retirement = {
  readonly sequence: number;
  /** The root key of the event itself. */
  readonly by: number;
  /** The last event that a checkpoint proved by then. */
  readonly proven: number;
};

/** The absent keys of a walk, with the last event of each. */
export class AbsentKeys {
  readonly #keyring: Keyring;
  readonly #last = new Map<number, number>();
  readonly #retirements = new Map<number, Retirement>();

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  /** Notes an event under an absent key. */
  add(keyId: number, sequence: number): void {
    if (this.#last.size < MAX_KEYS || this.#last.has(keyId)) this.#last.set(keyId, sequence);
  }

  /** Notes a retirement; `proven` is the last event that a checkpoint proves which a key here signed. */
  retire({ sequence, detail, chain }: TrailRow, proven: number): void {
    const keyId = readRootKeyName(textIn(readMembers(detail), 'root_key') ?? '');
    const by = chainKeyId(chain.id);
    if (keyId === null || by === null || this.#retirements.has(keyId)) return;
    this.#retirements.set(keyId, { sequence, by, proven });
  }

  /** Tells if a key was retired. For a present key, only an event that was verified with another key proves this. */
  isRetired(keyId: number, isHere: boolean): boolean {
    const retirement = this.#retirements.get(keyId);
    return retirement !== undefined && (!isHere || this.#isHere(retirement.by));
  }

  /** The keys with events that nothing proves, and the last event of each. */
  unproven(): { readonly keyId: number; readonly sequence: number }[] {
    const provenUpTo = new Map<number, number>();
    // The newest first: one that is under an absent key itself is proven by the retirement of that one.
    for (const [keyId, { sequence, by, proven }] of [...this.#retirements].sort(
      ([, a], [, b]) => b.sequence - a.sequence,
    )) {
      const isProven = sequence <= (provenUpTo.get(by) ?? 0);
      provenUpTo.set(keyId, this.#isHere(by) ? proven : isProven ? sequence : 0);
    }
    return [...this.#last]
      .filter(([keyId, sequence]) => sequence > (provenUpTo.get(keyId) ?? 0))
      .map(([keyId, sequence]) => ({ keyId, sequence }));
  }

  #isHere(keyId: number): boolean {
    return this.#keyring.keyIds.includes(keyId);
  }
}
