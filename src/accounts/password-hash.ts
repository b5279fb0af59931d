/**
 * Password hashing: argon2id with a pepper from the keyring, so that a stolen database alone does not even allow guessing.
 * Each hash takes 19 MiB and a core for some 20 ms, so two run at once, one in each lane, and those who wait are
 * bounded. Node.js has four threads for work beside the event loop: two stay free for syncs, whatever the number of sign-ins.
 */
import { hash, type Options, verify } from '@node-rs/argon2';
import type { Keyring } from '../oauth/keyring.ts';
import type { StoredPassword } from './account.ts';
import { FairSlot, type SlotBounds } from './fair-slot.ts';

/** OWASP's floor for argon2id (ASVS appendix C), the library's default algorithm: 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 } as const;
const PARAMETERS_IN_PHC = '$argon2id$v=19$m=19456,t=2,p=1$';
/** A hash of no password, which takes as long to verify as any other. */
const DECOY_PHC = `${PARAMETERS_IN_PHC}${'A'.repeat(22)}$${'A'.repeat(43)}`;

/**
 * Where a password waits for being hashed: the lane of those who are known, shared by account, or that of everybody else,
 * shared by network. Each lane has one slot of its own, so that a flood of strangers makes no known browser wait.
 */
export type HashPlace = { readonly lane: 'known' | 'unknown'; readonly share: string };

const BOUNDS: SlotBounds = { ofOneShare: 50, inAll: 500 };

/** Hashes and verifies passwords, one at a time in each lane. */
export class PasswordHasher {
  readonly #keyring: Keyring;
  readonly #lanes: Readonly<Record<HashPlace['lane'], FairSlot>>;

  constructor(keyring: Keyring, bounds = BOUNDS) {
    this.#keyring = keyring;
    this.#lanes = { known: new FairSlot(bounds), unknown: new FairSlot(bounds) };
  }

  /** Hashes a password for storing: for an operator, or for an account (its id) that just proved itself. Throws `TurnedAway`. */
  async hash(password: string, share = 'operator'): Promise<StoredPassword> {
    const keyId = this.#keyring.currentKeyId;
    return { phc: await this.#lanes.known.run(share, () => hash(password, this.#options(keyId))), keyId };
  }

  /**
   * Whether the password is the stored one. For null (no such account) a decoy is verified, so that it returns false after
   * the same time (ASVS 6.3.8). Throws `TurnedAway`, also when `signal` is aborted while it waits.
   */
  async verify(
    stored: StoredPassword | null,
    password: string,
    { lane, share }: HashPlace,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const against = stored ?? { phc: DECOY_PHC, keyId: this.#keyring.currentKeyId };
    const work = () => verify(against.phc, password, this.#options(against.keyId));
    const matches = await this.#lanes[lane].run(share, work, signal);
    return stored !== null && matches;
  }

  /** Turns away strangers who wait, as the service stops. Known browsers are few, and are still served. */
  stop(): void {
    this.#lanes.unknown.stop();
  }

  /** Whether a stored password should be hashed anew at the next sign-in: parameters rose, or the key is not the newest. */
  isOutdated(stored: StoredPassword): boolean {
    return stored.keyId !== this.#keyring.currentKeyId || !stored.phc.startsWith(PARAMETERS_IN_PHC);
  }

  #options(keyId: number): Options {
    const pepper = this.#keyring.key(keyId, 'password');
    if (!pepper) throw new Error('the key that this password was hashed with is not in the keyring');
    return { ...PARAMETERS, secret: pepper.secret.export() };
  }
}
