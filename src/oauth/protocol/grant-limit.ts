/**
 * Limits the number of one user's grants for one app: an app that asks again and again, and loses its tokens, must not collect
 * access. A redemption beyond the limit ends the grants that were used least recently.
 *
 * Grants are counted after the redemption is committed. Of several redemptions at the same time, the last one to count sees
 * them all, so together they leave no more than the limit. If a crash or a lost connection prevents the counting, the next
 * redemption makes up for it.
 */

import type { Client } from '../clients/client.ts';
import type { RequestOrigin } from '../clients/client-authenticator.ts';
import { type Generation, type Grant, grantIdText, MAX_GRANTS_OF_ONE_APP } from '../grants/grant.ts';
import { StoreUnavailable } from '../store.ts';
import { auditEvent } from '../trail/audit.ts';
import type { ActiveGrant, GrantStore } from './grant-store.ts';

/** A search for grants beyond the limit. Redemptions for the same person and app share it until it begins. */
type Search = { readonly redeemed: Set<string>; readonly done: Promise<void> };

/** Redeems within the limit. */
export class GrantLimit {
  readonly #store: GrantStore;
  readonly #now: () => number;
  readonly #searches = new Map<string, Search>();

  /** `now` returns ms since the epoch. */
  constructor(store: GrantStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Redeems a grant, in `client`'s request; see `GrantStore.redeemAuthorizationCode`. */
  async redeem(grant: Grant, next: Generation, client: Client, origin: RequestOrigin): Promise<boolean> {
    const redemption = await this.#store.redeemAuthorizationCode(next, origin.source, grant.openid?.renews);
    if (redemption === 'overLimit') await this.#keep(grant, client, origin);
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
    // Runs later in this turn of the event loop, so that all redemptions of the same commit share the search.
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
    const store = this.#store;
    const now = this.#now();
    try {
      await store.deleteEndedGrants(resourceOwnerId, clientId, now);
      const active = await store.listActiveGrants(resourceOwnerId, clientId, now);
      // All installations of such an app share its client id, so they share the limit, and the trail says so.
      const detail = { limit: MAX_GRANTS_OF_ONE_APP, all_installations: client.documentSha256 !== null || undefined };
      const ended = beyondLimit(active, redeemed).map(({ id }) => {
        const about = { resourceOwnerId, clientId, grantId: grantIdText(id) };
        const event = auditEvent('too_many_grants', { kind: 'client', id: client.id, ...origin }, now, about, detail);
        return store.revokeGrant(id, 'too_many_grants', event);
      });
      await Promise.all(ended);
    } catch (error) {
      // The code is redeemed, and its client must get the tokens: the next redemption ends the excess grants.
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}

/** The grants beyond the limit: those used least recently. Of grants with equal times, those redeemed just now come last. */
function beyondLimit(active: readonly ActiveGrant[], redeemed: ReadonlySet<string>): ActiveGrant[] {
  const isNew = ({ id }: ActiveGrant) => Number(redeemed.has(grantIdText(id)));
  const byUse = active.toSorted(
    (one, other) => one.usedAt - other.usedAt || isNew(one) - isNew(other) || Buffer.compare(one.id, other.id),
  );
  return byUse.slice(0, Math.max(0, active.length - MAX_GRANTS_OF_ONE_APP));
}
