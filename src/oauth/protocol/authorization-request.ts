/**
 * The authorization request (RFC 6749 §4.1.1). It is not stored: its URL holds everything, and each step validates it again.
 * The type of the outcome says where an error may be sent: the browser is redirected only to a registered redirect URI of a
 * known client.
 */
import type { Client } from '../clients/client.ts';
import { documentAddressProblem } from '../clients/client-document.ts';
import { isRegisteredRedirectUri } from '../clients/redirect-uri.ts';
import { type ErrorCode, invalidRequest, Refusal } from '../error.ts';
import type { GrantedResource } from '../grants/grant.ts';
import type { PersonField } from '../grants/person-fields.ts';
import {
  invalidScope,
  optionalNames,
  resolveScope,
  type Scope,
  type ScopeRule,
  withoutOpenIdHabits,
} from '../grants/scope.ts';
import { OPENID_PARAMETERS, type OpenIdRequest, openIdRefusal, openIdRequest } from '../openid/openid-request.ts';
import { asksToSignIn, fieldsAskedFor, SIGN_IN } from '../openid/openid-scope.ts';
import type { Parameters } from '../parameters.ts';
import { isSameResource } from '../resource-servers/resource-uri.ts';
import { isCodeChallenge } from '../tokens/pkce.ts';

/** The two faces of one core: the published interface, and the standards' own form. */
export type Face = 'published' | 'standard';

/** Demands of an authorization request on the pages (OpenID Connect Core §3.1.2.1, which OAuth clients use, too). */
export type Prompt = 'none' | 'login' | 'consent' | 'select_account';

/** A valid authorization request. */
export type AuthorizationRequest = {
  readonly kind: 'valid';
  readonly face: Face;
  readonly client: Client;
  readonly redirectUri: string;
  /** Null when none was sent, which only PKCE makes safe. */
  readonly state: string | null;
  /** The scope names that were asked for. */
  readonly scope: readonly string[];
  /** The scopes that the client may be granted now: those of its registration, and with `openid` those of OpenID Connect. */
  readonly scopes: readonly Scope[];
  /** The profile fields that the client gets: those of its registration, or those of them that its scopes ask for. */
  readonly personFields: readonly PersonField[];
  /** Null unless the client asks to sign the resource owner in. */
  readonly openid: OpenIdRequest | null;
  readonly codeChallenge: string | null;
  /** The resource that the tokens are for (RFC 8707 §2), or null for any. */
  readonly resource: string | null;
  /** The mark of the client's default resource: the request names none. */
  readonly resourceIsDefault: boolean;
  readonly prompt: readonly Prompt[];
  /** The email address that the client expects to sign in, or null. */
  readonly loginHint: string | null;
  /** Maximum time since the resource owner signed in (s), or null for any. */
  readonly maxAge: number | null;
  /** The languages that the client expects its user to read, as it sent them, or null. */
  readonly uiLocales: string | null;
  /** The reference of a pushed request (`pushed-request.ts`); null for a request in the URL. */
  readonly requestUri: string | null;
  /** The issuer that the response names (RFC 9207); null on the published face, whose response names none. */
  readonly issuer: string | null;
};

/** An error that must be shown, because there is nowhere safe to send it (RFC 6749 §4.1.2.1). */
export type ShownError = {
  readonly kind: 'show';
  readonly error:
    | 'missing_client_id'
    | 'unknown_client'
    | 'unadmitted_client'
    | 'client_paused'
    | 'missing_redirect_uri'
    | 'bad_redirect_uri'
    | 'bad_request_uri';
  /** For the log. */
  readonly detail: string;
  /** The unregistered redirect URI, or the address of a document that is not admitted, as text for the page. */
  readonly received?: string;
};

/** An error that the client gets by redirect, with the state it sent (null if it sent none that is usable). */
export type RedirectableError = {
  readonly kind: 'redirect';
  readonly refusal: Refusal;
  readonly redirectUri: string;
  readonly state: string | null;
  readonly issuer: string | null;
};

/** Returns true if a request was refused whose `client_id` names a registered client. Anyone can name one. */
export function namesClient(outcome: ShownError | RedirectableError): boolean {
  return outcome.kind === 'redirect' || OF_CLIENTS.includes(outcome.error);
}

const OF_CLIENTS: readonly ShownError['error'][] = ['client_paused', 'missing_redirect_uri', 'bad_redirect_uri'];

/** The result of validating an authorization request. */
export type AuthorizationRequestOutcome = AuthorizationRequest | ShownError | RedirectableError;

/** The installation against which a request is validated; `resources` are the URIs of its resources. */
export type RequestContext = {
  readonly face: Face;
  readonly issuer: string;
  readonly client: Client | null;
  readonly resources: readonly string[];
};

/** Parameters that the published face reads; all others are ignored (RFC 6749 §3.1). */
export const PUBLISHED_PARAMETERS: readonly string[] = [
  'client_id',
  'redirect_uri',
  'state',
  'response_type',
  'scope',
  'code_challenge',
  'code_challenge_method',
];

/**
 * Rich authorization requests, refused wherever the standard face reads parameters: ignoring them would grant other access.
 */
const AUTHORIZATION_DETAILS = [
  'authorization_details',
  'invalid_authorization_details',
  'authorization_details is not supported: ask by scope',
] as const;

/** Parameters that the standard face always refuses, each with the error and its description (RFC 9101 §7). */
export const REFUSED_PARAMETERS: readonly (readonly [name: string, error: ErrorCode, description: string])[] = [
  ['request', 'request_not_supported', 'request is not supported'],
  ['request_uri', 'request_uri_not_supported', 'request_uri must be one that this service gave for a pushed request'],
  AUTHORIZATION_DETAILS,
];

/** RFC 9396 §5: refuses a request with authorization details, be they text or, in JSON, an array. */
export function authorizationDetailsRefusal(parameters: Parameters): Refusal | null {
  const [name, error, description] = AUTHORIZATION_DETAILS;
  return parameters.isSent(name) ? new Refusal(error, description) : null;
}

/** Parameters that the standard face reads. */
export const STANDARD_PARAMETERS: readonly string[] = [
  ...PUBLISHED_PARAMETERS,
  'resource',
  'prompt',
  'login_hint',
  'max_age',
  'ui_locales',
  ...REFUSED_PARAMETERS.map(([name]) => name),
];

/** The rule for a scope that the client may not ask for. */
export const NOT_REGISTERED: ScopeRule = {
  lacks: 'not registered for this client',
  remedy: 'check how it is written, or ask the people who run this service for it',
  operatorRemedy: '"client update" registers it with --scope, which names the others as well',
};

/** Maximum length of a state: a longer one would not fit into the headers that carry it back. */
const MAX_STATE_LENGTH = 4096;
const PROMPTS = ['none', 'login', 'consent', 'select_account'];
const MAX_MAX_AGE = 2 ** 31 - 1;

/** Validates an authorization request; its client is the one that `client_id` names, or null when there is none. */
export function validateAuthorizationRequest(
  parameters: Parameters,
  context: RequestContext,
): AuthorizationRequestOutcome {
  const { client, face } = context;
  if (!client) return noClient(parameters.get('client_id'));
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === undefined)
    return shownError('missing_redirect_uri', 'redirect_uri is missing, repeated or malformed');
  if (!isRegisteredRedirectUri(client.redirectUris, redirectUri, client.type))
    return {
      ...shownError('bad_redirect_uri', 'redirect_uri is not registered for the client'),
      received: redirectUri,
    };
  if (client.status === 'paused') return shownError('client_paused', 'the client is paused');
  const back = {
    redirectUri,
    state: parameters.get('state') ?? null,
    issuer: face === 'standard' ? context.issuer : null,
  };
  const refusal =
    face === 'published' ? publishedRefusal(parameters, client) : standardRefusal(parameters, client, context);
  if (refusal) return { kind: 'redirect', refusal, ...back };
  const isStandard = face === 'standard';
  const { isSignIn, scopes, requested } = scopeAsked(parameters, client, face);
  const scope = resolveScope(scopes, requested) as string[];
  return {
    kind: 'valid',
    face,
    client,
    ...back,
    scope,
    scopes,
    personFields: isSignIn ? fieldsAskedFor(scope, client) : client.personFields,
    openid: isSignIn ? openIdRequest(parameters) : null,
    codeChallenge: parameters.get('code_challenge') ?? null,
    ...grantedResource(client, isStandard ? knownResource(context.resources, parameters.all('resource')[0]) : null),
    prompt: isStandard ? promptsOf(parameters) : [],
    loginHint: (isStandard && parameters.get('login_hint')) || null,
    maxAge: isStandard ? maxAgeOf(parameters) : null,
    uiLocales: (isStandard && parameters.get('ui_locales')) || null,
    requestUri: null,
  };
}

/** The rest of the published face's rules, in order; all of these may be redirected (RFC 6749 §4.1.2.1). */
function publishedRefusal(parameters: Parameters, client: Client): Refusal | null {
  const problem = parameters.problem(PUBLISHED_PARAMETERS);
  if (problem) return invalidRequest(problem); // RFC 6749 §3.1
  if (!parameters.get('state')) return invalidRequest('state is required'); // RFC 6749 §10.12
  if (client.type === 'public')
    return new Refusal('unauthorized_client', 'public clients cannot use this endpoint: it demands a client secret');
  return commonRefusal(parameters, client, 'published', parameters.get('response_type') ?? 'code');
}

/** The same for the standard face. */
function standardRefusal(parameters: Parameters, client: Client, { resources }: RequestContext): Refusal | null {
  const details = authorizationDetailsRefusal(parameters);
  if (details) return details; // RFC 9396 §5
  const { isSignIn } = scopeAsked(parameters, client, 'standard');
  const read = isSignIn ? [...STANDARD_PARAMETERS, ...OPENID_PARAMETERS] : STANDARD_PARAMETERS;
  const problem = parameters.problem(read, ['resource']);
  if (problem) return invalidRequest(problem); // RFC 6749 §3.1
  for (const [name, error, description] of REFUSED_PARAMETERS)
    if (parameters.get(name) !== undefined) return new Refusal(error, description); // RFC 9101 §7
  if (!parameters.get('state') && !parameters.get('code_challenge'))
    return invalidRequest('state is required, unless a code_challenge is sent'); // RFC 9700 §4.7.1
  const responseType = parameters.get('response_type');
  if (responseType === undefined) return invalidRequest('response_type is required'); // RFC 6749 §3.1.1
  return (
    commonRefusal(parameters, client, 'standard', responseType) ??
    resourceRefusal(parameters.all('resource'), resources) ??
    promptRefusal(promptsOf(parameters)) ??
    maxAgeRefusal(maxAgeOf(parameters)) ??
    (isSignIn ? openIdRefusal(parameters) : null)
  );
}

function commonRefusal(parameters: Parameters, client: Client, face: Face, responseType: string): Refusal | null {
  if ((parameters.get('state') ?? '').length > MAX_STATE_LENGTH)
    return invalidRequest(`state must not be longer than ${MAX_STATE_LENGTH} characters`);
  if (responseType !== 'code') return new Refusal('unsupported_response_type', 'response_type must be code'); // RFC 6749 §3.1.1
  const pkceRefusal = checkCodeChallenge(parameters, client);
  if (pkceRefusal) return pkceRefusal;
  const { scopes, requested } = scopeAsked(parameters, client, face);
  if (resolveScope(scopes, requested)) return null;
  const registered = scopes.map(({ name }) => name);
  return invalidScope(requested, registered, NOT_REGISTERED); // RFC 6749 §3.3
}

/** A requested scope, and the scopes that the client may ask for; `isSignIn` if `openid` is one of them. */
type ScopeAsked = {
  readonly isSignIn: boolean;
  readonly scopes: readonly Scope[];
  readonly requested: string | undefined;
};

/** The published face refuses each scope that is not registered; libraries that add some by habit come to the standard face. */
function scopeAsked(parameters: Parameters, client: Client, face: Face): ScopeAsked {
  const requested = parameters.get('scope');
  if (face === 'published') return { isSignIn: false, scopes: client.scopes, requested };
  const isSignIn = asksToSignIn(client, requested);
  const scopes = isSignIn ? [...SIGN_IN, ...client.scopes] : client.scopes;
  return { isSignIn, scopes, requested: withoutOpenIdHabits(scopes, requested, isSignIn) };
}

/** RFC 7636 §4.3: a request without a method means `plain`. That is refused, and never read as S256. */
function checkCodeChallenge(parameters: Parameters, client: Client): Refusal | null {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined && (method !== undefined || parameters.has('code_challenge'))) {
    return invalidRequest('code_challenge is missing or empty');
  }
  if (challenge === undefined)
    return client.requirePkce || client.type === 'public' // RFC 9700 §2.1.1
      ? invalidRequest('code_challenge is required for this client')
      : null;
  if (method !== 'S256') return invalidRequest('code_challenge_method must be S256'); // RFC 7636 §4.4.1
  return isCodeChallenge(challenge) ? null : invalidRequest('code_challenge must be 43 base64url characters'); // RFC 7636 §4.2
}

/** The registered spelling of a requested resource; null if it is unknown. */
export function knownResource(known: readonly string[], named: string | null | undefined): string | null {
  return (named && known.find((uri) => isSameResource(uri, named))) || null;
}

/**
 * Returns the requested resource: the one in the request, or its client's default if the request has none (null), even if no
 * API has that resource any longer. So the deletion of an API never makes tokens unbound.
 */
export function grantedResource(
  { defaultResource }: Pick<Client, 'defaultResource'>,
  named: string | null,
): GrantedResource {
  return { resource: named ?? defaultResource, resourceIsDefault: named === null && defaultResource !== null };
}

/** RFC 8707 §2. A grant is for one resource at most, so that its tokens are good at one place only (RFC 9700 §2.3). */
function resourceRefusal(asked: readonly string[], known: readonly string[]): Refusal | null {
  if (asked.length > 1) return new Refusal('invalid_target', 'ask for one resource at a time');
  return asked.every((uri) => knownResource(known, uri))
    ? null
    : new Refusal('invalid_target', 'resource is not known here');
}

function promptsOf(parameters: Parameters): Prompt[] {
  return (parameters.get('prompt') ?? '').split(' ').filter((value) => value !== '') as Prompt[];
}

/** OpenID Connect Core §3.1.2.1: `none` stands alone. */
function promptRefusal(prompts: readonly string[]): Refusal | null {
  if (!prompts.every((prompt) => PROMPTS.includes(prompt)))
    return invalidRequest('prompt must be none, or some of login, consent and select_account');
  return prompts.includes('none') && prompts.length > 1 ? invalidRequest('prompt none must be the only value') : null;
}

/** OpenID Connect Core §3.1.2.1; NaN for what is no number of seconds. */
function maxAgeOf(parameters: Parameters): number | null {
  const text = parameters.get('max_age');
  if (!text) return null;
  return /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
}

function maxAgeRefusal(maxAge: number | null): Refusal | null {
  return maxAge === null || maxAge <= MAX_MAX_AGE
    ? null
    : invalidRequest(`max_age must be a whole number of seconds, at most ${MAX_MAX_AGE}`);
}

/**
 * A text that is equal only for equal requests. A consent form is bound to it, so that Allow covers exactly what was shown:
 * the request, and which of its scopes were optional. The form itself names the profile fields.
 */
export function requestFingerprint(request: AuthorizationRequest): string {
  const { face, client, redirectUri, state, scope, codeChallenge, resource, resourceIsDefault, openid } = request;
  const optional = optionalNames(client.scopes, scope);
  const asked = [face, client.id, redirectUri, state, scope, optional, codeChallenge, resource, resourceIsDefault];
  return JSON.stringify(openid ? [...asked, { nonce: openid.nonce }] : asked);
}

/** Says what an operator can do for an id that may be a metadata document's address. Nothing fetches it. */
function noClient(id: string | undefined): ShownError {
  if (id === undefined) return shownError('missing_client_id', 'client_id is missing, repeated or malformed');
  if (documentAddressProblem(id) !== null) return shownError('unknown_client', 'no client has this client_id');
  const detail = 'no client has this client_id, which may be a metadata document: "client register --from" admits one';
  return { ...shownError('unadmitted_client', detail), received: id };
}

function shownError(error: ShownError['error'], detail: string): ShownError {
  return { kind: 'show', error, detail };
}
