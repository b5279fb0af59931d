/**
 * Password hashing: argon2id, whose text is sealed under the keyring, so that a stolen database alone does not even allow
 * guessing. When another root key takes over, the text is sealed again without the password. Each hash takes 19 MiB and a core
 * for some 20 ms, so at most two run at once, one for each queue, and the queues are bounded. Node.js has four threads beside
 * the event loop: two stay free for syncs, however many sign-ins there are, or one while imported hashes are being wrapped.
 */
import { timingSafeEqual } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { NEVER, seal, unseal } from '../../oauth/keys/sealed.ts';
import { FairSlot, type SlotBounds } from '../guessing/fair-slot.ts';
import {
  isUnwrapped,
  type OwnPassword,
  type SealedPassword,
  type StoredPassword,
  type WrappedPassword,
} from '../people/account.ts';
import { derive, type ForeignFunction } from '../people/foreign-function.ts';
import type { ForeignHash } from './foreign-hash.ts';

/** OWASP's minimum for argon2id (ASVS appendix C), the library's default algorithm: 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 } as const;
const PARAMETERS_IN_PHC = '$argon2id$v=19$m=19456,t=2,p=1$';
/** A hash of no password, which takes as long to verify as any other. */
const DECOY_PHC = `${PARAMETERS_IN_PHC}${'A'.repeat(22)}$${'A'.repeat(43)}`;

/**
 * The queue in which a password waits to be hashed: the one for known browsers, shared by account, or the one for
 * strangers, shared by network. Each queue has its own slot, so that a flood of strangers never delays a known
 * browser.
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
  async hash(password: string, share = 'operator'): Promise<OwnPassword> {
    return this.#sealed(await this.#lanes.known.run(share, () => hash(password, PARAMETERS)));
  }

  /**
   * Returns true if the password is the stored one. For null (no such account), and for a hash that is not wrapped
   * yet, verifies a decoy, and returns false after the same time (ASVS 6.3.8). Throws `TurnedAway`, also when
   * `signal` is aborted while it waits.
   */
  async verify(
    stored: StoredPassword | null,
    password: string,
    { lane, share }: HashPlace,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const usable = stored === null || isUnwrapped(stored) ? null : stored;
    const matches = await this.#lanes[lane].run(share, () => this.#matches(usable ?? this.#decoy, password), signal);
    return usable !== null && matches;
  }

  /** Seals a hash that another program made, for storing. */
  seal({ madeBy, digest }: ForeignHash): SealedPassword {
    return { ...this.#sealedForeign(digest.toString('base64')), foreign: madeBy };
  }

  /** Wraps a foreign hash in our own, so that whoever tries a password needs both functions. It runs beside the lanes: the caller wraps one at a time. */
  async wrap(password: SealedPassword): Promise<WrappedPassword> {
    return { ...this.#sealed(await hash(this.#opened(password), PARAMETERS)), foreign: password.foreign };
  }

  /** The same password under the current root key; null where it is so already. */
  reseal(stored: StoredPassword): StoredPassword | null {
    if (stored.keyId === this.#keyring.currentKeyId) return null;
    const text = this.#opened(stored);
    return { ...stored, ...('sealed' in stored ? this.#sealedForeign(text) : this.#sealed(text)) };
  }

  /** Does the work of checking a password that `foreign` hashed, so that the caller can measure it. It runs beside the lanes. */
  async rehearse(foreign: ForeignFunction): Promise<void> {
    await this.#matches({ ...this.#decoy, foreign }, 'a password');
  }

  get #decoy(): OwnPassword {
    return this.#sealed(DECOY_PHC);
  }

  async #matches(stored: StoredPassword, password: string): Promise<boolean> {
    // The library verifies only texts, so the result of a foreign function becomes one here.
    const given = 'foreign' in stored ? (await derive(stored.foreign, password)).toString('base64') : password;
    if ('sealed' in stored) return timingSafeEqual(Buffer.from(given), Buffer.from(this.#opened(stored)));
    return verify(this.#opened(stored), given);
  }

  #sealed(phc: string): OwnPassword {
    return { sealedPhc: seal(this.#keyring, 'password', phc, NEVER), keyId: this.#keyring.currentKeyId };
  }

  #sealedForeign(digest: string): Omit<SealedPassword, 'foreign'> {
    return { sealed: seal(this.#keyring, 'foreign-hash', digest, NEVER), keyId: this.#keyring.currentKeyId };
  }

  /** Opens the sealed hash: a PHC string, or another program's result in base64. */
  #opened(stored: StoredPassword): string {
    const opened =
      'sealed' in stored
        ? unseal(this.#keyring, 'foreign-hash', stored.sealed)
        : unseal(this.#keyring, 'password', stored.sealedPhc);
    if (!opened)
      throw new Error('this password was sealed with a root key that is not in the keyring, or is not whole');
    return opened.content.toString();
  }

  /** Turns away strangers who wait, as the service stops. Known browsers are few, and are still served. */
  stop(): void {
    this.#lanes.unknown.stop();
  }

  /**
   * True if a stored password should be hashed again at the next sign-in: its function is not ours, or our parameters
   * were raised.
   */
  isOutdated(stored: StoredPassword): boolean {
    return 'foreign' in stored || !this.#opened(stored).startsWith(PARAMETERS_IN_PHC);
  }
}
