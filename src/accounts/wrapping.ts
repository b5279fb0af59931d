/**
 * Wraps imported hashes in our own, in the background while the service runs: one at a time, so that sign-ins are not delayed.
 * Several instances begin at different accounts, and whoever is second changes nothing.
 */
import { newAccountId } from './account.ts';
import type { PasswordHasher } from './password-hash.ts';
import type { AccountStore } from './store.ts';

/** What wrapping works with. `later` acts after a number of ms, and returns how to cancel that. */
export type WrappingParts = {
  readonly store: Pick<AccountStore, 'listUnwrapped' | 'rehashPassword'>;
  readonly hasher: Pick<PasswordHasher, 'wrap'>;
  readonly later: (act: () => void, ms: number) => () => void;
  /** Told of what keeps it from wrapping. */
  readonly report: (error: Error) => void;
};

/** How many are read at once, and the time between two looks for more where there were none (ms). */
const BATCH = 100;
const REST_MS = 5000;

/** Begins at once, and wraps whatever is imported until it is stopped. */
export class Wrapping {
  readonly #parts: WrappingParts;
  readonly #ended: Promise<void>;
  #isStopped = false;
  #wake: () => void = () => {};

  constructor(parts: WrappingParts) {
    this.#parts = parts;
    this.#ended = this.#run();
  }

  /** Ends after the hash that is being wrapped. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      let wrapped = 0;
      try {
        wrapped = (await this.#wrapFrom(newAccountId())) + (await this.#wrapFrom(''));
      } catch (error) {
        this.#parts.report(error as Error);
      }
      if (wrapped === 0) await this.#rest();
    }
  }

  /** Wraps those with an id beyond `from`, in its order; returns how many. */
  async #wrapFrom(from: string): Promise<number> {
    for (let [last, wrapped] = [from, 0]; ; ) {
      const batch = this.#isStopped ? [] : await this.#parts.store.listUnwrapped(last, BATCH);
      last = batch.at(-1)?.id ?? last;
      if (batch.length === 0) return wrapped;
      wrapped += await this.#wrapBatch(batch);
    }
  }

  /** Each is written while the next one is hashed. */
  async #wrapBatch(batch: Awaited<ReturnType<WrappingParts['store']['listUnwrapped']>>): Promise<number> {
    const { store, hasher } = this.#parts;
    let [wrapped, written] = [0, Promise.resolve()];
    for (const { id, password } of batch) {
      if (this.#isStopped) break;
      const [hash] = await Promise.all([hasher.wrap(password), written]);
      written = store.rehashPassword(id, password, hash);
      wrapped += 1;
    }
    await written;
    return wrapped;
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
