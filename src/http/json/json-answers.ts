/** JSON answers of the token endpoints (RFC 6749 §5) and of the API, with the headers that both need. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, type Refusal, Unavailable } from '../../oauth/error.ts';
import { type HttpProblem, STATUS } from '../answer/problem.ts';
import { type Answers, setRetryAfter } from '../answer/send-problem.ts';
import { namedClient } from '../request/client-authentication.ts';
import { formOf } from '../request/form.ts';

/** Sends JSON. It has its own serializer, since Fastify's adds a charset, which the type does not have (RFC 8259 §11). */
export function sendJson(reply: FastifyReply, value: object): FastifyReply {
  return reply.headers(JSON_HEADERS).serializer(JSON.stringify).send(value);
}

/** Sends success without a body. */
export function sendDone(reply: FastifyReply): FastifyReply {
  return reply.code(204).headers(PRIVATE_HEADERS).send();
}

const PRIVATE_HEADERS = { 'Cache-Control': 'no-store', Pragma: 'no-cache', 'X-Content-Type-Options': 'nosniff' };
/** Headers of every answer that may hold a credential (RFC 6749 §5.1). */
export const JSON_HEADERS = { 'Content-Type': 'application/json', ...PRIVATE_HEADERS };

/**
 * Sends a refusal of a token endpoint (RFC 6749 §5.2). The description gives the refusal's reason, if there is one,
 * or says that the body has the wrong type. With `developersUrl`, `error_uri` links to the explanation of the reason.
 */
export function sendOAuthRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Refusal,
  { status = statusOf(refusal), developersUrl }: { readonly status?: number; readonly developersUrl?: string } = {},
): FastifyReply {
  request.outcome = { error: refusal.code, detail: refusal.detail, ...namedClient(request) };
  if (refusal.code === 'invalid_client') reply.header('WWW-Authenticate', 'Basic realm="valetkey", charset="UTF-8"');
  if (refusal.retryAfter !== undefined) setRetryAfter(reply, refusal.retryAfter);
  const { code, description, reason } = refusal;
  return sendJson(reply.code(status), {
    error: code,
    error_description: isJsonAsForm(request, code) ? JSON_AS_FORM : (reason?.text ?? description),
    ...(reason && developersUrl !== undefined && { error_uri: `${developersUrl}#reason-${reason.kind}` }),
  });
}

/** Description for JSON that was sent as a form: it parses as one parameter, so every required parameter seems missing. */
const JSON_AS_FORM = 'the body is JSON and was sent as a form: send it with Content-Type: application/json';

function isJsonAsForm(request: FastifyRequest, code: ErrorCode): boolean {
  return code !== 'temporarily_unavailable' && (formOf(request).firstName()?.trimStart().startsWith('{') ?? false);
}

function statusOf(refusal: Refusal): number {
  if (refusal instanceof Unavailable) return STATUS.unavailable;
  if (refusal.code === 'temporarily_unavailable') return STATUS.too_many_requests;
  return refusal.code === 'invalid_client' ? 401 : 400;
}

/** The challenge of a refused access token (RFC 6750 §3); without `error` if no token came (§3.1). */
export function bearerChallenge({ code, description }: Refusal): string {
  const error = code === 'missing_token' ? '' : `, error="${code}", error_description="${description}"`;
  return `Bearer realm="valetkey"${error}`;
}

/**
 * Sends the refusal of a token check, with the same body for every reason. The challenge names the API's metadata
 * (RFC 9728 §5.1).
 */
export function sendTokenRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Refusal,
  metadataUrl: string,
): FastifyReply {
  request.outcome = { error: refusal.code, detail: refusal.detail };
  reply.code(401).header('WWW-Authenticate', `${bearerChallenge(refusal)}, resource_metadata="${metadataUrl}"`);
  return sendJson(reply, apiError(refusal.code, refusal.description));
}

/** Builds the body of a problem in a face's form. */
export type ProblemForm = (problem: HttpProblem) => object;

/** Problems of the token endpoints, as OAuth errors (RFC 6749 §5.2). */
export const oauthForm: ProblemForm = (problem) => ({
  error: oauthCode(problem),
  error_description: describe(problem),
});

/** Problems of the API. */
export const apiForm: ProblemForm = (problem) => apiError(problem.kind, describe(problem));

/** Answers with problems of the token endpoints. */
export const oauthAnswers = answersIn(oauthForm);

/** Answers with problems of the API. */
export const apiAnswers = answersIn(apiForm);

function answersIn(form: ProblemForm): Answers {
  return (request, reply, problem) => {
    request.outcome ??= { error: problem.kind };
    return sendJson(reply, form(problem));
  };
}

function apiError(code: string, message: string): object {
  return { status: 'error', error: { code, message } };
}

function oauthCode({ kind }: HttpProblem): ErrorCode | 'server_error' {
  if (kind === 'internal') return 'server_error';
  return kind === 'unavailable' || kind === 'too_many_requests' ? 'temporarily_unavailable' : 'invalid_request';
}

const DESCRIPTIONS: Readonly<Record<HttpProblem['kind'], string>> = {
  bad_request: 'the request cannot be read',
  plain_http: 'the request came over plain http, where others can read it: replace every secret in it, and use https',
  not_found: 'there is nothing at this address',
  method_not_allowed: 'this address does not accept this method',
  timeout: 'the request took too long to arrive: send it again',
  too_large: 'the body is larger than 64 KiB',
  unsupported_media_type:
    'the body must be application/x-www-form-urlencoded or application/json, in UTF-8 and not compressed',
  misdirected_request:
    'the request names another host: use the address that is configured here, and let a proxy pass Host on',
  too_many_requests: 'too many requests: try again later',
  headers_too_large: 'the address and the headers are larger than 16 KiB together',
  internal: 'an internal error occurred: give the operator the request id',
  unavailable: 'the service cannot answer right now: try again',
};

/** Returns the public sentence about a problem. */
export function describe(problem: HttpProblem): string {
  const { kind, allow, description = DESCRIPTIONS[kind] } = problem;
  return allow
    ? `this address accepts only ${allow.filter((method) => !UNSAID.has(method)).join(' and ')}`
    : description;
}

/** Methods that `Allow` headers and messages omit: browsers send OPTIONS by themselves, and HEAD is GET without a body. */
const UNSAID: ReadonlySet<string> = new Set(['OPTIONS', 'HEAD']);
