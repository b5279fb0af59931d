/** Refuses repeated headers and cookies: some readers take the first, others the last. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Answers, addCheck, answerProblem, type FallbackAnswers } from '../answer/send-problem.ts';

/** Headers that may come once. Node.js would silently keep one of several, or join them. */
const ONCE: ReadonlySet<string> = new Set(['authorization', 'content-length', 'content-type', 'host', 'origin']);

/** Refuses a header that came twice (RFC 9110 §5.3), and a request without its host (RFC 9112 §3.2). */
export function requireSingleHeaders(app: FastifyInstance, fallback: FallbackAnswers): void {
  addCheck(app, (request, reply) => {
    const { rawHeaders, httpVersion } = request.raw;
    const names = new Set<string>();
    let repeated: string | null = null;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = (rawHeaders[at] as string).toLowerCase();
      if (!ONCE.has(name)) continue;
      if (names.has(name)) repeated = name;
      names.add(name);
    }
    if (repeated === null && (names.has('host') || httpVersion === '1.0')) return undefined;
    request.outcome = { error: 'bad_request', detail: repeated ? `${repeated} came twice` : 'there is no host' };
    reply.header('Connection', 'close');
    const description = `a request has one Host, and at most one each of Authorization, Content-Length, Content-Type and Origin`;
    const answers = request.routeOptions.config.answers ?? fallback(request);
    return answerProblem(answers, request, reply, { kind: 'bad_request', description });
  });
}

/** Refuses a cookie of ours that came twice: another site of the same domain can add one, and both look alike. */
export function requireSingleCookies(
  app: FastifyInstance,
  pages: { readonly answers: Answers },
  sessions: { hasRepeatedCookie(request: FastifyRequest): boolean },
): void {
  addCheck(app, (request, reply) => {
    if (!sessions.hasRepeatedCookie(request)) return undefined;
    request.outcome = { error: 'bad_request', detail: 'a cookie of this service came twice' };
    return answerProblem(pages.answers, request, reply, { kind: 'bad_request' });
  });
}
