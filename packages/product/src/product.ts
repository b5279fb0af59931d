/** For servers that take a Fetch API `Request`, and the calls of a product's server. */
import { type Pending, SignInEndpoint, type SignInOptions } from './sign-in.ts';

export type { Connection, Connections, Disconnect, Disconnects, KnownUser, Profile, UserToPut } from './api.ts';
export { createApi } from './api.ts';
export type { CurrentUser, LoginWish, Pending, Problem, SignInOptions } from './sign-in.ts';
export { type Registration, ValetkeyError } from './valetkey.ts';

/** Makes the sign-in endpoint: a handler of GET and POST. */
export function signIn(options: SignInOptions<Request>) {
  const endpoint = new SignInEndpoint(options);
  const handler = async (request: Request): Promise<Response> => {
    const { body, ...init } = await endpoint.answer(request, request);
    return new Response(body, init);
  };
  return Object.assign(handler, { pending: (request: Request): Pending | null => endpoint.pending(request) });
}
