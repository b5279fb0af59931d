/** The port to where signing keys are stored. Rules are as for every port (`oauth/store.ts`). */

import type { AuditEvent } from '../trail/audit.ts';
import type { SealedKey, SigningKey, SigningKeyPair } from './signing-key.ts';

/** One turn: the signing key becomes a former one, the next key signs, and a new key waits. */
export type SigningKeyTurn = {
  readonly signing: string;
  readonly next: string;
  readonly made: SigningKey;
  /** When the former key leaves the key set (ms). */
  readonly dropAt: number;
};

/** The signing keys. Every change demands that the key which signs is as it was read: of several at once, one wins. */
export type SigningKeyStore = {
  /** All keys, the oldest first; those to be dropped among them until the clean-up. */
  listSigningKeys(): Promise<SigningKey[]>;
  /** Turns the keys at the time of the event; false if another key signs by now. */
  turnSigningKeys(turn: SigningKeyTurn, event: AuditEvent): Promise<boolean>;
  /**
   * Deletes all keys, and adds two. `signing` is the key that signs until then, or null if there must be none. False if that
   * is not so.
   */
  replaceSigningKeys(signing: string | null, pair: SigningKeyPair, event: AuditEvent): Promise<boolean>;
  /** Replaces the sealed private key, unless it changed since it was read. */
  resealSigningKey(key: SigningKey, sealed: SealedKey): Promise<void>;
};
