/**
 * Password hashing: argon2id with a pepper from the keyring, so that a stolen database alone does not even allow guessing.
 * Each hash takes 19 MiB and a core for some 20 ms, so few run at once and the queue is bounded.
 */
import { hash, type Options, verify } from '@node-rs/argon2';
import type { Keyring } from '../oauth/keyring.ts';
import type { StoredPassword } from './account.ts';

/** Too many passwords are being checked right now; nothing was decided. */
export class PasswordHashingBusy extends Error {
  override readonly name = 'PasswordHashingBusy';
}

/** OWASP's floor for argon2id (ASVS appendix C), the library's default algorithm: 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 } as const;
const PARAMETERS_IN_PHC = '$argon2id$v=19$m=19456,t=2,p=1$';
/** A hash of no password, which takes as long to verify as any other. */
const DECOY_PHC = `${PARAMETERS_IN_PHC}${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Hashes and verifies passwords, at most `atOnce` at a time with at most `mostWaiting` in line. */
export class PasswordHasher {
  readonly #keyring: Keyring;
  readonly #atOnce: number;
  readonly #mostWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(keyring: Keyring, atOnce: number, mostWaiting = 50) {
    this.#keyring = keyring;
    this.#atOnce = atOnce;
    this.#mostWaiting = mostWaiting;
  }

  /** Hashes a password for storing. Throws `PasswordHashingBusy`. */
  async hash(password: string): Promise<StoredPassword> {
    const keyId = this.#keyring.currentKeyId;
    return { phc: await this.#inTurn(() => hash(password, this.#options(keyId))), keyId };
  }

  /**
   * Whether the password is the stored one. For null (no such account) a decoy is verified and the answer is false after
   * the same time (ASVS 6.3.8). Throws `PasswordHashingBusy`.
   */
  async verify(stored: StoredPassword | null, password: string): Promise<boolean> {
    const against = stored ?? { phc: DECOY_PHC, keyId: this.#keyring.currentKeyId };
    const matches = await this.#inTurn(() => verify(against.phc, password, this.#options(against.keyId)));
    return stored !== null && matches;
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

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) {
      if (this.#waiting.length >= this.#mostWaiting)
        throw new PasswordHashingBusy('too many passwords are being checked');
      await new Promise<void>((turn) => this.#waiting.push(turn));
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      // The turn is handed on rather than given back, so that nobody who comes now can slip in before the line.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
