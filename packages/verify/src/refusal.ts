/** Refusals of an API (RFC 6750 §3). */

import { metadataUrl } from './metadata.ts';

/** The answer to send: its status, its headers, and its body as an object for JSON. */
export type Refusal = {
  readonly ok: false;
  readonly status: 400 | 401 | 403 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: string; readonly error_description: string };
};

const REFUSALS = {
  missing_token: [401, 'an access token is required: send Authorization: Bearer'],
  invalid_request: [400, 'the Authorization header must hold one access token and nothing else'],
  invalid_token: [401, 'the access token is invalid, expired or revoked'],
  insufficient_scope: [403, 'the access token does not have the scope that is needed here'],
  temporarily_unavailable: [503, 'the access token cannot be checked right now: try again'],
} as const;

/** Optional details of a refusal. `retryAfter` is in seconds. */
export type RefusalDetails = {
  readonly resource?: string | undefined;
  readonly scopes?: readonly string[];
  readonly retryAfter?: number;
};

/** Makes a refusal. 503 has no challenge. */
export function refuse(error: keyof typeof REFUSALS, { resource, scopes, retryAfter }: RefusalDetails = {}): Refusal {
  const [status, error_description] = REFUSALS[error];
  const challenge = {
    realm: 'valetkey',
    // Without a token, the challenge names no error (RFC 6750 §3.1).
    ...(error === 'missing_token' ? {} : { error, error_description }),
    scope: scopes?.join(' ') || undefined,
    resource_metadata: resource && metadataUrl(resource)?.href,
  };
  const headers: Record<string, string> = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
  if (status !== 503) headers['WWW-Authenticate'] = `Bearer ${attributes(challenge)}`;
  return { ok: false, status, headers, body: { error, error_description } };
}

/** Formats attributes as quoted strings (RFC 9110 §5.6.4), without characters that a header cannot hold. */
function attributes(values: Record<string, string | undefined>): string {
  const given = Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const quote = (value: string) => `"${value.replace(/[^\x20-\x7e]/g, '').replace(/["\\]/g, '\\$&')}"`;
  return given.map(([name, value]) => `${name}=${quote(value)}`).join(', ');
}
