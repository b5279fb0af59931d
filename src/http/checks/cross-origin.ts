/**
 * Rules for pages of other origins (CORS). Neither cookies nor forms are at stake: credentials are in the request
 * itself, and no answer allows cookies. So every page may ask (preflights) and may read public answers. An answer to
 * an app's credentials is only for that public client's own pages. The authorization page and all other pages have no
 * CORS headers.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isOriginOf } from '../../oauth/clients/redirect-uri.ts';
import { formOf } from '../request/form.ts';
import type { Service } from '../service/service.ts';

/**
 * Request headers that agents, DPoP and tracing (W3C Trace Context, Baggage) add, beyond those that browsers always
 * allow.
 */
const ALLOWED = 'Authorization, Content-Type, DPoP, MCP-Protocol-Version, traceparent, tracestate, baggage';
/** Answer headers that scripts can read, beyond those that browsers always expose. */
export const EXPOSED_HEADERS = 'DPoP-Nonce, WWW-Authenticate, Retry-After';
const EXPOSED = { 'Access-Control-Expose-Headers': EXPOSED_HEADERS };

/** The headers of an answer that pages of any origin may read. */
export const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*', ...EXPOSED };

/** Lets pages of any origin read the answers of marked routes, including 429. */
export function answerAnyOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.isForAnyOrigin) reply.headers(ANY_ORIGIN);
    done();
  });
}

/** Answers the preflights of an endpoint to any origin; the answer itself says who may read it. */
export function addPreflight(app: FastifyInstance, path: string, method: 'GET' | 'POST' | 'GET, POST'): void {
  app.options(path, async (_request, reply) =>
    reply
      .header('Access-Control-Allow-Origin', '*')
      .header('Access-Control-Allow-Methods', method)
      .header('Access-Control-Allow-Headers', ALLOWED)
      .header('Access-Control-Max-Age', '86400')
      .code(204)
      .send(),
  );
}

/** Lets the named public client's own pages read the answer (OAuth 2.1 §3.2). */
export async function allowOwnPages(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { origin } = request.headers;
  reply.header('Vary', 'Origin');
  const clientId = formOf(request).get('client_id');
  if (origin === undefined || clientId === undefined) return;
  const client = await service.clients.findClient(clientId);
  if (client && isOriginOf(client, origin)) reply.headers(EXPOSED).header('Access-Control-Allow-Origin', origin);
}
