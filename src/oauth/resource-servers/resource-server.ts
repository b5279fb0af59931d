/** Resource servers (RFC 6749 §1.1): the operator's APIs, which may ask what an access token is good for (RFC 7662). */

import { invalidClient, type Refusal } from '../error.ts';
import { type Grant, type GrantedResource, type GrantNames, namesOf, type ResourceOwner } from '../grants/grant.ts';
import { accessForApis, type GrantedAccess } from '../grants/granted-access.ts';
import { visibleFields } from '../grants/person-fields.ts';
import { scopeNames } from '../grants/scope.ts';
import { mistakeOfSecret } from '../keys/mistaken-credential.ts';
import { type StoredSecret, secretOf } from '../keys/secret.ts';
import { isSameResource } from './resource-uri.ts';

/** A registered resource server. Times in ms since the epoch. */
export type ResourceServer = {
  readonly id: string;
  readonly name: string;
  /** The URI that clients name it by (RFC 8707 §2). Null: then only tokens that are for any resource are good for it. */
  readonly resource: string | null;
  /** `true` if tokens that are for any resource are good for it, although it has a resource. */
  readonly acceptsUnbound: boolean;
  /** The scope names that it may see, or null for all. */
  readonly scopes: readonly string[] | null;
  /** Newest first; two while a rotation is under way. */
  readonly secrets: readonly StoredSecret[];
  readonly createdAt: number;
};

/** The credentials that a resource server presented. */
export type ResourceServerCredentials = { readonly id: string | undefined; readonly secret: string | undefined };

/** Authenticates a resource server (RFC 7662 §2.1), in the same time whether it exists or not. `used` gets the secret that proved it. */
export function authenticateResourceServer(
  resourceServer: ResourceServer | null,
  { id, secret }: ResourceServerCredentials,
  used: (secret: StoredSecret) => void = () => {},
): ResourceServer | Refusal {
  if (id === undefined || secret === undefined) return invalidClient('the resource server sent no credentials');
  const matching = secretOf(resourceServer?.secrets ?? [], secret);
  const mistake = mistakeOfSecret(secret);
  if (!resourceServer) return invalidClient('no resource server has this id', mistake);
  if (!matching) return invalidClient('the secret of the resource server is wrong', mistake);
  used(matching);
  return resourceServer;
}

/** A resource server's view of a valid access token (RFC 7662 §2.2). `expiresAt` in ms. */
export type ActiveToken = {
  readonly scope: string;
  readonly clientId: string;
  readonly resourceOwner: ResourceOwner;
  /** The external ID of the resource owner, or null. */
  readonly externalId: string | null;
  readonly resource: string | null;
  readonly expiresAt: number;
  readonly grant: GrantNames;
};

/**
 * Returns a resource server's view of an access token that is good there, or null if the token has none of its
 * visible scopes (RFC 7662 §4).
 */
export function visibleToken(
  resourceServer: ResourceServer,
  grant: Grant,
  resourceOwner: ResourceOwner,
  expiresAt: number,
): ActiveToken | null {
  const [access] = accessForApis(grant);
  const visible = access ? visibleScopes(resourceServer, access) : null;
  if (!visible) return null;
  const { clientId, externalId } = grant;
  const about = {
    clientId,
    resourceOwner: visibleFields(resourceOwner, grant),
    externalId,
    // The spelling of the registration: the grant may have another one.
    resource: grant.resource === null ? null : resourceServer.resource,
    expiresAt,
    grant: namesOf(grant),
  };
  return { scope: visible.join(' '), ...about };
}

/** True if a grant's tokens are for this resource, or for any (RFC 8707 §2). */
function isForResource({ resource: granted }: Pick<Grant, 'resource'>, resource: string | null): boolean {
  return granted === null || (resource !== null && isSameResource(granted, resource));
}

/**
 * True if a grant's tokens are accepted at a resource server. A resource server with a resource accepts only tokens for that
 * resource, unless its operator lets it accept unbound ones (RFC 9700 §2.3).
 */
export function isGoodAt({ resource, acceptsUnbound }: ResourceServer, access: GrantedAccess): boolean {
  if (access.resource === null) return resource === null || acceptsUnbound;
  return isForResource(access, resource);
}

/** Returns true if a grant's tokens are good at this service's own API, where a default resource does not bind. */
export function isGoodAtOwnApi(ownResource: string, grant: GrantedResource): boolean {
  return grant.resourceIsDefault || isForResource(grant, ownResource);
}

/** True if a resource server, as registered, may learn that a token with this access is active (RFC 7662 §4). */
export function mayHearOf(resourceServer: ResourceServer, access: GrantedAccess): boolean {
  return isGoodAt(resourceServer, access) && visibleScopes(resourceServer, access) !== null;
}

/** The granted scope names that a resource server may see; null when there is none of them. */
function visibleScopes({ scopes }: ResourceServer, access: GrantedAccess): string[] | null {
  const granted = scopeNames(access.scope);
  if (scopes === null) return granted;
  const visible = granted.filter((name) => scopes.includes(name));
  return visible.length > 0 ? visible : null;
}
