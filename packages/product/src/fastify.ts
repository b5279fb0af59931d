/** For Fastify 4 and 5. */
import { type Pending, SignInEndpoint, type SignInOptions } from './sign-in.ts';
import { type NodeRequest, nodeVisit } from './visits.ts';

/** The part of Fastify's reply that is used. */
export type FastifyReplyLike = {
  code(status: number): FastifyReplyLike;
  header(name: string, value: string): FastifyReplyLike;
  headers(headers: Record<string, string>): FastifyReplyLike;
  send(body: unknown): unknown;
};

/** Makes the sign-in endpoint: a handler for `app.all`, or a route with GET and POST. */
export function signIn<R extends NodeRequest>(options: SignInOptions<R>) {
  const endpoint = new SignInEndpoint(options);
  const handler = async (request: R, reply: FastifyReplyLike): Promise<unknown> => {
    const { status, headers, cookies, body } = await endpoint.answer(nodeVisit(request), request);
    reply.code(status).headers(headers);
    for (const cookie of cookies) reply.header('Set-Cookie', cookie);
    return reply.send(body);
  };
  return Object.assign(handler, { pending: (request: R): Pending | null => endpoint.pending(nodeVisit(request)) });
}
