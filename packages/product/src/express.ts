/** For Express 4 and 5, and other servers with the requests and responses of `node:http`. */
import { type Pending, SignInEndpoint, type SignInOptions, type Visit } from './sign-in.ts';

/** The part of a `node:http` request that is read. */
export type NodeRequest = {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

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

/** Returns the parts of a `node:http` request that the endpoint reads. */
export function nodeVisit({ method = '', url = '', headers }: NodeRequest): Visit {
  return { method, url, header: (name) => [headers[name]].flat()[0] };
}
