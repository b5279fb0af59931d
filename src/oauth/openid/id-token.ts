/** ID tokens (OpenID Connect Core §2): the text that is signed, and the check of one that comes back. RS256 alone (§15.1). */
import { hash, verify } from 'node:crypto';
import type { OpenIdContext } from '../grants/grant.ts';
import type { PublishedKey } from './signing-key.ts';

/** The claims of an ID token besides those about the user's profile. Times in seconds since the epoch. */
export type IdTokenClaims = Omit<OpenIdContext, 'renews'> & {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  readonly exp: number;
  readonly iat: number;
  readonly at_hash: string;
};

/** Lifetime of an ID token (s): an app reads it once, at the sign-in. */
export const ID_TOKEN_LIFETIME = 600;

/** Returns the part of an ID token that its signature follows, after a dot (RFC 7515 §7.1). */
export function signingInput(kid: string, claims: IdTokenClaims): string {
  return `${encoded({ alg: 'RS256', typ: 'JWT', kid })}.${encoded(claims)}`;
}

/** Binds an ID token to the access token beside it (Core §3.1.3.6): the left half of its SHA-256. */
export function accessTokenHash(accessToken: string): string {
  return hash('sha256', accessToken, 'buffer').subarray(0, 16).toString('base64url');
}

/**
 * Returns the `sub` of an ID token that one of the keys signed, for a client; null for any other text. Its age does not
 * matter: the token is a hint, and its app has kept it (Core §3.1.2.1).
 */
export function subjectOf(
  idToken: string,
  keys: readonly PublishedKey[],
  { iss, aud }: Pick<IdTokenClaims, 'iss' | 'aud'>,
): string | null {
  const [header = '', payload = '', signature = '', ...rest] = idToken.split('.');
  const { alg, kid } = decoded(header);
  const key = keys.find((published) => published.kid === kid);
  if (alg !== 'RS256' || !key || rest.length > 0) return null;
  const isSigned = verify(
    'RSA-SHA256',
    Buffer.from(`${header}.${payload}`),
    { key: { ...key }, format: 'jwk' },
    Buffer.from(signature, 'base64url'),
  );
  const claims = isSigned ? decoded(payload) : {};
  return claims['iss'] === iss && claims['aud'] === aud ? String(claims['sub']) : null;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** Returns an object for any text: an empty one for a text that holds none. */
function decoded(part: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(Buffer.from(part, 'base64url').toString()));
  } catch {
    return {};
  }
}
