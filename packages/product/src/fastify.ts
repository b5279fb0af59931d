/** For Fastify 4 and 5. */
import type { IncomingMessage } from 'node:http';
import { type Pending, SignInEndpoint, type SignInOptions } from './sign-in.ts';

/** The part of Fastify's reply that is used. */
export type FastifyReplyLike = {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: unknown): unknown;
};

/** Makes the sign-in endpoint: a handler for `app.all`, or a route with GET and POST. */
export function signIn<R extends Pick<IncomingMessage, 'method' | 'url' | 'headers'>>(options: SignInOptions<R>) {
  const endpoint = new SignInEndpoint(options);
  const handler = async (request: R, reply: FastifyReplyLike): Promise<unknown> => {
    const { status, headers, body } = await endpoint.answer(request, request);
    reply.code(status);
    for (const [name, value] of headers) reply.header(name, value);
    return reply.send(body);
  };
  return Object.assign(handler, { pending: (request: R): Pending | null => endpoint.pending(request) });
}
