/** For Express 4 and 5, and other routers of `node:http` whose handlers take `next`. */
import { type NodeRequest, type NodeResponse, sendRefusal, serveMetadata as serve } from './node.ts';
import { type CheckOptions, requiredScopes } from './options.ts';
import { keepPrincipal } from './principal.ts';
import type { Verifier } from './verifier.ts';

export { principalOf } from './principal.ts';

/** A router's request, whose `url` is shortened to the part below the router's path. */
export type ExpressRequest = NodeRequest & { readonly originalUrl?: string | undefined };

/** Middleware that answers requests for the API's metadata (RFC 9728). Add it before `requireToken`. */
export function serveMetadata(verifier: Verifier) {
  return (request: ExpressRequest, response: NodeResponse, next: () => void): void => {
    const { method, headers, url, originalUrl = url } = request;
    if (!serve(verifier, { method, headers, url: originalUrl }, response)) next();
  };
}

/** Middleware that passes requests whose token is good for all these scopes, and refuses the others. */
export function requireToken(verifier: Verifier, options?: CheckOptions) {
  requiredScopes(options);
  return (request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void): void => {
    verifier.check(request.headers.authorization, options).then((result) => {
      if (!result.ok) return sendRefusal(response, result);
      keepPrincipal(request, result.principal);
      next();
    }, next);
  };
}
