/** For Express 4 and 5, and other servers with the requests and responses of `node:http`. */
import { type Pending, SignInEndpoint, type SignInOptions } from './sign-in.ts';
import { type NodeRequest, nodeVisit } from './visits.ts';

/** The part of a `node:http` response that is used. */
export type NodeResponse = {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  appendHeader(name: string, value: string): unknown;
  end(body: string): unknown;
};

/** Makes the sign-in endpoint: a handler for `app.all`. Without `next`, its promise rejects if an option's function fails. */
export function signIn<R extends NodeRequest>(options: SignInOptions<R>) {
  const endpoint = new SignInEndpoint(options);
  const handler = (request: R, response: NodeResponse, next?: (error: unknown) => void): Promise<void> => {
    const answered = endpoint.answer(nodeVisit(request), request).then(({ status, headers, cookies, body }) => {
      response.statusCode = status;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      for (const cookie of cookies) response.appendHeader('Set-Cookie', cookie);
      response.end(body);
    });
    return next ? answered.catch(next) : answered;
  };
  return Object.assign(handler, { pending: (request: R): Pending | null => endpoint.pending(nodeVisit(request)) });
}
