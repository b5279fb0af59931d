/** Redirection endpoints: what may be registered (RFC 6749 §3.1.2, RFC 8252 §7), and what matches it (RFC 9700 §2.1). */
import type { Client, ClientType } from './client.ts';
import { refusedScheme } from './refused-schemes.ts';

/** Maximum number of redirect URIs of a client. */
export const MAX_REDIRECT_URIS = 20;

const MAX_LENGTH = 2000;
const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost']);
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::([1-9][0-9]{0,4}))?((?:[/?].*)?)$/;

/** The parameters of a response (RFC 6749 §4.1.2, RFC 9207): a URI that has one itself would give the app two. */
const RESPONSE_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'];

/** Why a client of this type may not register the URI, in words that say the remedy; null when it may. */
export function redirectUriProblem(uri: string, clientType: ClientType): string | null {
  if (uri.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`;
  if (!/^[\x21-\x7e]+$/.test(uri))
    return 'it must be printable ASCII without spaces (write an international host name in its xn-- form)';
  const url = URL.parse(uri);
  if (!url) return 'it is not an absolute URI, such as https://app.example/callback';
  if (uri.includes('#')) return 'it must not have a fragment (RFC 6749 §3.1.2)';
  if (uri.includes('*')) return 'it must not have a wildcard: register each URI in full (RFC 9700 §2.1)';
  if (url.username || url.password) return 'it must not hold a user name or password';
  const taken = RESPONSE_PARAMETERS.find((name) => url.searchParams.has(name));
  if (taken !== undefined) return `its query must not hold ${taken}, which the answer brings`;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return privateUseSchemeProblem(uri, url, clientType);
  if (url.protocol === 'http:' && !LOOPBACK_HOSTS.has(url.hostname))
    return 'http is only for loopback (127.0.0.1, [::1] or localhost): use https';
  if (url.hostname.endsWith('.')) return 'its host must not end with a dot';
  // Matching compares exact strings, and browsers go to the normal form: both must be the same text.
  const normal = url.pathname === '/' && !url.search && !uri.endsWith('/') ? url.origin : url.href;
  return normal === uri ? null : `it is not in its normal form: write it as ${normal}`;
}

/** RFC 8252 §7.1, which also demands a dot: many apps have a scheme without one, so that only warns the operator. */
function privateUseSchemeProblem(uri: string, url: URL, clientType: ClientType): string | null {
  const scheme = url.protocol.slice(0, -1);
  const refused = refusedScheme(scheme);
  if (clientType !== 'public') return 'its scheme must be https (or http on loopback)';
  if (refused !== null) return `no app can have the scheme ${scheme}: ${refused}`;
  return uri.startsWith(url.protocol) ? null : 'write its scheme in lower case';
}

/** The scheme of a redirect URI, if it is a private-use one that names no domain of the app's maker (RFC 8252 §7.1); else null. */
export function dotlessScheme(uri: string): string | null {
  const { protocol } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' || protocol.includes('.') ? null : protocol.slice(0, -1);
}

/** Tells whether a requested redirect URI is one of those registered: the same string, or on loopback the same address. */
export function isRegisteredRedirectUri(registered: readonly string[], requested: string, type: ClientType): boolean {
  if (registered.includes(requested)) return true;
  const address = loopbackAddress(requested, type);
  return address !== null && registered.some((uri) => loopbackAddress(uri, type) === address);
}

/**
 * True if a token request repeats the redirect URI of its authorization request (RFC 6749 §4.1.3). Some clients write
 * the slash of an empty path in only one of the two.
 */
export function isRepeatedRedirectUri(requested: string, repeated: string): boolean {
  return repeated === requested || (LOOPBACK.test(requested) && withPath(repeated) === withPath(requested));
}

/**
 * True if scripts of an origin may call the endpoints for a client (OAuth 2.1 §3.2): only for a public client, from
 * the origin of one of its redirect URIs; on loopback at any port, like the redirect URIs.
 */
export function isOriginOf({ type, redirectUris }: Pick<Client, 'type' | 'redirectUris'>, origin: string): boolean {
  if (type !== 'public' || URL.parse(origin)?.origin !== origin) return false;
  const origins = redirectUris.filter((uri) => /^https?:/.test(uri)).map((uri) => new URL(uri).origin);
  return isRegisteredRedirectUri(origins, origin, type);
}

/** The host of a redirect URI as people know it (with a port, if it has one), or the scheme with its colon of a private-use one. */
export function redirectHost(uri: string): string {
  const url = new URL(uri);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : url.protocol;
}

/** The same without a port on loopback, which an app has for one sign-in only. */
export function lastingRedirectHost(uri: string): string {
  const { protocol, hostname } = new URL(uri);
  return protocol === 'http:' ? hostname : redirectHost(uri);
}

/**
 * True if a redirect URI leads to an app on the device, and so to any app that took its port or scheme first (RFC
 * 8252 §8.6).
 */
export function isAppBound(uri: string): boolean {
  return new URL(uri).protocol !== 'https:';
}

/**
 * A key that is equal for all URIs of one redirection endpoint on loopback; null for a URI that is not on loopback. The system
 * chooses an app's port, so any port matches (RFC 8252 §7.3). `localhost` is a name, which may lead elsewhere (RFC 8252 §8.3):
 * its port may vary only for public clients, whose users are asked each time.
 */
function loopbackAddress(uri: string, type: ClientType): string | null {
  const [, host, port = '', rest = ''] = LOOPBACK.exec(uri) ?? [];
  if (host === undefined || Number(port) > 65535) return null;
  const fixedPort = host === 'localhost' && type !== 'public' ? `:${port}` : '';
  return withPath(`http://${host}${fixedPort}${rest}`);
}

/** The URI with `/` for an empty path, which is the same address (RFC 3986 §6.2.3). */
function withPath(uri: string): string {
  return uri.replace(/^(http:\/\/[^/?]*)(?=\?|$)/, '$1/');
}
