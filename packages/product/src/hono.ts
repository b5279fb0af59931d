/** For Hono. */
import { type Pending, SignInEndpoint, type SignInOptions } from './sign-in.ts';

/** Makes the sign-in endpoint: a handler for `app.on(['GET', 'POST'], …)`. */
export function signIn<C extends { readonly req: { readonly raw: Request } }>(options: SignInOptions<C>) {
  const endpoint = new SignInEndpoint(options);
  const handler = async (context: C): Promise<Response> => {
    const { body, ...init } = await endpoint.answer(context.req.raw, context);
    return new Response(body, init);
  };
  return Object.assign(handler, { pending: ({ req }: C): Pending | null => endpoint.pending(req.raw) });
}
