/** Authenticates clients at every endpoint that asks for it (RFC 6749 §2.3). */

import type { Activity } from '../activity/activity.ts';
import type { FailedEndpoint } from '../activity/app-failure.ts';
import { invalidClient, invalidRequest, type Reason, Refusal } from '../error.ts';
import { GuardedChecks, type GuessThrottle, NOBODY } from '../guessing/guess-throttle.ts';
import type { UseMark } from '../keys/secret.ts';
import type { SecretUseStore } from '../keys/secret-use-store.ts';
import { StoreUnavailable } from '../store.ts';
import {
  authenticateClient,
  type Client,
  type ClientCredentials,
  isClientId,
  issuedUse,
  keyUse,
  provesClient,
} from './client.ts';
import { claimedClientId, MAX_MARKS, verifyClientAssertion, WrongKey, whyNotUsed } from './client-assertion.ts';
import type { ClientKeys } from './client-keys.ts';
import type { ClientStore } from './client-store.ts';

/** The origin of a request, for throttling and the audit trail. */
export type RequestOrigin = { readonly source: string; readonly requestId: string };

/** The parts of the authenticator. `audiences` are the accepted audiences of an assertion; `now` returns ms. */
export type ClientAuthenticatorParts = {
  readonly store: Pick<ClientStore, 'findClient' | 'useClientAssertion'> & Pick<SecretUseStore, 'noteSecretUse'>;
  readonly keys: ClientKeys;
  readonly throttle: GuessThrottle;
  readonly activity: Activity;
  readonly audiences: readonly string[];
  readonly now: () => number;
  /** When the database was restored last (ms), or null. */
  readonly restoredAt: number | null;
};

/** The client that credentials name, which is not proven yet. */
export type ClientClaim = {
  readonly clientId: string | undefined;
  readonly credentials: ClientCredentials;
  readonly origin: RequestOrigin;
};

/** The operator paused the client. */
export const CLIENT_PAUSED: Reason = {
  kind: 'paused',
  text: 'this client is paused: ask the people who run this service',
};

/** `invalid_client` for a client that proved who it is, and is paused. It is recorded as such, and told so only with a grant of its own. */
export class PausedClient extends Refusal {
  readonly client: Client;

  constructor(client: Client) {
    const { code, description, detail } = invalidClient('the client is paused');
    super(code, description, detail);
    this.client = client;
  }

  override get recorded(): string {
    return CLIENT_PAUSED.text;
  }
}

/** Authenticates clients. It comes first in every operation, so that a failure uses up no credential and revokes nothing. */
export class ClientAuthenticator {
  readonly #parts: ClientAuthenticatorParts;
  readonly #checks: GuardedChecks;
  readonly #used: (mark: UseMark) => void;

  constructor(parts: ClientAuthenticatorParts) {
    this.#parts = parts;
    this.#used = (mark) => parts.store.noteSecretUse(mark, parts.now());
    this.#checks = new GuardedChecks(parts.throttle, parts.now);
  }

  /** The active client that the credentials prove; wrong credentials are counted as a guess. */
  async authenticate(
    credentials: ClientCredentials,
    origin: RequestOrigin,
    endpoint: FailedEndpoint,
  ): Promise<Client | Refusal> {
    const claim = await this.claim(credentials, origin);
    if (claim instanceof Refusal) return claim;
    const proven = await this.prove(claim, await this.find(claim.clientId));
    if (!(proven instanceof PausedClient)) return proven;
    const isProven = provesClient(credentials);
    return this.#parts.activity.answered(proven.client.id, proven, { endpoint, origin, isProven, grantId: null });
  }

  /** The client that the credentials name. Refused without a search if too many guesses at that client have failed. */
  async claim(credentials: ClientCredentials, origin: RequestOrigin): Promise<ClientClaim | Refusal> {
    const clientId =
      credentials.method === 'assertion' ? await claimedClientId(credentials.assertion) : credentials.clientId;
    if (clientId !== undefined && credentials.clientId !== undefined && credentials.clientId !== clientId)
      return invalidRequest('client_id differs from the client assertion'); // RFC 7521 §4.2
    const refusal = this.#checks.refusal(guessKey(clientId, origin));
    // Guesses count under an app's id only if the app exists (`#check`).
    if (refusal && clientId !== undefined && isClientId(clientId))
      this.#parts.activity.refusedUnproven(clientId, refusal);
    return refusal ?? { clientId, credentials, origin };
  }

  /** The active client of a claim, if its credentials prove it. `client` is the one that `clientId` names; null without one. */
  async prove(claim: ClientClaim, client: Client | null): Promise<Client | Refusal> {
    const checked = this.#check(claim, client);
    let proven = checked instanceof Promise ? await checked : checked;
    if (client && claim.credentials.method === 'assertion') {
      if (proven instanceof WrongKey && proven.isUnknown) proven = await this.#withNewKeys(claim, client, proven);
      else if (proven instanceof WrongKey || !(proven instanceof Refusal)) this.#parts.keys.refreshOld(client);
    }
    if (client && proven instanceof Refusal) this.#parts.activity.refusedUnproven(client.id, proven);
    return !(proven instanceof Refusal) && proven.status === 'paused' ? new PausedClient(proven) : proven;
  }

  /** Notes that tokens were issued to a client. */
  noteIssued(client: Client): void {
    this.#used(issuedUse(client));
  }

  /**
   * Records a refusal that came before the app's authentication, if the app's secret is right. An assertion is not checked for
   * this, because that would use it up. Without an id and a secret, nothing counts as a guess. The response never depends on
   * the record, so nothing is recorded while the store is unavailable.
   */
  async recordMalformed(
    credentials: ClientCredentials,
    refusal: Refusal,
    endpoint: FailedEndpoint,
    origin: RequestOrigin,
  ): Promise<void> {
    if (credentials.method !== 'secret') return;
    if (credentials.clientId === undefined || credentials.clientSecret === undefined) return;
    const request = { endpoint, origin, isProven: true, grantId: null };
    try {
      const client = await this.authenticate(credentials, origin, endpoint);
      if (!(client instanceof Refusal)) this.#parts.activity.answered(client.id, refusal, request);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  /** A client by the id that a request names; null when there is none. */
  find(id: string | undefined): Promise<Client | null> {
    return id !== undefined && isClientId(id) ? this.#parts.store.findClient(id) : Promise.resolve(null);
  }

  #check(claim: ClientClaim, client: Client | null): Client | Refusal | Promise<Client | Refusal> {
    const { clientId, credentials, origin } = claim;
    const key = guessKey(client ? clientId : NOBODY, origin);
    return this.#checks.run(key, () => this.#verify(client, credentials));
  }

  /**
   * Verifies an assertion with an unknown `kid` again if the client has published other keys since. Only the request that
   * fetches them waits, outside the throttled checks. So a client with a new key needs no retry: some clients drop their
   * tokens after `invalid_client`.
   */
  async #withNewKeys(claim: ClientClaim, client: Client, refusal: WrongKey): Promise<Client | Refusal> {
    if (!(await this.#parts.keys.refresh(client))) return refusal;
    return this.#check(claim, await this.find(client.id));
  }

  #verify(client: Client | null, credentials: ClientCredentials): Client | Refusal | Promise<Client | Refusal> {
    if (credentials.method !== 'assertion') return authenticateClient(client, credentials, this.#used);
    return client
      ? this.#verifyAssertion(client, credentials.assertion)
      : invalidClient('the client assertion names no client');
  }

  async #verifyAssertion(client: Client, assertion: string): Promise<Client | Refusal> {
    const { store, audiences, now, restoredAt } = this.#parts;
    const verified = await verifyClientAssertion(client, assertion, audiences, now(), restoredAt);
    if (verified instanceof Refusal) return verified;
    // The mark comes last: only the client's own key can cause one, and a refused assertion is not used up.
    const refused = whyNotUsed(await store.useClientAssertion(verified, MAX_MARKS));
    if (!refused) this.#used(keyUse(client, verified.key));
    return refused ?? client;
  }
}

/** The key under which guesses at a client's credentials are counted. */
function guessKey(clientId: string | undefined, { source }: RequestOrigin): string {
  return `client ${clientId !== undefined && isClientId(clientId) ? clientId : NOBODY} ${source}`;
}
