/** The proof of an identity provider. The writes of its calls check the proof again. */

import type { StoredSecret } from '../keys/secret.ts';
import type { PublicKey } from './client.ts';

/** The provider, the right that its call needs, and the secret or key that proved it. */
export type ProviderProof = {
  readonly providerId: string;
  readonly right: string;
  readonly credential: { readonly secret: StoredSecret } | { readonly key: PublicKey };
};
