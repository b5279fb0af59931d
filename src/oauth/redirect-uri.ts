/** Redirection endpoints: what may be registered (RFC 6749 §3.1.2, RFC 8252 §7), and what matches it (RFC 9700 §2.1). */
import type { ClientType } from './client.ts';

/** Maximum number of redirect URIs of a client. */
export const MAX_REDIRECT_URIS = 20;

const MAX_LENGTH = 2000;
const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** The system chooses an app's port on loopback, so any port matches (RFC 8252 §7.3). `localhost` is a name and must match exactly. */
const LOOPBACK_WITH_PORT = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9][0-9]{0,4}))?((?:[/?].*)?)$/;

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
  // Matching is by exact string, and browsers go to the normal form: both must be one text.
  const normal = url.pathname === '/' && !url.search && !uri.endsWith('/') ? url.origin : url.href;
  return normal === uri ? null : `it is not in its normal form: write it as ${normal}`;
}

/** RFC 8252 §7.1: a private-use scheme is a reversed domain name of the app's maker, so it has a dot. */
function privateUseSchemeProblem(uri: string, url: URL, clientType: ClientType): string | null {
  if (clientType !== 'public') return 'its scheme must be https (or http on loopback)';
  if (!url.protocol.includes('.'))
    return 'its scheme must be https, http on loopback, or a private-use scheme with a dot (com.example.app:/callback)';
  return uri.startsWith(url.protocol) ? null : 'write its scheme in lower case';
}

/** Whether a requested redirect URI is one of those registered: the same string, or the same but for a loopback port. */
export function isRegisteredRedirectUri(registered: readonly string[], requested: string): boolean {
  if (registered.includes(requested)) return true;
  const portless = withoutLoopbackPort(requested);
  return portless !== null && registered.some((uri) => withoutLoopbackPort(uri) === portless);
}

/** The host of a redirect URI as people know it (with a port, if it has one), or the scheme with its colon of a private-use one. */
export function redirectHost(uri: string): string {
  const url = new URL(uri);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : url.protocol;
}

/** Whether a redirect URI leads to an app on the device, and so to any app that took its port or scheme first (RFC 8252 §8.6). */
export function isAppBound(uri: string): boolean {
  return new URL(uri).protocol !== 'https:';
}

function withoutLoopbackPort(uri: string): string | null {
  const [, origin, port, rest] = LOOPBACK_WITH_PORT.exec(uri) ?? [];
  return origin === undefined || Number(port ?? 80) > 65535 ? null : `${origin}${rest}`;
}
