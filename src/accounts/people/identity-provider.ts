/**
 * Identity providers: products that sign their own people in. A provider is neither a client nor a resource server, and its
 * credentials are good for nothing that theirs are.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PublicKey } from '../../oauth/clients/client.ts';
import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import { isLoopback } from '../../oauth/clients/loopback.ts';
import type { ProviderProof } from '../../oauth/clients/provider-proof.ts';
import type { StoredSecret } from '../../oauth/keys/secret.ts';
import type { Actor } from '../../oauth/trail/audit.ts';

/** The rights of a provider: to sign in its users, and to manage them. */
export const PROVIDER_RIGHTS = ['sign-in', 'users'] as const;

/** One of these rights. */
export type ProviderRight = (typeof PROVIDER_RIGHTS)[number];

/** A registered provider. Times in ms since the epoch. */
export type IdentityProvider = {
  readonly id: string;
  readonly status: 'active' | 'paused';
  /** The product's display name. */
  readonly name: string;
  /** The address at which a browser signs in; it may have a query. */
  readonly signInUrl: string;
  /** The address of the product's own pages, to which its users go back from here; null for none. */
  readonly homePage: string | null;
  readonly secrets: readonly StoredSecret[];
  /** Instead of secrets: what its assertions are signed with. */
  readonly keys: readonly PublicKey[];
  /** True if its subjects are the account ids here; then no other users exist here. */
  readonly ownIds: boolean;
  readonly rights: readonly ProviderRight[];
  /** How long a session lasts that began there (s), for every request; null for 10 minutes, and its own request alone. */
  readonly sessionLifetime: number | null;
  readonly createdAt: number;
};

/** A provider that proved itself just now. */
export type ProvenProvider = IdentityProvider & { readonly proof: ProviderProof };

/** Tells whether a proof still holds for a provider as it is now. */
export function isStillProven(
  { status, rights, secrets, keys }: IdentityProvider,
  { right, credential }: ProviderProof,
): boolean {
  if (status !== 'active' || !(rights as readonly string[]).includes(right)) return false;
  if ('secret' in credential) return secrets.some(({ digest }) => digest.equals(credential.secret.digest));
  return keys.some((key) => isDeepStrictEqual(key, credential.key));
}

/** A user at a provider. */
export type Identity = {
  /** As `identityId` makes it. */
  readonly id: string;
  readonly providerId: string;
  readonly accountId: string;
  readonly createdAt: number;
};

/** The id of an identity: no provider's id has a colon, so that two are the same only if provider and subject are. */
export function identityId(providerId: string, subject: string): string {
  return `${providerId}:${subject}`;
}

/** Returns the subject, by which the provider names the user. */
export function subjectOf({ id, providerId }: Identity): string {
  return subjectIn(providerId, id);
}

/** The subject in an identity's id. */
export function subjectIn(providerId: string, id: string): string {
  return id.slice(identityId(providerId, '').length);
}

/** Why a text cannot be somebody's subject at a provider, or null when it can. */
export function subjectProblem(subject: string): string | null {
  return /^[\x21-\x7e]{1,255}$/.test(subject) ? null : 'it must be 1 to 255 printable ASCII characters without a space';
}

/** True if a text has the form of a provider's id. */
export function isProviderId(text: string): boolean {
  return /^[a-z0-9-]{1,40}$/.test(text) && text !== 'password';
}

/** Why a text cannot be a sign-in address, or null when it can. */
export function signInUrlProblem(text: string): string | null {
  if (text.includes('#')) return 'it must not have a fragment';
  return addressProblem(text, 'https://app.example.com/oauth/sign-in');
}

/** Why a text cannot be a home page, or null when it can. */
export function homePageProblem(text: string): string | null {
  return addressProblem(text, 'https://app.example.com');
}

function addressProblem(text: string, example: string): string | null {
  const url = URL.parse(text);
  if (text.length > 2000 || !/^[\x21-\x7e]+$/.test(text) || !url) return `it must be an address such as ${example}`;
  if (url.username || url.password) return 'it must not hold a user name or password';
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return null;
  return 'it must begin with https, or with http on this machine (127.0.0.1, [::1], localhost)';
}

/** A provider as an actor, in a request of its server. */
export function providerActor({ id }: IdentityProvider, origin: RequestOrigin): Actor {
  return { kind: 'provider', id, ...origin };
}
