/** Clients (RFC 6749 §2): the apps that the operator registered, and how one proves to be itself. */

import type { JsonWebKey } from 'node:crypto';
import { invalidClient, missingCredential, missingSecret, type Refusal } from '../error.ts';
import type { PersonField } from '../grants/person-fields.ts';
import type { Scope } from '../grants/scope.ts';
import { mistakeOfSecret } from '../keys/mistaken-credential.ts';
import { type StoredSecret, secretOf, type UseMark, useMark } from '../keys/secret.ts';

/** RFC 6749 §2.1: a confidential client keeps a secret; a public one (an app on a device) cannot. */
export type ClientType = 'confidential' | 'public';

/**
 * The consent policy: ask each time (`ask`), only when no live grant covers the request (`remember`), or never, for the
 * operator's own apps (`skip`).
 */
export type ConsentPolicy = 'ask' | 'remember' | 'skip';

/** The accepted audiences of a client's assertions: any name of this service (its issuer, an endpoint), or only the issuer. */
export type AssertionAudience = 'any' | 'issuer';

/** A public key of a client, as a JSON Web Key (RFC 7517). */
export type PublicKey = JsonWebKey & { readonly kid?: string; readonly alg?: string; readonly use?: string };

/** The operator's decisions about a client. Seconds are null where the installation's defaults hold. */
export type ClientSettings = {
  readonly name: string;
  /** The publisher, with homepage, privacy page and contact (an email or https address), according to the operator. */
  readonly publisher: string | null;
  readonly homepage: string | null;
  readonly privacyPage: string | null;
  readonly contact: string | null;
  /** True if the operator vouches for the publisher, and that the redirect URIs' hosts are the publisher's. */
  readonly isChecked: boolean;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly Scope[];
  /** The resource that its grants are for when a request names none (RFC 8707 §2); null for none. */
  readonly defaultResource: string | null;
  /** The profile fields that it gets of each resource owner; the others are null for it. */
  readonly personFields: readonly PersonField[];
  readonly requirePkce: boolean;
  readonly refreshOverlap: number | null;
  readonly refreshRetryWindow: number | null;
  /** The keys that it may sign client assertions with (RFC 7523 §2.2). */
  readonly keys: readonly PublicKey[];
  readonly consent: ConsentPolicy;
  /** True if it may request device codes (RFC 8628). */
  readonly deviceFlow: boolean;
  readonly assertionAudience: AssertionAudience;
  /** True if `/v2/me` tells it the external ID of the resource owner. */
  readonly seesExternalId: boolean;
  /** True if users may sign in at it with OpenID Connect. */
  readonly signIn: boolean;
};

/** A registered client. Times in ms since the epoch. */
export type Client = ClientSettings & {
  readonly id: string;
  readonly type: ClientType;
  /** SHA-256 (hex) of the metadata document that it was registered from, whose address is its id; null for all others. */
  readonly documentSha256: string | null;
  /** The address that its keys are fetched from (RFC 7591 §2); null where they are registered. */
  readonly jwksUri: string | null;
  /**
   * Start of the last successful fetch of its keys, and of the last try (ms). A later try has failed, or is still running.
   * Null without a `jwksUri`.
   */
  readonly jwksFetchedAt: number | null;
  readonly jwksAskedAt: number | null;
  readonly status: 'active' | 'paused';
  /** Grants issued under an earlier epoch are dead: raising it revokes them all in one write. */
  readonly epoch: number;
  /** Newest first; none for a public client, two while a rotation is under way. */
  readonly secrets: readonly StoredSecret[];
  readonly createdAt: number;
  /**
   * Consent up to this time (ms) is not remembered: the time of its last resume, or of a document with another redirect host
   * or method. Null if neither happened.
   */
  readonly remembersSince: number | null;
};

/**
 * The last issue of tokens to a client: the only use of a public one, which anybody can name, and what remains of a
 * confidential one whose secret or key was retired. The word in the mark is from when only public clients had it.
 */
export function issuedUse({ id }: Pick<Client, 'id'>): UseMark {
  return useMark('public', id);
}

/** The mark for uses of a client's key; the order of the key's members does not matter. */
export function keyUse({ id }: Pick<Client, 'id'>, key: PublicKey): UseMark {
  return useMark('key', id, JSON.stringify(Object.entries(key).sort()));
}

/**
 * True if a text can be a client's id (RFC 6749 appendix A.1); the address of a metadata document is the longest. Any other
 * text is never searched for, and guesses at all such texts share one counter.
 */
export function isClientId(text: string): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(text);
}

/**
 * The client authentication of a request: a secret (RFC 6749 §2.3.1), a signed assertion (RFC 7523 §2.2), or only the
 * id, which only a face for public clients accepts.
 */
export type ClientCredentials =
  | { readonly method: 'secret'; readonly clientId: string | undefined; readonly clientSecret: string | undefined }
  | { readonly method: 'assertion'; readonly clientId: string | undefined; readonly assertion: string }
  | { readonly method: 'none'; readonly clientId: string | undefined };

/** True if credentials that were accepted prove who sent them: anybody can name a public client. */
export function provesClient({ method }: ClientCredentials): boolean {
  return method !== 'none';
}

/**
 * Authenticates a client by its secret (RFC 6749 §2.3.1), in the same time whether it exists or not. A public client is
 * taken as named (RFC 6749 §3.2.1). All refusals have the same public text, unless a part of the credentials is missing. The
 * caller checks whether the client is paused. `used` gets the secret that matched.
 */
export function authenticateClient(
  client: Client | null,
  credentials: Exclude<ClientCredentials, { method: 'assertion' }>,
  used: (mark: UseMark) => void = () => {},
): Client | Refusal {
  if (credentials.clientId === undefined) return missingCredential('client_id');
  if (credentials.method === 'none') {
    if (client?.type === 'public') return client;
    return missingSecret(
      client ? 'the client is confidential and sent no credentials' : 'no client has this client_id',
    );
  }
  if (credentials.clientSecret === undefined) return missingCredential('client_secret');
  const secret = secretOf(client?.secrets ?? [], credentials.clientSecret);
  const mistake = mistakeOfSecret(credentials.clientSecret);
  if (!client) return invalidClient('no client has this client_id', mistake);
  if (client.type === 'public') return invalidClient('the client is public and has no secret', mistake);
  if (!secret) return invalidClient('the client secret is wrong', mistake);
  used(secret);
  return client;
}
