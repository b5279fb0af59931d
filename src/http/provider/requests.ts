/** Requests of identity providers: JSON whose values keep their types, proven by the provider's credentials. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ProvenProvider, ProviderRight } from '../../accounts/people/identity-provider.ts';
import type { Members } from '../../accounts/people/profile.ts';
import type { ClientCredentials } from '../../oauth/clients/client.ts';
import { type ErrorCode, Refusal } from '../../oauth/error.ts';
import type { Answers } from '../answer.ts';
import { readBearerToken, readClientCredentials } from '../api/client-authentication.ts';
import { oauthAnswers, sendOAuthRefusal } from '../api/json-answers.ts';
import { JsonMembers, requireText } from '../decoding.ts';
import { formOf } from '../form.ts';
import { originOf } from '../origin.ts';
import type { Service } from '../service.ts';

/** Makes a part of the server accept JSON bodies alone, whose values keep their types. */
export function readJsonMembers(part: FastifyInstance): void {
  part.removeAllContentTypeParsers();
  part.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
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

/** Returns true for a request with its parameters in the query, and no body. */
export function isQuery({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The members of a request's body; none without one. */
export function membersOf({ body }: FastifyRequest): Members {
  return body instanceof JsonMembers ? body.members : {};
}

/**
 * The provider that sent a request, if it has the right: by Basic, or by credentials in the body (`form`). A request
 * without a body has no parameter for an assertion, so it brings one as a bearer token.
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

/** Sends a refusal as the token endpoint does, with 403 where who asks is known and may not, 404 for an unknown subject, and 410 for a cursor that is over. */
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
