/** The part of a grant that only signing in with OpenID Connect has: one column, written once, at Allow. */

/** The context of a sign-in. A grant has one if the OpenID Connect scope `openid` was granted. */
export type OpenIdContext = {
  /** The request's `nonce` (OpenID Connect Core §3.1.2.1). */
  readonly nonce?: string;
  /** When the resource owner authenticated, in seconds since the epoch; absent if a product did not say it. */
  readonly authTime?: number;
  /** How they authenticated (RFC 8176), if a product said it. */
  readonly amr?: readonly string[];
  /** True for a grant that is for signing in alone, and that nobody was asked about: once redeemed, it replaces its equals. */
  readonly renews?: true;
};

/** A context as the store keeps it. */
type StoredContext = {
  readonly nonce?: string;
  readonly auth_time?: number;
  readonly amr?: readonly string[];
  readonly renews?: true;
};

/** Returns a context as the store keeps it. */
export function writeOpenIdContext({ authTime, ...context }: OpenIdContext): StoredContext {
  return authTime === undefined ? context : { ...context, auth_time: authTime };
}

/** Reads a stored context. */
export function readOpenIdContext({ auth_time: authTime, ...context }: StoredContext): OpenIdContext {
  return authTime === undefined ? context : { ...context, authTime };
}
