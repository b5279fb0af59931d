/** How a request presents a client's credentials and bearer tokens; whether they are right is decided elsewhere. */
import type { ClientCredentials } from '../oauth/client.ts';
import { invalidClient, invalidRequest, type Refusal } from '../oauth/error.ts';
import type { Parameters } from '../oauth/parameters.ts';

/**
 * The client credentials of a token request: in the body, or by Basic (RFC 6749 §2.3.1), never both (RFC 6749 §2.3).
 */
export function readClientCredentials(
  authorization: string | undefined,
  body: Parameters,
): ClientCredentials | Refusal {
  const fromBody = { clientId: body.get('client_id'), clientSecret: body.get('client_secret') };
  if (authorization === undefined) return fromBody;
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization) ?? [];
  if (encoded === undefined && !/^Basic\b/i.test(authorization))
    return invalidRequest('the Authorization header must be Basic, or absent');
  if (fromBody.clientSecret !== undefined) return invalidRequest('client credentials must be sent by one method only');
  const basic = encoded === undefined ? null : decodeBasic(encoded);
  if (!basic) return invalidClient('the Basic credentials are malformed');
  if (fromBody.clientId !== undefined && fromBody.clientId !== basic.clientId) {
    return invalidRequest('client_id differs between the header and the body');
  }
  return basic;
}

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1); null when the header is something else. */
export function readBearerToken(authorization: string): string | null {
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1] ?? null;
}

/** RFC 6749 §2.3.1: both parts are form-encoded before they are joined. */
function decodeBasic(encoded: string): ClientCredentials | null {
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 0) return null;
  try {
    const [clientId, clientSecret] = [text.slice(0, colon), text.slice(colon + 1)].map((part) =>
      decodeURIComponent(part.replaceAll('+', ' ')),
    );
    return { clientId: clientId || undefined, clientSecret: clientSecret || undefined };
  } catch {
    return null;
  }
}
