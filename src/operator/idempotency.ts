/** `Idempotency-Key`: a request that makes something, and is sent again, makes nothing more. */
import { hash } from 'node:crypto';
import type { Actor } from '../oauth/trail/audit.ts';
import { IDEMPOTENCY_KEY_MS, type IdempotencyStore, type OnceOnly } from '../oauth/trail/request-conditions.ts';

/** A request with the key that its operator gave it. `request` holds all that makes it another request. */
export type KeyedRequest = { readonly key: string; readonly request: readonly string[] };

/** The key was used for another request in the last 24 hours. Nothing was done. */
export class KeyOfAnotherRequest extends Error {
  override readonly name = 'KeyOfAnotherRequest';

  constructor() {
    super('this Idempotency-Key was used for another request in the last 24 hours: choose a new key for each request');
  }
}

/** Requests with keys. Keys are the operator's: equal keys of two operators do not meet. */
export class Idempotency {
  readonly #store: IdempotencyStore;
  readonly #now: () => number;

  /** `now` returns ms since the epoch. */
  constructor(store: IdempotencyStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * Runs an act, whose write records the key, unless an earlier request with this key did; `again` then answers with the id of
   * what that one made. An act that failed beside such a request is answered so, too. Throws `KeyOfAnotherRequest`.
   */
  async run<Answer>(
    { key, request }: KeyedRequest,
    actor: Actor,
    act: (actor: Actor) => Promise<Answer>,
    again: (made: string) => Promise<Answer>,
  ): Promise<Answer> {
    const once = { digest: digestOf([actor.id, key]), request: digestOf(request), at: this.#now() };
    const earlier = await this.#made(once);
    if (earlier !== null) return again(earlier);
    try {
      return await act({ ...actor, conditions: { ...actor.conditions, once } });
    } catch (error) {
      const beside = await this.#made(once);
      if (beside === null) throw error;
      return again(beside);
    }
  }

  async #made({ digest, request, at }: OnceOnly): Promise<string | null> {
    const found = await this.#store.findMade(digest);
    if (!found || found.at <= at - IDEMPOTENCY_KEY_MS) return null;
    if (!found.request.equals(request)) throw new KeyOfAnotherRequest();
    return found.made;
  }
}

function digestOf(parts: readonly string[]): Buffer {
  return hash('sha256', JSON.stringify(parts), 'buffer');
}
