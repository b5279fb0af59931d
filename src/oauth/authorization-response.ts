/** The authorization response (RFC 6749 §4.1.2, §4.1.2.1): where the browser is sent, with what added. */
import type { AuthorizationRequest, RedirectableError } from './authorization-request.ts';
import { Refusal } from './error.ts';

/** The location after Allow: exactly `code` and the unchanged `state` are added. */
export function allowedLocation(request: AuthorizationRequest, code: string): string {
  return withQuery(request.redirectUri, { code, state: request.state });
}

/** The location after Deny. */
export function deniedLocation(request: AuthorizationRequest): string {
  const refusal = new Refusal('access_denied', 'the resource owner denied the request');
  return errorLocation({ kind: 'redirect', refusal, redirectUri: request.redirectUri, state: request.state });
}

/** The location that tells the client of an error. */
export function errorLocation({ refusal, redirectUri, state }: RedirectableError): string {
  return withQuery(redirectUri, { error: refusal.code, error_description: refusal.description, state });
}

/** Adds parameters to a redirect URI, whose own query stays as it is (RFC 6749 §3.1.2). */
function withQuery(redirectUri: string, added: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(added).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  const separator = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&';
  return redirectUri + separator + query;
}
