/** The principal of a request, and its place for handlers. */
import type { ActiveToken } from './introspection.ts';

/** The user and the app of an access token. Frozen, and made for one request. */
export type Principal = {
  /** The user's id; it never changes and is never reused. */
  readonly sub: string;
  /** The user's name, if the account has one. */
  readonly username: string | null;
  /** Your product's own ID of the user, if they signed in there to allow this; null if it equals `sub`. */
  readonly externalId: string | null;
  /** The id of the app that acts for the user. */
  readonly clientId: string;
  /** The scopes of the token. */
  readonly scopes: readonly string[];
  /** Expiry of the token; a revocation may end it earlier. */
  readonly expiresAt: Date;
  /** The id of the user's Allow that the token comes from. */
  readonly grantId: string;
};

const principals = new WeakMap<object, Principal>();

/**
 * Returns the principal of a request that `requireToken` passed: of Fastify's or Express's request, or of Hono's
 * context. Throws for any other, so that an unguarded route fails.
 */
export function principalOf(request: object): Principal {
  const principal = principals.get(request);
  if (!principal) throw new Error('No access token was checked for this request: use requireToken on its route.');
  return principal;
}

/** Stores the principal of a request for the request's lifetime. */
export function keepPrincipal(request: object, principal: Principal): void {
  principals.set(request, principal);
}

/** Makes the principal of a token. */
export function makePrincipal(token: ActiveToken): Principal {
  const { sub, username, external_id, client_id, scopes, expiresAt, grant_id } = token;
  const who = { sub, username, externalId: external_id };
  return Object.freeze({ ...who, clientId: client_id, scopes, expiresAt: new Date(expiresAt), grantId: grant_id });
}
