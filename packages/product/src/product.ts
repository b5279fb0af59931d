/** For servers that take a Fetch API `Request`, and the calls of a product's server. */
import { type Pending, SignInEndpoint, type SignInOptions } from './sign-in.ts';
import { fetchVisit, respond } from './visits.ts';

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
  return Object.assign(handler, {
    pending: (request: Request): Pending | null => endpoint.pending(fetchVisit(request)),
  });
}
