/** Reads and authenticates identity providers' requests: JSON whose values keep their types. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ProvenProvider, ProviderRight } from '../../accounts/people/identity-provider.ts';
import type { Members } from '../../accounts/people/profile.ts';
import type { ClientCredentials } from '../../oauth/clients/client.ts';
import { type ErrorCode, Refusal } from '../../oauth/error.ts';
import type { Answers } from '../answer/send-problem.ts';
import { oauthAnswers, sendOAuthRefusal } from '../json/json-answers.ts';
import { JSON_TYPE, MERGE_PATCH } from '../json/operation.ts';
import { readBearerToken, readClientCredentials } from '../request/client-authentication.ts';
import { JsonMembers, requireText, UnsupportedBody } from '../request/decoding.ts';
import { formOf } from '../request/form.ts';
import { originOf } from '../request/origin.ts';
import type { Service } from '../service/service.ts';

/** Makes this part of the server accept only JSON bodies, whose values keep their types. PATCH takes merge patches too. */
export function readJsonMembers(part: FastifyInstance): void {
  part.removeAllContentTypeParsers();
  part.addContentTypeParser([JSON_TYPE, MERGE_PATCH], { parseAs: 'buffer' }, (request, body, done) => {
    try {
      // RFC 7396 §4: the type says that absent members stay, which has no meaning for other methods.
      if (request.mediaType === MERGE_PATCH && request.method !== 'PATCH') throw new UnsupportedBody();
      requireText(request.headers, body as Buffer);
      done(null, new JsonMembers(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** Problems of these requests, as OAuth errors. */
export const providerAnswers: Answers = (request, reply, problem) =>
  oauthAnswers(request, reply, problem.kind === 'unsupported_media_type' ? { ...problem, ...JSON_ALONE } : problem);

const JSON_ALONE = { description: 'the body must be application/json, in UTF-8 and not compressed' };

/** True for a request with its parameters in the query, and no body. */
export function isQuery({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Returns the members of a request's body; empty without a body. */
export function membersOf({ body }: FastifyRequest): Members {
  return body instanceof JsonMembers ? body.members : {};
}

/**
 * Authenticates a request's provider: by Basic, or by credentials in the body (`form`). A request without a body
 * sends an assertion as a bearer token.
 */
export async function authenticateProvider(
  service: Service,
  request: FastifyRequest,
  right: ProviderRight,
  form = formOf(request),
): Promise<ProvenProvider | Refusal> {
  const assertion = isQuery(request) ? readBearerToken(request.headers.authorization ?? '') : null;
  const credentials: ClientCredentials | Refusal =
    assertion === null
      ? readClientCredentials('standard', request, form)
      : { method: 'assertion', clientId: undefined, assertion };
  if (credentials instanceof Refusal) return credentials;
  return service.providers.authenticate(credentials, right, originOf(request));
}

/**
 * Sends a refusal like the token endpoint's; with 403 if the caller is known and not allowed, 404 for an unknown
 * subject, and 410 for an expired cursor.
 */
export function sendProviderRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  const status = STATUS_OF[refusal.code];
  return sendOAuthRefusal(request, reply, refusal, status === undefined ? {} : { status });
}

const STATUS_OF: { readonly [code in ErrorCode]?: number } = {
  access_denied: 403,
  unauthorized_client: 403,
  not_found: 404,
  gone: 410,
};
