/**
 * The check of a good token, answered on node:http itself: it is what is asked most, and routing, hooks and replies are
 * half of what it costs. Only what is good is answered here. Everything else goes the ordinary way (`me.ts`), which
 * decides anew, so that there is one place that refuses.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { CheckedToken } from '../oauth/authorization-server.ts';
import { Refusal } from '../oauth/error.ts';
import { readBearerToken } from './client-authentication.ts';
import { describe } from './me.ts';
import { readSource } from './origin.ts';
import { ME_PATH } from './paths.ts';
import { newRequestId } from './request-id.ts';
import { requestLine } from './request-line.ts';
import type { Service } from './service.ts';

/** Puts itself before the ordinary way of an API's server. */
export function answerGoodTokens(app: FastifyInstance, service: Service): void {
  const { server } = app;
  const ordinary = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  const goOn = (request: IncomingMessage, response: ServerResponse) => {
    for (const listener of ordinary) listener.call(server, request, response);
  };
  server.removeAllListeners('request');
  const check = async (request: IncomingMessage, response: ServerResponse, token: string) => {
    const start = performance.now();
    const checked = await service.authorizationServer.checkAccessToken(token);
    if (checked instanceof Refusal) return goOn(request, response);
    const requestId = newRequestId();
    send(response, checked, requestId);
    const source = readSource(service, request);
    const line = requestLine({ method: 'GET', route: ME_PATH, status: 200, ms: performance.now() - start, source });
    app.log.info({ request_id: requestId, ...line }, 'request');
  };
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const token = plainCheck(request);
    if (token === null) goOn(request, response);
    else check(request, response, token).catch(() => goOn(request, response));
  });
}

/** The token of a request that is a check and nothing besides, else null. */
function plainCheck({ method, url, headers }: IncomingMessage): string | null {
  if (url !== ME_PATH || method !== 'GET' || headers.authorization === undefined) return null;
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return null;
  return readBearerToken(headers.authorization);
}

function send(response: ServerResponse, checked: CheckedToken, requestId: string): void {
  const body = JSON.stringify(describe(checked));
  response.writeHead(200, [
    'X-Request-Id',
    requestId,
    'Access-Control-Allow-Origin',
    '*',
    'Access-Control-Expose-Headers',
    'WWW-Authenticate',
    'Content-Type',
    'application/json',
    'Cache-Control',
    'no-store',
    'Pragma',
    'no-cache',
    'X-Content-Type-Options',
    'nosniff',
    'Content-Length',
    String(Buffer.byteLength(body)),
  ]);
  response.end(body);
}
