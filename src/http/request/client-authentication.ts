/** Reads a client's credentials and bearer tokens from a request. The domain verifies them. */
import type { FastifyRequest } from 'fastify';
import type { ClientCredentials } from '../../oauth/clients/client.ts';
import { CLIENT_ASSERTION_TYPE } from '../../oauth/clients/client-assertion.ts';
import { documentAddressProblem } from '../../oauth/clients/client-document.ts';
import { isOwnId } from '../../oauth/clients/registered-id.ts';
import { invalidClient, invalidRequest, invalidToken, Refusal } from '../../oauth/error.ts';
import { TWICE_BEARER } from '../../oauth/keys/mistaken-credential.ts';
import type { Parameters } from '../../oauth/parameters.ts';
import type { Face } from '../../oauth/protocol/authorization-request.ts';
import { formOf } from './form.ts';

/** RFC 7617 §2. */
const BASIC = /^Basic +([A-Za-z0-9+/=_-]+) *$/i;

/**
 * Reads a client's credentials, sent by one method only (RFC 6749 §2.3): Basic, or in the body (§2.3.1). The standard
 * face also takes an assertion (RFC 7523 §2.2) and, from public clients, a `client_id` alone.
 */
export function readClientCredentials(
  face: Face,
  { headers }: Pick<FastifyRequest, 'headers'>,
  body: Parameters,
): ClientCredentials | Refusal {
  const authorization = authorizationOf(headers);
  const clientId = body.get('client_id');
  const clientSecret = body.get('client_secret');
  const assertion = [body.get('client_assertion'), body.get('client_assertion_type')];
  const hasAssertion = face === 'standard' && assertion.some((value) => value !== undefined);
  const methods = [authorization !== undefined, clientSecret !== undefined, hasAssertion].filter(Boolean).length;
  if (authorization !== undefined && !/^Basic\b/i.test(authorization))
    return face === 'standard' // RFC 6749 §5.2: a method that is not supported
      ? invalidClient('the Authorization header is not Basic')
      : invalidRequest('the Authorization header must be Basic, or absent');
  if (methods > 1) return invalidRequest('client credentials must be sent by one method only');
  if (authorization !== undefined) return readBasic(face, authorization, clientId);
  if (hasAssertion) return readAssertion(body, clientId);
  if (clientSecret === undefined && face === 'standard') return { method: 'none', clientId };
  return { method: 'secret', clientId, clientSecret };
}

/**
 * Returns the id of the client or resource server that the request names, for the log. Ignores anything that does not
 * look like an id: it may be a secret in the wrong field.
 */
export function namedClient({ headers, body }: FastifyRequest): { readonly client_id?: string } {
  const named = decodeBasic(BASIC.exec(headers.authorization ?? '')?.[1] ?? '')?.clientId;
  return idForLog(named ?? formOf({ body }).get('client_id'));
}

/** Returns the id if it has the form of our ids, or of a metadata document's address without a query. */
export function idForLog(named: string | undefined): { readonly client_id?: string } {
  if (named === undefined) return {};
  const isAddress = !named.includes('?') && documentAddressProblem(named) === null;
  return isOwnId(named) || isAddress ? { client_id: named } : {};
}

/**
 * Returns the `Authorization` header; undefined if it is absent or empty. Some clients send an empty one without
 * credentials.
 */
export function authorizationOf({ authorization }: FastifyRequest['headers']): string | undefined {
  return authorization?.trim() === '' ? undefined : authorization;
}

/** Returns the token of an `Authorization: Bearer` header (RFC 6750 §2.1); null if the header has another form. */
export function readBearerToken(authorization: string): string | null {
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1] ?? null;
}

/** Returns the access token of a request, which the header alone may carry (RFC 6750 §2.1), or why there is none. */
export function presentedToken({ headers: { authorization = '' } }: FastifyRequest): string | Refusal {
  // Another scheme brings no token either (RFC 6750 §3.1).
  if (!/^Bearer +[^ ]/i.test(authorization)) return NO_TOKEN;
  const token = readBearerToken(authorization);
  return token ?? invalidToken('the Authorization header holds more than a token', notAToken(authorization));
}

const NO_TOKEN = new Refusal('missing_token', 'an access token is required: send Authorization: Bearer');

/** Returns a public sentence about a recognizable mistake in a Bearer header, or undefined. */
export function notAToken(authorization: string): string | undefined {
  return /^Bearer +Bearer\b/i.test(authorization) ? TWICE_BEARER : undefined;
}

function readBasic(face: Face, authorization: string, clientId: string | undefined): ClientCredentials | Refusal {
  const basic = decodeBasic(BASIC.exec(authorization)?.[1] ?? '');
  if (!basic) return invalidClient('the Basic credentials are malformed');
  if (clientId !== undefined && clientId !== basic.clientId)
    return invalidRequest('client_id differs between the header and the body');
  // An empty secret counts as none (RFC 6749 §2.3.1). Some libraries send a public client's id this way.
  if (basic.clientSecret === undefined && face === 'standard') return { method: 'none', clientId: basic.clientId };
  return { method: 'secret', ...basic };
}

function readAssertion(body: Parameters, clientId: string | undefined): ClientCredentials | Refusal {
  if (body.get('client_assertion_type') !== CLIENT_ASSERTION_TYPE)
    return invalidRequest(`client_assertion_type must be ${CLIENT_ASSERTION_TYPE}`);
  const assertion = body.get('client_assertion');
  return assertion === undefined
    ? invalidRequest('client_assertion is required')
    : { method: 'assertion', clientId, assertion };
}

/** RFC 6749 §2.3.1: both parts are form-encoded before they are joined. */
function decodeBasic(encoded: string): { clientId: string | undefined; clientSecret: string | undefined } | null {
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 0) return null;
  try {
    const clientId = formDecoded(text.slice(0, colon));
    const clientSecret = formDecoded(text.slice(colon + 1));
    return { clientId: clientId || undefined, clientSecret: clientSecret || undefined };
  } catch {
    return null;
  }
}

/** Throws `URIError` for a malformed text. */
function formDecoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}
