/** For Fastify 4 and 5. */
import type { NodeRequest } from './node.ts';
import { type CheckOptions, requiredScopes } from './options.ts';
import { keepPrincipal } from './principal.ts';
import type { Verifier } from './verifier.ts';

export { principalOf } from './principal.ts';

/** The part of Fastify's reply that is used. */
export type FastifyReplyLike = {
  code(status: number): FastifyReplyLike;
  headers(headers: Record<string, string>): FastifyReplyLike;
  send(body: unknown): unknown;
};

/** A hook (`onRequest`) that answers requests for the API's metadata (RFC 9728). Add it before `requireToken`. */
export function serveMetadata(verifier: Verifier) {
  return async ({ method, url }: NodeRequest, reply: FastifyReplyLike): Promise<unknown> => {
    const answer = verifier.metadata(method ?? '', url ?? '');
    return answer && reply.code(answer.status).headers(answer.headers).send(answer.body);
  };
}

/** A hook (`onRequest` or later) that passes requests whose token is good for all these scopes, and refuses the others. */
export function requireToken(verifier: Verifier, options?: CheckOptions) {
  requiredScopes(options);
  return async (request: NodeRequest, reply: FastifyReplyLike): Promise<unknown> => {
    const result = await verifier.check(request.headers.authorization, options);
    if (!result.ok) return reply.code(result.status).headers(result.headers).send(result.body);
    keepPrincipal(request, result.principal);
    return undefined;
  };
}
