/** Introspection (RFC 7662): what an access token is good for, told to the resource servers that the operator registered. */

import type { Activity } from '../activity/activity.ts';
import { isClientId } from '../clients/client.ts';
import type { RequestOrigin } from '../clients/client-authenticator.ts';
import { Refusal } from '../error.ts';
import type { Grant } from '../grants/grant.ts';
import { GuardedChecks, type GuessThrottle, NOBODY } from '../guessing/guess-throttle.ts';
import { readCredential } from '../keys/credential.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { StoredSecret } from '../keys/secret.ts';
import type { SecretUseStore } from '../keys/secret-use-store.ts';
import {
  type ActiveToken,
  authenticateResourceServer,
  isGoodAt,
  type ResourceServer,
  type ResourceServerCredentials,
  visibleToken,
} from '../resource-servers/resource-server.ts';
import type { ResourceServerStore } from '../resource-servers/resource-server-store.ts';
import { decideAccessToken } from '../tokens/access-token.ts';
import type { GrantStore } from './grant-store.ts';
import type { ProtocolTally } from './protocol-tally.ts';

/** The parts of introspection. `now` returns ms since the epoch. */
export type IntrospectionParts = {
  readonly store: Pick<GrantStore, 'findGrantForCheck' | 'noteUse'> &
    Pick<ResourceServerStore, 'findResourceServer'> &
    Pick<SecretUseStore, 'noteSecretUse'>;
  readonly keyring: Keyring;
  /** The brand in every credential. */
  readonly prefix: string;
  readonly throttle: GuessThrottle;
  readonly tally: ProtocolTally;
  readonly activity: Activity;
  readonly now: () => number;
};

/** Introspection, for resource servers and nobody else. */
export class Introspection {
  readonly #parts: IntrospectionParts;
  readonly #checks: GuardedChecks;
  readonly #used: (secret: StoredSecret) => void;

  constructor(parts: IntrospectionParts) {
    this.#parts = parts;
    this.#used = (secret) => parts.store.noteSecretUse(secret, parts.now());
    this.#checks = new GuardedChecks(parts.throttle, parts.now);
  }

  /** The resource server that the credentials prove. */
  async authenticate(credentials: ResourceServerCredentials, origin: RequestOrigin): Promise<ResourceServer | Refusal> {
    const { store } = this.#parts;
    const { id = NOBODY } = credentials;
    const named = guessKey(id, origin);
    const refusal = this.#checks.refusal(named); // Before the search, which costs more.
    if (refusal) return refusal;
    const found = isClientId(id) ? await store.findResourceServer(id) : null;
    const key = found ? named : guessKey(NOBODY, origin);
    return this.#checks.run(key, () => authenticateResourceServer(found, credentials, this.#used));
  }

  /**
   * Returns the token's details for a resource server, or null for every reason alike (RFC 7662 §2.2). An active
   * token counts as used, as with a check.
   */
  async introspect(resourceServer: ResourceServer, token: string): Promise<ActiveToken | null> {
    const { store, keyring, prefix, tally, activity, now } = this.#parts;
    tally.introspections += 1;
    const credential = readCredential(prefix, 'at', token);
    if (!credential) return null;
    const found = await store.findGrantForCheck(credential.grantId);
    const at = now();
    const isGoodHere = (grant: Grant) => isGoodAt(resourceServer, grant);
    const good = decideAccessToken({ keyring, credential, found, isGoodHere, now: at });
    if (good instanceof Refusal) return null;
    const { grant, resourceOwner } = good;
    const active = visibleToken(resourceServer, grant, resourceOwner, credential.expiresAt);
    if (!active) return null;
    activity.count(grant.clientId, 'introspections');
    store.noteUse(grant, { generation: credential.generation, usedAt: at });
    return active;
  }
}

/** The key under which guesses at a resource server's secret are counted. */
function guessKey(id: string, { source }: RequestOrigin): string {
  return `resource server ${isClientId(id) ? id : NOBODY} ${source}`;
}
