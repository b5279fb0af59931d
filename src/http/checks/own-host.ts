/** Refuses requests that name another host than their address (decision 0070). */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addCheck, answerProblem, type FallbackAnswers } from '../answer/send-problem.ts';

/**
 * Answers 421 unless a request names the host of `url` (RFC 9110 §15.5.20): a page of another site may have its own name
 * lead here (DNS rebinding), and would then read our answers. Ports do not matter: many proxies omit them, and a page
 * that has our name already is ours.
 */
export function requireOwnHost(app: FastifyInstance, url: string, fallback: FallbackAnswers): void {
  const own = nameIn(new URL(url).host);
  addCheck(app, (request, reply) => {
    const { config } = request.routeOptions;
    const authority = authorityOf(request);
    if (config.isForAnyHost || nameIn(authority) === own) return undefined;
    const detail = `the request names ${authority.slice(0, MAX_LOGGED) || 'no host'}: a proxy must pass Host on`;
    request.outcome = { error: 'misdirected_request', detail };
    return answerProblem(config.answers ?? fallback(request), request, reply, { kind: 'misdirected_request' });
  });
}

/** The longest name in DNS, with a port. */
const MAX_LOGGED = 260;

/** Returns host and port of a request: of an absolute target if there is one, or else its Host (RFC 9112 §3.2.2). */
function authorityOf({ originalUrl, headers }: FastifyRequest): string {
  return /^https?:\/\/([^/?#]*)/i.exec(originalUrl)?.[1] ?? headers.host ?? '';
}

/** Returns the name in an authority, without the dot that a full name may end with; null if it has not this form. */
function nameIn(authority: string): string | null {
  const [, name] = /^([\w-]+(?:\.[\w-]+)*)\.?(?::\d*)?$/.exec(authority) ?? [];
  return name?.toLowerCase() ?? null;
}
