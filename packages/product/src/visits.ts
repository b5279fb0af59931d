/** Requests of frameworks, as the endpoint reads them. */
import type { SignInEndpoint, Visit } from './sign-in.ts';

/** The part of a `node:http` request that is read. */
export type NodeRequest = {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

/** Returns the parts of a `node:http` request that the endpoint reads. */
export function nodeVisit({ method = '', url = '', headers }: NodeRequest): Visit {
  return { method, url, header: (name) => [headers[name]].flat()[0] };
}

/** Answers a Fetch API request, which a framework may have wrapped. */
export async function respond<R>(endpoint: SignInEndpoint<R>, request: Request, wrapped: R): Promise<Response> {
  const { status, headers, cookies, body } = await endpoint.answer(fetchVisit(request), wrapped);
  const all = new Headers(headers);
  for (const cookie of cookies) all.append('Set-Cookie', cookie);
  return new Response(body, { status, headers: all });
}

/** Returns the parts of a Fetch API request that the endpoint reads. */
export function fetchVisit({ method, url, headers }: Request): Visit {
  return { method, url, header: (name) => headers.get(name) };
}
