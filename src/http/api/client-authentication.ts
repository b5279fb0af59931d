/** Reads a client's credentials and bearer tokens from a request. Whether they are right is decided elsewhere. */
import type { FastifyRequest } from 'fastify';
import type { ClientCredentials } from '../../oauth/clients/client.ts';
import { CLIENT_ASSERTION_TYPE } from '../../oauth/clients/client-assertion.ts';
import { documentAddressProblem } from '../../oauth/clients/client-document.ts';
import { isOwnId } from '../../oauth/clients/registered-id.ts';
import { invalidClient, invalidRequest, type Refusal } from '../../oauth/error.ts';
import { TWICE_BEARER } from '../../oauth/keys/mistaken-credential.ts';
import type { Face } from '../../oauth/protocol/authorization-request.ts';
import type { Parameters } from '../../oauth/protocol/parameters.ts';
import { formOf } from '../form.ts';

/** RFC 7617 §2. */
const BASIC = /^Basic +([A-Za-z0-9+/=_-]+) *$/i;

/**
 * The client credentials of a request by one method only (RFC 6749 §2.3): by Basic or in the body (§2.3.1), and on the
 * standard face also by an assertion (RFC 7523 §2.2) or, for public clients, by none.
 */
export function readClientCredentials(
  face: Face,
  { headers }: Pick<FastifyRequest, 'headers'>,
  body: Parameters,
): ClientCredentials | Refusal {
  const authorization = authorizationOf(headers);
  const [clientId, clientSecret] = [body.get('client_id'), body.get('client_secret')];
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
 * The client or resource server that a request names, for the log. Only what looks like an id of ours: a secret may
 * have been sent in its place.
 */
export function namedClient({ headers, body }: FastifyRequest): { readonly client_id?: string } {
  const named = decodeBasic(BASIC.exec(headers.authorization ?? '')?.[1] ?? '')?.clientId;
  return idForLog(named ?? formOf({ body }).get('client_id'));
}

/** The named id, if it looks like one of ours, or like the address of a metadata document without a query. */
export function idForLog(named: string | undefined): { readonly client_id?: string } {
  if (named === undefined) return {};
  const isAddress = !named.includes('?') && documentAddressProblem(named) === null;
  return isOwnId(named) || isAddress ? { client_id: named } : {};
}

/** The `Authorization` header; undefined where it is absent, or empty, as some clients send it without credentials. */
export function authorizationOf({ authorization }: FastifyRequest['headers']): string | undefined {
  return authorization?.trim() === '' ? undefined : authorization;
}

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1); null when the header is something else. */
export function readBearerToken(authorization: string): string | null {
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1] ?? null;
}

/** Returns the mistake that can be seen of a Bearer header without one token, in public words; undefined if there is none. */
export function notAToken(authorization: string): string | undefined {
  return /^Bearer +Bearer\b/i.test(authorization) ? TWICE_BEARER : undefined;
}

function readBasic(face: Face, authorization: string, clientId: string | undefined): ClientCredentials | Refusal {
  const basic = decodeBasic(BASIC.exec(authorization)?.[1] ?? '');
  if (!basic) return invalidClient('the Basic credentials are malformed');
  if (clientId !== undefined && clientId !== basic.clientId)
    return invalidRequest('client_id differs between the header and the body');
  // An empty secret is none (RFC 6749 §2.3.1), and how some libraries send a public client's id.
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
    const [clientId, clientSecret] = [text.slice(0, colon), text.slice(colon + 1)].map((part) =>
      decodeURIComponent(part.replaceAll('+', ' ')),
    );
    return { clientId: clientId || undefined, clientSecret: clientSecret || undefined };
  } catch {
    return null;
  }
}
