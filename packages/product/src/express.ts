/** For Express 4 and 5, and other servers with the requests and responses of `node:http`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Pending, SignInEndpoint, type SignInOptions } from './sign-in.ts';

/** Makes the sign-in endpoint: a handler for `app.all`. Without `next`, its promise rejects if an option's function fails. */
export function signIn<R extends IncomingMessage>(options: SignInOptions<R>) {
  const endpoint = new SignInEndpoint(options);
  const handler = (request: R, response: ServerResponse, next?: (error: unknown) => void): Promise<void> => {
    const answered = endpoint.answer(request, request).then(({ status, headers, body }) => {
      response.statusCode = status;
      for (const [name, value] of headers)
        if (name === 'Set-Cookie') response.appendHeader(name, value);
        else response.setHeader(name, value);
      response.end(body);
    });
    return next ? answered.catch(next) : answered;
  };
  return Object.assign(handler, { pending: (request: R): Pending | null => endpoint.pending(request) });
}
