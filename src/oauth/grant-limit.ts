/**
 * Keeps one person's grants for one app to their limit: an app that asks again and again, and forgets what it got, must
 * not pile up access. Whoever redeems one more ends those that were used least recently.
 *
 * Each looks only after its own redemption is committed, and ends whatever is beyond the limit then: of those who redeem at
 * once the last to look sees all, so that between them they leave no more than the limit. What a crash or a cut line
 * leaves undone, the next redemption does.
 */
import { auditEvent } from './audit.ts';
import type { Client } from './client.ts';
import type { RequestOrigin } from './client-authenticator.ts';
import { type Generation, type Grant, grantIdText, MOST_GRANTS_OF_ONE_APP } from './grant.ts';
import { type ActiveGrant, type GrantStore, StoreUnavailable } from './store.ts';

/** Whoever redeems for the same person and app before the search begins shares it. */
type Search = { readonly redeemed: Set<string>; readonly done: Promise<void> };

/** Redeems within the limit. */
export class GrantLimit {
  readonly #store: GrantStore;
  readonly #now: () => number;
  readonly #searches = new Map<string, Search>();

  /** `now` answers ms since the epoch. */
  constructor(store: GrantStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Redeems a grant, in `client`'s request; see `GrantStore.redeemAuthorizationCode`. */
  async redeem(grant: Grant, next: Generation, client: Client, origin: RequestOrigin): Promise<boolean> {
    const redemption = await this.#store.redeemAuthorizationCode(next);
    if (redemption === 'crowded') await this.#keep(grant, client, origin);
    return redemption !== false;
  }

  #keep(grant: Grant, client: Client, origin: RequestOrigin): Promise<void> {
    const key = JSON.stringify([grant.resourceOwnerId, grant.clientId]);
    const shared = this.#searches.get(key);
    if (shared) {
      shared.redeemed.add(grantIdText(grant.id));
      return shared.done;
    }
    const redeemed = new Set([grantIdText(grant.id)]);
    // After those whose redemptions were answered by the same commit have come.
    const done = Promise.resolve().then(async () => {
      this.#searches.delete(key);
      await this.#endLeastRecentlyUsed(grant, redeemed, client, origin);
    });
    this.#searches.set(key, { redeemed, done });
    return done;
  }

  async #endLeastRecentlyUsed(
    { resourceOwnerId, clientId }: Grant,
    redeemed: ReadonlySet<string>,
    client: Client,
    origin: RequestOrigin,
  ): Promise<void> {
    const [store, now] = [this.#store, this.#now()];
    try {
      await store.deleteEndedGrants(resourceOwnerId, clientId, now);
      const active = await store.listActiveGrants(resourceOwnerId, clientId, now);
      const ended = beyondLimit(active, redeemed).map(({ id }) => {
        const about = { resourceOwnerId, clientId, grantId: grantIdText(id), detail: 'the least recently used' };
        const event = auditEvent('too_many_grants', { kind: 'client', id: client.id, ...origin }, now, about);
        return store.revokeGrant(id, 'too_many_grants', event);
      });
      await Promise.all(ended);
    } catch (error) {
      // The code is redeemed, and its tokens must be answered: the next redemption ends what is too many.
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}

/** The grants beyond the limit: those used least recently, and of equals those redeemed just now last. */
function beyondLimit(active: readonly ActiveGrant[], redeemed: ReadonlySet<string>): ActiveGrant[] {
  const isNew = ({ id }: ActiveGrant) => Number(redeemed.has(grantIdText(id)));
  const byUse = active.toSorted(
    (one, other) => one.usedAt - other.usedAt || isNew(one) - isNew(other) || Buffer.compare(one.id, other.id),
  );
  return byUse.slice(0, Math.max(0, active.length - MOST_GRANTS_OF_ONE_APP));
}
