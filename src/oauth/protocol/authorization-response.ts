/** The authorization response (RFC 6749 §4.1.2, §4.1.2.1): where the browser is sent, and which parameters are added. */

import { Refusal } from '../error.ts';
import type { AuthorizationRequest, RedirectableError } from './authorization-request.ts';

/** The location after Allow: exactly `code` and the unchanged `state` are added, and `iss` (RFC 9207) on the standard face. */
export function allowedLocation({ redirectUri, state, issuer }: AuthorizationRequest, code: string): string {
  return withQuery(redirectUri, { code, state, iss: issuer });
}

/** The location after Deny, or after an Allow without any of the scopes that were asked for. */
export function deniedLocation(request: AuthorizationRequest): string {
  return refusedLocation(request, new Refusal('access_denied', 'the resource owner denied the request'));
}

/** The location after the resource owner refused to sign in. */
export function notSignedInLocation(request: AuthorizationRequest): string {
  return refusedLocation(request, new Refusal('access_denied', 'the resource owner refused to sign in'));
}

/** The location that tells the client why a valid request gets no code. */
export function refusedLocation({ redirectUri, state, issuer }: AuthorizationRequest, refusal: Refusal): string {
  return errorLocation({ kind: 'redirect', refusal, redirectUri, state, issuer });
}

/** The location that tells the client of an error. */
export function errorLocation({ refusal, redirectUri, state, issuer }: RedirectableError): string {
  return withQuery(redirectUri, { error: refusal.code, error_description: refusal.description, state, iss: issuer });
}

/** Adds parameters to a redirect URI, whose own query stays as it is (RFC 6749 §3.1.2). */
function withQuery(redirectUri: string, added: Readonly<Record<string, string | null>>): string {
  const pairs = Object.entries(added).filter((pair): pair is [string, string] => pair[1] !== null);
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  const separator = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&';
  return redirectUri + separator + query;
}
