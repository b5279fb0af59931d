/** Authenticates clients at every endpoint that asks for it (RFC 6749 §2.3). */
import { authenticateClient, type Client, type ClientCredentials, isClientId } from './client.ts';
import { claimedClientId, verifyClientAssertion } from './client-assertion.ts';
import { invalidClient, invalidRequest, Refusal } from './error.ts';
import { type GuessThrottle, NOBODY, tooManyGuesses } from './guess-throttle.ts';
import type { Keyring } from './keyring.ts';
import type { ClientStore } from './store.ts';

/** Where a request came from, for throttling and the audit trail. */
export type RequestOrigin = { readonly source: string; readonly requestId: string };

/** What the authenticator works with. `audiences` are the names that an assertion may be for; `now` answers ms. */
export type ClientAuthenticatorParts = {
  readonly store: Pick<ClientStore, 'findClient' | 'useClientAssertion'>;
  readonly keyring: Keyring;
  readonly throttle: GuessThrottle;
  readonly audiences: readonly string[];
  readonly now: () => number;
};

/** Proves clients. It comes first in every operation, so that a failure burns and revokes nothing. */
export class ClientAuthenticator {
  readonly #parts: ClientAuthenticatorParts;

  constructor(parts: ClientAuthenticatorParts) {
    this.#parts = parts;
  }

  /**
   * The active client that the credentials prove; wrong credentials are counted as a guess. `search` is another way to
   * find it than by itself, for whoever finds more with it.
   */
  async authenticate(
    credentials: ClientCredentials,
    origin: RequestOrigin,
    search?: ClientStore['findClient'],
  ): Promise<Client | Refusal> {
    const { throttle, now } = this.#parts;
    const clientId =
      credentials.method === 'assertion' ? await claimedClientId(credentials.assertion) : credentials.clientId;
    if (clientId !== undefined && credentials.clientId !== undefined && credentials.clientId !== clientId)
      return invalidRequest('client_id differs from the client assertion'); // RFC 7521 §4.2
    const at = now();
    const named = guessKey(clientId, origin);
    const refusal = tooManyGuesses(throttle, named, at);
    if (refusal) return refusal;
    const client = await this.find(clientId, search);
    const key = client ? named : guessKey(NOBODY, origin);
    const refusalOfNobody = key === named ? null : tooManyGuesses(throttle, key, at);
    if (refusalOfNobody) return refusalOfNobody;
    const proven =
      credentials.method === 'assertion'
        ? await this.#proveByAssertion(client, credentials.assertion)
        : authenticateClient(this.#parts.keyring, client, credentials);
    if (proven instanceof Refusal) throttle.count([key], at);
    return !(proven instanceof Refusal) && proven.status === 'paused' ? invalidClient('the client is paused') : proven;
  }

  /** A client by the id that a request names; null when there is none. */
  find(
    id: string | undefined,
    search: ClientStore['findClient'] = (known) => this.#parts.store.findClient(known),
  ): Promise<Client | null> {
    return id !== undefined && isClientId(id) ? search(id) : Promise.resolve(null);
  }

  async #proveByAssertion(client: Client | null, assertion: string): Promise<Client | Refusal> {
    const { store, audiences, now } = this.#parts;
    if (!client) return invalidClient('the client assertion names no client');
    const verified = await verifyClientAssertion(client, assertion, audiences, now());
    if (verified instanceof Refusal) return verified;
    // The mark comes last: only the client's own key can make one, and an assertion that fails is not used up.
    return (await store.useClientAssertion(verified)) ? client : invalidClient('the client assertion was used before');
  }
}

/** What guesses at a client's credentials are counted under. */
function guessKey(clientId: string | undefined, { source }: RequestOrigin): string {
  return `client ${clientId !== undefined && isClientId(clientId) ? clientId : NOBODY} ${source}`;
}
