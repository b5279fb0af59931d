/** The part of a grant that only signing in with OpenID Connect has: one column, written once, at Allow. */

/** The claims of an ID token that are known at Allow. A grant has them if the OpenID Connect scope `openid` was granted. */
export type OpenIdContext = {
  /** The request's `nonce` (OpenID Connect Core §3.1.2.1). */
  readonly nonce?: string;
  /** When the resource owner authenticated, in seconds since the epoch; absent if a product did not say it. */
  readonly auth_time?: number;
  /** How they authenticated (RFC 8176), if a product said it. */
  readonly amr?: readonly string[];
  /** No claim: true for a grant that is for signing in alone, and that nobody was asked about. Once redeemed, it replaces its equals. */
  readonly renews?: true;
};
