/** Parameters of a request with `openid` besides OAuth's own (OpenID Connect Core §3.1.2.1). */
import { invalidRequest, Refusal } from '../error.ts';
import type { Parameters } from '../parameters.ts';

/** The parameters that are read beside `openid`. Other requests may hold them too, and they are ignored there. */
export const OPENID_PARAMETERS: readonly string[] = ['nonce', 'registration', 'response_mode', 'id_token_hint'];

/** The OpenID Connect part of an authorization request. */
export type OpenIdRequest = {
  readonly nonce: string | null;
  /** The ID token of the user whom the client expects with `prompt=none`, unverified; null if it sent none. */
  readonly idTokenHint: string | null;
};

/** Characters of a nonce, which goes into the ID token as it came. */
const NONCE = /^[\x20-\x7e]{1,255}$/;

/** The rules for these parameters, in order. */
export function openIdRefusal(parameters: Parameters): Refusal | null {
  if (parameters.has('nonce') && !NONCE.test(parameters.get('nonce') ?? ''))
    return invalidRequest('nonce must be 1 to 255 printable ASCII characters');
  if (parameters.get('registration') !== undefined)
    return new Refusal('registration_not_supported', 'registration is not supported'); // OpenID Connect Core §7.2.1
  return (parameters.get('response_mode') ?? 'query') === 'query'
    ? null
    : invalidRequest('response_mode must be query');
}

/** Reads the OpenID Connect part of a request. */
export function openIdRequest(parameters: Parameters): OpenIdRequest {
  return { nonce: parameters.get('nonce') ?? null, idTokenHint: parameters.get('id_token_hint') ?? null };
}
