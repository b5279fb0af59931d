/** For servers that take a Fetch API `Request`, and the calls of a product's server. */
import { type Pending, SignInEndpoint, type SignInOptions, type Visit } from './sign-in.ts';

export {
  type Api,
  type Connection,
  type Connections,
  createApi,
  type Disconnect,
  type Disconnects,
  type KnownUser,
  type Profile,
  type UserToPut,
} from './api.ts';
export { ValetkeyError } from './call.ts';
export type { Registration } from './credentials.ts';
export type { CurrentUser, LoginWish, Pending, Problem, SignInOptions } from './sign-in.ts';

/** Makes the sign-in endpoint: a handler of GET and POST. */
export function signIn(options: SignInOptions<Request>) {
  const endpoint = new SignInEndpoint(options);
  const handler = async (request: Request): Promise<Response> => respond(endpoint, request, request);
  return Object.assign(handler, { pending: (request: Request): Pending | null => endpoint.pending(visitOf(request)) });
}

/** Answers a Fetch API request, which a framework may have wrapped. */
export async function respond<R>(endpoint: SignInEndpoint<R>, request: Request, wrapped: R): Promise<Response> {
  const { status, headers, cookies, body } = await endpoint.answer(visitOf(request), wrapped);
  const all = new Headers(headers);
  for (const cookie of cookies) all.append('Set-Cookie', cookie);
  return new Response(body, { status, headers: all });
}

/** Returns the parts of a Fetch API request that the endpoint reads. */
export function visitOf({ method, url, headers }: Request): Visit {
  return { method, url, header: (name) => headers.get(name) };
}
