/**
 * Pushed authorization requests (RFC 9126): the client hands the request in directly and sends the browser with a
 * reference to it. The reference is the request itself, sealed, so that nothing is stored before Allow.
 */
import { STANDARD_PARAMETERS } from './authorization-request.ts';
import { isAheadOfClock } from './clock-steps.ts';
import type { Keyring } from './keyring.ts';
import { Parameters } from './parameters.ts';
import { seal, unseal } from './sealed.ts';

/** Lifetime of a reference (s): long enough to sign in and decide (RFC 9126 §2.2 allows up to 600). */
export const PUSHED_REQUEST_LIFETIME = 600;

/** The start of every reference (RFC 9126 §2.2). */
export const REQUEST_URI_START = 'urn:ietf:params:oauth:request_uri:';

/** Maximum length of a reference: a longer one might not fit into the headers of the requests that carry it. */
const MAX_REFERENCE_LENGTH = 8000;
/** The same where people sign in elsewhere: there the address with the reference must fit into a sign-in request as well. */
const MAX_REFERENCE_LENGTH_ELSEWHERE = 4000;

/** The reference to a pushed request of an authenticated client; null when it is too long. `now` in ms. */
export function requestUriFor(
  keyring: Keyring,
  clientId: string,
  pushed: Parameters,
  now: number,
  signsInElsewhere = false,
): string | null {
  const pairs = STANDARD_PARAMETERS.filter((name) => name !== 'client_id').flatMap((name) =>
    pushed.all(name).map((value) => [name, value]),
  );
  const text = JSON.stringify([['client_id', clientId], ...pairs]);
  const reference = REQUEST_URI_START + seal(keyring, 'request', text, now + PUSHED_REQUEST_LIFETIME * 1000);
  const maxLength = signsInElsewhere ? MAX_REFERENCE_LENGTH_ELSEWHERE : MAX_REFERENCE_LENGTH;
  return reference.length > maxLength ? null : reference;
}

/**
 * The pushed request that a reference stands for; null when this service did not make the reference, it has expired, or it
 * is another client's (RFC 9126 §4). Other parameters beside the reference are ignored (RFC 9101 §5).
 */
export function pushedRequest(
  keyring: Keyring,
  requestUri: string,
  clientId: string | undefined,
  now: number,
): Parameters | null {
  const opened = unseal(keyring, 'request', requestUri.slice(REQUEST_URI_START.length));
  if (!opened || opened.expiresAt <= now || isAheadOfClock(opened.expiresAt, PUSHED_REQUEST_LIFETIME * 1000, now))
    return null;
  const parameters = new Parameters(JSON.parse(opened.content.toString()) as [string, string][]);
  return parameters.get('client_id') === clientId ? parameters : null;
}
