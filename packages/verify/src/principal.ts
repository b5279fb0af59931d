/** Who a request acts for, and where a handler finds it. */
import type { ActiveToken } from './introspection.ts';

/** Who and what an access token stands for. It is frozen, and made for one request alone. */
export type Principal = {
  /** The id of the user; it never changes and is never given to anybody else. */
  readonly sub: string;
  /** The user's name for people, if the account has one. */
  readonly username: string | null;
  /** What your product calls the user, if they signed in there to allow this, and unless that is `sub` already. */
  readonly externalId: string | null;
  /** The id of the app that acts for the user. */
  readonly clientId: string;
  /** What the app may do. */
  readonly scopes: readonly string[];
  /** When the token expires, unless it is revoked before. */
  readonly expiresAt: Date;
  /** The id of the user's Allow that the token comes from. */
  readonly grantId: string;
};

const principals = new WeakMap<object, Principal>();

/**
 * The principal of a request that `requireToken` let pass: of Fastify's or Express's request, or of Hono's context.
 * Throws for any other, so that a route which is not guarded fails instead of serving nobody in particular.
 */
export function principalOf(request: object): Principal {
  const principal = principals.get(request);
  if (!principal) throw new Error('No access token was checked for this request: use requireToken on its route.');
  return principal;
}

/** Keeps the principal of a request for as long as the request itself is kept. */
export function keepPrincipal(request: object, principal: Principal): void {
  principals.set(request, principal);
}

/** The principal of a token. */
export function makePrincipal(token: ActiveToken): Principal {
  const { sub, username, external_id, client_id, scopes, expiresAt, grant_id } = token;
  const who = { sub, username, externalId: external_id };
  return Object.freeze({ ...who, clientId: client_id, scopes, expiresAt: new Date(expiresAt), grantId: grant_id });
}
