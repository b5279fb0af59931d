/** Authenticates identity providers, as clients are authenticated at the token endpoint (RFC 6749 §2.3, RFC 7523 §2.2). */

import type { ClientCredentials } from '../../oauth/clients/client.ts';
import { claimedClientId, MAX_MARKS, verifyClientAssertion, whyNotUsed } from '../../oauth/clients/client-assertion.ts';
import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import type { ProviderProof } from '../../oauth/clients/provider-proof.ts';
import { invalidClient, invalidRequest, Refusal } from '../../oauth/error.ts';
import { GuardedChecks, type GuessThrottle, NOBODY } from '../../oauth/guessing/guess-throttle.ts';
import { mistakeOfSecret } from '../../oauth/keys/mistaken-credential.ts';
import { secretOf } from '../../oauth/keys/secret.ts';
import type { SecretUseStore } from '../../oauth/keys/secret-use-store.ts';
import {
  type IdentityProvider,
  isProviderId,
  isStillProven,
  type ProvenProvider,
  type ProviderRight,
} from '../people/identity-provider.ts';
import type { IdentityProviderStore } from '../people/store.ts';

/** The parts of the authenticator. `issuer` is the only audience of an assertion; `now` returns ms since the epoch. */
export type ProviderAuthenticatorParts = {
  readonly store: Pick<IdentityProviderStore, 'findIdentityProvider'> &
    Pick<ClientStore, 'useClientAssertion'> &
    Pick<SecretUseStore, 'noteSecretUse'>;
  readonly throttle: GuessThrottle;
  readonly issuer: string;
  /** The ways to sign in. */
  readonly methods: readonly string[];
  readonly now: () => number;
  /** When the database was restored last (ms), or null. */
  readonly restoredAt: number | null;
};

/** A provider, and what proved it. */
type Proven = { readonly provider: IdentityProvider; readonly credential: ProviderProof['credential'] };

/**
 * Authenticates providers. Searches only providers, so that no credential of a client or a resource server authenticates one.
 */
export class ProviderAuthenticator {
  readonly #parts: ProviderAuthenticatorParts;
  readonly #checks: GuardedChecks;

  constructor(parts: ProviderAuthenticatorParts) {
    this.#parts = parts;
    this.#checks = new GuardedChecks(parts.throttle, parts.now);
  }

  /** The active provider that the credentials prove, if it has the right; wrong credentials are counted as a guess. */
  async authenticate(
    credentials: ClientCredentials,
    right: ProviderRight,
    { source }: RequestOrigin,
  ): Promise<ProvenProvider | Refusal> {
    const named =
      credentials.method === 'assertion' ? await claimedClientId(credentials.assertion) : credentials.clientId;
    if (named !== undefined && credentials.clientId !== undefined && credentials.clientId !== named)
      return invalidRequest('client_id differs from the client assertion'); // RFC 7521 §4.2
    const id = named !== undefined && isProviderId(named) ? named : NOBODY;
    const key = (of: string) => `provider ${of} ${source}`;
    const refusal = this.#checks.refusal(key(id));
    if (refusal) return refusal;
    const found = id === NOBODY ? null : await this.#parts.store.findIdentityProvider(id);
    const proven = await this.#checks.run(key(found ? id : NOBODY), () => this.#verify(found, credentials));
    if (proven instanceof Refusal) return proven;
    const { provider, credential } = proven;
    if (provider.status === 'paused') return invalidClient('the identity provider is paused');
    if (!this.#parts.methods.includes(provider.id))
      return invalidClient(`VALETKEY_SIGN_IN_METHODS leaves it out: add ${provider.id} to it`);
    return provider.rights.includes(right)
      ? { ...provider, proof: { providerId: provider.id, right, credential } }
      : new Refusal('unauthorized_client', `this identity provider lacks the right: ${right}`);
  }

  /** A refusal if the proof of a provider ended while its call waited; otherwise null. */
  async refusalNow({ proof }: ProvenProvider): Promise<Refusal | null> {
    const provider = await this.#parts.store.findIdentityProvider(proof.providerId);
    if (provider && isStillProven(provider, proof)) return null;
    return invalidClient('it was paused, or its right or its secret ended, while its call waited');
  }

  /** A provider by its id, paused or not; null if it does not exist. */
  find(id: string): Promise<IdentityProvider | null> {
    return this.#parts.store.findIdentityProvider(id);
  }

  async #verify(provider: IdentityProvider | null, credentials: ClientCredentials): Promise<Proven | Refusal> {
    if (credentials.method === 'assertion') return this.#verifyAssertion(provider, credentials.assertion);
    const secret = credentials.method === 'secret' ? (credentials.clientSecret ?? '') : '';
    const matching = secretOf(provider?.secrets ?? [], secret);
    if (matching) this.#parts.store.noteSecretUse(matching, this.#parts.now());
    if (provider && matching) return { provider, credential: { secret: matching } };
    const detail = provider ? 'the secret is wrong, retired or missing' : 'there is no such identity provider';
    return invalidClient(detail, mistakeOfSecret(secret));
  }

  async #verifyAssertion(provider: IdentityProvider | null, assertion: string): Promise<Proven | Refusal> {
    const { store, issuer, now, restoredAt } = this.#parts;
    if (!provider) return invalidClient('the client assertion names no identity provider');
    const signer = { id: provider.id, keys: provider.keys, assertionAudience: 'issuer' as const };
    const verified = await verifyClientAssertion(signer, assertion, [issuer], now(), restoredAt);
    if (verified instanceof Refusal) return verified;
    const refused = whyNotUsed(await store.useClientAssertion(verified, MAX_MARKS));
    return refused ?? { provider, credential: { key: verified.key } };
  }
}
