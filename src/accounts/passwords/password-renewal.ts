/**
 * Renews stored passwords in the background: wraps imported hashes in our own, and seals again the passwords of an earlier
 * root key. One at a time, so that sign-ins are not delayed. Several instances begin at different accounts, and the second one
 * to reach an account changes nothing.
 */
import { newAccountId, type StoredPassword } from '../people/account.ts';
import type { AccountStore } from '../people/store.ts';

/** The parts of a renewal. `later` acts after a number of ms, and returns a function that cancels it. */
export type PasswordRenewalParts<Password extends StoredPassword = StoredPassword> = {
  /** Those that need the new form, in the order of their ids after `after`, at most `limit`. */
  readonly list: (after: string, limit: number) => Promise<{ readonly id: string; readonly password: Password }[]>;
  /** The new form; null if the password already has it. */
  readonly renew: (password: Password) => StoredPassword | null | Promise<StoredPassword | null>;
  readonly store: Pick<AccountStore, 'rehashPassword'>;
  readonly later: (act: () => void, ms: number) => () => void;
  /** Gets the errors that interrupt it. */
  readonly report: (error: Error) => void;
};

/** Number of passwords in one read, and the pause after an empty read (ms). */
const BATCH = 100;
const REST_MS = 5000;

/** Starts at once, and continues with new passwords until it is stopped. */
export class PasswordRenewal<Password extends StoredPassword = StoredPassword> {
  readonly #parts: PasswordRenewalParts<Password>;
  readonly #ended: Promise<void>;
  #isStopped = false;
  #wake: () => void = () => {};

  constructor(parts: PasswordRenewalParts<Password>) {
    this.#parts = parts;
    this.#ended = this.#run();
  }

  /** Ends after the password that is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      let renewed = 0;
      try {
        renewed = (await this.#renewFrom(newAccountId())) + (await this.#renewFrom(''));
      } catch (error) {
        this.#parts.report(error as Error);
      }
      if (renewed === 0) await this.#rest();
    }
  }

  /** Renews those with an id after `from`, in the order of ids; returns their number. */
  async #renewFrom(from: string): Promise<number> {
    let renewed = 0;
    let last: string | undefined = from;
    while (last !== undefined && !this.#isStopped) {
      const batch = await this.#parts.list(last, BATCH);
      renewed += await this.#renewBatch(batch);
      last = batch.at(-1)?.id;
    }
    return renewed;
  }

  /** Writes each while the next one is made. */
  async #renewBatch(batch: Awaited<ReturnType<PasswordRenewalParts<Password>['list']>>): Promise<number> {
    const { store, renew } = this.#parts;
    let renewed = 0;
    let written = Promise.resolve();
    for (const { id, password } of batch) {
      if (this.#isStopped) break;
      const [form] = await Promise.all([renew(password), written]);
      if (form === null) continue;
      written = store.rehashPassword(id, password, form);
      renewed += 1;
    }
    await written;
    return renewed;
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isStopped) return resolve();
      const cancel = this.#parts.later(resolve, REST_MS);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
