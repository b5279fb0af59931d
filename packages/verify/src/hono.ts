/** For Hono. */
import { type CheckOptions, requiredScopes } from './options.ts';
import { keepPrincipal } from './principal.ts';
import type { Verifier } from './verifier.ts';

export { principalOf } from './principal.ts';

/** The part of Hono's context that is read. */
export type HonoContextLike = { readonly req: { readonly raw: Request; header(name: string): string | undefined } };

/** Middleware that answers requests for the API's metadata (RFC 9728). Add it before `requireToken`. */
export function serveMetadata(verifier: Verifier) {
  return async ({ req }: HonoContextLike, next: () => Promise<void>): Promise<Response | undefined> => {
    const answer = verifier.metadataResponse(req.raw);
    if (!answer) await next();
    return answer;
  };
}

/** Middleware that passes requests whose token is good for all these scopes, and refuses the others. */
export function requireToken(verifier: Verifier, options?: CheckOptions) {
  requiredScopes(options);
  return async (context: HonoContextLike, next: () => Promise<void>): Promise<Response | undefined> => {
    const result = await verifier.check(context.req.header('Authorization'), options);
    if (!result.ok) return new Response(JSON.stringify(result.body), result);
    keepPrincipal(context, result.principal);
    await next();
    return undefined;
  };
}
