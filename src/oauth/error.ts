/**
 * Refusals of the protocol. `http/` chooses their status codes; the type of a refusal says if it may be sent by redirect
 * (`authorization-request.ts`).
 */

/**
 * The error codes that this service uses: RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 8628 §3.5, RFC 8707 §2, RFC 9101
 * §7, RFC 9396 §5, and those of OpenID Connect Core §3.1.2.6; `not_found` and `gone` are our own.
 */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'access_denied'
  | 'invalid_target'
  | 'invalid_authorization_details'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported'
  | 'login_required'
  | 'consent_required'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'invalid_token'
  | 'missing_token'
  | 'insufficient_scope'
  | 'not_found'
  | 'gone'
  | 'temporarily_unavailable';

/** The kinds of problems with a client's own code or refresh token, each explained on the developers' page. */
export type ReasonKind = 'used' | 'expired' | 'redirect-uri' | 'code-verifier' | 'ended' | 'paused';

/** A reason in words; `text` keeps to the characters of RFC 6749 §5.2. */
export type Reason = { readonly kind: ReasonKind; readonly text: string };

/**
 * A refusal with two texts: `description` is public and helps no attacker (RFC 6749 §5.2 limits its characters, so that
 * input is never part of it, but for a scope's name); `detail` is for the operator's log and holds no secret. A third,
 * `reason`, takes the description's place for the client that proved its secret (`tokens/refusal-reason.ts`).
 */
export class Refusal {
  readonly code: ErrorCode;
  readonly description: string;
  readonly detail: string;
  /** Seconds after which another try makes sense; only with `temporarily_unavailable`. */
  readonly retryAfter: number | undefined;
  readonly reason: Reason | undefined;

  constructor(
    code: ErrorCode,
    description: string,
    detail: string = description,
    retryAfter?: number,
    reason?: Reason,
  ) {
    this.code = code;
    this.description = description;
    this.detail = detail;
    this.retryAfter = retryAfter;
    this.reason = reason;
  }

  /** The text that is recorded for the operator: what the client was told, in most cases. */
  get recorded(): string {
    return this.reason?.text ?? this.description;
  }
}

/** `temporarily_unavailable` for another reason than too many guesses. Nothing was changed. */
export class Unavailable extends Refusal {
  /** `retryAfter` in seconds. */
  constructor(description: string, detail: string, retryAfter: number) {
    super('temporarily_unavailable', description, detail, retryAfter);
  }
}

/** `invalid_request` (RFC 6749 §5.2). */
export function invalidRequest(description: string, detail?: string): Refusal {
  return new Refusal('invalid_request', description, detail);
}

/**
 * `invalid_client`: one public text for every reason, so that nobody learns which clients exist; or the `mistake` that the
 * secret itself shows (`mistaken-credential.ts`).
 */
export function invalidClient(
  detail: string,
  mistake = 'check client_id and client_secret, or client_assertion',
): Refusal {
  return new Refusal('invalid_client', `client authentication failed: ${mistake}`, detail);
}

/**
 * `invalid_client` when a part of the credentials is missing. The public text may say so, because it reveals nothing about any
 * client.
 */
export function missingCredential(name: 'client_id' | 'client_secret'): Refusal {
  return new Refusal('invalid_client', `client authentication failed: ${name} is missing`, `${name} is missing`);
}

/**
 * `invalid_client` when only `client_id` was sent, and it does not name a public client. The text is the same whether a
 * confidential client has that id or none does.
 */
export function missingSecret(detail: string): Refusal {
  return new Refusal(
    'invalid_client',
    'client authentication failed: client_secret (or client_assertion) is missing, which only a public client may omit',
    detail,
  );
}

/**
 * `invalid_grant` for an authorization code: one public text for a client that did not prove a secret, or the `mistake` that
 * the code itself shows (`mistaken-credential.ts`). The other credentials have the same two texts.
 */
export function invalidCode(
  detail: string,
  mistake = 'the authorization code is invalid, expired or already used, or was issued for another client, redirect_uri or code_verifier',
): Refusal {
  return new Refusal('invalid_grant', mistake, detail);
}

/** `invalid_grant` for a refresh token: one public text for a client that did not prove a secret. */
export function invalidRefreshToken(
  detail: string,
  mistake = 'the refresh token is invalid, expired, revoked or no longer current, or was issued to another client',
): Refusal {
  return new Refusal('invalid_grant', mistake, detail);
}

/** `invalid_grant` for a device code: one public text for every reason. */
export function invalidDeviceCode(
  detail: string,
  mistake = 'the device code is invalid or already used, or was issued to another client',
): Refusal {
  return new Refusal('invalid_grant', mistake, detail);
}

/** `invalid_token` (RFC 6750 §3.1): one public text for every reason. */
export function invalidToken(detail: string, mistake = 'the access token is invalid, expired or revoked'): Refusal {
  return new Refusal('invalid_token', mistake, detail);
}

/** `insufficient_scope` (RFC 6750 §3.1) at the userinfo endpoint: the token is valid, and signs nobody in. */
export function insufficientScope(): Refusal {
  return new Refusal('insufficient_scope', 'the access token was granted without openid, or the app has no sign-in');
}

/** Remedies of a refusal: on pages and over the API, where fields are named; and at the command line, where options are. */
export type Remedies = { readonly remedy?: string; readonly command?: string };

/** A sentence for the operator: why an act was refused, and what to do. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  /** The setting that is wrong, by its name in JSON; null if it is not one. */
  readonly field: string | null;
  /** The sentence at the command line. */
  readonly atCommandLine: string;

  constructor(problem: string, field: string | null = null, { remedy, command = remedy }: Remedies = {}) {
    const sentence = (what: string | undefined) => (what === undefined ? problem : `${problem}: ${what}`);
    super(sentence(remedy));
    this.field = field;
    this.atCommandLine = sentence(command);
  }
}

/** The refusal of an act on an id that nothing has, or has any more. */
export class NothingThere extends OperatorError {}
