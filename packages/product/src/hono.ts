/** For Hono. */
import { type Pending, SignInEndpoint, type SignInOptions } from './sign-in.ts';
import { fetchVisit, respond } from './visits.ts';

/** The part of Hono's context that is read. */
export type HonoContextLike = { readonly req: { readonly raw: Request } };

/** Makes the sign-in endpoint: a handler for `app.on(['GET', 'POST'], …)`. */
export function signIn<C extends HonoContextLike>(options: SignInOptions<C>) {
  const endpoint = new SignInEndpoint(options);
  const handler = (context: C): Promise<Response> => respond(endpoint, context.req.raw, context);
  return Object.assign(handler, { pending: ({ req }: C): Pending | null => endpoint.pending(fetchVisit(req.raw)) });
}
