/**
 * The authorization request (RFC 6749 §4.1.1). Nothing of it is stored: the URL is its state, and it is validated anew
 * at every step. The outcome's type says where an error may go: only a proven client and redirect URI may be redirected to.
 */
import type { Client } from './client.ts';
import { invalidRequest, Refusal } from './error.ts';
import type { Parameters } from './parameters.ts';
import { isCodeChallenge } from './pkce.ts';
import { isRegisteredRedirectUri } from './redirect-uri.ts';
import { resolveScope } from './scope.ts';

/** A valid authorization request. */
export type AuthorizationRequest = {
  readonly kind: 'valid';
  readonly client: Client;
  readonly redirectUri: string;
  readonly state: string;
  /** The scope names that Allow would grant. */
  readonly scope: readonly string[];
  readonly codeChallenge: string | null;
};

/** An error that must be shown, because there is nowhere safe to send it (RFC 6749 §4.1.2.1). */
export type ShownError = {
  readonly kind: 'show';
  readonly error: 'unknown_client' | 'client_paused' | 'bad_redirect_uri';
  /** For the log. */
  readonly detail: string;
};

/** An error that the client is told by redirect, with the state it sent (undefined if it sent none that is usable). */
export type RedirectableError = {
  readonly kind: 'redirect';
  readonly refusal: Refusal;
  readonly redirectUri: string;
  readonly state: string | undefined;
};

/** What an authorization request turns out to be. */
export type AuthorizationRequestOutcome = AuthorizationRequest | ShownError | RedirectableError;

/** What this endpoint reads; anything else is ignored (RFC 6749 §3.1). */
const KNOWN_PARAMETERS = [
  'client_id',
  'redirect_uri',
  'state',
  'response_type',
  'scope',
  'code_challenge',
  'code_challenge_method',
];

/** A longer state would not fit into the headers that carry it back. */
const MAX_STATE_LENGTH = 4096;

/** Validates an authorization request for the client that its `client_id` names, or null when there is none. */
export function validateAuthorizationRequest(
  parameters: Parameters,
  client: Client | null,
): AuthorizationRequestOutcome {
  if (!client) return shown('unknown_client', 'no client has this client_id');
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === undefined) return shown('bad_redirect_uri', 'redirect_uri is missing, repeated or malformed');
  if (!isRegisteredRedirectUri(client.redirectUris, redirectUri))
    return shown('bad_redirect_uri', 'redirect_uri is not registered for the client');
  if (client.status === 'paused') return shown('client_paused', 'the client is paused');
  const refusal = firstRefusal(parameters, client);
  const state = parameters.get('state');
  if (refusal) return { kind: 'redirect', refusal, redirectUri, state };
  return {
    kind: 'valid',
    client,
    redirectUri,
    state: state as string,
    scope: resolveScope(client.scopes, parameters.get('scope')) as string[],
    codeChallenge: parameters.get('code_challenge') ?? null,
  };
}

/** The rest of the rules, in order; all of these may be redirected (RFC 6749 §4.1.2.1). */
function firstRefusal(parameters: Parameters, client: Client): Refusal | null {
  const problem = parameters.problem(KNOWN_PARAMETERS);
  if (problem) return invalidRequest(problem); // RFC 6749 §3.1
  const state = parameters.get('state');
  if (state === undefined) return invalidRequest('state is required'); // RFC 6749 §10.12
  if (state.length > MAX_STATE_LENGTH)
    return invalidRequest(`state must not be longer than ${MAX_STATE_LENGTH} characters`);
  if (client.type === 'public') {
    return new Refusal('unauthorized_client', 'public clients cannot use this endpoint: it demands a client secret');
  }
  const responseType = parameters.get('response_type') ?? 'code';
  if (responseType !== 'code') return new Refusal('unsupported_response_type', 'response_type must be code'); // RFC 6749 §3.1.1
  const pkceRefusal = checkCodeChallenge(parameters, client);
  if (pkceRefusal) return pkceRefusal;
  if (!resolveScope(client.scopes, parameters.get('scope'))) {
    return new Refusal('invalid_scope', 'scope has a value that is not registered for this client'); // RFC 6749 §3.3
  }
  return null;
}

/** RFC 7636 §4.3; an absent method means `plain` there, which is not supported and never read as S256. */
function checkCodeChallenge(parameters: Parameters, client: Client): Refusal | null {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined && (method !== undefined || parameters.has('code_challenge'))) {
    return invalidRequest('code_challenge is missing or empty');
  }
  if (challenge === undefined)
    return client.requirePkce ? invalidRequest('code_challenge is required for this client') : null;
  if (method !== 'S256') return invalidRequest('code_challenge_method must be S256'); // RFC 7636 §4.4.1
  return isCodeChallenge(challenge) ? null : invalidRequest('code_challenge must be 43 base64url characters'); // RFC 7636 §4.2
}

/** One line that is equal for equal requests only: a consent form is bound to it, so that Allow answers what was shown. */
export function requestFingerprint(request: AuthorizationRequest): string {
  const { client, redirectUri, state, scope, codeChallenge } = request;
  return JSON.stringify([client.id, redirectUri, state, scope, codeChallenge]);
}

function shown(error: ShownError['error'], detail: string): ShownError {
  return { kind: 'show', error, detail };
}
