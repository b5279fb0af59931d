/**
 * What pages of other origins may ask and read (CORS). No cookie and no form of ours is at stake: credentials are in the request
 * itself, and no answer allows cookies. So any page may ask (preflights), and may read what is public. An answer that an app's
 * credentials brought is for the own pages of a public client alone. The authorization page and all other pages have none of
 * this.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isOriginOf } from '../oauth/clients/redirect-uri.ts';
import { formOf } from './form.ts';
import type { Service } from './service.ts';

/** Beside what pages send in any case: what agents, DPoP and tracing (W3C Trace Context, Baggage) add to every request. */
const ALLOWED = 'Authorization, Content-Type, DPoP, MCP-Protocol-Version, traceparent, tracestate, baggage';
/** Headers of an answer that scripts can read, beside what browsers let them read in any case. */
export const EXPOSED_HEADERS = 'DPoP-Nonce, WWW-Authenticate, Retry-After';
const EXPOSED = { 'Access-Control-Expose-Headers': EXPOSED_HEADERS };

/** The headers of an answer that pages of any origin may read. */
export const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*', ...EXPOSED };

/** Lets pages of any origin read what the routes answer that say so, also that there were too many requests. */
export function answerAnyOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.isForAnyOrigin) reply.headers(ANY_ORIGIN);
  });
}

/** Answers the preflights of an endpoint to any origin: whether the answer may be read is said with it. */
export function addPreflight(app: FastifyInstance, path: string, method: 'GET' | 'POST'): void {
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

/** Lets the own pages of the public client that a body names read the answer (OAuth 2.1 §3.2). */
export async function allowOwnPages(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { origin } = request.headers;
  reply.header('Vary', 'Origin');
  const clientId = formOf(request).get('client_id');
  if (origin === undefined || clientId === undefined) return;
  const client = await service.clients.findClient(clientId);
  if (client && isOriginOf(client, origin)) reply.headers(EXPOSED).header('Access-Control-Allow-Origin', origin);
}
