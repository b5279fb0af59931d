/**
 * Pushed authorization requests (RFC 9126): the client hands the request in directly and sends the browser with a
 * reference to it. The reference is the request itself, sealed, so that nothing is stored before Allow.
 */

import type { Client } from '../clients/client.ts';
import { isAheadOfClock } from '../grants/clock-steps.ts';
import type { Keyring } from '../keys/keyring.ts';
import { compressed, decompressed, seal, unseal } from '../keys/sealed.ts';
import { OPENID_PARAMETERS } from '../openid/openid-request.ts';
import { Parameters } from '../parameters.ts';
import { STANDARD_PARAMETERS } from './authorization-request.ts';

/** Lifetime of a reference (s): long enough to sign in and decide (RFC 9126 §2.2 allows up to 600). */
export const PUSHED_REQUEST_LIFETIME = 600;

/** Lifetime of a reference that was opened in time (ms): the person may take as long as a sign-in form lives (`SIGN_IN_LIFETIME_MS`). */
export const OPENED_REQUEST_LIFETIME_MS = 12 * 3600 * 1000;

/** The start of every reference (RFC 9126 §2.2). */
export const REQUEST_URI_START = 'urn:ietf:params:oauth:request_uri:';

/** Maximum size of a request (bytes): a reference to a longer one might not fit into the headers of the requests that carry it. */
const MAX_BYTES = 5900;
/** The same where people sign in elsewhere: there the address with the reference must fit into a sign-in request as well. */
const MAX_BYTES_ELSEWHERE = 4400;

/** A pushed request behind a reference. */
export type OpenedRequest = {
  readonly parameters: Parameters;
  /** It was opened in time, and the person took too long since. */
  readonly isExpired: boolean;
  /** The reference with which it goes on while the person signs in and decides. */
  readonly requestUri: string;
};

/** The reference to a pushed request of an authenticated client; null when it is too long. `now` in ms. */
export function requestUriFor(
  keyring: Keyring,
  { id: clientId, signIn }: Pick<Client, 'id' | 'signIn'>,
  pushed: Parameters,
  now: number,
  signsInElsewhere = false,
): string | null {
  const read = signIn ? [...STANDARD_PARAMETERS, ...OPENID_PARAMETERS] : STANDARD_PARAMETERS;
  const pairs = read
    .filter((name) => name !== 'client_id')
    .flatMap((name) => pushed.all(name).map((value) => [name, value]));
  const text = JSON.stringify([['client_id', clientId], ...pairs]);
  if (Buffer.byteLength(text) > (signsInElsewhere ? MAX_BYTES_ELSEWHERE : MAX_BYTES)) return null;
  return REQUEST_URI_START + seal(keyring, 'request', compressed(text), now + PUSHED_REQUEST_LIFETIME * 1000);
}

/**
 * The pushed request behind a reference. Null if this service did not make the reference, if it was not opened in time, or if
 * it belongs to another client (RFC 9126 §4). Other parameters beside the reference are ignored (RFC 9101 §5).
 */
export function pushedRequest(
  keyring: Keyring,
  requestUri: string,
  clientId: string | undefined,
  now: number,
): OpenedRequest | null {
  const sealed = requestUri.slice(REQUEST_URI_START.length);
  const pushed = unseal(keyring, 'request', sealed);
  const found = pushed ?? unseal(keyring, 'opened-request', sealed);
  const lifetime = pushed ? PUSHED_REQUEST_LIFETIME * 1000 : OPENED_REQUEST_LIFETIME_MS;
  if (!found || isAheadOfClock(found.expiresAt, lifetime, now)) return null;
  const isExpired = found.expiresAt <= now;
  if (pushed && isExpired) return null;
  const parameters = new Parameters(JSON.parse(decompressed(found.content)) as [string, string][]);
  if (parameters.get('client_id') !== clientId) return null;
  if (!pushed) return { parameters, isExpired, requestUri };
  const opened = seal(keyring, 'opened-request', found.content, now + OPENED_REQUEST_LIFETIME_MS);
  return { parameters, isExpired, requestUri: REQUEST_URI_START + opened };
}
